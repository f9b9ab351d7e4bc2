"""The names of months in the languages that exports are written in, by the first letters of each."""

from functools import lru_cache

_NAMES = {
    1: "jan ene gen",
    2: "feb fév fev febbraio",
    3: "mar mär mrz maa",
    4: "apr avr abr",
    5: "may mai mag mei",
    6: "jun juin giu",
    7: "jul juil lug",
    8: "aug aoû aou ago",
    9: "sep set",
    10: "oct okt out ott",
    11: "nov",
    12: "dec dez déc dic",
}
_PREFIXES = sorted(
    ((prefix, month) for month, names in _NAMES.items() for prefix in names.split()), key=lambda p: -len(p[0])
)


@lru_cache(maxsize=1024)
def month_number(name: str) -> int | None:
    """Return 1 to 12 for the name of a month or its abbreviation, or None."""
    lower = name.lower()
    return next((month for prefix, month in _PREFIXES if lower.startswith(prefix)), None)
