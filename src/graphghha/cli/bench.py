"""`graphghha bench`: one sub-command per table or figure. The last line on stdout is JSON."""

import json

import click


@click.group()
def bench() -> None:
    """Measure: one command per table and figure."""


@bench.command()
@click.option("--nodes", type=click.IntRange(1), default=100_000, show_default=True, help="Size of the graph.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object only.")
def memory(nodes: int, as_json: bool) -> None:
    """Peak memory of one forward pass on a large graph."""
    from graphghha.bench.memory import measure_memory

    found = measure_memory(nodes)
    if not as_json:
        row = found["rows"][0]
        click.echo(f"{row['nodes']} nodes: peak {row['peak_mb']} MB, {row['before_mb']} MB before the pass", err=True)
    click.echo(json.dumps(found))
