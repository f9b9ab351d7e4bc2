"""Every sink down for the whole run, then up: delivered = produced."""

import json

from graphghha.bench.broker import free_port
from graphghha.bench.syslog_receiver import SyslogReceiver
from graphghha.monitor import Journal, Monitor
from graphghha.monitor.service import Service
from graphghha.monitor.sinks.cursor import Cursor
from graphghha.monitor.sinks.follow import FollowRule
from graphghha.monitor.sinks.jsonl import JsonLinesFile
from graphghha.monitor.sinks.mqtt import MqttSink, MqttSinkConfig
from graphghha.monitor.sinks.syslog import SyslogConfig, SyslogSink
from monitor_builders import CONFIG, detector, telemetry, wide
from sink_builders import Belt, Listener, keys, until

QUICK = FollowRule(poll_s=0.01, first_retry_s=0.01, longest_retry_s=0.05, batch=7)


def run(tmp_path, batches, port, broker):
    """One life of the service; returns the sinks that did not get everything."""
    monitor = Monitor(Journal(tmp_path / "journal.db"))
    monitor.add("office", detector(), CONFIG)
    service = Service(monitor, {"office": Belt(batches)}, {}, drain_s=20)
    for sink in (
        JsonLinesFile("file", tmp_path / "later" / "events.jsonl"),
        SyslogSink("siem", SyslogConfig(host="127.0.0.1", port=port)),
        MqttSink("broker", MqttSinkConfig(host="127.0.0.1", port=broker.port)),
    ):
        service.follow(sink, Cursor(tmp_path / f"{sink.name}.cursor"), QUICK)
    return service.run()


def test_sinks_that_were_down_for_the_whole_run_get_all_that_was_produced(broker, tmp_path):
    with Listener(broker.port, persistent=True):
        pass  # from now on the broker keeps messages for this listener
    broker.stop()
    port, (times, values) = free_port(), telemetry(120)
    batches = [wide(times[at : at + 1], values[at : at + 1]) for at in range(120)]
    assert run(tmp_path, batches, port, broker) == ["file", "siem", "broker"]
    broker.start()
    (tmp_path / "later").mkdir()
    with SyslogReceiver(port) as siem:
        assert run(tmp_path, [], port, broker) == []
        with Journal(tmp_path / "journal.db") as journal:
            produced = [event.key for event in journal.events_after(0, 10_000)]
        until(lambda: len(siem.messages) >= len(produced), "the SIEM")
    with Listener(broker.port, persistent=True) as listener:
        until(lambda: len(listener.messages) >= len(produced), "the broker's listener")
    assert len(produced) > 5
    assert keys((tmp_path / "later" / "events.jsonl").read_text().splitlines()) == produced
    assert [message.split('key="', 1)[1].split('"', 1)[0] for message in siem.messages] == produced
    assert [json.loads(message.payload)["key"] for message in listener.messages] == produced
