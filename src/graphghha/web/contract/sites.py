"""Sites: what they consist of, and how they are now."""

from pydantic import Field

from graphghha.web.contract.common import Answer, EdgeKind, Kind, Priority, Request, State, Time


class SiteLine(Answer):
    """One site in the list of sites."""

    name: str
    plant: str = Field(examples=["fcu"])
    title: str = Field(examples=["Four-pipe fan-coil unit"])
    model: str
    zones: int
    nodes: int
    points: int
    step_s: float
    is_simulated: bool = Field(description="the site has a studio, and nothing in it is a real plant")
    as_of: Time | None = Field(description="plant time of the newest row; null before the first")
    is_lost: bool
    open_incidents: int


class Sites(Answer):
    items: list[SiteLine]
    server_time: Time


class TemplateNode(Answer):
    """A node of the template, which every zone repeats in the same order."""

    role: str = Field(examples=["FCU_DMPR"])
    name: str = Field(examples=["outdoor-air damper"])
    kind: Kind
    signal: str | None = Field(description="null: the node is not measured")
    meaning: str = ""
    unit: str | None = None
    low: float | None = Field(default=None, description="the range of the instrument")
    high: float | None = None
    decimals: int = 0
    states: list[str] = Field(default=[], description="names of the values low, low + 1, ...")
    is_setting: bool = Field(default=False, description="a command or setpoint: drawn dotted")
    priority: Priority = Field(description="of an alarm with this root")
    x: float = Field(description="place in the graph: 0 command, 1 action, 2 effect")
    y: float
    row: int = Field(description="place in the node matrix")
    column: int


class TemplateEdge(Answer):
    source: int = Field(description="number of a node in the template")
    target: int
    kind: EdgeKind


class ZoneInfo(Answer):
    zone: str = Field(examples=["zone-10"])
    title: str = Field(examples=["Zone 10"])
    group: str = Field(description="floor or prefix; empty where there is none")


class MainValue(Answer):
    """The one value of a zone that people ask for, with the settings it is compared with."""

    role: str
    name: str
    settings: list[str] = Field(description="roles of its setpoints")


class AlarmLevels(Answer):
    """When a node alarms. The page takes its colours from these numbers."""

    raise_at: float
    clear_at: float
    votes: int = Field(description="of `window` rows have to be above `raise_at`")
    window: int
    doubt_at: float = Field(description="below it a score is shown as normal", examples=[0.05])
    grey_at: float = Field(description="from here to `raise_at` the darkest grey", examples=[0.28])


class SiteAbout(SiteLine):
    """What a site consists of. It changes only with `hash`: clients keep it as long as the hash stays."""

    hash: str = Field(description="of this content; state frames carry it")
    zones_info: list[ZoneInfo]
    template: list[TemplateNode] = Field(description="node n of zone z is number z * len(template) + n in frames")
    edges: list[TemplateEdge]
    levels: AlarmLevels
    main_value: MainValue | None
    judges_zones: bool = Field(description="the model judges zones: incidents have suspects and hypotheses")
    stale_after_s: float
    lost_after_s: float
    time_zone: str | None = Field(description="IANA name of the site's time zone, if it is configured")
    speed: float | None = Field(
        default=None,
        description="of a simulated site: plant time over real time; null: as fast as it can",
        examples=[120],
    )
    seed: int | None = Field(default=None, description="of a simulated site", examples=[7])


class ZoneState(Answer):
    """One zone now."""

    zone: str
    state: State
    unknown: int = Field(description="nodes whose state is unknown")
    priority: Priority | None = Field(description="of the worst open incident")
    incident: str | None = Field(description="id of the worst open incident")
    root: str | None = Field(description="its root, in words")
    since: Time | None
    main: float | None = Field(description="the main value; null if it is not fresh")
    settings: list[float | None] = []


class StalePoint(Answer):
    point: str
    name: str
    since: Time | None = Field(description="of the last fresh reading; null: none within the rows kept")
    age_s: float | None


class PutAside(Answer):
    """An alarm that is shelved, suppressed or out of service."""

    node: str
    name: str
    zone: str | None
    state: State
    until: Time | None
    reason: str
    by: str
    version: int


class PlannedStop(Answer):
    """A planned stop: alarms are recorded and not announced."""

    zones: list[str] | None = Field(description="null: the whole site")
    since: Time
    until: Time
    reason: str
    by: str
    recorded: int = Field(description="incidents recorded since and not announced")
    version: int


class Counters(Answer):
    nodes: int
    scored: int
    unknown: int
    put_aside: int
    points: int
    fresh: int
    announced_10_min: int
    announced_day: int
    rejected: dict[str, int] = Field(description="readings rejected since the start, by reason")


class AlarmCounts(Answer):
    """Open incidents that nobody has acknowledged, by priority."""

    critical: int = 0
    high: int = 0
    medium: int = 0
    low: int = 0


class Lost(Answer):
    """A source that is silent."""

    since: Time | None
    reason: str


class Learning(Answer):
    """How far the commissioning of a site has come."""

    since: Time
    until: Time
    day: int = Field(description="counted from 1", examples=[6])
    days: int = Field(examples=[14])


class SiteState(Answer):
    """How a site is now."""

    site: str
    hash: str
    number: int = Field(description="of the newest event that this state includes")
    as_of: Time | None
    age_s: float | None = Field(description="on the server's clock, since the last commit")
    server_time: Time
    monitor: str = Field(
        description="`running` or `stopped`: whether somebody writes the journal", examples=["running"]
    )
    is_lost: bool
    is_warm: bool
    warm_at: Time | None = Field(description="when the windows are full, while they fill")
    is_flood: bool
    scores: str = Field(description="base64; one byte per node: floor(254 P), 255 = unknown")
    alarms: dict[str, str] = Field(description="letters B-G of nodes whose alarm is not normal, by node name")
    zones: list[ZoneState]
    waiting: AlarmCounts
    acknowledged: int = Field(description="open incidents that are acknowledged")
    last_closed: Time | None
    stale: list[StalePoint]
    put_aside: list[PutAside]
    planned_stops: list[PlannedStop]
    counters: Counters
    learning: str | None = Field(description="a sentence while the site is commissioned")
    learning_progress: Learning | None = Field(default=None, description="while the site is commissioned")
    no_incident_since: Time | None = Field(
        default=None, description="when the last incident closed, or scoring began; null while one is open"
    )
    lost: Lost | None = Field(default=None, description="while the source is silent")
    flood_since: Time | None = Field(default=None, description="while alarms come in a flood")


class NodeNow(Answer):
    """A node of a zone now."""

    node: str = Field(examples=["zone-10/FCU_DMPR"])
    role: str
    name: str
    kind: Kind
    value: float | None
    text: str | None = Field(description="the value for people; the page converts degC itself", examples=["22.5 °C"])
    unit: str | None
    is_fresh: bool
    read_at: Time | None
    expected: float | None = None
    normal: tuple[float, float] | None = Field(default=None, description="expected -+ 3 spreads")
    disagrees: bool = False
    p: float | None = Field(description="null: unknown")
    state: State
    version: int = Field(description="of the alarm, for commands")


class ZoneNow(Answer):
    """A zone with all its nodes, values and scores."""

    site: str
    zone: str
    as_of: Time | None
    state: State
    nodes: list[NodeNow]
    incidents: list[str] = Field(description="ids of its newest incidents, newest first")


class PointStatus(Answer):
    """What is known of one point: the mapping check."""

    point: str
    name: str
    unit: str
    low: float
    high: float
    value: float | None
    read_at: Time | None
    age_s: float | None
    share_fresh: float | None = Field(description="of the rows of the last 24 h")
    least: float | None = Field(description="within the last 24 h")
    most: float | None
    note: str = Field(description="what is wrong with it; empty if nothing is")


class Points(Answer):
    site: str
    as_of: Time | None
    items: list[PointStatus]
    rejected: dict[str, int]


class NewStop(Request):
    """A planned stop to begin now."""

    minutes: int = Field(ge=1, le=7 * 1440)
    reason: str = Field(min_length=3, max_length=2000)
    zones: list[str] | None = Field(default=None, description="null: the whole site")


class Health(Answer):
    """The condition of monitor and web process, as far as the journal shows it."""

    status: str = Field(examples=["ready"])
    reasons: list[str]
    monitor: str
    journal_mb: float
    last_event: int
    clients: int = Field(description="live streams that are open")
    server_time: Time
