"""The journal that a command reads: named by --journal, or by the settings file of the monitor that writes it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

_FILE = click.Path(path_type=Path, dir_okay=False)
_CONFIG = click.Path(path_type=Path, dir_okay=False, exists=True)


class JournalCommand(click.Command):
    """A command that takes a settings file as its first argument instead of --journal FILE."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **{"options_metavar": "CONFIG|--journal FILE [OPTIONS]"} | settings)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read a first argument that ends in .toml as the settings file."""
        takes_value = {
            name
            for option in self.params
            if isinstance(option, click.Option) and not option.is_flag
            for name in option.opts
        }
        for at, text in enumerate(args):
            before = args[at - 1] if at else ""
            if text == "--":
                break
            if text.endswith(".toml") and not text.startswith("-") and before not in takes_value:
                return super().parse_args(ctx, [*args[:at], "--config", text, *args[at + 1 :]])
        return super().parse_args(ctx, args)


def on_journal(function: Callable[..., None]) -> Callable[..., None]:
    """Add --journal, --config, --site and --json; the function is given the journal's `path`."""

    def with_path(*arguments: Any, journal: Path | None, config: Path | None, **rest: Any) -> None:
        function(*arguments, path=journal_path(journal, config), **rest)

    with_path.__name__, with_path.__doc__ = function.__name__, function.__doc__
    with_path.__click_params__ = list(getattr(function, "__click_params__", []))  # type: ignore[attr-defined]
    decorated: Callable[..., None] = click.option("--json", "as_json", is_flag=True, help="Print JSON.")(with_path)
    decorated = click.option("--site", help="Only this site.")(decorated)
    decorated = click.option("--config", type=_CONFIG, help="The settings file of the monitor.")(decorated)
    return click.option("--journal", type=_FILE, help="The monitor's journal file.")(decorated)


def journal_path(journal: Path | None, config: Path | None) -> Path:
    """Return the journal that was named, directly or by a settings file."""
    if (journal is None) == (config is None):
        raise click.UsageError("give either a settings file (CONFIG) or --journal FILE")
    if journal is not None:
        return journal
    assert config is not None
    from graphghha.settings.read import read_journal_path

    return read_journal_path(config)
