"""Incidents, the commands of operators, and the journal's events."""

from typing import Any, Literal

from pydantic import Field

from graphghha.web.contract.common import Answer, Disposition, Kind, Priority, Request, State, Time

Verb = Literal["ack", "shelve", "unshelve", "suppress", "out-of-service", "return", "reset", "dispose", "comment"]


class TimePart(Answer):
    """A time within a sentence; the page shows it in the site's time zone."""

    time: Time
    on: Time | None = Field(default=None, description="the date is left out if it is that of this time")


class ValuePart(Answer):
    """A value with its unit within a sentence; the page shows it in the unit that a person chose."""

    value: float = Field(examples=[24.6])
    unit: str = Field(examples=["degC"])
    decimals: int = Field(examples=[1])
    is_bare: bool = Field(default=False, description="only the number is written: its unit has just been named")


Parts = list[str | TimePart | ValuePart]
PARTS = [
    [
        "since ",
        {"time": "2018-07-10T10:10:00Z", "on": None},
        "; it reads ",
        {"value": 24.6, "unit": "degC", "decimals": 1},
    ]
]


class Note(Answer):
    """What a person wrote, and when."""

    by: str
    text: str
    time: Time = Field(description="plant time")
    wall_time: Time | None = Field(default=None, description="the time of the server's clock")


class Judged(Answer):
    """What an incident turned out to be."""

    disposition: Disposition
    by: str
    reason: str
    time: Time
    right_node: str | None = Field(
        default=None, description="role of the node that it really was", examples=["FCU_DMPR"]
    )
    is_right_node: bool | None = Field(default=None, description="whether that is the root; null: nobody said")


class IncidentLine(Answer):
    """One row of the list of incidents. Exports have the same columns."""

    id: str
    site: str
    zone: str | None
    zone_title: str
    root: str = Field(description="role of the node; empty for an incident of the building", examples=["FCU_DMPR"])
    name: str = Field(description="the root in words")
    kind: Kind
    attack_class: str = Field(
        description="class of the root; `unclassified` if it is unlike the attacks that were learned from",
        examples=["actuator"],
    )
    text: str
    evidence: str = Field(description="the readings that show it, in one line; may be empty")
    state: State
    priority: Priority
    p: float = Field(description="at the announcement; it never changes")
    p_now: float | None = Field(description="null: unknown now, or the incident is closed")
    since: Time
    time: Time = Field(description="when it was found")
    announced: Time | None
    cleared: Time | None = Field(
        default=None,
        description="when its last alarm went back in range; null: one stands, or it is not known (incidents of older "
        "versions, alarms that were put aside)",
    )
    closed: Time | None = Field(description="some time after it was back in range")
    is_open: bool
    is_drill: bool = Field(description="the studio injected it")
    last_note: Note | None
    judged: Judged | None
    part_of: str | None = Field(description="id of the building's incident")
    version: int
    text_parts: Parts = Field(default=[], description="`text` with its times and temperatures apart", examples=PARTS)
    evidence_parts: Parts = Field(default=[], description="`evidence` likewise")
    class_is: Literal["by_model", "by_kind", "by_label", "unknown"] = Field(
        default="by_model",
        description="where the class comes from: the model; the kind of the root, because no attack on it was learned "
        "from; the labels of such attacks; or nowhere",
    )
    p_is: Literal["calibrated", "tail"] = Field(
        default="calibrated",
        description="tail: from the scores of normal operation alone; it is not the share of such incidents that are "
        "attacks",
    )


class Incidents(Answer):
    """A page of the list."""

    items: list[IncidentLine]
    total: int = Field(description="with these filters")
    unfiltered: int = Field(description="without filters, within the sites that may be seen")
    next: str | None = Field(description="send it as `cursor` for the next page")
    number: int = Field(description="of the newest event that this list includes")


class Evidence(Answer):
    """A reading at the announcement, beside what was expected of it."""

    role: str
    name: str
    meaning: str
    value: float
    expected: float
    normal: tuple[float, float]
    unit: str
    deviation: float = Field(description="in spreads")
    is_unusual: bool
    text: str


class EvidenceEdge(Answer):
    source: str
    target: str
    relation: str = ""
    deviation: float | None = Field(default=None, description="of the reading that disagrees, in spreads")
    weight: float | None = Field(default=None, description="how much the model attends to it, if it says so")


class Hypothesis(Answer):
    """What may be behind it. `rank` is in words, because readings give no probabilities among causes."""

    kind: str = Field(examples=["equipment fault"])
    rank: str = Field(examples=["fits best"])
    reasons: list[str]
    pros: list[str] | None = Field(
        default=None,
        alias="for",
        description="the reasons that speak for it; null in incidents of older versions",
        examples=[["The damper reads 80% while its command is 30%: a stuck drive or one in hand does that."]],
    )
    against: list[str] | None = Field(
        default=None,
        description="what speaks against it",
        examples=[["It went from 30% to 80% within one reading; wear and drift are slower."]],
    )


class Technique(Answer):
    """An ATT&CK for ICS technique that a manipulation would be consistent with."""

    id: str
    name: str


class Related(Answer):
    id: str
    closed: Time | None


class Story(Answer):
    """One moment in the life of an incident."""

    number: int | None = Field(description="of the event")
    time: Time
    wall_time: Time | None
    mark: Literal["fact", "onset", "announced", "person", "refused", "closed"]
    by: str | None
    text: str
    parts: Parts = Field(default=[], description="`text` with its times and temperatures apart", examples=PARTS)


class Incident(IncidentLine):
    """Everything about one incident."""

    action: str = Field(description="what to do first: the plant's advice, verbatim")
    equivalents: list[str] = Field(description="names of nodes that no reading tells apart from the root")
    suspects: list[str] = Field(description="names; empty unless the model judges zones")
    coverage: float | None = Field(description="how often the suspects include the attacked node")
    alarms: list[str] = Field(description="nodes, root first")
    signals: list[Evidence]
    edges: list[EvidenceEdge]
    hypotheses: list[Hypothesis]
    techniques: list[Technique]
    follows: Related | None
    first_doubt: Time | None = Field(description="when P of the root first rose above 0.05")
    charts: list[str] = Field(description="points to draw, those of the evidence first, at most six")
    story: list[Story]
    members: list[str] = Field(description="ids, if it is an incident of the building")
    body: dict[str, Any] = Field(description="as sinks receive it")


class Target(Request):
    """An incident by its id, or a node by its name, and the version that was looked at."""

    id: str = Field(min_length=1, max_length=300, description="an incident's id, or a node such as zone-10/FCU_DMPR")
    site: str | None = Field(default=None, max_length=64, description="needed for a node if it exists in several sites")
    version: int = Field(ge=0, le=2**53)


class Order(Request):
    """A command for one or several incidents or nodes."""

    verb: Verb
    targets: list[Target] = Field(min_length=1, max_length=200)
    comment: str = Field(
        default="", max_length=2000, description="needed for shelve, suppress, out-of-service, comment"
    )
    minutes: int | None = Field(default=None, ge=1, le=1440, description="how long to shelve; 480 if left out")
    disposition: Disposition | None = Field(default=None, description="needed for dispose")
    right_node: str | None = Field(
        default=None,
        max_length=100,
        description="with dispose: the role of the node that it really was, the root's own if the named one was right",
        examples=["FCU_DMPR"],
    )


class Result(Answer):
    """What became of a command for one target."""

    id: str
    outcome: Literal["done", "refused", "withdrawn"]
    error: str | None = Field(default=None, description="the kind of error", examples=["ConflictError"])
    message: str | None = None
    version: int | None = Field(default=None, description="of the target now")
    state: State | None = None
    number: int | None = Field(default=None, description="of the event that records it")
    changes: list[Story] = Field(default=[], description="refused by version: what happened since that version")


class Results(Answer):
    """Answers with 200 if at least one target was done, otherwise with the status of the first refusal."""

    results: list[Result]


class EventLine(Answer):
    """One event of the journal."""

    number: int
    site: str
    time: Time
    kind: str = Field(examples=["incident.annunciated"])
    by: str | None
    priority: str | None
    text: str = Field(description="the event in one line")
    parts: Parts = Field(default=[], description="`text` with its times and temperatures apart", examples=PARTS)
    body: dict[str, Any]


class Events(Answer):
    items: list[EventLine]
    first: int = Field(description="number of the oldest event kept")
    last: int
    next: int | None = Field(description="send it as `after` (or `before`) for the next page")
