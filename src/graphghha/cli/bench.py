"""`graphghha bench`: one sub-command per table or figure. The last line on stdout is JSON."""

import json

import click


@click.group()
def bench() -> None:
    """Measure: one command per table and figure."""


@bench.command()
@click.option("--nodes", type=click.IntRange(1), default=100_000, show_default=True, help="Size of the graph.")
def memory(nodes: int) -> None:
    """Peak memory of one forward pass on a large graph."""
    from graphghha.bench.memory import measure_memory

    click.echo(json.dumps(measure_memory(nodes)))
