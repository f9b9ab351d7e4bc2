"""Sources that cannot be reached or of which nothing can be used, with a real broker: said within seconds."""

from threading import Event as Flag
from threading import Thread

import pytest

from faults.broker import Broker, free_port
from graphghha.monitor import Journal, Monitor
from graphghha.monitor.conditions import read_conditions
from graphghha.monitor.service import Service
from graphghha.sources import open_source, parse_address
from monitor_builders import CONFIG, PLANT, detector
from waiting import until


@pytest.fixture
def watched(tmp_path):
    """Run a service on a source at an address; `events` are those of its journal."""
    running = []

    def start(config):
        journal = Journal(tmp_path / f"{len(running)}.sqlite")
        monitor = Monitor(journal)
        site = monitor.add("office", detector(), CONFIG)
        source = open_source(config, site="office", points=site.detector.points, plant=PLANT)
        service = Service(monitor, {"office": source}, {}, drain_s=1.0)
        thread = Thread(target=service.run)
        thread.start()
        running.append((service, thread))
        return service, journal.reader

    yield start
    for service, thread in running:
        service.stop()
        thread.join(20)


def bodies(reader, kind):
    return [event.body for event in reader.events_after(0, 100) if event.kind == kind]


def test_a_refused_password_is_an_event_a_condition_and_a_reason(tmp_path, watched):
    (tmp_path / "broker").mkdir()
    broker = Broker(tmp_path / "broker", password=("bms", "right"))
    try:
        _, reader = watched(parse_address(f"{broker.address}/bms"))
        until(lambda: bodies(reader, "source.unreachable"), "the report", 30)
        (body,) = bodies(reader, "source.unreachable")
        assert "Not authorized" in body["reason"] and body["priority"] == "high"
        (condition,) = read_conditions(reader)
        assert condition.kind == "source.unreachable" and "Not authorized" in condition.text
    finally:
        broker.stop()


def test_a_dead_broker_is_reported_and_so_is_its_return(tmp_path, watched):
    (tmp_path / "broker").mkdir()
    broker = Broker(tmp_path / "broker")
    broker.stop()
    service, reader = watched(parse_address(f"{broker.address}/bms"))
    until(lambda: bodies(reader, "source.unreachable"), "the report", 30)
    assert any("not connected" in reason for reason in service.snapshot().to_dict()["reasons"])
    broker.start()
    try:
        until(lambda: bodies(reader, "source.reachable"), "its return", 60)
        assert read_conditions(reader) == []
    finally:
        broker.stop()


def test_an_unknown_host_is_reported(watched):
    _, reader = watched(parse_address(f"mqtt://nowhere.invalid:{free_port()}/bms"))
    until(lambda: bodies(reader, "source.unreachable"), "the report", 60)
    assert "nowhere.invalid" in bodies(reader, "source.unreachable")[0]["reason"]


def test_names_that_lead_to_no_point_are_reported_although_nothing_else_arrives(tmp_path, watched):
    (tmp_path / "broker").mkdir()
    broker = Broker(tmp_path / "broker")
    done = Flag()
    try:
        service, reader = watched(parse_address(f"{broker.address}/bms"))

        def send():
            with broker.publisher() as device:
                while not done.wait(0.5):
                    device.send("bms/R101/Temp", {"value": 20.0})

        sender = Thread(target=send)
        sender.start()
        until(lambda: bodies(reader, "readings.unmapped"), "the report", 60)
        (body,) = bodies(reader, "readings.unmapped")
        assert body["example"] == "bms/R101/Temp" and body["priority"] == "high" and body["count"] > 1
        assert any("R101/Temp" in reason for reason in service.snapshot().to_dict()["reasons"])
    finally:
        done.set()
        sender.join()
        broker.stop()
