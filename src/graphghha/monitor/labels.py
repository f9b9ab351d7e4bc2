"""What operators recorded about incidents, as labels: one line for each incident, from its beginning to its end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphghha._util.times import iso
from graphghha.alarms import DISPOSITIONS
from graphghha.monitor.journal import Reader

COLUMNS = ("start", "end", "nodes", "class")
NORMAL = "normal"  # the class of an incident that turned out to be nothing
MOST = 100_000


@dataclass(frozen=True, slots=True)
class Label:
    """One event at a site: times in UTC, the node that was named, and the class of the attack or fault."""

    start: str
    end: str
    node: str
    attack_class: str

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """Return the label in the order of `COLUMNS`."""
        return self.start, self.end, self.node, self.attack_class


def labels(reader: Reader, site: str, kinds: Sequence[str] = DISPOSITIONS) -> Iterator[Label]:
    """Yield labels of the incidents of a site whose last disposition is one of `kinds`, oldest first.

    An incident that is part of one of the building has the disposition of the building if it has none of its own. One
    that is still open ends with the newest data.
    """
    bodies = {body["id"]: body for body in reader.incidents(site=site, limit=MOST)}
    newest = iso(int(reader.summary(site).get("time_ms", 0)))
    for body in sorted(bodies.values(), key=lambda body: str(body["since"])):
        note = body.get("disposition") or bodies.get(body.get("part_of"), {}).get("disposition")
        if "members" in body or not note or note["is"] not in kinds:
            continue
        node = f"{body['zone']}/{body['root']}" if body["zone"] else str(body["root"])
        attack_class = NORMAL if note["is"] == "false" else str(body["class"])
        yield Label(str(body["since"]), str(body["closed"] or newest), node, attack_class)
