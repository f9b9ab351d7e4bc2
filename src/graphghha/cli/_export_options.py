"""The options of commands that read exported tables."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def exported_tables(*, required: bool, about: str) -> Callable[[F], F]:
    """Return a decorator that adds `--data`, repeatable (`paths`), and further files as arguments (`more`)."""

    def add(command: F) -> F:
        command = click.argument("more", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE|FOLDER..]")(command)
        kind = click.Path(path_type=Path)
        return click.option("--data", "paths", multiple=True, required=required, type=kind, help=about)(command)

    return add
