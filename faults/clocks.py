"""Wrong clocks, steps of clocks and stored readings: devices with right clocks must be judged as in a clean run.

The trial plays messages into a site in simulated time, without waiting: a day passes in seconds.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_none
from faults.rig import Rig
from faults.schedule import Message, Play, applied, forwarded, off_by, regular, step_all, stored, stuck
from faults.toy_detector import SITE, START_MS, STEP_MS, Attack, Telemetry, toy_building, toy_detector
from graphghha.monitor import Site, SiteConfig
from graphghha.monitor.journal.codec import pack, unpack
from graphghha.sources import ReadingBatch, Rejection
from graphghha.windows import Rows

ZONES = 12
WRONG = ZONES - 1  # the device whose clock is wrong
NAMES = [f"zone-{number:02d}" for number in range(1, ZONES + 1)]
CONFIG = SiteConfig(warm_up_rows=0)
ROWS, BEGINS = 120, 30  # of the runs with wrong clocks, and when the clock goes wrong
YEAR_MS = 365 * 86_400_000
DEAD_MS = 946_684_800_000  # 2000-01-01, where a clock without a battery begins
STORED_ROWS = 360  # what gateways or a broker keep
JUNK_EVERY_MS = 200  # five messages a second that no point answers to


@dataclass(frozen=True, slots=True)
class Case:
    """A fault and the messages that arrive under it."""

    fault: str
    messages: list[Message]


def _attacks(rows: int) -> tuple[Attack, ...]:
    return ((rows // 4, rows // 2, "zone-07/FCU_CVLV"), (rows // 3, 2 * rows // 3, "zone-02/RM_TEMP"))


def _play(telemetry: Telemetry, messages: list[Message]) -> Play:
    play = Play(telemetry, toy_detector(ZONES), CONFIG)
    play.run(messages)
    return play


def clock_cases(telemetry: Telemetry) -> Iterator[Case]:
    """Yield the faults of one device's clock."""
    clean = regular(telemetry, ZONES)
    for offset_ms, name in ((90_000, "90 s"), (590_000, "590 s"), (YEAR_MS, "a year")):
        for sign, way in ((1, "ahead"), (-1, "behind")):
            yield Case(f"one device {name} {way}", applied(clean, off_by(WRONG, sign * offset_ms, BEGINS)))
    dead = applied(clean, off_by(WRONG, DEAD_MS - START_MS))
    first = [replace(each, arrives_ms=each.arrives_ms - 10_000) if each.device == WRONG else each for each in dead]
    yield Case("one device with a dead clock, heard first", first)
    stands = int(telemetry.times_ms[BEGINS])
    yield Case("one device's clock stands still", applied(clean, stuck(WRONG, stands, BEGINS)))
    often = [replace(each, arrives_ms=each.arrives_ms + late) for each in dead for late in range(0, 60_000, 200)]
    chatter = [each for each in often if each.device == WRONG]
    yield Case("the same, five messages a second", [*applied(clean, stuck(WRONG, stands, BEGINS)), *chatter])
    jumps = [
        replace(each, stated_ms=each.stated_ms + 590_000 * (each.row % 2)) if each.device == WRONG else each
        for each in clean
    ]
    yield Case("one device's clock jumps", jumps)


def try_clocks(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    """Use the toy detector whatever the rig, as this trial tests the rows."""
    telemetry = toy_building(ZONES, ROWS, _attacks(ROWS))
    clean = _play(telemetry, regular(telemetry, ZONES))
    figures = []
    for case in clock_cases(telemetry):
        progress(case.fault)
        play = _play(telemetry, case.messages)
        same = sum(_is_same(clean, play, device) for device in range(ZONES) if device != WRONG)
        told = {event.body["device"] for event in play.kinds("device.clock")}
        figures += [
            expect_all(case.fault, "other zones judged as in a clean run", same, ZONES - 1),
            expect_all(case.fault, "devices reported by device.clock", int(told == {NAMES[WRONG]}), 1),
        ]
    for minutes in (5, 8, 60):
        fault = f"all clocks set back by {minutes} min"
        progress(fault)
        play = _play(telemetry, applied(regular(telemetry, ZONES), step_all(-minutes * STEP_MS, ROWS - 50)))
        same = sum(_is_same(clean, play, device) for device in range(ZONES))
        figures.append(expect_all(fault, "zones judged as in a clean run", same, ZONES))
        figures.append(expect_none(fault, "readings lost", play.lost(range(ZONES), ROWS - 2), f"{_sent(ROWS):,}"))
    return figures


def _is_same(clean: Play, play: Play, device: int) -> bool:
    """Return whether rows and incidents of a zone are those of the clean run."""
    rows = len(clean.times_ms)
    own = clean.columns[device]
    return (
        play.times_ms[:rows] == clean.times_ms
        and np.array_equal(play.values[:rows, own], clean.values[:, own], equal_nan=True)
        and play.incidents(NAMES[device : device + 1]) == clean.incidents(NAMES[device : device + 1])
    )


def _sent(rows: int) -> int:
    return rows * len(toy_building(ZONES, 1).names)


def try_backlog(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    """Readings that were stored, in simulated time: by gateways, and by a broker while the monitor was down."""
    rows = STORED_ROWS + 60
    first, end = 30, 30 + STORED_ROWS
    telemetry = toy_building(ZONES, rows, _attacks(rows))
    regularly = regular(telemetry, ZONES)
    clean = _play(telemetry, regularly)
    back_ms = int(telemetry.times_ms[end - 1]) + STEP_MS // 2
    figures = []
    for fault, every_ms in (
        ("12 gateways forward 6 h at once", 1_000),
        ("12 gateways, 6 h, a minute each", 60_000),
    ):
        progress(fault)
        play = _play(telemetry, applied(regularly, forwarded(first, end, back_ms, every_ms)))
        figures += _compare(fault, clean, play, rows - 14)
    progress(f"{effort.stored_hours} h down")
    figures += _long_backlog(effort.stored_hours)
    for fault, junk_ms in (("6 h down, junk first", 0), ("6 h down, a chatty topic", JUNK_EVERY_MS)):
        progress(fault)
        messages = applied(regularly, stored(first, end, back_ms))
        figures += _compare(fault, clean, _restarted(telemetry, messages, back_ms, junk_ms), rows - 2)
    return figures


def _long_backlog(hours: int) -> list[Figure]:
    """The monitor is down for hours, the broker keeps everything and delivers it in one piece."""
    first, end = 30, 30 + 60 * hours
    telemetry = toy_building(ZONES, end + 30, _attacks(end))
    regularly = regular(telemetry, ZONES)
    back_ms = int(telemetry.times_ms[end - 1]) + STEP_MS // 2
    play = _restarted(telemetry, applied(regularly, stored(first, end, back_ms)), back_ms, 0)
    return _compare(f"{hours} h down, clean backlog", _play(telemetry, regularly), play, end + 28)


def _restarted(telemetry: Telemetry, messages: list[Message], back_ms: int, junk_ms: int) -> Play:
    """Play up to an outage, restart the site from its state, and play the rest with unusable messages before it."""
    play = Play(telemetry, toy_detector(ZONES), CONFIG)
    play.run([each for each in messages if each.arrives_ms < back_ms])
    state, board = unpack(pack(play.site.to_state())), unpack(pack(play.site.board_state()))
    values = play.values[-10:]
    history = Rows(np.array(play.times_ms[-10:]), values, np.isfinite(values), np.isfinite(values).any(axis=1))
    play.site = Site.from_state(SITE, toy_detector(ZONES), CONFIG, state, board, history)
    for batch in play.batches([each for each in messages if each.arrives_ms >= back_ms]):
        for at in range(int(batch.received_ms) - 1_000, int(batch.received_ms), junk_ms or 1_000):
            play.take(ReadingBatch.empty(SITE, at, {Rejection.UNMAPPED: 1}))
        play.take(batch)
    return play


def _compare(fault: str, clean: Play, play: Play, rows: int) -> list[Figure]:
    lost = play.lost(range(ZONES), rows)
    same = sum(play.incidents([name]) == clean.incidents([name]) for name in NAMES)
    return [
        expect_none(fault, "readings lost", lost, f"{_sent(rows):,}"),
        expect_all(fault, "zones with the incidents of a clean run", same, ZONES),
        expect_none(fault, "devices reported by device.clock", len(play.kinds("device.clock"))),
    ]
