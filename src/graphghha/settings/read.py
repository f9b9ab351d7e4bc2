"""Read a settings file; say everything that is wrong with it, each as where, what and what instead."""

import difflib
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from graphghha.errors import ConfigError, GraphGHHAError
from graphghha.settings.cross import conflicts, unfit_parts
from graphghha.settings.tables import SINKS, TABLES, UNREADABLE_SOURCE, Settings

Location = tuple[int | str, ...]


def read_settings(path: Path) -> Settings:
    """The settings of a file, or one error that names every problem."""
    return parse_settings(_toml(path), path.parent, str(path))


def parse_settings(raw: Mapping[str, Any], folder: Path, where: str) -> Settings:
    """Settings from plain values; relative paths count from `folder`."""
    try:
        # an absent table is an empty one: its default paths too count from the folder
        settings = Settings.model_validate({"monitor": {}} | dict(raw), context={"folder": folder})
    except ValidationError as exc:
        raise ConfigError("\n".join(f"{where}: {problem}" for problem in _translated(exc))) from exc
    if found := list(conflicts(settings)):
        raise ConfigError("\n".join(f"{where}: {problem}" for problem in found))
    return settings


def problems_of(path: Path) -> list[str]:
    """Everything that would keep `graphghha watch` from starting; looks into models, mappings and sources too."""
    try:
        settings = read_settings(path)
    except GraphGHHAError as exc:
        return str(exc).splitlines()
    return [f"{path}: {problem}" for problem in unfit_parts(settings)]


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{path}: cannot be read: {exc}") from exc
    except tomllib.TOMLDecodeError as exc:
        raise ConfigError(f"{path}: not TOML: {exc}") from exc


def _translated(exc: ValidationError) -> Iterator[str]:
    errors = exc.errors(include_url=False, include_input=False)
    broken = {error["loc"][0] for error in errors if len(error["loc"]) > 1}
    for error in errors:
        if error["type"] == "too_short" and error["loc"][0] in broken:
            continue  # pydantic counts only the tables without a mistake
        location = _as_written(error["loc"])
        if error["type"] == UNREADABLE_SOURCE:  # found while its zones were counted
            location = (*location[:-1], "source")
        yield f"{_written(location)}: {_what_instead(error, location)}"


def _what_instead(error: ErrorDetails, location: Location) -> str:
    """Our words for the common mistakes; values are never repeated, for one of them may be a secret."""
    context = error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            return _unknown(str(location[-1]), _known_names(error["loc"]))
        case "missing":
            return "missing; it has no default"
        case "tuple_type" if location[-1] in ("site", "sink"):
            return f"write each one as a table of its own, under [[{location[-1]}]]"
        case "union_tag_not_found":
            return "missing kind; give it kind = " + " | ".join(SINKS)
        case "union_tag_invalid":
            return f"unknown kind; use {' | '.join(SINKS)}"
        case "string_pattern_mismatch":
            return f"must match {context.get('pattern')}"
        case "value_error":
            return str(context["error"])
    return error["msg"][:1].lower() + error["msg"][1:]


def _unknown(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    return f"unknown setting; did you mean {near[0]!r}?" if near else f"unknown setting; there are {', '.join(known)}"


def _written(location: Location) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "file"


def _as_written(location: Location) -> Location:
    """The place as it stands in the file: pydantic puts the kind of a sink behind its number."""
    return (*location[:2], *location[3:]) if location[:1] == ("sink",) else location


def _known_names(location: Location) -> list[str]:
    """The keys of the table in which an unknown one was found."""
    if len(location) == 1:
        return list(Settings.model_fields)
    table = SINKS[str(location[2])] if location[0] == "sink" else TABLES[str(location[0])]
    return list(table.model_fields)
