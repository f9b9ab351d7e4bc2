// Requests and answers of the HTTP API, version 1. Fields that may be missing are those that older servers do not send.
export type Time = string;
export type Role = "viewer" | "operator" | "engineer" | "admin";
export type Priority = "critical" | "high" | "medium" | "low";
export type State =
  | "normal" | "unacknowledged" | "acknowledged" | "returned" | "shelved" | "suppressed" | "out-of-service" | "unknown";
export type Kind = "sensor" | "controller" | "actuator" | "equipment";
export type Disposition = "attack" | "fault" | "maintenance" | "false";
export type Verb =
  | "ack" | "shelve" | "unshelve" | "suppress" | "out-of-service" | "return" | "reset" | "dispose" | "comment";

export interface Problem { error: string; message: string; needs?: Role | null; retry_after_s?: number | null }
export interface Session {
  person: string; role: Role; may: string[]; sites: string[] | null; kind: "login" | "token" | "local";
  expires: Time | null; server_time: Time; version: string; boot: string;
}

export interface SiteLine {
  name: string; plant: string; title: string; model: string; zones: number; nodes: number; points: number; step_s: number;
  is_simulated: boolean; as_of: Time | null; is_lost: boolean; open_incidents: number;
}
export interface Sites { items: SiteLine[]; server_time: Time }
export interface TemplateNode {
  role: string; name: string; kind: Kind; signal: string | null; meaning: string; unit: string | null;
  low: number | null; high: number | null; decimals: number; states: string[]; is_setting: boolean; priority: Priority;
  x: number; y: number; row: number; column: number;
}
export interface TemplateEdge { source: number; target: number; kind: "comm" | "phys" | "near" }
export interface ZoneInfo { zone: string; title: string; group: string }
export interface MainValue { role: string; name: string; settings: string[] }
export interface AlarmLevels {
  raise_at: number; clear_at: number; votes: number; window: number; doubt_at: number; grey_at: number;
}
export interface SiteAbout extends SiteLine {
  hash: string; zones_info: ZoneInfo[]; template: TemplateNode[]; edges: TemplateEdge[]; levels: AlarmLevels;
  main_value: MainValue | null; judges_zones: boolean; stale_after_s: number; lost_after_s: number;
  time_zone: string | null; speed?: number | null; seed?: number | null;
}
export interface ZoneState {
  zone: string; state: State; unknown: number; priority: Priority | null; incident: string | null; root: string | null;
  since: Time | null; main: number | null; settings: (number | null)[];
}
export interface StalePoint { point: string; name: string; since: Time | null; age_s: number | null }
export interface PutAside {
  node: string; name: string; zone: string | null; state: State; until: Time | null; reason: string; by: string;
  version: number;
}
export interface PlannedStop {
  zones: string[] | null; since: Time; until: Time; reason: string; by: string; recorded: number; version: number;
}
export interface Counters {
  nodes: number; scored: number; unknown: number; put_aside: number; points: number; fresh: number;
  announced_10_min: number; announced_day: number; rejected: Record<string, number>;
}
export interface Lost { since: Time | null; reason: string; tries: number | null; next_try_s: number | null }
export interface SiteState {
  site: string; hash: string; number: number; as_of: Time | null; age_s: number | null; server_time: Time;
  monitor: string; is_lost: boolean; is_warm: boolean; warm_at: Time | null; is_flood: boolean; scores: string;
  alarms: Record<string, string>; zones: ZoneState[];
  waiting: Record<Priority, number>; acknowledged: number; last_closed: Time | null; stale: StalePoint[];
  put_aside: PutAside[]; planned_stops: PlannedStop[]; counters: Counters; learning: string | null;
  learning_progress?: { since: Time; until: Time; day: number; days: number } | null; no_incident_since?: Time | null;
  lost?: Lost | null; flood_since?: Time | null;
}
export interface NodeNow {
  node: string; role: string; name: string; kind: Kind; value: number | null; text: string | null; unit: string | null;
  is_fresh: boolean; read_at: Time | null; expected: number | null; normal: [number, number] | null; disagrees: boolean;
  p: number | null; state: State; version: number;
}
export interface ZoneNow {
  site: string; zone: string; as_of: Time | null; state: State; nodes: NodeNow[]; incidents: string[];
}
export interface PointStatus {
  point: string; name: string; unit: string; low: number; high: number; value: number | null; read_at: Time | null;
  age_s: number | null; share_fresh: number | null; least: number | null; most: number | null; note: string;
}
export interface Points { site: string; as_of: Time | null; items: PointStatus[]; rejected: Record<string, number> }

export type BandKind = "expected" | "affected" | "unsure";
export interface Series {
  point: string; name: string; unit: string; decimals: number; states: string[]; is_setting: boolean;
  least: (number | null)[]; mean: (number | null)[]; most: (number | null)[]; expected: (number | null)[];
  low: (number | null)[]; high: (number | null)[]; kind: (BandKind | null)[];
}
export interface History { site: string; start: Time; end: Time; bucket_ms: number; times: number[]; series: Series[] }
export interface Marks {
  id: string; zone: string | null; since: Time; announced: Time | null; closed: Time | null; priority: Priority;
}
export interface ScoreHistory {
  site: string; start: Time; end: Time; bucket_ms: number; times: number[];
  series: { name: string; p: (number | null)[] }[]; incidents: Marks[];
}

/** A sentence in parts, so that times and values follow the choices of the person who reads it. */
export type Part = string | { time: Time; on?: Time | null } | { value: number; unit: string; decimals: number; is_bare?: boolean };
export interface Note { by: string; text: string; time: Time; wall_time?: Time | null }
export interface Judged {
  disposition: Disposition; by: string; reason: string; time: Time; right_node?: string | null; is_right_node?: boolean | null;
}
export interface IncidentLine {
  id: string; site: string; zone: string | null; zone_title: string; root: string; name: string; kind: Kind;
  attack_class: string; class_is?: "by_model" | "by_kind" | "by_label" | "unknown"; p_is?: "calibrated" | "tail"; text: string; evidence: string; state: State; priority: Priority; p: number;
  p_now: number | null; since: Time; time: Time; announced: Time | null; cleared: Time | null; closed: Time | null; is_open: boolean;
  is_drill: boolean; last_note: Note | null; judged: Judged | null; part_of: string | null; version: number;
  text_parts?: Part[] | null; evidence_parts?: Part[] | null;
}
export interface Incidents {
  items: IncidentLine[]; total: number; unfiltered: number; next: string | null; number: number;
}
export interface Evidence {
  role: string; name: string; meaning: string; value: number; expected: number; normal: [number, number]; unit: string;
  deviation: number; is_unusual: boolean; text: string;
}
export interface Story {
  number: number | null; time: Time; wall_time: Time | null;
  mark: "fact" | "onset" | "announced" | "person" | "refused" | "closed"; by: string | null; text: string; parts?: Part[] | null;
}
export interface Hypothesis { kind: string; rank: string; reasons: string[]; for?: string[]; against?: string[] }
export interface Incident extends IncidentLine {
  action: string; equivalents: string[]; suspects: string[]; coverage: number | null; alarms: string[];
  signals: Evidence[]; edges: { source: string; target: string; relation: string; deviation: number | null; weight?: number | null }[];
  hypotheses: Hypothesis[]; techniques: { id: string; name: string }[]; follows: { id: string; closed: Time | null } | null;
  first_doubt: Time | null; charts: string[]; story: Story[]; members: string[]; body: Record<string, unknown>;
}
export interface Target { id: string; site?: string | null; version: number }
export interface Order {
  verb: Verb; targets: Target[]; comment?: string; minutes?: number; disposition?: Disposition; right_node?: string;
}
export interface Result {
  id: string; outcome: "done" | "refused" | "withdrawn"; error: string | null; message: string | null;
  version: number | null; state: State | null; number: number | null; changes: Story[];
}
export interface EventLine {
  number: number; site: string; time: Time; kind: string; by: string | null; priority: string | null; text: string;
  body: Record<string, unknown>; parts?: Part[] | null;
}
export interface Events { items: EventLine[]; first: number; last: number; next: number | null }

export interface Target18 {
  key: string; title: string; value: number | null; unit: string; target: string; is_within: boolean | null; why: string;
  number_of_target?: number | null; scale?: number | null;
}
export interface Kpis {
  site: string; start: Time; end: Time; days: number; rows: Target18[]; announced: number; real: number; false: number;
  not_judged: number; by_disposition: Record<string, number>;
  honesty: { low: number; high: number; judged: number; real: number }[];
  worst_nodes: { name: string; count: number; zone_title?: string; by_disposition?: Record<string, number> }[];
  figures: Record<string, unknown>;
  weeks?: { start: Time; real: number; false: number; not_judged: number }[];
  right_node?: { yes: number; of: number } | null;
  time_to_acknowledge_min?: { median: number; p90: number } | null;
  found_by_people?: { time: Time; zone_title: string; name: string; disposition: Disposition; text: string; by: string }[];
}
export interface Standing { zone: string; node: string; share_of_time: number }
export interface Commissioned {
  first: string; last: string; days: number; zones: string[]; threshold: number; own_threshold: number;
  expected_false_per_day: [number, number]; standing: Standing[]; left_out: Standing[]; missing_points: string[];
  reporting: Record<string, string>;
}
export interface ModelCard {
  site: string; model: string; signed_by: string | null; levels: Record<string, unknown>; card: string;
  figures: Record<string, unknown>; commissioning: Commissioned | null; loaded: Time | null; changes: EventLine[];
}

export interface Case {
  name: string; title: string; family: string; attack_class: string; severity: string; targets: string[];
  target_names: string[]; equivalents: string[];
}
export interface Injection {
  id: string; case: string; title: string; zone: string; targets: string[]; start: Time; end: Time | null; by: string;
  comment: string; state: "planned" | "running" | "over"; stopped_by?: string | null;
  found: {
    incident: string | null; first_doubt: Time | null; since: Time | null; announced: Time | null;
    minutes: number | null; hit: "that very node" | "cannot be told apart" | "another" | null; named?: string | null;
  };
}
export interface Injections {
  site: string; as_of: Time | null; items: Injection[];
  score: {
    attacks: number; found: number; that_very_node: number; cannot_be_told_apart: number; another: number;
    median_minutes: number | null; false_alarms: number;
  };
  says: string; can_start_over?: boolean;
}
export interface StateFrame {
  site: string; hash: string; as_of: Time | null; number: number; server_time: Time; scores: string; is_lost: boolean;
  is_flood: boolean;
}
