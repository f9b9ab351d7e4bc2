"""`graphghha model`: who vouches for a model directory, and what it decides by."""

from pathlib import Path
from typing import Any

import click

from graphghha.cli._model import MODEL
from graphghha.cli._output import echo, echo_json

_KEY = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def model() -> None:
    """Sign, verify and show model directories."""


@model.command()
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--key", required=True, type=_KEY, help="A private ed25519 key in PEM form.")
@click.option("--password-file", type=_KEY, help="The password of the key, if it has one.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def sign(directory: Path, key: Path, password_file: Path | None, as_json: bool) -> None:
    """Sign a model directory.

    The files are verified first. Keep the private key away from the machine that monitors.
    """
    from graphghha._util.tls import read_secret
    from graphghha.models import load_model, sign_model

    load_model(directory)
    identity = sign_model(directory, key, read_secret(password_file).encode() if password_file else None)
    echo_json({"directory": str(directory), "key": identity}) if as_json else echo(f"signed with key {identity}")


@model.command()
@click.argument("directory", type=MODEL)
@click.option("--key", "keys", multiple=True, type=_KEY, help="A public key that is trusted; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify(directory: Path, keys: tuple[Path, ...], as_json: bool) -> None:
    """Verify a model directory.

    Checks hashes, shapes and bounds; with --key also that one of these keys has signed it.
    """
    from graphghha.models import TrustedKeys, load_model

    trusted = TrustedKeys.read(keys, is_required=bool(keys))
    identity = trusted.verify(directory)
    load_model(directory)
    if as_json:
        echo_json({"directory": str(directory), "sound": True, "signed_by": identity})
        return
    echo(f"sound; signed with key {identity}" if identity else "sound; no signature was asked for")


@model.command()
@click.argument("directory", type=MODEL)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(directory: Path, as_json: bool) -> None:
    """Show what a model decides by."""
    facts = _facts(directory)
    if as_json:
        echo_json(facts)
        return
    for name, value in facts.items():
        for inner, number in value.items() if isinstance(value, dict) else (("", value),):
            echo(f"{f'{name} {inner}':<30} {number}")


def _facts(directory: Path) -> dict[str, Any]:
    from dataclasses import asdict

    from graphghha.models import SIGNATURE, load_model, read_signature

    loaded = load_model(directory)
    record = loaded.commissioning
    thresholds, calibration = loaded.thresholds, loaded.calibration
    stated = read_signature(directory)[0] if (directory / SIGNATURE).exists() else None
    return {
        "directory": str(directory),
        "fingerprint": loaded.fingerprint,
        "plant": loaded.plant,
        "nodes": loaded.template.num_nodes,
        "signature": stated and f"stated: key {stated}; `model verify --key FILE` proves it",
        "rule": asdict(thresholds.rule),
        "group": asdict(thresholds.group),
        "calibration": {"inverse_temperature": calibration.inverse_temperature, "bias": list(calibration.bias)},
        "budget_per_day": thresholds.search and thresholds.search.budget_per_day,
        "figures": dict(loaded.figures.get("commissioned" if record else "card") or {}),
        "commissioning": asdict(record) if record else None,
    }
