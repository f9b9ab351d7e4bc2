"""What `graphghha commission` refuses before it reads a site's days: files that cannot be right."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphghha.models import Model


def check_days(
    data: Path, base: "Model", zones: int | None, mapping: Path | None, time_zone: str | None, hold: bool, force: bool
) -> int:
    """Return how many zones a file has; raise if it states another number, or its names or units cannot be right."""
    from dataclasses import replace

    from graphghha.checking import implausible_file
    from graphghha.cli._telemetry_input import file_config, is_telemetry
    from graphghha.errors import ConfigError, DataError
    from graphghha.plants import load_plant
    from graphghha.plants.telemetry import TelemetryFile

    config = file_config(data, mapping, time_zone, hold)
    count = zones or 1
    if is_telemetry(data):
        if data.is_dir():
            return count  # the reader of telemetry says what is wrong with it
        stated = len(TelemetryFile(data).meta.zones)
        if zones not in (None, stated):
            own = f"{stated} zone{'s' if stated > 1 else ''}"
            raise ConfigError(
                f"--zones: {zones} zones are asked for, and {data} has {own}; leave it out, or write {stated}"
            )
        count, config = stated, replace(config, is_held=True)  # its readings hold until the next by themselves
    if not force and (problems := implausible_file(config, str(data), load_plant(base.plant), count, "commission")):
        raise DataError("; ".join(problems))
    return count
