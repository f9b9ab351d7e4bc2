"""The figures that matter most, each from several trials, with their aims; `scripts/bench reliability` prints them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from faults.announce import DESCRIPTORS, EVIDENCE, FULL_DISK, LOCKED
from faults.hostile import COMMANDS, NAME, NEW_NAMES
from faults.kill import FAULT as KILL
from faults.live import CUT, STOPPED
from faults.strangers import YEAR

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Aim:
    """A figure over rows of the result: those whose fault and figure begin with these words."""

    figure: str
    aim: str
    parts: tuple[tuple[str, str], ...]

    def rows(self, rows: Sequence[Row]) -> list[Row]:
        return [
            row
            for fault, figure in self.parts
            for row in rows
            if row["fault"].startswith(fault) and row["figure"].startswith(figure)
        ]

    def to_dict(self, rows: Sequence[Row]) -> dict[str, Any]:
        """Return the aim beside what was measured; an aim whose trials did not run is not measured."""
        own = self.rows(rows)
        is_whole = all(any(_matches(row, part) for row in own) for part in self.parts)
        measured = "; ".join(str(row["measured"]) for row in own) if is_whole else "not measured"
        return {
            "figure": self.figure,
            "aim": self.aim,
            "measured": measured,
            "holds": all(row["holds"] for row in own) if is_whole else None,
        }


def _matches(row: Row, part: tuple[str, str]) -> bool:
    return bool(row["fault"].startswith(part[0]) and row["figure"].startswith(part[1]))


_HONEST = "other zones judged as in a clean run"
_OFFSETS = tuple(f"one device {much} {way}" for much in ("90 s", "590 s", "a year") for way in ("ahead", "behind"))
_LOST = "readings lost"
_ANNOUNCED = "attacks announced while it lasts"
AIMS = (
    Aim(
        "honest zones judged as in a clean run: one device 90 s, 590 s, a year ahead or behind; dead clock heard first",
        "11 of 11, each",
        tuple((fault, _HONEST) for fault in (*_OFFSETS, "one device with a dead clock")),
    ),
    Aim(
        "readings lost: connection cut, SIGSTOP, 12 gateways forwarding 6 h, 6 h down with junk first",
        "0 each",
        tuple((fault, _LOST) for fault in (CUT, STOPPED, "12 gateways forward 6 h", "6 h down, junk first")),
    ),
    Aim(
        "attacks announced on time: journal full, lock held, evidence fails, descriptors gone",
        "2 of 2 each",
        tuple((fault, _ANNOUNCED) for fault in (FULL_DISK, LOCKED, EVIDENCE, DESCRIPTORS)),
    ),
    Aim(
        "hostile command bodies that end it or stay pending; processor time for names that match in every way",
        "0; at most 1 s",
        ((COMMANDS, "that end the monitor"), (NAME, "processor time")),
    ),
    Aim("memory growth by messages with new names and units", "at most 50 MB", ((NEW_NAMES, "memory growth"),)),
    Aim("start after damage, journal of a year", "at most 30 s", ((YEAR, "start with"),)),
    Aim(
        "kills at random moments, four of ten in a backlog: samples kept, events lost, events doubled",
        "all; 0; 0",
        ((KILL, "acknowledged samples kept"), (KILL, "alarm events lost"), (KILL, "alarm events written twice")),
    ),
)


def summarize_aims(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return every aim beside what was measured."""
    return [aim.to_dict(rows) for aim in AIMS]
