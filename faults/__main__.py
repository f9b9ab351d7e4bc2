"""`scripts/bench reliability`: inject faults into a running monitor and report their effects."""

import json
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faults.rig import Rig
    from faults.toy_detector import Telemetry

DAY = datetime(2018, 7, 10)
ROWS_PER_DAY = 1440
CASES = (("FCU_VLVStuck_Cooling_100", "zone-02"), ("FCU_SensorBias_RMTemp_-2C", "zone-01"))


@click.command()
@click.option("--only", multiple=True, metavar="NAME", help="Run this trial only; repeatable.")
@click.option("--quick", is_flag=True, help="Smoke run with a toy detector and small numbers.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write the JSON here; with --only, replace the rows of these trials.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the JSON object only.")
def reliability(only: tuple[str, ...], quick: bool, out: Path | None, as_json: bool) -> None:
    """Inject faults into a running monitor.

    Kills, outages, wrong clocks, stored readings, hostile messages, bad disks, alarm floods, dead sinks and a soak.
    Takes about two hours without --quick.
    """
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from faults.aims import summarize_aims
    from faults.effort import FULL, QUICK
    from faults.rig import TOY_RIG
    from faults.trials import merge_earlier, run
    from graphghha.lab.bench.results import write_result
    from graphghha.lab.markdown import table

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=as_json) as bar:
        task = bar.add_task("", total=None)
        result = run(
            TOY_RIG if quick else _shipped_rig(),
            QUICK if quick else FULL,
            only=only,
            progress=lambda line: bar.update(task, description=line),
        )
    if not as_json:
        for row in result["rows"]:
            mark = "holds" if row["holds"] else "FAILS"
            click.echo(f"{mark}  {row['fault']}: {row['figure']}: {row['measured']} (aim: {row['aim']})", err=True)
    holds = all(row["holds"] for row in result["rows"])
    if only and out and out.exists():
        result = merge_earlier(result, json.loads(out.read_text(encoding="utf-8")))
    result["aims"] = summarize_aims(result["rows"])
    if not as_json:
        for line in table(("figure", "aim", "measured"), [_aim_cells(each) for each in result["aims"]]):
            click.echo(line, err=True)
    if out:
        write_result(result, out)
    click.echo(json.dumps(result))
    if not holds:
        raise SystemExit(1)


def _aim_cells(aim: "Mapping[str, Any]") -> tuple[str, str, str]:
    return aim["figure"], aim["aim"], aim["measured"] + ("  FAILS" if aim["holds"] is False else "")


def _shipped_rig() -> "Rig":
    """Return a rig that runs `graphghha watch` as users do, with the shipped model on simulated buildings."""
    from faults.rig import Rig
    from graphghha.models import shipped_model
    from graphghha.wiring import open_detector

    model = shipped_model("fcu")
    return Rig(
        detector=lambda zones: open_detector(model, zones),
        building=_simulated,
        command=_watch_command,
        warm_up_rows=ROWS_PER_DAY,
    )


def _simulated(zones: int, rows: int, is_attacked: bool) -> "Telemetry":
    """Simulate a warm-up day and then `rows` rows, with attacks spread over these rows."""
    import numpy as np

    from faults.toy_detector import Telemetry
    from graphghha.plants import CaseSpec, load_plant, load_testbed

    days = 1 - (-rows // ROWS_PER_DAY)
    cases = []
    for at, (name, zone) in enumerate(CASES if is_attacked else ()):
        begin = DAY + timedelta(days=1, minutes=rows * (1 + 3 * at) // 8)
        duration = timedelta(hours=max(1, rows // 240))
        cases.append(CaseSpec(name=name, zone=zone, start=begin, duration=duration))
    parts = list(load_testbed("fcu").run(zones=zones, days=days, start=DAY, seed=7, cases=cases))
    times = np.concatenate([part.times for part in parts]).astype("datetime64[ms]").astype(np.int64)
    values = np.concatenate([part.values.reshape(len(part.times), -1) for part in parts]).astype(np.float64)
    end = ROWS_PER_DAY + rows
    return Telemetry(load_plant("fcu").template.replicate(zones).points, times[:end], values[:end])


def _watch_command(state: Path, address: str, zones: int) -> list[str]:
    from faults.rig import JOURNAL
    from faults.toy_detector import SITE

    config = state.parent / "watch.toml"
    config.write_text(
        f'[monitor]\nstate_dir = "{state}"\njournal = "{JOURNAL}"\n'
        f'[[site]]\nname = "{SITE}"\nsource = "{address}"\nplant = "fcu"\nzones = {zones}\n'
        f"warm_up_rows = {ROWS_PER_DAY}\n",
        encoding="utf-8",
    )
    return [sys.executable, "-c", "from graphghha.cli import main; main()", "watch", str(config)]


if __name__ == "__main__":
    reliability()
