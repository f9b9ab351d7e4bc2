"""What a reader reports: what it guessed and why, and what it left out and why."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

MOST_NAMES = 3
_BY_EXAMPLE = ("dates", "decimal mark", "separator", "names of columns")
STATE_ZONE = "state yours, for example zone = America/Chicago"
NO_ZONE = f"no file states a zone; {STATE_ZONE}"


@dataclass(frozen=True, slots=True)
class Guess:
    """Something that a file does not state, what it was taken for, and the reason."""

    about: str  # a file, a column or a point
    what: str
    value: str
    reason: str

    def __str__(self) -> str:
        return f"{self.about}: {self.what} {self.value}: {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Omission:
    """Something that was not read, how much of it there is, and the reason."""

    about: str
    what: str  # file, column, reading, row
    count: int
    reason: str

    def __str__(self) -> str:
        return f"{self.about}: {counted(self.count, self.what)} left out: {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def note_lines(notes: Sequence[Guess | Omission]) -> Iterator[str]:
    """Yield guesses and omissions as lines; equal ones are listed once, with some of those they concern.

    Where the reason is an example from the file, that of the first file stands for all of them.
    """
    groups: dict[tuple[str, str, str], list[Guess | Omission]] = {}
    for note in notes:
        if isinstance(note, Guess):
            key = (note.what, note.value, "" if note.what in _BY_EXAMPLE else note.reason)
        else:
            key = ("left out", "", note.reason)
        groups.setdefault(key, []).append(note)
    for (what, value, _), same in groups.items():
        abouts = list(dict.fromkeys(note.about for note in same))
        more = len(abouts) - MOST_NAMES
        said = f"{f'{what} {value}'.strip()}: {same[0].reason}"
        yield ", ".join(abouts[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "") + f": {said}"


def counted(count: int, what: str, several: str = "") -> str:
    """Return the count with its noun, such as `1 reading` or `4,320 readings`."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {several or what + 's'}"


def span_text(step_ms: float) -> str:
    """Return a duration for people, such as `5 min` or `0.5 s`."""
    for unit_ms, unit in ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s")):
        if step_ms >= unit_ms and (unit == "s" or step_ms % (unit_ms / 4) == 0 or step_ms >= 10 * unit_ms):
            return f"{step_ms / unit_ms:.4g} {unit}"
    return f"{step_ms / 1000:.3g} s"
