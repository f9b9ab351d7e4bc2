"""Work that is kept on disk between runs, and whose settings it was made with."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from safetensors import SafetensorError

from graphghha.errors import ConfigError, DataError


def same_as_before(file: Path, settings: dict[str, Any]) -> None:
    """Stages are kept by name: those of other settings must not be taken for one's own."""
    text = json.dumps(settings, sort_keys=True)
    if file.exists():
        with stored(file):
            before = dict(json.loads(file.read_text(encoding="utf-8")))
        now = json.loads(text)
        if differ := sorted(name for name in {*before, *now} if before.get(name) != now.get(name)):
            raise ConfigError(
                f"{file.parent}: holds stages of a training with other settings ({', '.join(differ)}); "
                "finish that one, or choose another work directory"
            )
    with whole(file) as fresh:
        fresh.write_text(text, encoding="utf-8")


@contextmanager
def whole(file: Path) -> Iterator[Path]:
    """A path to write to that becomes `file` when everything is written: a killed run leaves nothing half done."""
    partial = file.with_name(file.name + ".partial")
    yield partial
    partial.replace(file)


@contextmanager
def stored(file: Path) -> Iterator[None]:
    """Around the reading of a stage: one that the disk has damaged is named, and can be made again."""
    try:
        yield
    except (OSError, ValueError, TypeError, KeyError, EOFError, RuntimeError, SafetensorError, UnpicklingError) as exc:
        reason = str(exc).splitlines()[0] if str(exc) else type(exc).__name__
        raise DataError(f"{file}: is damaged ({reason}); remove it, and it is made again") from exc
