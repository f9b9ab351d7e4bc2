"""Hostile messages from a broker must cause no crash, no invalid score and bounded memory, and be counted."""

import json
import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faults.broker import Broker
from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_at_most, expect_none
from faults.rig import JOURNAL, PREFIX, Rig, memory_mb, publish, until
from faults.toy_detector import SITE, Telemetry
from graphghha.monitor import Detector, Journal, Monitor, Scorer
from graphghha.sources import Rejection, open_source, parse_address

FAULT = "hostile messages"
ZONES = 2
BIG_EVERY, BIG_BYTES = 10_000, 10_000_000
BURST = 500  # hostile messages between two rows of the plant
MAX_GROWTH_MB = 250.0
POINT = f"{PREFIX}/zone-01/RM_TEMP"
Message = tuple[str, bytes]


class CheckedScorer:
    """Counts scores that are invalid: a node's class probabilities are either all in [0, 1] or all unknown."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self.invalid = self.valid = 0

    def push(self, values: NDArray[Any], fresh: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> Any:
        scored = self._scorer.push(values, fresh, wanted)
        probs = scored.probs
        unknown = np.isnan(probs).all(axis=-1)
        valid = (np.isfinite(probs) & (probs >= 0.0) & (probs <= 1.0)).all(axis=-1)
        self.valid += int(valid.sum())
        self.invalid += int((~valid & ~unknown).sum())
        return scored


def try_fuzz(folder: Path, rig: Rig, effort: Effort, progress: Progress, seed: int = 0) -> list[Figure]:
    bursts = max(10, effort.fuzz_messages // BURST)
    telemetry = rig.building(ZONES, bursts + 2, False)
    detector, expected, stop = rig.detector(ZONES), Counter[Rejection](), Flag()
    scorer = CheckedScorer(detector.make_scorer())
    folder.mkdir(parents=True, exist_ok=True)
    with Broker(folder) as broker, Journal(folder / JOURNAL) as journal:
        monitor = Monitor(journal)
        site = monitor.add(SITE, _with_scorer(detector, scorer), rig.config)
        config = parse_address(f"{broker.address}/{PREFIX}")
        source = open_source(config, site=SITE, points=detector.points, plant=detector.plant)
        loop = Thread(target=monitor.run, args=([monitor.feed(SITE, source)], stop))
        loop.start()
        try:
            until(lambda: source.status.is_connected, "a connection")
            before = memory_mb(os.getpid())
            _send_hostile(
                broker, telemetry, rig.warm_up_rows, effort.fuzz_messages, expected, random.Random(seed), progress
            )
            last = int(telemetry.times_ms[-2])
            until(lambda: site.time_ms >= last or not loop.is_alive(), "the last row")
            grown = memory_mb(os.getpid()) - before
            is_alive = loop.is_alive()
        finally:
            stop.set()
            loop.join()
            source.close()
        failed = len(journal.reader.events_after(0, 10**6, ["site.failed"]))
        counted = Counter({Rejection(why): count for why, count in site.rejected.items()})
    correct = sum(min(counted[why], count) for why, count in expected.items())
    return [
        expect_none(FAULT, "crashes or batches not scored", failed + (not is_alive), f"{expected.total():,} messages"),
        expect_none(FAULT, "scores that are not a probability", scorer.invalid, f"{scorer.valid:,}"),
        expect_all(FAULT, "rejections counted under their reason", correct, expected.total()),
        expect_none(FAULT, "good readings rejected", (counted - expected).total()),
        expect_at_most(FAULT, "memory growth", grown, MAX_GROWTH_MB, " MB"),
    ]


def _with_scorer(detector: Detector, scorer: CheckedScorer) -> Detector:
    """Return the same detector with this scorer."""
    return Detector(
        model=detector.model,
        plant=detector.plant,
        graph=detector.graph,
        make_scorer=lambda: scorer,
        rule=detector.rule,
        group_rule=detector.group_rule,
        history_rows=detector.history_rows,
    )


def _send_hostile(
    broker: Broker,
    telemetry: Telemetry,
    warm_up_rows: int,
    count: int,
    expected: Counter[Rejection],
    chance: random.Random,
    progress: Progress,
) -> None:
    with broker.publisher() as device:
        publish(device, telemetry, 0, warm_up_rows)
        rows = len(telemetry) - warm_up_rows - 1
        for row in range(rows):
            publish(device, telemetry, warm_up_rows + row, warm_up_rows + row + 1)
            for number in range(row * count // rows, (row + 1) * count // rows):
                make = _big if number % BIG_EVERY == 0 else chance.choice(KINDS)
                message, rejections = make(chance, int(telemetry.times_ms[warm_up_rows + row]) / 1000)
                device.post(*message)
                expected.update(rejections)
            device.flush()
            progress(f"{FAULT}: {row + 1} of {rows} bursts")
        publish(device, telemetry, len(telemetry) - 1, len(telemetry))  # completes the row before it


def _reading(value: Any, time_s: Any, **more: Any) -> Message:
    return POINT, json.dumps({"time": time_s, "value": value, **more}).encode()


def _big(chance: random.Random, time_s: float) -> tuple[Message, list[Rejection]]:
    return (POINT, b"[" + b"1," * (BIG_BYTES // 2) + b"1]"), [Rejection.TOO_LARGE]


def _not_a_number(chance: random.Random, time_s: float) -> tuple[Message, list[Rejection]]:
    return _reading(float("nan"), time_s), [Rejection.MALFORMED]


def _out_of_limits(chance: random.Random, time_s: float) -> tuple[Message, list[Rejection]]:
    value = chance.choice([float("inf"), float("-inf"), 1e308, -1e308, 10**400, 1e6, -300.0])
    return _reading(value, time_s), [Rejection.OUT_OF_LIMITS]


def _text(chance: random.Random, time_s: float) -> tuple[Message, list[Rejection]]:
    value = chance.choice(["21.4", "NaN", "", "'; DROP TABLE events; --", "\u202e", [], {}, [21.4], True, False])
    return _reading(value, time_s), [Rejection.MALFORMED]


def _wrong_unit(chance: random.Random, time_s: float) -> tuple[Message, list[Rejection]]:
    unit = chance.choice(["kPa", "furlong", "degC" * 1000, 7, ["degC"], {}, False])
    return _reading(21.4, time_s, unit=unit), [Rejection.WRONG_UNIT]


def _unknown_point(chance: random.Random, time_s: float) -> tuple[Message, list[Rejection]]:
    name = f"{PREFIX}/zone-{chance.randint(50, 10**9)}/{chance.choice(['RM_TEMP', '$', 'x' * 500])}"
    return (name, json.dumps({"time": time_s, "value": 21.4}).encode()), [Rejection.UNMAPPED]


def _broken_json(chance: random.Random, time_s: float) -> tuple[Message, list[Rejection]]:
    whole = _reading(chance.uniform(0.0, 40.0), time_s)[1]
    cut = whole[: chance.randrange(1, len(whole))]
    noise = chance.choice([cut, b"\xff" + chance.randbytes(20), b"{" * chance.randint(2, 100_000), b"", b"21.4 21.4"])
    return (POINT, noise), [Rejection.MALFORMED]


def _wrong_time(chance: random.Random, time_s: float) -> tuple[Message, list[Rejection]]:
    when = chance.choice([-1.0, 0, 1e300, 4_102_444_800, "yesterday", "", [], {}, True, float("inf"), float("nan")])
    return _reading(21.4, when), [Rejection.BAD_TIME]


def _bad_quality(chance: random.Random, time_s: float) -> tuple[Message, list[Rejection]]:
    value, quality = chance.choice([(None, "good"), (21.4, "bad"), (21.4, "stale"), (21.4, 0), (21.4, [])])
    return _reading(value, time_s, quality=quality), [Rejection.BAD_QUALITY]


KINDS: tuple[Callable[[random.Random, float], tuple[Message, list[Rejection]]], ...] = (
    _not_a_number,
    _out_of_limits,
    _text,
    _wrong_unit,
    _unknown_point,
    _broken_json,
    _wrong_time,
    _bad_quality,
)
