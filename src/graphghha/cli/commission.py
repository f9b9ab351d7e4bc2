"""`graphghha commission`: a site's own normal days into a model derived from a base one."""

from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click

from graphghha.cli._commission_own import commission_own
from graphghha.cli._model import MODEL
from graphghha.cli._output import echo, echo_json
from graphghha.cli._outputs import OUTPUT_FOLDER
from graphghha.cli._progress import progress_bar


@click.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True))
@click.option("--site", help="The site of the settings file or journal, if it has several.")
@click.option("--model", default="fcu-zones", show_default=True, type=MODEL, help="The base model.")
@click.option("--days", default=14, show_default=True, type=click.IntRange(7, 90), help="Days to learn from.")
@click.option(
    "--from",
    "begin",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M"]),
    help="UTC time of the first day (default: the first of DATA).",
)
@click.option("--mapping", type=click.Path(path_type=Path, exists=True), help="Mapping file of an export.")
@click.option("--zones", type=click.IntRange(1), help="Zones of an export, if it has several.")
@click.option("--time-zone", help="Time zone of an export whose times name none.")
@click.option("--hold", is_flag=True, help="Hold each reading of an export until the next.")
@click.option("--force", is_flag=True, help="Learn from a file although readings do not fit the points they map to.")
@click.option("--out", required=True, type=OUTPUT_FOLDER, help="The model directory.")
@click.option("--json", "as_json", is_flag=True, help="Print the record of the commissioning as one JSON object.")
def commission(
    data: Path,
    site: str | None,
    model: Path,
    days: int,
    begin: datetime | None,
    mapping: Path | None,
    zones: int | None,
    time_zone: str | None,
    hold: bool,
    force: bool,
    out: Path,
    as_json: bool,
) -> None:
    """Learn what is normal at a site.

    DATA is telemetry of the site; or an export of another system (a table, or a folder of tables) with --mapping and
    --zones; or a settings file whose monitor has watched the site: then the newest days of its journal are used. Its
    days need not be without faults or attacks: what stands out for hours or days is left out and listed.

    The new model knows the offsets, noise and habits of every zone, the points the site has, and the threshold that
    keeps its alert budget. Zones that look abnormal all the time are listed, since they are learned as usual.

    With the model of a plant of your own, DATA is later files of the plant, or a settings file or journal (--site) of a
    monitor that has watched it. All rows that are not in alarm join those that the model learned from, which stay in,
    and everything is fitted again. The base model is not changed: to go back, use it again.
    """
    from graphghha.models.own import is_own_model

    if is_own_model(model):
        if begin is not None or mapping or hold:
            raise click.UsageError("--from, --mapping and --hold are for models that judge zones")
        commission_own(data, site, model, out, as_json=as_json)
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    from graphghha.cli._commission_input import check_base, check_days, check_out, say_next
    from graphghha.cli._telemetry_input import as_telemetry
    from graphghha.commissioning.rows import commission_file, describe
    from graphghha.models import load_model, save_model
    from graphghha.sources.statistics import SourceStatistics
    from graphghha.wiring import commission_site

    if site and data.suffix != ".toml":
        raise click.UsageError("--site chooses a site of a settings file; leave it out for a file of telemetry")
    check_out(model, out)
    base = load_model(model)
    check_base(base, model)
    count = 0 if data.suffix == ".toml" else check_days(data, base, zones, mapping, time_zone, hold, force)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with progress_bar(*columns) as bar:
        task = bar.add_task("reading the site's days", total=days * 1440)

        def on_rows(rows: int) -> None:
            bar.advance(task, rows)

        if data.suffix == ".toml":
            derived = commission_site(data, site, base, days=days, begin=begin, on_rows=on_rows)
        else:
            statistics = SourceStatistics()
            with as_telemetry(data, model, count, mapping, time_zone, hold, statistics) as file:
                points = base.template.replicate(count).points
                rejected = {points[at]: own.out_of_limits for at, own in statistics.by_column.items()}
                derived = commission_file(
                    *(base, file),
                    days=days,
                    begin=begin,
                    on_rows=on_rows,
                    where=str(data),
                    out_of_limits={point: times for point, times in rejected.items() if times},
                )
    save_model(derived, out)
    assert derived.commissioning is not None
    for line in describe(derived.commissioning):
        echo(line, err=True)
    if as_json:
        echo_json({"model": str(out), **asdict(derived.commissioning)})
    say_next(out, as_json=as_json)
