"""DATA of `score`, `evaluate` and `commission`: telemetry of this package as it is, an export converted meanwhile."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from graphghha.cli._output import echo

if TYPE_CHECKING:
    from graphghha.sources import FileConfig
    from graphghha.sources.statistics import SourceStatistics

_REMEDIES = {"unmapped": "; --zones states how many zones there are, --mapping what the names mean"}


def is_telemetry(data: Path) -> bool:
    """Return whether a file, or a folder with files like it, is telemetry as `simulate` writes it."""
    from graphghha.errors import SchemaError
    from graphghha.exports.reader import SUFFIXES
    from graphghha.plants.telemetry import TelemetryFile

    if data.is_dir():  # a folder without any table is reported as one without telemetry
        has_tables = any(each.suffix.lower() in SUFFIXES for each in data.rglob("*"))
        return bool(_telemetry_files(data)) or not has_tables
    if data.suffix != ".parquet":
        return False
    try:
        TelemetryFile(data)
    except SchemaError as exc:
        return "not a telemetry file" not in str(exc)  # a damaged one is reported as such
    return True


def file_config(data: Path, mapping: Path | None, zone: str | None, is_held: bool) -> "FileConfig":
    """Return the source that DATA is."""
    from graphghha.sources import FileConfig

    return FileConfig(
        path=data,
        format="parquet" if data.suffix == ".parquet" else "csv",
        mapping=mapping,
        table={"zone": zone} if zone else {},
        is_held=is_held,
    )


def _telemetry_files(folder: Path) -> list[Path]:
    return [each for each in sorted(folder.glob("*.parquet")) if is_telemetry(each)]


def refuse_labels(data: Path) -> None:
    """Raise a `DataError` if a file holds labels, and not what they label."""
    from graphghha.errors import DataError
    from graphghha.plants.telemetry import holds_labels

    if data.is_file() and data.suffix == ".parquet" and holds_labels(data):
        labelled = data.with_name(data.name.removesuffix(".labels.parquet") + ".parquet")
        instead = f"give {labelled}" if labelled.is_file() and labelled != data else "give the file that they label"
        raise DataError(f"{data}: holds labels and no readings; {instead}")


def only_file(folder: Path) -> Path:
    """Return the file of telemetry in a folder, for commands that take one."""
    from graphghha.errors import DataError
    from graphghha.exports.reader import SUFFIXES
    from graphghha.plants.telemetry import holds_labels

    files = _telemetry_files(folder)
    if not files:
        raise DataError(f"{folder}: holds neither telemetry nor a table; give a file, or a folder of tables")
    if len(files) > 1:
        raise DataError(f"{folder}: holds {len(files)} files of telemetry; give one of them, such as {files[0]}")
    tables = [each for each in folder.rglob("*") if each.suffix.lower() in SUFFIXES and each not in files]
    if other := next((each for each in sorted(tables) if not holds_labels(each)), None):
        raise DataError(f"{folder}: holds telemetry and other tables, such as {other.name}; give {files[0]} itself")
    return files[0]


@contextmanager
def with_labels(telemetry: Path, model: Path, labels: Path | None) -> Iterator[Path]:
    """Yield telemetry with the labels of a CSV file beside it, or the telemetry as it is if there is none."""
    from graphghha.errors import ConfigError
    from graphghha.lab.runs.label_list import write_labels
    from graphghha.models import load_model
    from graphghha.plants import load_plant

    if labels is None:
        yield telemetry
        return
    if telemetry.is_dir():
        raise ConfigError(f"--labels {labels}: belongs to one file of telemetry, and {telemetry} is a folder")
    with TemporaryDirectory(prefix="graphghha-") as folder:
        linked = Path(folder) / telemetry.name
        linked.symlink_to(telemetry.absolute())
        written = write_labels(labels, linked, load_plant(load_model(model).plant))
        if written.outside:
            echo(f"{labels}: {written.outside} events lie outside {telemetry} and are left out", err=True)
        with _named(linked, telemetry):
            yield linked


@contextmanager
def as_telemetry(
    data: Path,
    model: Path,
    zones: int,
    mapping: Path | None,
    zone: str | None,
    is_held: bool,
    statistics: "SourceStatistics | None" = None,
    *,
    takes_folder: bool = False,
) -> Iterator[Path]:
    """Yield DATA, or a telemetry file made of an export for the plant of a model; labels beside it come along.

    A folder of telemetry stands for the only file in it, unless the command `takes_folder`. `statistics` collects what
    an export holds for each point.
    """
    from graphghha.models import load_model
    from graphghha.plants import load_plant
    from graphghha.plants.telemetry import labels_path
    from graphghha.sources.to_telemetry import write_telemetry

    refuse_labels(data)
    if is_telemetry(data):
        if mapping or zone or is_held:
            raise click.UsageError(
                f"{data} is telemetry of this package, which needs neither --mapping nor --time-zone nor --hold"
            )
        yield only_file(data) if data.is_dir() and not takes_folder else data
        return
    plant = load_plant(load_model(model).plant)
    config = file_config(data, mapping, zone, is_held)
    with TemporaryDirectory(prefix="graphghha-") as folder:
        converted = Path(folder) / f"{data.stem}.parquet"
        rejected, notes = write_telemetry(config, plant, zones, converted, statistics)
        for note in notes:
            echo(note, err=True)
        for reason, count in rejected.most_common():
            echo(f"{data}: {count:,} readings not used: {reason}{_REMEDIES.get(reason, '')}", err=True)
        beside = data.with_name(f"{data.stem}.labels.parquet")
        if beside.is_file():
            shutil.copy(beside, labels_path(converted))
        with _named(converted, data):
            yield converted


@contextmanager
def _named(temporary: Path, original: Path) -> Iterator[None]:
    """Let errors inside the block name the file that was given, instead of the one made of it."""
    from graphghha.errors import GraphGHHAError

    try:
        yield
    except GraphGHHAError as exc:
        raise type(exc)(str(exc).replace(str(temporary), str(original))) from exc
