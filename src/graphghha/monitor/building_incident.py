"""The incident of a building: incidents of many zones at once, joined under one that is announced in their place."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graphghha._util.times import iso, parse_time_ms
from graphghha.alarms import BuildingRule, Opening, members_of_building, newcomers
from graphghha.monitor.display import PLAIN, Display
from graphghha.monitor.hypotheses import CONFIGURATION, EQUIPMENT, MANIPULATION, TOGETHER
from graphghha.monitor.incident_json import sentence
from graphghha.plants.techniques import name_techniques

Body = dict[str, Any]
Changed = tuple[Body, tuple[str, ...]]

ACTION = (
    "Check first what all zones share (supplies, schedules, the network), "
    "then whether anything writes to points of many zones."
)


def join_building(
    site: str,
    zones: Sequence[str],
    rule: BuildingRule,
    step_ms: int,
    board: Mapping[str, Body],
    changed: Sequence[Changed],
    closed: Iterable[str],
    now_ms: int,
    display: Display = PLAIN,
) -> list[Changed]:
    """Return the incident of the building if it is new or grows in this step, and its members' part in it.

    `board` are the incidents before the step; `changed` and `closed` are those of the step.
    """
    bodies = {key: dict(body) for key, body in board.items() if not body["closed"]}
    for body, _ in changed:
        bodies[body["id"]] = bodies.get(body["id"], {}) | body
    for key in closed:
        bodies.pop(key, None)
    openings = [
        Opening(key, body["zone"], _time_ms(body["time"]))
        for key, body in bodies.items()
        if body["zone"] is not None and not body.get("part_of")
    ]
    within_ms = rule.within * step_ms
    for known in [body for body in bodies.values() if "members" in body]:
        times = [_time_ms(bodies[key]["time"]) for key in known["members"] if key in bodies]
        if times and (joining := newcomers(openings, now_ms, within_ms, known["zones"], max(times))):
            return _joined(known, joining, bodies, len(zones), display)
    if not (joining := members_of_building(openings, now_ms, within_ms, rule, len(zones))):
        return []
    stamp = iso(now_ms).replace("-", "").replace(":", "")[:13]
    new = {"id": f"{site}-{stamp}-building", "site": site, "time": iso(now_ms), "members": [], "zones": []}
    return _joined(new, joining, bodies, len(zones), display)


def _joined(
    building: Body, joining: Sequence[str], bodies: Mapping[str, Body], num_zones: int, display: Display
) -> list[Changed]:
    members = [*building["members"], *joining]
    own = [bodies[key] for key in members if key in bodies]
    strongest = max(own, key=lambda body: float(body["probability"]))
    zones = list(dict.fromkeys([*building["zones"], *(bodies[key]["zone"] for key in joining)]))
    techniques = list(dict.fromkeys(each for body in own for each in body["consistent_with"]))
    body = building | {
        "zone": None,
        "root": None,
        "name": "Building",
        "class": Counter(body["class"] for body in own).most_common(1)[0][0],
        "probability": strongest["probability"],
        "since": min(body["since"] for body in own),
        "state": "unacknowledged",
        "priority": "high",
        "follows": None,
        "alarms": [f"{body['zone']}/{body['root']}" for body in own],
        "evidence": [],
        "consistent_with": techniques,
        "techniques": name_techniques(techniques),
        "action": ACTION,
        "ranking": [],
        "members": members,
        "zones": zones,
        "zones_of_building": num_zones,
        "hypotheses": building_hypotheses(own),
    }
    parts: list[Changed] = [({"id": key, "part_of": body["id"]}, ()) for key in joining]
    return [*parts, (body | {"text": sentence(body, display)}, ())]


def building_hypotheses(members: Sequence[Body]) -> list[dict[str, Any]]:
    """Return the hypotheses about an incident of the building, from those of its members, likeliest first."""
    likeliest = Counter(body["hypotheses"][0]["kind"] for body in members if body.get("hypotheses"))
    roots = Counter(str(body["name"]) for body in members)
    name, alike = roots.most_common(1)[0]
    suspected = likeliest[MANIPULATION]
    reasons = {
        EQUIPMENT: [f"{len(members)} zones turned within minutes: what they share may have failed."],
        CONFIGURATION: ["A schedule or a setting of the whole building may have been changed: ask who did."],
        MANIPULATION: [
            f"Readings of {suspected} of its zones point to it; the incidents of these zones say why."
            if suspected
            else "Nothing in the readings of its zones points to it, but readings alone cannot exclude it."
        ],
    }
    order = sorted(reasons, key=lambda kind: -likeliest[kind])  # of equals the one that is more frequent in buildings
    if alike > TOGETHER:
        reasons[order[0]].append(f"The node is the same in {alike} zones: {name}.")
    return [{"kind": kind, "reasons": reasons[kind], "for": reasons[kind], "against": []} for kind in order]


def _time_ms(text: str) -> int:
    time_ms = parse_time_ms(text)
    assert time_ms is not None, text
    return time_ms
