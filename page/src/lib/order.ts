// The order of incidents in the alarm bar and in lists of what is open: worst first, then newest.
import type { IncidentLine, State } from "../api/types";
import { digit, waits } from "./codes";

/** Return the place and name of an incident in a line; what concerns the whole building is named once. */
export const titleOf = (item: Pick<IncidentLine, "zone_title" | "name">): string => (item.name === item.zone_title ? item.name : `${item.zone_title} · ${item.name}`);

const LIFE: Record<State, number> = {
  unacknowledged: 0, returned: 1, acknowledged: 2, unknown: 3, shelved: 4, suppressed: 5, "out-of-service": 6, normal: 7,
};

const newest = (a: IncidentLine, b: IncidentLine): number =>
  a.since < b.since ? 1 : a.since > b.since ? -1 : a.id < b.id ? -1 : Number(a.id > b.id);

/** Sort what waits for somebody: by priority, unacknowledged before returned, then newest. */
export const waiting = (items: readonly IncidentLine[]): IncidentLine[] =>
  items
    .filter((item) => waits(item.state) && item.part_of === null)
    .sort((a, b) => LIFE[a.state] - LIFE[b.state] || digit(a.priority) - digit(b.priority) || newest(a, b));

/** Sort open incidents: those that wait first, each group worst first, then newest. */
export const worstFirst = (items: readonly IncidentLine[]): IncidentLine[] =>
  [...items].sort((a, b) => LIFE[a.state] - LIFE[b.state] || digit(a.priority) - digit(b.priority) || newest(a, b));
