"""`graphghha doctor`: what this machine can do, and what is missing."""

import json
import platform

import click

from graphghha import __version__


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def doctor(as_json: bool) -> None:
    """Say what this machine offers and which parts are installed."""
    from graphghha.engine.machine import machine
    from graphghha.extras import survey

    found, parts = machine(), survey()
    if as_json:
        versions = {"graphghha": __version__, "python": platform.python_version()}
        click.echo(json.dumps({**versions, "machine": found, "parts": [part._asdict() for part in parts]}))
        return
    facts = {
        "graphghha": f"{__version__}, Python {platform.python_version()}",
        "processor": f"{found['cpu']}, {found['cores']} cores, {found['system']}",
        "vector units": ", ".join(name for name, present in found["features"].items() if present) or "none known",
        "compiler": found["compiler"] or "none: the native backend needs cc, gcc or clang",
        **{f"dtype {name}": how for name, how in found["dtypes"].items()},
    }
    for name, value in facts.items():
        click.echo(f"{name:<13} {value}")
    click.echo()
    for part in parts:
        mark, hint = ("ok", part.version) if part.version else ("missing", f"pip install 'graphghha[{part.extra}]'")
        colour = "green" if part.version else "yellow"
        click.echo(f"{click.style(f'{mark:<8}', fg=colour)}{part.package:<17}{hint:<34}{part.purpose}")
