"""`graphghha cases`: list the attack catalogue."""

import click

from graphghha.cli._output import echo, echo_json


@click.command()
@click.option("--plant", default="fcu", show_default=True, help="Name of the plant.")
@click.option("--family", help="List only this family.")
@click.option(
    "--class", "attack_class", type=click.Choice(["actuator", "sensor", "controller"]), help="List only this class."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per case.")
def cases(plant: str, family: str | None, attack_class: str | None, as_json: bool) -> None:
    """List the attack catalogue of a plant.

    Each row shows the family and class of a case, the nodes it attacks, its severity and its meaning. A line on stderr
    names the mechanisms of random attacks outside the catalogue, which `simulate --case generic:MECHANISM:SEED` draws.
    """
    from dataclasses import asdict

    from graphghha.plants import choose_cases, load_plant, load_testbed

    chosen = choose_cases(load_plant(plant), family=family, attack_class=attack_class)
    if as_json:
        for case in chosen:
            fields = asdict(case)
            echo_json({"class": fields.pop("attack_class"), **fields})
        return
    rows = [("case", "family", "class", "nodes", "severity", "meaning")]
    rows += [(c.name, c.family, c.attack_class, ", ".join(c.targets), c.severity, c.meaning) for c in chosen]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for row in rows:
        echo("  ".join([*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[5]]).rstrip())
    if not (family or attack_class):
        mechanisms = ", ".join(load_testbed(plant).mechanisms)
        echo(
            f"outside the catalogue, generic:MECHANISM:SEED draws an attack at random, MECHANISM of: {mechanisms}",
            err=True,
        )
