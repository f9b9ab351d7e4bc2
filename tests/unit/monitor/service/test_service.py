"""The service around a monitor: sinks beside the scoring, new models in between, an orderly end."""

import json
import socket
import threading

import pytest

from graphghha.errors import CheckpointError
from graphghha.monitor import Journal, Monitor
from graphghha.monitor.service import Service
from graphghha.monitor.sinks import Cursor, FollowRule, JsonLinesFile
from monitor_builders import CONFIG, GRAPH, ListSource, detector, telemetry, wide
from waiting import until

QUICK = FollowRule(poll_s=0.01, first_retry_s=0.01, longest_retry_s=0.05)


class Switch:
    """A sink that writes a file while it is on."""

    name = "switch"

    def __init__(self, path, *, is_on):
        self.file, self.is_on = JsonLinesFile("file", path), is_on

    def deliver(self, events):
        if not self.is_on:
            raise ConnectionRefusedError("switched off")
        self.file.deliver(events)

    def close(self):
        self.file.close()


def batches(rows=120):
    times, values = telemetry(rows)
    return [wide(times[at : at + 1], values[at : at + 1]) for at in range(rows)]


@pytest.fixture
def model(tmp_path):
    (folder := tmp_path / "model").mkdir()
    (folder / "name").write_text("toy@1")
    return folder


def load(_site, directory):
    name = (directory / "name").read_text()
    if "broken" in name:
        raise CheckpointError(f"{directory}: not a model")
    return detector(model=name)


@pytest.fixture
def build(tmp_path, model):
    def built(source, **more):
        monitor = Monitor(Journal(tmp_path / "journal.db"), load=load)
        monitor.add("office", load("office", model), CONFIG)
        return Service(monitor, {"office": source}, {"office": model}, drain_s=5, **more)

    return built


def kinds(path):
    return [json.loads(line)["kind"] for line in path.read_text().splitlines()]


def test_everything_the_journal_holds_reaches_the_sink_and_everything_is_acknowledged(build, tmp_path):
    source, out = ListSource(batches()), tmp_path / "out.jsonl"
    service = build(source)
    service.follow(Switch(out, is_on=True), Cursor(tmp_path / "c"), QUICK)
    assert service.run() == []
    assert len(source.acknowledged) == 120 and source.is_closed
    with Journal(tmp_path / "journal.db") as journal:
        produced = [event.key for event in journal.events_after(0, 1000)]
    assert [json.loads(line)["key"] for line in out.read_text().splitlines()] == produced
    assert kinds(out).count("incident.annunciated") == 2


def test_a_sink_down_for_the_whole_run_gets_everything_from_the_next_run(build, tmp_path):
    out = tmp_path / "out.jsonl"
    first = build(ListSource(batches()))
    first.follow(Switch(out, is_on=False), Cursor(tmp_path / "c"), QUICK)
    assert first.run() == ["switch"] and not out.exists()
    second = build(ListSource())
    second.follow(Switch(out, is_on=True), Cursor(tmp_path / "c"), QUICK)
    assert second.run() == []
    with Journal(tmp_path / "journal.db") as journal:
        produced = [event.key for event in journal.events_after(0, 1000)]
    assert [json.loads(line)["key"] for line in out.read_text().splitlines()] == produced != []


class Hanging(ListSource):
    """A source in a dead network: it cannot even be closed."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.never = threading.Event()

    def close(self):
        self.never.wait()


def test_a_source_that_cannot_be_closed_does_not_delay_the_shutdown(build, tmp_path):
    source, out = Hanging(batches(40)), tmp_path / "out.jsonl"
    service = build(source)
    service.follow(Switch(out, is_on=True), Cursor(tmp_path / "c"), QUICK)
    assert service.run() == []
    assert kinds(out).count("incident.annunciated") == 1
    Journal(tmp_path / "journal.db").close()
    source.never.set()


def running(service):
    thread = threading.Thread(target=service.run, daemon=True)
    thread.start()
    return thread


def test_a_new_model_is_swapped_in_and_a_broken_one_refused(build, tmp_path, model):
    source, out = ListSource(batches(30), ends=False), tmp_path / "out.jsonl"
    service = build(source)
    service.follow(Switch(out, is_on=True), Cursor(tmp_path / "c"), QUICK)
    thread = running(service)
    until(lambda: service.snapshot().sites[0].rows_scored == 30, "scoring")
    (model / "name").write_text("broken")
    service.reload()
    until(lambda: "model.refused" in kinds(out), "refusal")
    assert service.snapshot().sites[0].model == "toy@1" and service.snapshot().is_ready
    until(lambda: service.snapshot().to_dict()["status"] == "degraded", "a reason in /readyz")
    assert "the model in its directory was refused" in service.snapshot().to_dict()["reasons"][0]
    (model / "name").write_text("toy@2")
    service.reload()
    until(lambda: "model.swapped" in kinds(out), "swap")
    assert service.snapshot().sites[0].model == "toy@2"
    until(lambda: not service.snapshot().to_dict()["reasons"], "no reason any more")
    service.stop()
    thread.join(10)
    assert not thread.is_alive() and source.is_closed


def test_the_snapshot_counts_what_happened(build, tmp_path):
    source = ListSource(batches(40), ends=False)
    service = build(source)
    thread = running(service)
    until(lambda: len(source.acknowledged) == 40, "scoring")
    now = service.snapshot()
    (site,) = now.sites
    assert now.is_ready and now.to_dict()["status"] == "ready" and now.journal_bytes and now.disk_free_bytes
    assert sum(site.nodes.values()) == GRAPH.num_nodes and site.readings["accepted"] == 40 * 21
    assert sum(site.durations.counts) == 40 and sum(site.incidents.values()) == 1 and now.last_event > 0
    assert service.pulse()["ready"]
    service.stop()
    thread.join(10)


def test_systemd_is_notified_of_begin_and_end(build, tmp_path, monkeypatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        build(ListSource()).run()
        assert [manager.recv(64), manager.recv(64)] == [b"READY=1", b"STOPPING=1"]


def test_a_model_that_takes_long_to_load_keeps_no_site_waiting(tmp_path, model):
    loading, may_go_on = threading.Event(), threading.Event()

    def load_slowly(site, directory):
        if (directory / "name").read_text() == "toy@slow":
            loading.set()
            assert may_go_on.wait(20)
        return load(site, directory)

    source = ListSource(batches(30), ends=False)
    monitor = Monitor(Journal(tmp_path / "journal.db"), load=load_slowly)
    monitor.add("office", load("office", model), CONFIG)
    service = Service(monitor, {"office": source}, {"office": model}, drain_s=5)
    thread = running(service)
    (model / "name").write_text("toy@slow")
    service.reload()
    assert loading.wait(20)
    source.batches.extend(batches(60)[30:])
    until(lambda: service.snapshot().sites[0].rows_scored == 60, "scoring while the model is loaded")
    assert service.snapshot().sites[0].model == "toy@1"
    may_go_on.set()
    until(lambda: service.snapshot().sites[0].model == "toy@slow", "swap")
    service.stop()
    thread.join(10)


def test_a_journal_that_is_gone_leaves_the_snapshot_whole(build, tmp_path):
    service = build(ListSource(batches(5), ends=False))
    (tmp_path / "journal.db").unlink()
    assert service.snapshot().journal_bytes == 0
    service.stop()
    service.run()
