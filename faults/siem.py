"""A SIEM that hangs or is replaced must get again what it may not have read; one that gets nothing is not up."""

import socket
import struct
import time
from pathlib import Path

from faults.broker import free_port
from faults.effort import Effort
from faults.figures import Figure, Progress, expect_none
from faults.rig import JOURNAL, Rig, until
from faults.syslog_receiver import SyslogReceiver
from faults.toy_detector import default_attacks, toy_building, toy_monitor
from graphghha.monitor import Journal
from graphghha.monitor.sinks import Cursor, Follower, FollowRule, SyslogConfig, SyslogSink, stop_all

HANGS, RESTARTED, DEAD = (
    "SIEM accepts, never reads, is replaced",
    "SIEM hangs, the monitor is restarted",
    "SIEM whose port is closed, with heartbeats",
)
ZONES, ROWS = 2, 240
QUICKLY = FollowRule(poll_s=0.01, first_retry_s=0.01, longest_retry_s=0.05, batch=7)


def try_siem(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    figures: list[Figure] = []
    for fault, trial in ((HANGS, _hangs), (RESTARTED, _restarted), (DEAD, _dead)):
        progress(fault)
        figures += trial(folder / fault.partition(",")[0])
    return figures


def _hangs(folder: Path) -> list[Figure]:
    telemetry = toy_building(ZONES, ROWS, default_attacks(ROWS))
    with Journal(folder / JOURNAL) as journal:
        monitor = toy_monitor(journal, ZONES)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            sink = SyslogSink("siem", SyslogConfig(host="127.0.0.1", port=port, timeout_s=3))
            follower = Follower(journal, sink, Cursor(folder / "cursor"), QUICKLY)
            follower.start()
            monitor.step(telemetry.batch(0, ROWS // 2))
            hanging, _ = listener.accept()
            last = journal.reader.last_event_number()
            until(lambda: follower.stats.cursor == last, "what is sent to a receiver that does not read")
            hanging.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        hanging.close()
        with SyslogReceiver(port) as siem:
            monitor.step(telemetry.batch(ROWS // 2, ROWS))
            produced = [event.key for event in journal.events_after(0, 10**6)]
            until(lambda: follower.stats.cursor == journal.reader.last_event_number(), "delivery")
            behind = stop_all([follower], 20)
            until(lambda: len(siem.messages) >= len(produced), "the SIEM")
            seen = {message.split('key="', 1)[1].split('"', 1)[0] for message in siem.messages}
    return [
        expect_none(HANGS, "events never seen", len(set(produced) - seen), str(len(produced))),
        expect_none(HANGS, "sinks behind at the end", len(behind)),
    ]


def _restarted(folder: Path) -> list[Figure]:
    """End the follower while a SIEM holds what it has not read; a new process and a new SIEM take over."""
    telemetry = toy_building(ZONES, ROWS, default_attacks(ROWS))

    def start(port: int) -> Follower:
        sink = SyslogSink("siem", SyslogConfig(host="127.0.0.1", port=port, timeout_s=3))
        follower = Follower(journal, sink, Cursor(folder / "cursor"), QUICKLY)
        follower.start()
        until(lambda: follower.stats.cursor == journal.reader.last_event_number(), "delivery")
        return follower

    with Journal(folder / JOURNAL) as journal:
        toy_monitor(journal, ZONES).step(telemetry.batch(0, ROWS))
        produced = [event.key for event in journal.events_after(0, 10**6)]
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            follower = start(port)
            hanging, _ = listener.accept()
            stop_all([follower], 20)
        hanging.close()
        got = []
        for _ in range(2):
            with SyslogReceiver(port) as siem:
                stop_all([start(port)], 20)
            got.append([message.split('key="', 1)[1].split('"', 1)[0] for message in siem.messages])
    return [
        expect_none(RESTARTED, "events never seen", len(set(produced) - set(got[0])), str(len(produced))),
        expect_none(RESTARTED, "events sent again after an orderly end", len(got[1]), str(len(produced))),
    ]


def _dead(folder: Path) -> list[Figure]:
    rule = FollowRule(poll_s=0.01, first_retry_s=0.01, longest_retry_s=0.05, heartbeat_s=0.2)
    with Journal(folder / JOURNAL) as journal:
        toy_monitor(journal, ZONES)
        sink = SyslogSink("siem", SyslogConfig(host="127.0.0.1", port=free_port(), timeout_s=1))
        follower = Follower(journal, sink, Cursor(None), rule, pulse=lambda: {"ready": True})
        follower.start()
        until(lambda: follower.stats.failures > 0, "a heartbeat that fails")
        looks = up = 0
        while follower.stats.failures < 5:
            looks += 1
            up += not follower.stats.last_error
            time.sleep(0.01)
        stop_all([follower], 5)
    return [
        expect_none(DEAD, "looks at which it counts as up", up, str(looks)),
        expect_none(DEAD, "events counted as delivered", follower.stats.delivered),
    ]
