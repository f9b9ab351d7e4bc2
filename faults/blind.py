"""A zone that is no longer seen, readings that nobody can use, a source or a model that is gone: never in silence."""

import shutil
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from faults.announce import LiveSource, Station
from faults.broker import Broker
from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_none, report
from faults.rig import JOURNAL, PREFIX, Rig, until
from faults.schedule import Message, Play, applied, regular
from faults.toy_detector import IMMEDIATE, SITE, START_MS, STEP_MS, Telemetry, toy_building, toy_detector
from graphghha.alarms import StoredEvent
from graphghha.errors import CheckpointError, DataError
from graphghha.monitor import Detector, Journal, Monitor, SiteConfig
from graphghha.monitor.conditions import read_conditions, standing_conditions
from graphghha.monitor.service import Service
from graphghha.monitor.sinks import Cursor, FollowRule
from graphghha.sources import ReadingBatch, Rejection, open_source, parse_address

ZONES, ROWS, BEGINS = 12, 120, 40
ATTACKED = 6  # the device of zone-07
ATTACK = ((BEGINS, ROWS, "zone-07/FCU_CVLV"),)
FLAPPING = "five good minutes, six bad ones"
CONFIG = SiteConfig(warm_up_rows=0)


def try_blindness(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    figures: list[Figure] = []
    for name, trial in (
        ("zones", _zones),
        ("unusable readings", _unusable),
        ("network thread", _thread),
        ("model folder", _model),
    ):
        progress(name)
        figures += trial(folder / name)
    return figures


def _zones(folder: Path) -> list[Figure]:
    """Take readings of the attacked zone away from shortly before the attack on, by a rhythm."""
    telemetry = toy_building(ZONES, ROWS, ATTACK)
    clean = _played(telemetry, lambda row: True)
    (found_ms,) = _found(clean)
    figures = []
    for fault, is_good in (
        ("device silent or its readings bad, from before an attack on", lambda row: row < BEGINS - 10),
        ("one good minute of twelve", lambda row: row < BEGINS - 10 or row % 12 == 0),
    ):
        play = _played(telemetry, is_good)
        raised = play.kinds("zone.blind")
        figures += [
            expect_all(fault, "alarms of priority (zone.blind)", len(raised), 1),
            expect_all(fault, "alarms that stand in `alarms list`", _standing(play, "zone.blind"), 1),
            expect_all(fault, "zones named in /readyz", int(play.site.blind_zones == ["zone-07"]), 1),
        ]
    for fault, is_good in (
        (FLAPPING, lambda row: row < BEGINS - 10 or row % 11 < 5),
        ("one bad minute of two", lambda row: row % 2 == 0),
        ("one bad minute of six", lambda row: row % 6 != 5),
        ("four good minutes of five", lambda row: row % 5 != 4),
    ):
        play = _played(telemetry, is_good)
        if fault == FLAPPING:
            figures.append(expect_all(fault, "alarms of priority (zone.blind)", len(play.kinds("zone.blind")), 1))
        late = [(time_ms - found_ms) // STEP_MS for time_ms in _found(play)]
        figures.append(expect_all(fault, "attacks found", len(late), 1))
        figures.append(report(fault, "minutes later than in a clean run", ", ".join(map(str, late)) or "never"))
    return figures


def _played(telemetry: Telemetry, is_good: Callable[[int], bool]) -> Play:
    play = Play(telemetry, toy_detector(ZONES), CONFIG)
    messages = regular(telemetry, ZONES)
    play.run([each for each in messages if each.device != ATTACKED or is_good(each.row)])
    return play


def _found(play: Play) -> list[int]:
    return [time_ms for kind, _, _, time_ms in play.incidents(["zone-07"]) if kind == "incident.annunciated"]


def _standing(play: Play, kind: str) -> int:
    events = [StoredEvent(at, SITE, each.time_ms, each.kind, each.body) for at, each in enumerate(play.events, 1)]
    return sum(condition.kind == kind for condition in standing_conditions(events, ""))


def _unusable(folder: Path) -> list[Figure]:
    """From a moment on, whatever arrives is late, ahead, or rejected; later it is good again."""
    telemetry = toy_building(ZONES, ROWS)
    messages = regular(telemetry, ZONES)
    first, end = BEGINS, BEGINS + 30

    def is_hit(message: Message) -> bool:
        return first <= message.row < end

    def stuck(message: Message) -> Message:
        return replace(message, stated_ms=int(telemetry.times_ms[first - 5])) if is_hit(message) else message

    figures = []
    for fault, changed, rejected in (
        ("all readings repeat an old time for half an hour", applied(messages, stuck), False),
        ("all readings are rejected for half an hour", messages, True),
    ):
        play = Play(telemetry, toy_detector(ZONES), CONFIG)
        standing = 0
        for batch in play.batches(changed):
            row = (batch.received_ms - int(telemetry.times_ms[0])) // STEP_MS
            if rejected and first <= row < end and len(batch):
                batch = ReadingBatch.empty(SITE, batch.received_ms, {Rejection.BAD_QUALITY: len(batch)})
            play.take(batch)
            if row == end - 2:
                standing = _standing(play, "source.lost")
        lost = play.kinds("source.lost")
        figures += [
            expect_all(fault, "alarms of priority (source.lost)", len(lost), 1),
            expect_all(fault, "alarms that say that readings arrive", sum("reason" in each.body for each in lost), 1),
            expect_all(fault, "alarms that stand meanwhile", standing, 1),
            expect_none(fault, "alarms that stand afterwards", _standing(play, "source.lost")),
        ]
    return figures


def _thread(folder: Path) -> list[Figure]:
    """End the network thread of an MQTT source, and leave it as paho does when no thread can be started."""
    fault = "network thread of the source ends and none can be started"
    folder.mkdir(parents=True)
    detector = toy_detector(2)
    sent = 30
    with Broker(folder) as broker, broker.publisher() as device:
        source: Any = open_source(
            parse_address(f"{broker.address}/{PREFIX}"), site=SITE, points=detector.points, plant=detector.plant
        )
        with closing(source):
            until(lambda: bool(source.status.is_connected), "a connection")
            source._client.disconnect()
            until(lambda: source._client._thread is None, "the end of the thread")
            source._client._thread = threading.Thread()
            for row in range(sent):
                time_s = START_MS // 1000 + row * 60
                device.send(f"{PREFIX}/zone-01/RM_TEMP", {"time": time_s, "value": 20.0 + row / 100})
            errors, got = 0, 0
            end = time.monotonic() + 60
            while got < sent and time.monotonic() < end:
                try:
                    batch = source.poll(0.1)
                except DataError:
                    errors += 1
                    continue
                if batch is not None:
                    got += len(batch)
                    source.acknowledge(batch)
    return [
        expect_all(fault, "reported as a failure of the source", errors, 1),
        expect_none(fault, "readings lost", sent - got, str(sent)),
    ]


def _model(folder: Path) -> list[Figure]:
    """Remove the folder of the model that is in use, and put it back."""
    fault, place = "model folder removed, then put back", folder / "model"
    place.mkdir(parents=True)
    (place / "name").write_text("toy@1", encoding="utf-8")

    def load(_name: str, directory: Path) -> Detector:
        if not directory.exists():
            raise CheckpointError(f"{directory}: there is no model")
        return toy_detector(2)

    monitor = Monitor(Journal(folder / JOURNAL), load=load)
    monitor.add(SITE, toy_detector(2), IMMEDIATE)
    source, station, telemetry = LiveSource(), Station(), toy_building(2, 10)
    service = Service(monitor, {SITE: source}, {SITE: place}, drain_s=5)
    service.follow(station, Cursor(None), FollowRule(poll_s=0.02))
    thread = threading.Thread(target=service.run, daemon=True)
    thread.start()
    source.batches.extend(telemetry.batches())

    def standing() -> list[str]:
        return [condition.kind for condition in read_conditions(monitor.journal.reader)]

    try:
        until(lambda: monitor.sites[SITE].steps == 10, "rows")
        shutil.move(place, folder / "elsewhere")
        until(lambda: bool(standing()), "an alarm")
        shown, reasons = standing(), service.snapshot().to_dict()["reasons"]
        shutil.move(folder / "elsewhere", place)
        until(lambda: not standing(), "the end of the alarm")
    finally:
        service.stop()
        thread.join(30)
    refused = [event for event in station.got if event.kind == "model.refused"]
    return [
        expect_all(fault, "alarms of priority (model.refused)", sum("priority" in each.body for each in refused), 1),
        expect_all(fault, "alarms that stand meanwhile", shown.count("model.refused"), 1),
        expect_all(fault, "reasons in /readyz", len(reasons), 1),
    ]
