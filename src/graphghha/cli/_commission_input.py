"""What `graphghha commission` refuses before it reads a site's days: wrong models, destinations and files."""

from pathlib import Path
from typing import TYPE_CHECKING

from graphghha.cli._output import echo

if TYPE_CHECKING:
    from graphghha.models import Model


def check_out(model: Path, out: Path) -> None:
    """Raise if a model cannot be written to `out`, or would replace the one that it is derived from."""
    from graphghha.errors import ConfigError
    from graphghha.models import check_destination

    if check_destination(out) == model.resolve():
        raise ConfigError(f"--out {out}: is the model to start from, which stays as it is; choose another directory")


def check_base(base: "Model", model: Path) -> None:
    """Raise unless a site can be commissioned from this model."""
    from graphghha.errors import CheckpointError
    from graphghha.models import load_model, model_for_sites

    if not base.judges_zones:
        raise CheckpointError(f"{model.name}: judges single nodes; commissioning needs a model that judges zones")
    if base.commissioning is None:
        return
    shipped, wanted = model_for_sites(base.plant), base.commissioning.base
    if load_model(shipped).fingerprint == wanted:
        instead = f"give its base model, --model {shipped.name}"
    else:
        instead = f"give its base model, which has the fingerprint {wanted[:16]} (`graphghha model show` shows it)"
    raise CheckpointError(f"{model}: is commissioned already, and errors would add up; {instead}")


def check_days(
    data: Path, base: "Model", zones: int | None, mapping: Path | None, time_zone: str | None, hold: bool, force: bool
) -> int:
    """Return how many zones a file has; raise if it states another number, or its names or units cannot be right."""
    from graphghha.checking import implausible_file
    from graphghha.cli._telemetry_input import file_config, is_telemetry, only_file, refuse_labels
    from graphghha.errors import ConfigError, DataError
    from graphghha.plants import load_plant
    from graphghha.plants.telemetry import TelemetryFile

    refuse_labels(data)
    count = zones or 1
    if is_telemetry(data):
        data = only_file(data) if data.is_dir() else data
        stated = len(TelemetryFile(data).meta.zones)
        if zones not in (None, stated):
            own = f"{stated} zone{'s' if stated > 1 else ''}"
            raise ConfigError(
                f"--zones: {zones} zones are asked for, and {data} has {own}; leave it out, or write {stated}"
            )
        count, hold = stated, True  # its readings hold until the next by themselves
    config = file_config(data, mapping, time_zone, hold)
    if not force and (problems := implausible_file(config, str(data), load_plant(base.plant), count, "commission")):
        raise DataError("; ".join(problems))
    return count


def say_next(out: Path, *, as_json: bool) -> None:
    """Say where the model is, unless the JSON does, and how it comes into use."""
    echo(
        f'next: write model = "{out.resolve()}" for the site in its settings file, or give --model {out} to '
        "`graphghha watch`",
        err=True,
    )
    if not as_json:
        echo(str(out))
