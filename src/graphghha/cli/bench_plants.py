"""`graphghha bench plants`: the detector of any plant on public data of plants that nobody here built."""

from pathlib import Path

import click

from graphghha.cli._output import echo, echo_json
from graphghha.cli._outputs import OUTPUT_FILE


@click.command()
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Folder with eds/, batadal/ or real_site/; they are not part of the package.",
)
@click.option(
    "--only",
    "datasets",
    multiple=True,
    type=click.Choice(["eds", "batadal", "real_site"]),
    help="Only this data set; repeatable.",
)
@click.option("--method", "methods", multiple=True, metavar="NAME", help="Only this method; repeatable.")
@click.option("--seeds", default=3, show_default=True, type=click.IntRange(1), help="Trainings of each division.")
@click.option("--quick", is_flag=True, help="Smoke run with one seed and small networks; not a measurement.")
@click.option("--out", type=OUTPUT_FILE, help="Also write the JSON here.")
@click.option("--json", "as_json", is_flag=True, help="Print the JSON object only.")
def plants(
    data: Path,
    datasets: tuple[str, ...],
    methods: tuple[str, ...],
    seeds: int,
    quick: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Train and judge on public plant data.

    A laboratory plant with every trial left out once, a water network, and a building with attacks written onto its
    readings, each as `plant new` proposes it, beside baselines with the same alert budget.
    """
    from graphghha.lab.bench.plants.study import FOLDERS, PlantsConfig, plants_study
    from graphghha.lab.bench.results import write_result

    config = PlantsConfig(
        data=data, datasets=datasets or tuple(FOLDERS), seeds=1 if quick else seeds, quick=quick, methods=methods
    )
    result = plants_study(config, progress=(lambda line: None) if as_json else (lambda line: echo(line, err=True)))
    try:
        if out:
            write_result(result, out)
    finally:  # a disk that is full by now must not cost the measurement
        echo_json(result)
