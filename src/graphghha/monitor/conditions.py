"""Conditions of the monitoring itself, such as a zone that is no longer seen: alarms that stand until they are over.

Events raise and end them, so the journal alone shows which stand.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from graphghha._util.times import iso, parse_time_ms
from graphghha.alarms import StoredEvent
from graphghha.monitor.journal import Reader

# what ends a condition, and the field of its events that names what it is about
_ENDS: Mapping[str, tuple[tuple[str, ...], str | None]] = {
    "zone.blind": (("zone.seen", "site.reset"), "zone"),
    "device.clock": (("device.clock", "site.reset"), "device"),
    "source.lost": (("source.found", "site.reset"), None),
    "source.slow": (("source.prompt", "site.reset"), None),
    "source.silent": (("source.heard",), None),
    "source.failed": (("source.recovered",), None),
    "source.unreachable": (("source.reachable",), None),
    "model.refused": (("model.swapped",), None),
    "journal.failing": (("journal.recovered",), None),
    "resources.exhausted": (("resources.available",), "what"),
}
# conditions of a process: a new process detects them again
_OF_A_PROCESS = frozenset(
    {
        "source.slow",
        "source.silent",
        "source.failed",
        "source.unreachable",
        "model.refused",
        "journal.failing",
        "resources.exhausted",
    }
)
KINDS = tuple(dict.fromkeys([*_ENDS, *(end for ends, _ in _ENDS.values() for end in ends)]))


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that stands."""

    kind: str  # of the event that raised it
    site: str
    about: str  # a zone, a device, a resource; empty if it is the site
    since_ms: int
    priority: str
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON, with the names that an incident has for the same things."""
        return {
            "id": ":".join(part for part in (self.kind, self.site, self.about) if part),
            "condition": self.kind,
            "site": self.site,
            "about": self.about or None,
            "since": iso(self.since_ms),
            "state": "active",
            "priority": self.priority,
            "text": self.text,
        }


def read_conditions(reader: Reader, site: str | None = None) -> list[Condition]:
    """Return the conditions that stand, newest first, and then what is not seen of each site."""
    newest = reader.events_after(reader.last_event_number() - 1, 1)
    standing = standing_conditions(reader.events_of_kinds(KINDS, site), newest[0].era if newest else "")
    return standing + [each for name in reader.sites() if site in (None, name) for each in _unseen(reader, name)]


def _unseen(reader: Reader, site: str) -> list[Condition]:
    """Return the conditions that a site's own summary lists: points and zones that were never heard, and the like."""
    return [
        Condition(
            str(each.get("condition")),
            site,
            "",
            parse_time_ms(each.get("since")) or 0,
            str(each.get("priority")),
            str(each.get("text")),
        )
        for each in reader.summary(site).get("unseen", ())
        if isinstance(each, dict)
    ]


def standing_conditions(events: Iterable[StoredEvent], era: str) -> list[Condition]:
    """Return the conditions that these events, in order, leave standing, newest first.

    `era` is that of the process that wrote last.
    """
    standing: dict[tuple[str, str, str], StoredEvent] = {}
    for event in events:
        for kind, (ends, about) in _ENDS.items():
            if event.kind in ends:
                for key in [key for key in standing if key[:2] == (kind, event.site) and _is_same(event, key, about)]:
                    del standing[key]
        if event.kind in _ENDS and event.body.get("priority") and not _is_passing(event):
            about = _ENDS[event.kind][1]
            standing[event.kind, event.site, str(event.body.get(about, "")) if about else ""] = event
    found = [(key, event) for key, event in standing.items() if key[0] not in _OF_A_PROCESS or event.era == era]
    return [
        Condition(*key, event.time_ms, str(event.body["priority"]), _sentence(event, key[2]))
        for key, event in reversed(found)
    ]


def _is_same(event: StoredEvent, key: tuple[str, str, str], about: str | None) -> bool:
    return about is None or about not in event.body or str(event.body[about]) == key[2]


def _is_passing(event: StoredEvent) -> bool:
    """Return whether an event of priority reports something that does not persist: a step of the plant's clock."""
    return event.kind == "device.clock" and event.body.get("state") != "wrong"


def _sentence(event: StoredEvent, about: str) -> str:
    body = event.body
    reason = f" ({body['reason']})" if body.get("reason") else ""
    match event.kind:
        case "zone.blind":
            return f"{about} was seen and no longer is: silent, marked bad, or heard only now and then"
        case "device.clock":
            return f"the clock of {about} is wrong by {body.get('offset_s')} s ({body.get('kind')}); it is not judged"
        case "source.lost":
            return f"no usable readings from the whole site{reason}"
        case "source.slow":
            return f"the source is slow{reason}"
        case "source.silent":
            return f"the source has never sent a usable reading{reason}"
        case "source.failed":
            return f"the source fails{reason}"
        case "source.unreachable":
            return f"no connection to the source{reason}"
        case "model.refused":
            return f"the model in its directory cannot be used; {body.get('kept')} continues{reason}"
        case "journal.failing":
            return f"the journal cannot be written{reason}"
    return f"no {about} left{reason}"
