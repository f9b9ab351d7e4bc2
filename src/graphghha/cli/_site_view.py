"""What the terminal view shows of a site, from its journal: zones with readings, incidents, the age of the data."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphghha.monitor import Display, Reader
    from graphghha.plants import Plant

MOST_INCIDENTS = 60
LETTERS = {
    "unacknowledged": "B",
    "acknowledged": "C",
    "returned": "D",
    "shelved": "E",
    "suppressed": "F",
    "out-of-service": "G",
    "unknown": "?",
}


@dataclass(frozen=True, slots=True)
class Tile:
    """One zone: its state, what stands there, and what it reads."""

    zone: str
    state: str
    node: str
    readings: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SiteView:
    """One site as of its last commit."""

    name: str
    as_of: str
    openness: str
    figures: str
    warnings: tuple[str, ...]
    tiles: tuple[Tile, ...]
    incidents: tuple[tuple[str, str], ...]  # state and line, newest first


def read_view(reader: "Reader", site: str, display: "Display", *, note: str = "") -> SiteView | None:
    """Return the view of a site; None before its first commit."""
    from graphghha._util.text import clean
    from graphghha.monitor import read_status

    status = read_status(reader, site, newest=MOST_INCIDENTS)
    if "as_of" not in status:
        return None
    is_open = [body for body in status["incidents"] if _is_open(body)]
    counters = status["counters"]
    taken = sum(counters[name] for name in ("accepted", "superseded", "duplicate", "conflict"))
    return SiteView(
        name=clean(site),
        as_of=display.moment(status["time_ms"]) if status["time_ms"] else "no data yet",
        openness=describe_open(is_open, status["open_incidents"]),
        figures=f"readings {taken:,}, late {counters['late']:,}, stale {counters['stale']:,}",
        warnings=tuple(clean(each) for each in (*_warnings(status, display), note) if each),
        tiles=tuple(_tiles(reader, site, status, is_open, display)),
        incidents=tuple(
            (state, clean(line)) for state, line in (_incident(body, display) for body in status["incidents"])
        ),
    )


def describe_open(is_open: list[dict[str, Any]], count: int) -> str:
    """Return how many incidents are open, and what that means."""
    if not count:
        return "no incident is open"
    states = Counter("returned" if body["closed"] else str(body["state"]) for body in is_open)
    words = {
        "unacknowledged": "unacknowledged",
        "acknowledged": "acknowledged and standing",
        "returned": "back in range, not acknowledged",
    }
    parts = [f"{states[state]} {words.get(state, state)}" for state in LETTERS if states[state]]
    return f"{count} open: {', '.join(parts)}"


def _is_open(body: dict[str, Any]) -> bool:
    return not body["closed"] or body["state"] != "normal"


def _warnings(status: dict[str, Any], display: "Display") -> list[str]:
    if status["is_lost"]:
        since = display.clock(status["time_ms"])
        return [f"Nobody is watching: the source is silent. Newest data {since}."]
    if not status["is_warm"]:
        return ["Nothing has been judged yet: the windows fill with data."]
    unknown = sum(zone["unknown"] for zone in status["zones"])
    flood = ["Alarm flood: the strongest incidents are announced first."] if status["is_flood"] else []
    return flood + ([f"{unknown} nodes are unknown, not normal. An attack there would not show."] if unknown else [])


def _tiles(
    reader: "Reader", site: str, status: dict[str, Any], is_open: list[dict[str, Any]], display: "Display"
) -> list[Tile]:
    about = reader.sites().get(site, {})
    readings = _Readings(reader, site, about, display)
    roots: dict[str | None, dict[str, Any]] = {}
    for body in reversed(is_open):  # the newest one counts
        if "members" not in body:
            roots[body["zone"]] = body
    tiles = []
    for zone in status["zones"]:
        body = roots.get(zone["zone"])
        node = str(body["name"]) if body and zone["state"] not in ("normal", "unknown") else ""
        shown = readings.of_zone(zone["zone"], str(body["root"]) if node and body else "")
        tiles.append(Tile(zone["zone"] or site, zone["state"], node, shown))
    return tiles


class _Readings:
    """The newest row of a site in words."""

    def __init__(self, reader: "Reader", site: str, about: dict[str, Any], display: "Display") -> None:
        rows = reader.rows(site, newest=1)
        points = about.get("points") or []
        fits = rows is not None and len(rows) > 0 and rows.values.shape[1] == len(points)
        self._values = dict(zip(points, rows.values[-1].tolist(), strict=True)) if fits and rows is not None else {}
        self._display, self._plant = display, _plant(about)

    def of_zone(self, zone: str | None, root: str) -> str:
        """Return what people ask for first, and what the node of an incident reads."""
        if self._plant is None:  # described by its user: its units are not known here
            value = self._values.get(f"{zone}/{root}" if zone else root)
            return "" if value is None else "?" if value != value else f"{value:.4g}"
        main = self._plant.main_value[:1] or self._first_sensor()
        roles = [*main, *([root] if root and root not in main else [])]
        return "  ".join(text for role in roles if (text := self._shown(zone, role)))

    def _first_sensor(self) -> tuple[str, ...]:
        assert self._plant is not None
        template = self._plant.template
        return tuple(node.name for node in template.nodes if str(node.kind) == "sensor" and node.signal is not None)[:1]

    def _shown(self, zone: str | None, role: str) -> str:
        value = self._values.get(f"{zone}/{role}" if zone else role)
        if value is None or self._plant is None:
            return ""
        if value != value:
            return "?"
        name = self._plant.template.signals[self._plant.template.index(role)]
        return self._display.reading(self._plant.signal(str(name)), value) if name else ""


def _plant(about: dict[str, Any]) -> "Plant | None":
    from graphghha.errors import GraphGHHAError
    from graphghha.plants import load_plant

    try:
        return load_plant(str(about.get("plant")))
    except GraphGHHAError:
        return None


def _incident(body: dict[str, Any], display: "Display") -> tuple[str, str]:
    from graphghha.monitor import sentence

    state = str(body["state"])
    word = "closed" if body["closed"] and state == "normal" else "back in range" if body["closed"] else state
    when = display.clock(body["annunciated"] or body["time"])
    return "normal" if word == "closed" else state, f"{when}  [{word}]  {sentence(body, display)}"
