"""Names with placeholders: `{word}` stands for one or more characters of one level. Matched in linear time."""

import re
from collections.abc import Mapping

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def placeholders(text: str) -> list[str]:
    """Return the words that a pattern uses, in order."""
    return _PLACEHOLDER.findall(text)


def fill_in(pattern: str, words: Mapping[str, str]) -> str:
    """Return the pattern with its words replaced."""
    return _PLACEHOLDER.sub(lambda match: words[match[1]], pattern)


class NamePattern:
    """A pattern of names.

    Where a level holds several words, the earlier ones take as many characters as they can, like a regular expression
    would do. A regular expression needs quadratic or cubic time for that, and a hostile name would stop everything.
    """

    def __init__(self, pattern: str) -> None:
        # of each level: its text around the words, and the words
        self._levels = [(_PLACEHOLDER.split(level)[::2], placeholders(level)) for level in pattern.split("/")]

    def match(self, name: str) -> dict[str, str] | None:
        """Return the words of a name, or None if it does not fit."""
        parts = name.split("/")
        if len(parts) != len(self._levels):
            return None
        words: dict[str, str] = {}
        for part, (texts, names) in zip(parts, self._levels, strict=True):
            found = _match_level(part, texts)
            if found is None:
                return None
            words.update(zip(names, found, strict=True))
        return words


def _match_level(part: str, texts: list[str]) -> list[str] | None:
    """Return what stands between the texts of a level, each as far to the right as possible."""
    first, *others = texts
    if not others:
        return [] if part == first else None
    if not part.startswith(first) or not part.endswith(others[-1]):
        return None
    begin, end = len(first), len(part) - len(others[-1])
    found: list[str] = []
    for text in reversed(others[:-1]):
        at = part.rfind(text, begin, end - 1)  # at least one character stays for the word behind it
        if at < 0:
            return None
        found.insert(0, part[at + len(text) : end])
        end = at
    return [part[begin:end], *found] if end > begin else None
