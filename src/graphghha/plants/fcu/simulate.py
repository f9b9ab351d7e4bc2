"""Simulate a building into files, telemetry and labels, one day at a time."""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import numpy as np

from graphghha.errors import ConfigError
from graphghha.plants.base import CaseSpec
from graphghha.plants.fcu.attacks.labels import Labeller, LabelRows, labelled_days, visible_differences
from graphghha.plants.fcu.attacks.labels_file import LabelsWriter
from graphghha.plants.fcu.attacks.schedule import Event, check_events, check_run, schedule_attacks
from graphghha.plants.fcu.conditions import Observe, parse_building
from graphghha.plants.fcu.lbnl.cases import FAULT_FREE
from graphghha.plants.fcu.lbnl.writer import LbnlWriter, check_free, note_simulated
from graphghha.plants.fcu.physics.building import Building, DayChunk
from graphghha.plants.fcu.physics.design import REFERENCE_DESIGN, Design
from graphghha.plants.fcu.physics.reporting import Reporter
from graphghha.plants.fcu.physics.weather import read_weather
from graphghha.plants.fcu.signals import INDEX, NAMES, SIGNALS
from graphghha.plants.fcu.testbed import zone_names
from graphghha.plants.fcu.topology import TEMPLATE
from graphghha.plants.telemetry import GOOD, Chunk, Layout, TelemetryMeta, TelemetryWriter, labels_path, make_folder

Format = Literal["parquet", "lbnl"]
STEP_S = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class RunConfig:
    """What to simulate and where to write it. `out` is a file for Parquet and a folder for the LBNL format."""

    out: Path
    zones: int = 1
    days: int = 7
    start: datetime = datetime(2018, 1, 1)
    seed: int = 0
    events: tuple[Event, ...] = ()
    weather: Path | None = None
    building: str = "reference"
    observe: Observe = "bms"
    format: Format = "parquet"
    layout: Layout = "long"
    site: str = "site"

    def __post_init__(self) -> None:
        check_run(self.start, self.days, self.seed)
        if self.format == "lbnl" and not self.design.reporting.is_ideal:
            raise ConfigError("simulate: the LBNL format holds every minute of all 29 points; add --observe ideal")
        if self.format == "parquet" and self.out.suffix != ".parquet":
            raise ConfigError(f"simulate: {self.out} must end in .parquet; --format lbnl writes a folder")
        if self.format == "parquet" and os.path.isdir(self.out):
            raise ConfigError(f"simulate: {self.out} is a folder; --out names the file to write")
        if self.format == "lbnl" and os.path.isfile(self.out):
            raise ConfigError(f"simulate: {self.out} is a file; the LBNL format needs a folder")
        check_events(self.events, self.start, self.end, self.zones)

    @property
    def design(self) -> Design:
        return parse_building(self.building, self.observe)

    @property
    def notes(self) -> dict[str, str]:
        """Return where the run differs from the reference building on its own weather."""
        notes = {"weather": self.weather.name if self.weather else "continental"}
        return (
            notes if self.design == REFERENCE_DESIGN else notes | {"building": self.building, "observe": self.observe}
        )

    @property
    def end(self) -> datetime:
        return self.start + timedelta(days=self.days)

    @property
    def zone_names(self) -> tuple[str, ...]:
        return zone_names(self.zones)


def simulate(
    *, cases: Sequence[CaseSpec], zones: int, on_day: Callable[[], None] = lambda: None, **settings: Any
) -> dict[str, Any]:
    """Simulate a building into files, as `write_run` does; further settings are fields of RunConfig."""
    names = zone_names(zones)
    events = tuple(Event.from_spec(case, names) for case in cases)
    return write_run(RunConfig(zones=zones, events=events, **settings), on_day)


def write_run(config: RunConfig, on_day: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """Simulate a run into files and return a summary; `on_day` is called after each day."""
    building = Building(
        zones=config.zones,
        seed=config.seed,
        start=config.start,
        weather=read_weather(config.weather) if config.weather else None,
        attacks=schedule_attacks(config.events),
        design=config.design,
    )
    labeller = Labeller(config.events, visible_differences(building))
    with ExitStack() as stack:
        output = (_parquet if config.format == "parquet" else _lbnl)(config, stack)
        for chunk, labels in labelled_days(building, labeller, config.days):
            output.write(chunk, labels)
            del chunk, labels
            on_day()
    output.finish()
    return {
        "plant": "fcu",
        "zones": config.zones,
        "days": config.days,
        "start": config.start.isoformat(),
        "seed": config.seed,
        "step_s": STEP_S,
        "template_hash": TEMPLATE.content_hash,
        "format": config.format,
        "layout": config.layout if config.format == "parquet" else None,
        "readings": config.zones * config.days * 1440 * len(NAMES),
        "files": [str(path) for path in output.files],
        "bytes": sum(path.stat().st_size for path in output.files),
        "cases": [_event_summary(event, labeller, number) for number, event in enumerate(config.events)],
    }


@dataclass(frozen=True, slots=True)
class _Output:
    """The files of a run; `finish` is called when all of them are complete."""

    files: list[Path]
    write: Callable[[DayChunk, LabelRows | None], None]
    finish: Callable[[], None] = lambda: None


def _parquet(config: RunConfig, stack: ExitStack) -> _Output:
    make_folder(config.out.parent)
    reporting = config.design.reporting
    points, columns = reporting.points, [INDEX[name] for name in reporting.points]
    reporter = Reporter(reporting, config.zones, config.seed)
    meta = TelemetryMeta(
        plant="fcu",
        template_hash=TEMPLATE.content_hash,
        site=config.site,
        zones=config.zone_names,
        points=points,
        units=tuple(signal.unit for signal in SIGNALS if signal.name in points),
        step_s=STEP_S,
        layout=config.layout,
        seed=config.seed,
        cases=tuple(str(event) for event in config.events),
        notes=config.notes,
    )
    telemetry = stack.enter_context(TelemetryWriter(config.out, meta))
    truth = stack.enter_context(LabelsWriter(labels_path(config.out), config.events, config.zone_names))

    def write(chunk: DayChunk, labels: LabelRows | None) -> None:
        values, sent = chunk.telemetry, None
        if not reporting.is_ideal:
            reported = reporter.report(chunk.day.start.toordinal(), values)
            values, sent = reported.values[..., columns], reported.sent[..., columns]
        telemetry.write(Chunk(chunk.times, values, np.broadcast_to(np.uint8(GOOD), values.shape), sent))
        truth.write(labels)

    return _Output([config.out, labels_path(config.out)], write)


def _lbnl(config: RunConfig, stack: ExitStack) -> _Output:
    """One file per zone, named after its cases, in a folder per zone if there are several. Labels are beside them."""
    paths = _lbnl_paths(config)
    # for one zone beside its file, so that many cases can be collected in one folder
    labels_file = labels_path(paths[0].with_suffix("") if config.zones == 1 else config.out / "run")
    for path in paths:
        check_free(path, labels_file)
    writers = [stack.enter_context(LbnlWriter(path)) for path in paths]
    truth = stack.enter_context(LabelsWriter(labels_file, config.events, config.zone_names))

    def write(chunk: DayChunk, labels: LabelRows | None) -> None:
        for writer, values in zip(writers, chunk.telemetry, strict=True):
            writer.write(chunk.times, values)
        truth.write(labels)

    def finish() -> None:
        weather = config.weather.name if config.weather else "continental"
        about = {"plant": "fcu", "seed": config.seed, "start": config.start.isoformat(), "weather": weather}
        for zone, (path, name) in enumerate(zip(paths, config.zone_names, strict=True)):
            own = [str(event) for event in config.events if event.zone == zone]
            note_simulated(path, rows=config.days * 1440, about=about | {"zone": name, "cases": own})

    return _Output([*paths, labels_file], write, finish)


def _lbnl_paths(config: RunConfig) -> list[Path]:
    paths = []
    for zone, name in enumerate(config.zone_names):
        cases = dict.fromkeys(event.case for event in config.events if event.zone == zone)
        stem = "+".join(cases) or FAULT_FREE
        stem = stem if stem.startswith("FCU_") else f"FCU_{stem}"
        paths.append((config.out if config.zones == 1 else config.out / name) / f"{stem}.csv")
    return paths


def _event_summary(event: Event, labeller: Labeller, number: int) -> dict[str, Any]:
    tally = labeller.tallies[number]
    first = tally.first_observable
    return {
        "case": event.case,
        "zone": event.zone + 1,
        "nodes": list(event.row.info.targets),
        "start": event.start.isoformat(),
        "end": event.end.isoformat() if event.end else None,
        "active_min": tally.active_min,
        "observable_min": tally.observable_min,
        "recovering_min": tally.recovering_min,
        "first_observable": None if first is None else str(first),
    }
