"""`graphghha doctor`: show what this machine can do, and what is missing."""

import platform
from typing import Any

import click

from graphghha import __version__
from graphghha.cli._output import echo, echo_json

ZONES = 12  # size of the building on which the backends are compared


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def doctor(as_json: bool) -> None:
    """Show what this machine can do.

    Lists processor features, the backends of the engine with their speed, and which optional packages are installed.
    """
    from graphghha.engine.machine import machine
    from graphghha.extras import survey

    hardware, parts, engine = machine(), survey(), _engine()
    if as_json:
        versions = {"graphghha": __version__, "python": platform.python_version()}
        report = {**versions, "machine": hardware, "engine": engine, "parts": [part._asdict() for part in parts]}
        echo_json(report)
        return
    facts = {
        "graphghha": f"{__version__}, Python {platform.python_version()}",
        "processor": f"{hardware['cpu']}, {hardware['cores']} cores, {hardware['system']}",
        "vector units": ", ".join(name for name, present in hardware["features"].items() if present) or "none known",
        "compiler": hardware["compiler"] or "none: the native backend needs cc, gcc or clang",
        **{f"dtype {name}": how for name, how in hardware["dtypes"].items()},
        "engine": engine["problem"] or f"{engine['backend']} for the shipped model on {ZONES} zones",
        **{f"  {name}": note for name, note in engine["considered"].items()},
    }
    for name, value in facts.items():
        echo(f"{name:<13} {value}")
    echo()
    for part in parts:
        mark, hint = ("ok", part.version) if part.version else ("missing", f"pip install 'graphghha[{part.extra}]'")
        colour = "green" if part.version else "yellow"
        echo(f"{mark:<8}", fg=colour, is_end=False)
        echo(f"{part.package:<19}{hint:<34}{part.purpose}")


def _engine() -> dict[str, Any]:
    """Return the backend that `auto` chooses for the shipped model, and the time of a window on every candidate."""
    from graphghha.errors import GraphGHHAError

    try:
        from graphghha.engine.per_zone import engine_for
        from graphghha.models import load_model, shipped_model

        model = load_model(shipped_model("fcu"))
        engine = engine_for(model, model.template.replicate(ZONES))
        return {"problem": None, **engine.describe()}
    except GraphGHHAError as exc:
        return {"problem": f"cannot score: {exc}", "backend": None, "considered": {}}
