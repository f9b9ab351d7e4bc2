"""Suggestions for misspelled names."""

import difflib
from collections.abc import Iterable

LONGEST = 200  # characters that are compared: a hostile name must not cost seconds


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like `name`, whatever the case of its letters, or None."""
    by_lower = {each.lower(): each for each in known}
    matches = difflib.get_close_matches(name[:LONGEST].lower(), by_lower, n=1, cutoff=0.5)
    return by_lower[matches[0]] if matches else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` for an error message, or an empty string if no name is similar."""
    near = nearest(name, known)
    return f"; did you mean {near!r}?" if near else ""
