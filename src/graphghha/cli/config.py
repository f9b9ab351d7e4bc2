"""`graphghha config`: check a settings file."""

from pathlib import Path

import click

from graphghha.cli._output import echo, echo_json


@click.group()
def config() -> None:
    """Check a settings file."""


@config.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def check(ctx: click.Context, file: Path, as_json: bool) -> None:
    """Report every problem of a settings FILE.

    The exit code is 0 if `graphghha watch FILE` can start with it, and 2 if not.
    """
    from graphghha.checking import find_start_problems

    problems = find_start_problems(file)
    if as_json:
        echo_json({"sound": not problems, "problems": problems})
    else:
        for problem in problems:
            echo(problem)
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        echo(count if problems else "sound", err=True)
    if problems:
        ctx.exit(2)
