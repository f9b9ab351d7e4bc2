"""One suite over every kind of source: the same building in, the same readings out, whatever carries them.

The building has three zones and the site watches two of them, so that every source meets names it does not know.
"""

import json
import sys
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from graphghha._util.times import iso
from graphghha.plants import load_simulator, load_testbed
from graphghha.sources import FileConfig, MqttConfig, Rejection, SimulatedConfig, StdinConfig, open_source
from source_builders import PLANT, POINTS, WAIT_S
from waiting import until

BUILDING = {"zones": 3, "days": 1, "start": datetime(2018, 7, 2), "seed": 5}
NAMES = PLANT.template.replicate(3).points
ROWS = 20  # of the evening; a simulation and its file deliver the day before that too
SITE = {"site": "site", "points": POINTS, "plant": PLANT}


@dataclass(frozen=True)
class Kind:
    """A kind of source: how it gets the building's readings, and what its status names."""

    provide: object
    named: str
    ends: bool = True
    is_ours: bool = False  # its values come from our simulator and cannot be bad


@pytest.fixture(scope="module")
def evening():
    """The last rows of the building's day: times [r] and values [r p]."""
    (day,) = load_testbed("fcu").run(**BUILDING)
    times = day.times.astype("datetime64[ms]").astype(np.int64)
    return times[-ROWS:], day.values.reshape(len(times), -1)[-ROWS:].astype(np.float64)


def simulated(tools, times, values):
    return SimulatedConfig(plant="fcu", zones=3, days=1, seed=5, start=datetime(2018, 7, 2, 23, 40))


def telemetry(tools, times, values):
    file = tools.folder / "day.parquet"
    load_simulator("fcu")(**BUILDING, cases=[], out=file)
    return FileConfig(path=file, format="parquet")


def wide_table(times, values):
    columns = {name: values[:, number] for number, name in enumerate(NAMES)}
    return pa.table({"time": pa.array(times, pa.timestamp("ms", tz="UTC")), **columns})


def long_table(times, values):
    zones, points = zip(*(name.split("/") for name in NAMES), strict=True)
    return pa.table(
        {
            "time": pa.array(np.repeat(times, len(NAMES)), pa.timestamp("ms", tz="UTC")),
            "zone": zones * len(times),
            "point": points * len(times),
            "value": values.ravel(),
            "quality": ["good"] * values.size,
        }
    )


def csv_file(table):
    def provide(tools, times, values):
        file = tools.folder / "evening.csv"
        pacsv.write_csv(table(times, values), file)
        return FileConfig(path=file, format="csv")

    return provide


def parquet_file(table):
    def provide(tools, times, values):
        file = tools.folder / "evening.parquet"
        pq.write_table(table(times, values), file)
        return FileConfig(path=file, format="parquet")

    return provide


def messages(times, values):
    """One message per zone and minute: the zone, and its values."""
    for time_ms, row in zip(times.tolist(), values.tolist(), strict=True):
        zones = {}
        for name, value in zip(NAMES, row, strict=True):
            zone, _, signal = name.partition("/")
            zones.setdefault(zone, {})[signal] = value
        for zone, signals in zones.items():
            yield zone, {"time": iso(time_ms), "values": signals}


def lines(tools, times, values):
    file = tools.folder / "evening.jsonl"
    file.write_text("".join(json.dumps({"device": zone} | each) + "\n" for zone, each in messages(times, values)))
    tools.monkeypatch.setattr(sys, "stdin", tools.resources.enter_context(file.open()))
    return StdinConfig()


def mqtt(tools, times, values):
    broker = tools.request.getfixturevalue("broker")
    config = MqttConfig(host="127.0.0.1", port=broker.port, prefix="bms")
    before = open_source(config, **SITE)  # from now on the broker keeps messages for the session
    until(lambda: before.status.is_connected)
    before.close()
    with broker.publisher() as device:
        for zone, message in messages(times, values):
            device.post(f"bms/{zone}", json.dumps(message).encode())
        device.flush()
    return config


KINDS = {
    "simulated": Kind(simulated, "simulated fcu", is_ours=True),
    "telemetry": Kind(telemetry, "day.parquet", is_ours=True),
    "csv-wide": Kind(csv_file(wide_table), "evening.csv"),
    "csv-long": Kind(csv_file(long_table), "evening.csv"),
    "parquet-wide": Kind(parquet_file(wide_table), "evening.parquet"),
    "parquet-long": Kind(parquet_file(long_table), "evening.parquet"),
    "stdin": Kind(lines, "lines"),
    "mqtt": Kind(mqtt, "mqtt://127.0.0.1", ends=False),
}
EVERY_KIND = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
FOREIGN = {name: kind for name, kind in KINDS.items() if not kind.is_ours}


@dataclass(frozen=True)
class Tools:
    folder: object
    monkeypatch: object
    request: object
    resources: ExitStack

    def open(self, kind, times, values):
        source = open_source(kind.provide(self, times, values), **SITE)
        self.resources.callback(source.close)
        return source


@pytest.fixture
def tools(tmp_path, monkeypatch, request):
    with ExitStack() as resources:
        yield Tools(tmp_path, monkeypatch, request, resources)


def read(source, kind, count, *, is_acknowledging=True):
    """Read to the end, or until `count` readings came or were rejected."""
    batches = []

    def is_done():
        arrived = sum(len(batch.readings()[0]) + sum(batch.rejected.values()) for batch in batches)
        return source.status.is_finished if kind.ends else arrived >= count

    while not is_done():
        batch = source.poll(WAIT_S)
        assert batch is not None or source.status.is_finished, "nothing came in time"
        if batch is not None:
            batches.append(batch)
            if is_acknowledging:
                source.acknowledge(batch)
    return batches


def readings(batches, since_ms):
    """{(point, time): value} of the readings since a time."""
    return {
        (POINTS[column], time_ms): value
        for batch in batches
        for column, time_ms, value in zip(*(array.tolist() for array in batch.readings()), strict=True)
        if time_ms >= since_ms
    }


def rejections(batches):
    return +sum((Counter(batch.rejected) for batch in batches), Counter())


@EVERY_KIND
def test_the_same_building_gives_the_same_readings(kind, tools, evening):
    times, values = evening
    batches = read(tools.open(kind, times, values), kind, values.size)
    result = readings(batches, times[0])
    truth = {
        (name, time_ms): value
        for time_ms, row in zip(times.tolist(), values.tolist(), strict=True)
        for name, value in zip(NAMES, row, strict=True)
        if name in POINTS
    }
    assert result.keys() == truth.keys()
    assert result == pytest.approx(truth, rel=1e-6, abs=1e-6)
    assert all(batch.site == "site" and batch.received_ms >= batch.times_ms.max() for batch in batches if len(batch))


@EVERY_KIND
def test_readings_of_another_zone_are_rejected_and_counted(kind, tools, evening):
    batches = read(tools.open(kind, *evening), kind, evening[1].size)
    used = sum(len(batch.readings()[0]) for batch in batches)
    assert rejections(batches) == {Rejection.UNMAPPED: used // 2}  # one zone of three


@pytest.mark.parametrize("kind", FOREIGN.values(), ids=FOREIGN)
def test_an_impossible_value_is_rejected_and_the_rest_is_read(kind, tools, evening):
    times, values = evening[0], evening[1].copy()
    values[3, 0] = 1e9
    batches = read(tools.open(kind, times, values), kind, values.size)
    assert rejections(batches)[Rejection.OUT_OF_LIMITS] == 1
    result = readings(batches, times[0])
    assert (NAMES[0], times[3]) not in result and len(result) == ROWS * len(POINTS) - 1


@EVERY_KIND
def test_the_end_is_reported_where_there_is_one(kind, tools, evening):
    source = tools.open(kind, *evening)
    read(source, kind, evening[1].size)
    assert source.poll(0.01) is None
    assert source.status.is_finished == kind.ends and source.status.is_connected != kind.ends


@EVERY_KIND
def test_batches_may_be_acknowledged_later_in_their_order(kind, tools, evening):
    source = tools.open(kind, *evening)
    batches = read(source, kind, evening[1].size, is_acknowledging=False)
    for batch in batches:
        source.acknowledge(batch)
    assert source.status.is_finished == kind.ends and sum(map(len, batches)) >= ROWS * len(POINTS)


@EVERY_KIND
def test_the_status_says_what_is_read_and_that_it_is_connected(kind, tools, evening):
    source = tools.open(kind, *evening)
    until(lambda: source.status.is_connected)
    assert kind.named in source.status.detail and not source.status.is_finished


@EVERY_KIND
def test_closing_twice_is_harmless_and_nothing_comes_afterwards(kind, tools, evening):
    source = tools.open(kind, *evening)
    read(source, kind, evening[1].size)
    source.close()
    source.close()
    assert source.poll(0.01) is None and not source.status.is_connected and source.status.detail


@EVERY_KIND
def test_a_source_can_be_closed_before_anything_was_read(kind, tools, evening):
    source = tools.open(kind, *evening)
    source.close()
    assert not source.status.is_connected
