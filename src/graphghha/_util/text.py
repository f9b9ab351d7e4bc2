"""Text from strangers made safe for a terminal, a log line or a file.

Control characters move a terminal's cursor or break lines, direction marks reorder what a reader sees, and lone
surrogates cannot be encoded.
"""

import json
import re
from typing import Any

_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_UNSAFE_BUT_NEWLINES = re.compile(_UNSAFE.pattern.replace(r"\x00-\x1f", r"\x00-\x09\x0b-\x1f"))
_SURROGATES = re.compile(r"[\ud800-\udfff]")
REPLACEMENT = "\ufffd"


def clean(text: object, limit: int | None = None, *, keep_newlines: bool = False) -> str:
    """Return the text without any character that could act on the reader; right-to-left letters are kept.

    With a `limit`, a longer text ends in an ellipsis at that many characters.
    """
    safe = (_UNSAFE_BUT_NEWLINES if keep_newlines else _UNSAFE).sub(REPLACEMENT, str(text))
    return safe if limit is None or len(safe) <= limit else safe[: limit - 1] + "…"


def encodable(text: str) -> str:
    """Return the text with lone surrogates replaced: they stand for bytes that are not UTF-8 and cannot be written."""
    return _SURROGATES.sub(REPLACEMENT, text)


def safe_json(data: Any) -> str:
    """Return JSON in which every unsafe character is an escape: the data are complete, and a terminal shows them."""
    text = json.dumps(data, ensure_ascii=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
