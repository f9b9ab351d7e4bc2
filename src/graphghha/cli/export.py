"""`graphghha export`: a model as an ONNX file."""

from pathlib import Path

import click

from graphghha.cli._model import MODEL
from graphghha.cli._output import echo, echo_json
from graphghha.cli._outputs import OUTPUT_FILE
from graphghha.cli._progress import progress_bar


@click.command()
@click.argument("model", required=False, type=MODEL)
@click.option("--out", type=OUTPUT_FILE, help="The ONNX file to write: readings in, alarms out.")
@click.option(
    "--for-engine", is_flag=True, help="Write only the network, as model.onnx into MODEL, for the onnx backend."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def export(model: Path | None, out: Path | None, for_engine: bool, as_json: bool) -> None:
    """Export a model to ONNX.

    MODEL is a model directory or the name of a plant whose model is shipped (default: fcu). The scores of the exported
    file are compared with those of the model before it is kept.
    """
    if for_engine == (out is not None):
        raise click.UsageError("give either --out FILE.onnx or --for-engine")
    if for_engine and model is None:
        raise click.UsageError(
            "--for-engine writes into a model directory: name one, for example a copy of the shipped one"
        )
    if out is not None and out.suffix != ".onnx":
        raise click.UsageError(f"--out {out}: the file is ONNX; give a name that ends with .onnx")
    from graphghha.engine.onnx.export import buildings_to_check, export_detector, export_network
    from graphghha.models import load_model, shipped_model

    if out is None:
        assert model is not None
        exported = export_network(model)
    else:
        loaded = load_model(model or shipped_model("fcu"))
        with progress_bar() as progress:
            task = progress.add_task("checking", total=sum(rows for _, rows in buildings_to_check(loaded)))
            exported = export_detector(loaded, out, on_row=lambda: progress.advance(task))
    if as_json:
        echo_json(exported.to_dict())
        return
    buildings = ", ".join(map(str, exported.zones))
    echo(
        f"{exported.windows} windows of {buildings} zones: "
        f"largest difference from the model {exported.max_difference:.1e}",
        err=True,
    )
    echo(exported.path)
