"""The broker goes away, the connection is torn, packets vanish: found again, the gap told, nobody accused."""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from faults.broker import Broker
from faults.effort import Effort
from faults.figures import Figure, Say, all_of, at_most, none_of
from faults.processes import cpu_s
from faults.proxy import FaultProxy
from faults.rig import JOURNAL, PREFIX, Rig, Watcher, begin, publish, watched_ms
from faults.toy_detector import SITE, STEP_MS, Telemetry
from graphghha.alarms import iso
from graphghha.monitor import Reader

ROWS_BETWEEN = 30  # heard between two faults
ROWS_LOST = 45  # of plant time, which nobody could send
MOST_CPU = 5.0  # per cent of one core
CALM_S = 1.0


@dataclass(frozen=True, slots=True)
class _Stage:
    """One building, one broker, one proxy, one watcher."""

    broker: Broker
    proxy: FaultProxy
    watcher: Watcher
    telemetry: Telemetry

    def send(self, first: int, end: int) -> None:
        self.post(first, end)
        self.heard(end)

    def post(self, first: int, end: int) -> None:
        """Rows as a device sends them, past the proxy."""
        with self.broker.publisher() as device:
            publish(device, self.telemetry, first, end)

    def heard(self, end: int) -> None:
        """Wait until the monitor has judged all but the last, which is still open."""
        reached = int(self.telemetry.times_ms[end - 2])
        self.watcher.until(lambda: watched_ms(self.watcher.state) >= reached, f"row {end - 2}")


def try_outages(folder: Path, rig: Rig, effort: Effort, say: Say) -> list[Figure]:
    count = 2 + len(effort.outages_s)
    telemetry = rig.building(effort.outage_zones, (count + 1) * (ROWS_BETWEEN + ROWS_LOST), False)
    at, figures, lost = max(1, rig.warm_up_rows), [], []
    state = folder / "state"
    state.mkdir(parents=True)
    with Broker(folder) as broker, FaultProxy(("127.0.0.1", broker.port)) as proxy:
        address = f"mqtt://127.0.0.1:{proxy.port}/{PREFIX}?keepalive_s={effort.keepalive_s}"
        with Watcher(rig.command(state, address, effort.outage_zones), state) as watcher:
            stage = _Stage(broker, proxy, watcher, telemetry)
            with broker.publisher() as device:
                begin(watcher, device, telemetry)
            stage.send(1, at := at + ROWS_BETWEEN)
            for seconds in effort.outages_s:
                fault = f"broker down {seconds:g} s"
                say(fault)
                figures.append(at_most(fault, "processor time during it", _down(stage, seconds), MOST_CPU, " %"))
                lost.append((at - 1, at + ROWS_LOST))
                stage.send(at + ROWS_LOST, at := at + ROWS_LOST + ROWS_BETWEEN)
            for fault, trouble in (("connection reset", _reset), ("black hole", _swallow)):
                say(fault)
                cost = trouble(stage, at, effort)
                figures.append(at_most(fault, "processor time during it", cost, MOST_CPU, " %"))
                stage.heard(at := at + ROWS_BETWEEN)
            watcher.end()
    return figures + _judged(state, telemetry, lost, at)


def _down(stage: _Stage, seconds: float) -> float:
    stage.broker.stop()
    cost = _cost(stage.watcher.pid, seconds)
    stage.broker.start()
    return cost


def _reset(stage: _Stage, at: int, effort: Effort) -> float:
    """Torn, and refused for a while."""
    stage.proxy.refuse()
    stage.proxy.reset()
    stage.post(at, at + ROWS_BETWEEN)
    cost = _cost(stage.watcher.pid, CALM_S)
    stage.proxy.refuse(False)
    return cost


def _swallow(stage: _Stage, at: int, effort: Effort) -> float:
    """Open connections that say nothing, until the other side has noticed."""
    stage.proxy.black_hole()
    stage.post(at, at + ROWS_BETWEEN)
    cost = _cost(stage.watcher.pid, 2.0 * effort.keepalive_s)
    stage.proxy.black_hole(False)
    return cost


def _cost(pid: int, seconds: float) -> float:
    """Per cent of a core over a while."""
    before, began = cpu_s(pid), time.monotonic()
    time.sleep(seconds)
    return 100.0 * (cpu_s(pid) - before) / (time.monotonic() - began)


def _judged(state: Path, telemetry: Telemetry, lost: list[tuple[int, int]], end: int) -> list[Figure]:
    """What the journal says of it all."""
    with Reader(state / JOURNAL) as reader:
        found = [event.body for event in reader.events_after(0, 10**6, kind="source.found")]
        told = len(reader.events_after(0, 10**6, kind="incident.annunciated"))
        rows = reader.rows(SITE)
    assert rows is not None
    gaps = [(iso(int(telemetry.times_ms[last])), iso(int(telemetry.times_ms[first]))) for last, first in lost]
    exact = sum(gap == (body["from"], body["to"]) for gap, body in zip(gaps, found, strict=False))
    sent = np.ones(end - 1, np.bool_)
    for last, first in lost:
        sent[last + 1 : first] = False
    heard = np.isin(telemetry.times_ms[: end - 1][sent], rows.times_ms[rows.fresh.all(axis=1)])
    fault = "all outages"
    return [
        all_of(fault, f"gaps told exactly, to the interval of {STEP_MS // 1000} s", exact, max(len(gaps), len(found))),
        all_of(fault, "rows kept of those that were sent", int(heard.sum()), int(sent.sum())),
        none_of(fault, "false attack alarms", told),
    ]
