"""Reads a settings file and reports everything that is wrong with it: where, what, and what to write instead."""

import copy
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from graphghha._util.suggest import nearest
from graphghha.errors import ConfigError, GraphGHHAError
from graphghha.settings.consistency import contradictions, unusable_parts
from graphghha.settings.tables import OTHER_ZONES, SINKS, TABLES, UNREADABLE_SOURCE, MonitorTable, Settings

Location = tuple[int | str, ...]
MOST_ROUNDS = 20  # every round removes at least one mistake
NEEDED_KEYS = ("name", "source", "kind", "path", "address")  # of a site or sink


def read_settings(path: Path) -> Settings:
    """Return the settings of a file, or raise one error that names every problem."""
    return parse_settings(_read_toml(path), path.parent, str(path))


def parse_settings(raw: Mapping[str, Any], folder: Path, where: str) -> Settings:
    """Return settings from plain values. Relative paths count from `folder`; errors begin with `where`."""
    try:
        # an absent table is an empty one, so that its default paths count from the folder too
        settings = Settings.model_validate({"monitor": {}} | dict(raw), context={"folder": folder})
    except ValidationError as exc:
        raise _config_error(where, _describe_errors(exc)) from exc
    if problems := list(contradictions(settings)):
        raise _config_error(where, problems)
    return settings


def find_problems(path: Path) -> list[str]:
    """Return everything that would keep `graphghha watch` from starting, in models, mappings and sources too."""
    try:
        raw = _read_toml(path)
    except GraphGHHAError as exc:
        return str(exc).splitlines()
    settings, found = sound_part(raw, path.parent)
    problems = list(dict.fromkeys(found.problems))
    if settings is not None:
        further = map(found.renumber, (*contradictions(settings), *unusable_parts(settings)))
        problems += [text for text in further if not found.depends_on_zones(text)]
    return [f"{path}: {problem}" for problem in problems]


class Findings:
    """What is wrong with the tables of a file, and the numbers that the remaining tables have in the file."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.problems: list[str] = []
        self.without_zones: set[int] = set()  # sites of the file that lack their number of zones
        self.numbers = {
            name: list(range(len(raw[name]))) for name in ("site", "sink") if isinstance(raw.get(name), list)
        }

    def renumber(self, text: str) -> str:
        """Return a problem with the numbers that its tables have in the file."""

        def in_file(match: re.Match[str]) -> str:
            return f"{match[1]}[{self.numbers[match[1]][int(match[2])]}]"

        return re.sub(r"\b(site|sink)\[(\d+)\]", in_file, text)

    def depends_on_zones(self, text: str) -> bool:
        """Return whether a problem of a site may come from the number of zones that it was checked with instead."""
        return "zone" in text and any(text.startswith(f"site[{number}]") for number in self.without_zones)


def sound_part(raw: Mapping[str, Any], folder: Path) -> tuple[Settings | None, Findings]:
    """Return the settings without their mistakes, and the mistakes, so that one round finds what else is wrong."""
    left = copy.deepcopy({"monitor": {}} | dict(raw))
    found = Findings(left)
    for _ in range(MOST_ROUNDS):
        try:
            return Settings.model_validate(left, context={"folder": folder}), found
        except ValidationError as exc:
            found.problems += [found.renumber(problem) for problem in _describe_errors(exc)]
            locations = [_location_in_file(error) for error in exc.errors(include_url=False, include_input=False)]
            if not _leave_out(left, locations, found):
                return None, found
    return None, found


def _leave_out(left: dict[str, Any], locations: Iterable[Location], found: Findings) -> bool:
    """Remove what is wrong: a key, or its whole table if that cannot do without it; return whether a site is left."""
    whole: set[tuple[str, int]] = set()
    for location in locations:
        match location:
            case ("site" | "sink" as name,) if found.numbers.get(name):
                pass  # there are too few sound ones, which is reported by their own mistakes
            case ("site" | "sink" as name, int(number), str(key), *_) if key not in NEEDED_KEYS:
                table = left[name][number]
                if key == "zones" and isinstance(table, dict) and key not in table:
                    table[key] = 1  # any number serves to find the other mistakes of the site
                    found.without_zones.add(found.numbers[name][number])
                elif not isinstance(table, dict) or table.pop(key, None) is None:  # nothing is left to leave out
                    whole.add((name, number))
            case ("site" | "sink" as name, int(number), *_):
                whole.add((name, number))
            case (str(first), str(key), *_) if isinstance(left.get(first), dict):
                left[first].pop(key, None)
            case (str(first), *_) if first == "monitor":
                left[first] = {}
            case (str(first), *_):
                left.pop(first, None)
    for kind, number in sorted(whole, reverse=True):
        del left[kind][number]
        del found.numbers[kind][number]
    return bool(left.get("site"))


def _config_error(where: str, problems: Iterable[str]) -> ConfigError:
    return ConfigError("\n".join(f"{where}: {problem}" for problem in problems))


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{path}: cannot be read: {exc}") from exc
    except (tomllib.TOMLDecodeError, RecursionError) as exc:
        raise ConfigError(f"{path}: not TOML: {exc}") from exc


def _describe_errors(exc: ValidationError) -> Iterator[str]:
    errors = exc.errors(include_url=False, include_input=False)
    with_errors_inside = {error["loc"][0] for error in errors if len(error["loc"]) > 1}
    for error in errors:
        if error["type"] == "too_short" and error["loc"][0] in with_errors_inside:
            continue  # pydantic counts only the tables without a mistake
        location = _location_in_file(error)
        yield f"{_format_location(location)}: {_describe_error(error, location)}"


def _describe_error(error: ErrorDetails, location: Location) -> str:
    """Return our own message for a common mistake. Values are never repeated, because one of them may be a secret."""
    context = error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            return _unknown_setting(str(location[-1]), _known_keys(error["loc"]))
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
        case kind if kind in (UNREADABLE_SOURCE, OTHER_ZONES):
            return str(context["reason"])
        case _:
            return error["msg"][:1].lower() + error["msg"][1:]


def _unknown_setting(name: str, known: list[str]) -> str:
    near = nearest(name, known)
    return f"unknown setting; did you mean {near!r}?" if near else f"unknown setting; use {' | '.join(known)}"


def _format_location(location: Location) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "file"


def _location_in_file(error: ErrorDetails) -> Location:
    """Return the place of an error as a reader of the file finds it."""
    location = error["loc"]
    if location[:1] == ("sink",):
        return (*location[:2], *location[3:])  # pydantic puts the kind of a sink after its number
    if error["type"] == UNREADABLE_SOURCE:  # found while its zones were counted
        return (*location[:-1], "source")
    return (*location, "zones") if error["type"] == OTHER_ZONES else location


def _known_keys(location: Location) -> list[str]:
    """Return the keys of the table that contains an unknown one."""
    if len(location) == 1:
        return list(Settings.model_fields)
    table = SINKS[str(location[2])] if location[0] == "sink" else TABLES[str(location[0])]
    return list(table.model_fields)


def read_journal_path(path: Path) -> Path:
    """Return the journal that a settings file names; whatever else is wrong with the file does not matter here."""
    raw = _read_toml(path).get("monitor", {})
    known = (
        {key: value for key, value in raw.items() if key in ("state_dir", "journal")} if isinstance(raw, dict) else {}
    )
    try:
        table = MonitorTable.model_validate(known, context={"folder": path.parent})
    except ValidationError as exc:
        raise _config_error(str(path), (f"monitor.{problem}" for problem in _describe_errors(exc))) from exc
    return table.state_dir / table.journal
