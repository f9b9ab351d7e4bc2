"""What commands print: text and JSON without characters that could act on a terminal."""

from typing import Any

import click

from graphghha._util.text import clean, safe_json


def echo(
    text: object = "", *, err: bool = False, fg: str | None = None, is_one_line: bool = True, is_end: bool = True
) -> None:
    """Print on standard output or standard error; without `is_end` the line goes on.

    Line ends inside a text that is one line come from a name, and could forge a second line: they are replaced.
    """
    safe = clean(str(text).replace("\t", " "), keep_newlines=not is_one_line)
    click.echo(click.style(safe, fg=fg) if fg else safe, err=err, nl=is_end)


def echo_json(data: Any) -> None:
    """Print one line of JSON on standard output."""
    click.echo(safe_json(data))
