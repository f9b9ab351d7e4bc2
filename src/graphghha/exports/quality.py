"""Columns of qualities: which of their words or codes mean that a reading may be used."""

from collections.abc import Iterable

from graphghha.exports.vocabulary import BAD_WORDS, GOOD_WORDS

_OPC_UA_BAD = 1 << 30
_OPC_UNCERTAIN = 64


def is_quality_text(texts: Iterable[str]) -> bool:
    """Return whether the texts of a column are qualities: words that we know, flags in braces, or whole numbers."""
    filled = {text.strip().lower() for text in texts if text.strip()}
    return all(_flags(text) <= GOOD_WORDS | BAD_WORDS or _code(text) is not None for text in filled)


def bad_qualities(texts: Iterable[str], column: str) -> tuple[set[str], str]:
    """Return which of the distinct texts mark a reading as unusable, and how codes were understood."""
    distinct = {text for text in texts if text.strip()}
    codes = {code for text in distinct if (code := _code(text)) is not None}
    zero_is_good, reason = _meaning_of_zero(codes, column)
    bad = set()
    for text in distinct:
        code = _code(text)
        if code is not None:
            is_bad = code >= _OPC_UA_BAD if zero_is_good and codes - {0, 1} else (code != 0) == zero_is_good
            if not zero_is_good and max(codes) >= _OPC_UNCERTAIN:
                is_bad = code < _OPC_UNCERTAIN
        else:
            is_bad = bool(_flags(text.lower()) & BAD_WORDS)
        if is_bad:
            bad.add(text)
    return bad, reason


def _meaning_of_zero(codes: set[int], column: str) -> tuple[bool, str]:
    """Return whether the code 0 means good, and why."""
    if not codes or codes == {0}:
        return True, "every code is 0" if codes else ""
    if max(codes) >= _OPC_UA_BAD:
        return True, "codes of OPC UA: 0 is good"
    if max(codes) >= _OPC_UNCERTAIN:
        return False, "codes of OPC: 192 is good, below 64 is bad"
    if "flag" in column.lower() or "error" in column.lower():
        return True, "a flag of 0 is good"
    return False, "a quality of 1 is good, 0 is bad"


def _flags(text: str) -> set[str]:
    parts = text.strip().strip("{}").replace("|", ",").split(",")
    return {flag for part in parts if (flag := part.strip().replace(" ", "_").lower())}


def _code(text: str) -> int | None:
    text = text.strip()
    try:
        return int(text, 16) if text.lower().startswith("0x") else int(float(text))
    except (ValueError, OverflowError):
        return None
