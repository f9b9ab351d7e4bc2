"""The type of a model on the command line: a directory, or the name of a plant whose model ships with the package."""

from pathlib import Path
from typing import Any

import click


class ModelDirectory(click.ParamType[Path]):
    name = "model"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        from graphghha.errors import NotFoundError
        from graphghha.models import shipped_model

        if Path(value).is_dir():
            return Path(value)
        try:
            return shipped_model(str(value))
        except NotFoundError:
            self.fail(
                f"{value}: there is no such directory, and no model of this name ships with the package", param, ctx
            )


MODEL = ModelDirectory()
