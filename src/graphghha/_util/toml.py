"""Texts for TOML files, which the standard library reads but does not write."""

from collections.abc import Iterable


def quoted(text: str) -> str:
    """Return a text as a TOML string."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(mark if mark.isprintable() else _escape(mark) for mark in plain) + '"'


def quoted_list(texts: Iterable[str]) -> str:
    """Return texts as a TOML array."""
    return "[" + ", ".join(map(quoted, texts)) + "]"


def comment(text: str) -> str:
    """Return a text that cannot end the line of a comment."""
    return "".join(mark if mark.isprintable() else " " for mark in text)


def _escape(mark: str) -> str:
    return f"\\u{ord(mark):04x}" if ord(mark) < 1 << 16 else f"\\U{ord(mark):08x}"
