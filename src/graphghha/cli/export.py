"""`graphghha export`: a model as ONNX."""

import json
from pathlib import Path

import click

from graphghha.cli._model import MODEL


@click.command()
@click.argument("model", required=False, type=MODEL)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="The ONNX file: readings in, alarms out.")
@click.option("--for-engine", is_flag=True, help="Instead: the network as model.onnx into MODEL, for the onnx backend.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def export(model: Path | None, out: Path | None, for_engine: bool, as_json: bool) -> None:
    """Write MODEL (without: the shipped one) for onnxruntime; its scores are checked before it is kept."""
    if for_engine == (out is not None):
        raise click.UsageError("say either --out FILE.onnx or --for-engine")
    if for_engine and model is None:
        raise click.UsageError(
            "--for-engine writes into a model directory: name one (a copy of the shipped one will do)"
        )
    from rich.console import Console
    from rich.progress import Progress

    from graphghha.engine.onnx.export import CHECKED, export_gateway, export_network
    from graphghha.models import load_model
    from graphghha.models.shipped import shipped_model

    if out is None:
        assert model is not None
        found = export_network(model)
    else:
        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("checking", total=sum(rows for _, rows in CHECKED))
            directory = model or shipped_model("fcu")
            found = export_gateway(load_model(directory), out, on_row=lambda: progress.advance(task))
    if as_json:
        click.echo(json.dumps(found.to_dict()))
        return
    buildings = ", ".join(map(str, found.zones))
    click.echo(
        f"{found.windows} windows of {buildings} zones: largest difference to the model {found.max_difference:.1e}",
        err=True,
    )
    click.echo(found.path)
