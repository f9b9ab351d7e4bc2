"""Work that is kept on disk between runs, and whose settings it was made with."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graphghha.errors import ConfigError


def same_as_before(file: Path, settings: dict[str, Any]) -> None:
    """Stages are kept by name: those of other settings must not be taken for one's own."""
    text = json.dumps(settings, sort_keys=True)
    if file.exists() and (kept := file.read_text(encoding="utf-8")) != text:
        before, now = json.loads(kept), json.loads(text)
        differ = sorted(name for name in now if now[name] != before.get(name))
        raise ConfigError(
            f"{file.parent}: holds stages of a training with other settings ({', '.join(differ)}); "
            "finish that one, or choose another work directory"
        )
    file.write_text(text, encoding="utf-8")


@contextmanager
def whole(file: Path) -> Iterator[Path]:
    """A path to write to that becomes `file` when everything is written: a killed run leaves nothing half done."""
    partial = file.with_name(file.name + ".partial")
    yield partial
    partial.replace(file)
