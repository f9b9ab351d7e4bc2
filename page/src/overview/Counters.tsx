// Zones by state, nodes, announcements against the target, rejected readings.
import type { SiteState, State } from "../api/types";
import { partsOf } from "../lib/places";
import { about } from "../store/site";
import { count, plural } from "../lib/format";

/** Return "6 normal · 3 in alarm · 1 returned". */
export function zonesByState(now: SiteState): string {
  const stale = new Set(now.stale.map((point) => partsOf(point.point, about.value!)[0]));
  const states = now.zones.map((zone) => (zone.state === "normal" && (zone.unknown > 0 || stale.has(zone.zone)) ? "unknown" : zone.state));
  const of = (...wanted: State[]) => states.filter((state) => wanted.includes(state)).length;
  const parts: [number, string][] = [
    [of("normal"), "normal"], [of("unacknowledged", "acknowledged"), "in alarm"], [of("returned"), "returned"],
    [of("unknown"), "unknown"], [of("shelved"), "shelved"], [of("suppressed", "out-of-service"), "put aside"],
  ];
  return parts.filter(([n], place) => n || place === 0).map(([n, word]) => `${count(n)} ${word}`).join(" · ");
}

export function Counters({ now, children }: { now: SiteState; children?: preact.ComponentChildren }) {
  const { counters } = now;
  const rejected = Object.values(counters.rejected).reduce((sum, one) => sum + one, 0);
  const reasons = Object.entries(counters.rejected).filter(([, n]) => n).map(([reason, n]) => `${count(n)} ${reason}`).join(" · ");
  return (
    <div class="counters">
      <div><span class="figure">{count(now.zones.length)}</span> <span class="dim">{now.zones.length === 1 ? "zone" : "zones"}</span><div class="small dim">{zonesByState(now)}</div></div>
      <div class="more-counters"><span class="figure">{count(counters.nodes)}</span> <span class="dim">nodes</span>
        <div class="small dim">{count(counters.scored)} scored · {count(counters.unknown)} unknown{counters.put_aside ? ` · ${count(counters.put_aside)} put aside` : ""}</div></div>
      <div class="more-counters"><span class="figure">{count(counters.announced_day)}</span> <span class="dim">announced today</span>
        <div class="small dim">{counters.announced_10_min} in 10 min · target ≤ 1</div></div>
      <div class={`more-counters ${rejected ? "" : "rejected"}`}><span class="figure">{count(rejected)}</span> <span class="dim">{rejected === 1 ? "reading" : "readings"} rejected</span>
        <div class="small dim">{reasons || "none since the start"}</div></div>
      {children}
    </div>
  );
}
export { plural };
