"""The point that a file is named after: exports by month or day put dates behind its name."""

import re
from datetime import UTC, datetime

from graphghha.exports.months import month_number

_SLACK_MS = 32 * 86_400_000  # a file may be named after the day on which it was written
_DAY = r"(?:[-_.]?(?:0[1-9]|[12]\d|3[01])(?:[-_.T ]?\d{{4}}(?:\d\d)?)?)?"
_NUMBERS = rf"(?P<y{{n}}>(?:19|20)\d\d)[-_.]?(?P<m{{n}}>0[1-9]|1[0-2]){_DAY}"
_WORDS = r"(?P<w{n}>[^\W\d_]{{3,9}})[-_. ]?(?P<v{n}>(?:19|20)\d\d)"
_DATE = rf"(?:{_NUMBERS}|{_WORDS})"
_DATED = re.compile(
    rf"(?P<name>.*?[^-_. (])[-_. (]+{_DATE.format(n=1)}(?:[-_. ]+(?:(?:to|bis|au)[-_. ]+)?{_DATE.format(n=2)})?\)?"
)


def without_date(stem: str, span_ms: tuple[int, int] | None = None) -> str:
    """Return the name of a file without a date at its end, `VAV-3_ZN-T` of `VAV-3_ZN-T_2024-03`.

    With `span_ms`, the first and last reading of the file, only a date near them counts: other digits are a number.
    """
    match = _DATED.fullmatch(stem)
    if match is None:
        return stem
    month = int(match["m1"]) if match["m1"] else month_number(match["w1"])
    if month is None:
        return stem
    stated = datetime(int(match["y1"] or match["v1"]), month, 1, tzinfo=UTC).timestamp() * 1000
    if span_ms is not None and not span_ms[0] - 2 * _SLACK_MS <= stated <= span_ms[1] + _SLACK_MS:
        return stem
    return match["name"]
