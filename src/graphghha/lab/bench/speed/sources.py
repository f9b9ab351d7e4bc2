"""Throughput of the sources on one core, from bytes to complete rows of the grid."""

import io
import json
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from graphghha.errors import ConfigError, EngineError
from graphghha.plants import Plant, Points, load_plant, load_simulator
from graphghha.sources import Batch, FileConfig, MqttConfig, RowBatch, Source, open_source, parse_address
from graphghha.sources.batch_builder import BatchBuilder
from graphghha.sources.mapping import Mapper
from graphghha.sources.stdin import LineSource
from graphghha.windows import Grid, GridConfig

START = datetime(2018, 7, 2)
START_MS = int(np.datetime64(START, "ms").astype(np.int64))
MINUTE_MS = 60_000
LINE_MINUTES, DEVICE_MINUTES = 60, 120
TIMEOUT_S = 60.0
MAX_PENDING = 20_000  # unconfirmed messages; an MQTT client can number at most 65,535
TOPIC = "graphghha-bench"


def measure(
    plant_name: str,
    zones: int = 48,
    *,
    mqtt: str | None = None,
    quick: bool = False,
    progress: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Return readings per second by source; `mqtt` is the address of a broker, which adds two rows."""
    plant = load_plant(plant_name)
    names = plant.template.replicate(zones).points
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for label, source, count in _sources(plant, names, zones, Path(folder), 1 if quick else 3, mqtt):
            cpu = time.process_time()
            readings, seconds = _drain(source, names, count)
            cpu = time.process_time() - cpu
            rates = {"readings_per_s": readings / seconds, "readings_per_cpu_s": readings / cpu}
            rows.append({"source": label, "readings": readings} | rates)
            progress(f"{label}: {readings / seconds:,.0f} readings/s, {readings / cpu:,.0f} per second of one core")
    return {"zones": zones, "points": len(names), "rows": rows}


def _sources(
    plant: Plant, names: tuple[str, ...], zones: int, folder: Path, days: int, mqtt: str | None
) -> Iterator[tuple[str, Source, int | None]]:
    for layout in ("wide", "long"):
        file = folder / f"{layout}.parquet"
        load_simulator(plant.name)(zones=zones, days=days, start=START, seed=1, cases=[], out=file, layout=layout)
        config = FileConfig(path=file, format="parquet")
        yield f"parquet {layout}", open_source(config, site="site", points=names, plant=plant), None
    points = Points.from_names(plant, names)
    for label, lines in (("JSON line per reading", _readings(points)), ("JSON line per device", _devices(points))):
        yield label, LineSource(io.BytesIO(b"\n".join(lines)), BatchBuilder("site", Mapper(points))), None
    if mqtt is None:
        return
    for label, messages in (
        ("MQTT topic per point", _topics(points)),
        ("MQTT message per device", _device_topics(points)),
    ):
        # an own session that ends with the benchmark: another run must not find these messages
        session = replace(_broker(mqtt), prefix=TOPIC, client_id=f"{TOPIC}-{uuid.uuid4().hex}", session_expiry_s=120)
        with closing(open_source(session, site="site", points=names, plant=plant)) as source:
            _wait_for_connection(source, mqtt)
        count = _publish(session, messages)
        with closing(open_source(session, site="site", points=names, plant=plant)) as source:
            yield label, source, count


def _broker(address: str) -> MqttConfig:
    config = parse_address(address)
    if not isinstance(config, MqttConfig):
        raise ConfigError(
            f"bench stream: --mqtt {address} is not the address of a broker, such as mqtt://127.0.0.1:1883"
        )
    return config


def _wait_for_connection(source: Source, address: str) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not source.status.is_connected:
        if time.monotonic() > deadline:
            raise EngineError(
                f"bench stream: no connection to {address} within {TIMEOUT_S:g} s: {source.status.detail}"
            )
        time.sleep(0.01)


def _drain(source: Source, names: tuple[str, ...], count: int | None) -> tuple[int, float]:
    """Read until the source ends or has given `count` readings; return the readings and the seconds it took."""
    grid = Grid(names, GridConfig(), start_ms=START_MS)
    readings, began = 0, time.perf_counter()
    while not source.status.is_finished and (count is None or readings < count):
        batch = source.poll(0.1)
        if batch is not None:
            readings += len(batch)
            _push(grid, batch)
            source.acknowledge(batch)
        if count is not None and time.perf_counter() - began > TIMEOUT_S:
            raise EngineError(
                f"bench stream: {readings:,} of {count:,} readings arrived within {TIMEOUT_S:g} s; "
                "a broker must keep all messages of a client that is away (Mosquitto: max_queued_messages 0)"
            )
    return readings, time.perf_counter() - began


def _push(grid: Grid, batch: Batch) -> None:
    if isinstance(batch, RowBatch):
        grid.push_block(batch.times_ms, batch.values)
    else:
        for column, time_ms, value in zip(*(array.tolist() for array in batch.readings()), strict=True):
            grid.push(grid.points[column], time_ms, value)
    if len(batch):
        grid.advance(int(batch.times_ms.max()) - MINUTE_MS)


def _minutes(points: Points, count: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield an ISO time and plausible values by point name for every minute."""
    middle = (points.low + points.high) / 2
    rng = np.random.default_rng(1)
    for minute in range(count):
        values = np.round(middle + 0.01 * (points.high - points.low) * rng.standard_normal(len(points)), 3)
        stamp = f"{np.datetime64(START, 's') + np.timedelta64(minute, 'm')}Z"
        yield stamp, dict(zip(points.names, values.tolist(), strict=True))


def _readings(points: Points) -> list[bytes]:
    return [
        json.dumps(
            {
                "site": "site",
                "point": name,
                "time": stamp,
                "value": value,
                "unit": unit,
                "quality": "good",
                "seq": number,
            }
        ).encode()
        for number, (stamp, values) in enumerate(_minutes(points, LINE_MINUTES))
        for (name, value), unit in zip(values.items(), points.units, strict=True)
    ]


def _device_messages(points: Points) -> Iterator[tuple[str, dict[str, Any]]]:
    for stamp, values in _minutes(points, DEVICE_MINUTES):
        devices: dict[str, dict[str, float]] = {}
        for name, value in values.items():
            device, _, signal = name.rpartition("/")
            devices.setdefault(device, {})[signal] = value
        for device, signals in devices.items():
            yield device, {"time": stamp, "values": signals}


def _devices(points: Points) -> list[bytes]:
    return [json.dumps({"device": device} | message).encode() for device, message in _device_messages(points)]


def _topics(points: Points) -> list[tuple[str, bytes, int]]:
    return [
        (f"{TOPIC}/{name}", json.dumps({"time": stamp, "value": value}).encode(), 1)
        for stamp, values in _minutes(points, LINE_MINUTES // 3)
        for name, value in values.items()
    ]


def _device_topics(points: Points) -> list[tuple[str, bytes, int]]:
    return [
        (f"{TOPIC}/{device}", json.dumps(message).encode(), len(message["values"]))
        for device, message in _device_messages(points)
    ]


def _publish(session: MqttConfig, messages: list[tuple[str, bytes, int]]) -> int:
    """Publish messages that the broker keeps for the session, so that only reading is timed; return the readings."""
    from graphghha.sources.mqtt_client import make_client

    client = make_client(replace(session, client_id=f"{session.client_id}-publisher"))
    client.connect(session.host, session.port)
    client.loop_start()
    for start in range(0, len(messages), MAX_PENDING):
        part = messages[start : start + MAX_PENDING]
        for pending in [client.publish(topic, payload, qos=1) for topic, payload, _ in part]:
            pending.wait_for_publish(TIMEOUT_S)
    client.disconnect()
    client.loop_stop()
    return sum(readings for _, _, readings in messages)
