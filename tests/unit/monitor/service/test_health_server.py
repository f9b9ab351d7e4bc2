"""The health port, asked over HTTP."""

import json
import re
import socket
import threading
from dataclasses import replace
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from graphghha.monitor.feed import Durations
from graphghha.monitor.service import health_server
from graphghha.monitor.service.health import HealthSnapshot, SiteHealth
from graphghha.monitor.service.health_server import MOST_CONNECTIONS, HealthServer
from graphghha.monitor.sinks import FollowStats

SITE = SiteHealth(
    name="north",
    model="fcu-1a2b",
    is_connected=True,
    data_time_s=1530540900.0,
    readings={"taken": 100, "late": 2},
    rejected={"malformed": 3},
    rows_scored=10,
    nodes={"known": 30, "unknown": 2},
    incidents={"high": 1},
    durations=Durations().plus(0.03).plus(30),
)
SINK = FollowStats("siem", cursor=7, delivered=5, failures=4, refused=0, dropped=0, last_error="")
WELL = HealthSnapshot(loop_age_s=0.2, is_journal_writable=True, sites=(SITE,), sinks=(SINK,), last_event=9)


class Asked:
    def __init__(self):
        self.now = WELL
        self.server = HealthServer(0, lambda: self.now)

    def __call__(self, path):
        try:
            with urlopen(f"http://127.0.0.1:{self.server.port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as exc:
            with exc:
                return exc.code, exc.read().decode()


@pytest.fixture
def ask():
    asked = Asked()
    asked.server.start()
    yield asked
    asked.server.close()


def test_a_well_monitor_is_live_and_ready(ask):
    assert ask("/livez") == (200, '{"live": true}')
    status, body = ask("/readyz?verbose")
    assert status == 200 and json.loads(body) == {"status": "ready", "ready": True, "reasons": []}


@pytest.mark.parametrize(
    ("now", "status", "reason"),
    [
        (replace(WELL, is_journal_writable=False), "not ready", "the journal cannot be written"),
        (replace(WELL, sites=(replace(SITE, model=""),)), "not ready", "site north: no model is loaded"),
        (replace(WELL, loop_age_s=120), "not ready", "the monitor's loop has not run for 120 s"),
        (
            replace(WELL, sites=(replace(SITE, is_connected=False, detail="refused"),)),
            "degraded",
            "site north: the source is not connected (refused)",
        ),
        (replace(WELL, sites=(replace(SITE, is_lost=True),)), "degraded", "site north: the source is silent"),
        (replace(WELL, sites=(replace(SITE, data_time_s=None),)), "degraded", "site north: no reading has arrived yet"),
        (
            replace(WELL, sites=(replace(SITE, wrong_clocks=("zone-07", "zone-09")),)),
            "degraded",
            "site north: wrong clock at zone-07, zone-09",
        ),
        (
            replace(WELL, sites=(replace(SITE, blind_zones=("zone-02",)),)),
            "degraded",
            "site north: no usable readings from zone-02",
        ),
        (replace(WELL, sinks=(replace(SINK, last_error="timed out"),)), "degraded", "sink siem: timed out"),
    ],
    ids=["journal", "model", "stuck", "source", "silent", "unheard", "clock", "blind", "sink"],
)
def test_readiness_says_why(ask, now, status, reason):
    ask.now = now
    code, body = ask("/readyz")
    assert json.loads(body) == {"status": status, "ready": status == "degraded", "reasons": [reason]}
    assert code == (200 if status == "degraded" else 503)


def test_a_stuck_loop_is_not_live(ask):
    ask.now = replace(WELL, loop_age_s=61)
    assert ask("/livez") == (503, '{"live": false}')


def test_metrics_are_what_prometheus_reads(ask):
    status, text = ask("/metrics")
    assert status == 200
    samples = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert samples["graphghha_readings_total", ("outcome", "late"), ("site", "north")] == 2
    assert samples["graphghha_rejected_total", ("reason", "malformed"), ("site", "north")] == 3
    assert samples["graphghha_data_timestamp_seconds", ("site", "north")] == 1530540900
    assert samples["graphghha_batch_seconds_bucket", ("le", "0.05"), ("site", "north")] == 1
    assert samples["graphghha_batch_seconds_bucket", ("le", "+Inf"), ("site", "north")] == 2
    assert samples["graphghha_sink_pending_events", ("sink", "siem")] == 2
    assert samples["graphghha_sink_dropped_total", ("sink", "siem")] == 0
    assert all(re.fullmatch(r"graphghha_[a-z_]+", name) for name, *_ in samples)


def test_other_paths_are_not_found(ask):
    assert ask("/")[0] == 404 and ask("/metrics/x")[0] == 404


def test_whatever_fails_inside_the_answer_is_503(ask):
    def fail():
        raise FileNotFoundError("journal.sqlite")

    server = HealthServer(0, fail)
    server.start()
    ask.server, before = server, ask.server
    try:
        for path in ("/livez", "/readyz", "/metrics"):
            status, body = ask(path)
            assert status == 503 and "cannot be determined" in body
    finally:
        server.close()
        ask.server = before


def test_connections_that_say_nothing_do_not_keep_others_out(ask):
    """Far more of them than are served at a time, held open all the while."""
    silent = [socket.create_connection(("127.0.0.1", ask.server.port)) for _ in range(4 * MOST_CONNECTIONS)]
    for each in silent:
        each.sendall(b"G")
    try:
        for _ in range(5):
            assert ask("/livez")[0] == 200
        assert sum("process_request_thread" in thread.name for thread in threading.enumerate()) <= 2 * MOST_CONNECTIONS
    finally:
        for each in silent:
            each.close()


def test_a_request_that_comes_byte_by_byte_is_cut_off(monkeypatch):
    monkeypatch.setattr(health_server, "TOTAL_S", 0.2)
    server = HealthServer(0, lambda: WELL)
    server.start()
    try:
        with socket.create_connection(("127.0.0.1", server.port)) as slow:
            slow.settimeout(10)
            slow.sendall(b"GET /livez")
            assert slow.recv(100) == b"", "closed without an answer"
    finally:
        server.close()
