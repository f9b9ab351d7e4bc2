"""What a user may state about an export, so that it need not be guessed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from graphghha._util.suggest import nearest
from graphghha.errors import ConfigError
from graphghha.exports.times import Order
from graphghha.exports.zones import check_zone

KEYS = ("time_column", "dates", "zone", "separator", "decimal", "units")
_DATES = {"day first": Order.DAY_FIRST, "month first": Order.MONTH_FIRST, "year first": Order.YEAR_FIRST}
_SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"} | {mark: mark for mark in ",;\t|"}
_DECIMALS = {"point": ".", "comma": ",", ".": ".", ",": ","}


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportOptions:
    """Stated facts about an export. What is None is recognized from the files."""

    time_column: str | None = None
    dates: Order | None = None  # the order of day, month and year
    zone: str | None = None  # of times that name none
    separator: str | None = None
    decimal: str | None = None
    units: Mapping[str, str] = field(default_factory=dict)  # point -> unit, where the files state none

    @classmethod
    def from_table(cls, table: Mapping[str, Any], where: str) -> Self:
        """Read the options from a table of a TOML file; raise a `ConfigError` for a key or value that is unknown."""
        for key, value in table.items():
            if key not in KEYS:
                near = nearest(key, KEYS)
                hint = f"did you mean {near!r}?" if near else f"use {' | '.join(KEYS)}"
                raise ConfigError(f"{where}: unknown key {key!r}; {hint}")
            if not isinstance(value, dict if key == "units" else str):
                raise ConfigError(f"{where}: {key} = {value!r} must be {'a table' if key == 'units' else 'a string'}")
        units = table.get("units", {})
        if wrong := next((name for name, unit in units.items() if not isinstance(unit, str)), None):
            raise ConfigError(f"{where}: units: {wrong} = {units[wrong]!r} must be a string")
        return cls(
            time_column=table.get("time_column"),
            dates=_choice(table, "dates", _DATES, where),
            zone=check_zone(table["zone"]) if "zone" in table else None,
            separator=_choice(table, "separator", _SEPARATORS, where),
            decimal=_choice(table, "decimal", _DECIMALS, where),
            units=units,
        )


def _choice(table: Mapping[str, Any], key: str, choices: Mapping[str, Any], where: str) -> Any:
    if key not in table:
        return None
    if table[key] not in choices:
        words = [word for word in choices if len(word) > 1]
        raise ConfigError(f"{where}: {key} = {table[key]!r} is unknown; use {' | '.join(words)}")
    return choices[table[key]]
