"""Intermediate results in a work directory: checking their settings, and reading them back."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from safetensors import SafetensorError

from graphghha._util.files import atomic_write
from graphghha.errors import ConfigError, DataError


def check_settings(file: Path, settings: dict[str, Any]) -> None:
    """Store the settings of a work directory, or raise ConfigError if other ones are stored there already."""
    text = json.dumps(settings, sort_keys=True)
    if file.exists():
        with reading(file):
            before = dict(json.loads(file.read_text(encoding="utf-8")))
        now = json.loads(text)
        if differ := sorted(name for name in {*before, *now} if before.get(name) != now.get(name)):
            raise ConfigError(
                f"{file.parent}: holds intermediate results of other settings ({', '.join(differ)}); "
                "use the same settings or another work directory"
            )
    atomic_write(file, text)


@contextmanager
def reading(file: Path) -> Iterator[None]:
    """Turn every error of reading a damaged intermediate result into a DataError that names the file."""
    try:
        yield
    except (OSError, ValueError, TypeError, KeyError, EOFError, RuntimeError, SafetensorError, UnpicklingError) as exc:
        reason = str(exc).splitlines()[0] if str(exc) else type(exc).__name__
        raise DataError(f"{file}: is damaged ({reason}); delete it, and it will be computed again") from exc
