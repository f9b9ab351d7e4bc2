// Beside the zones: what is open, what is stale, what is put aside.
import type { IncidentLine, SiteState } from "../api/types";
import { stateWord } from "../lib/codes";
import { clock, count, drifted, duration, formatP, moment, ms, sayP } from "../lib/format";
import { titleOf, worstFirst } from "../lib/order";
import { say, type Reading } from "../lib/sentence";
import { here } from "../store/router";
import { zoneRange } from "../lib/zones";
import { about, zoneTitle } from "../store/site";
import { partsOf } from "../lib/places";
import { Glyph, Letter } from "../ui/Glyph";

export function OpenIncidents({ items, reading, now, brief }: { items: IncidentLine[]; reading: Reading; now: number; brief: boolean }) {
  const shown = worstFirst(items.filter((item) => item.part_of === null)).slice(0, 12);
  if (!shown.length) return <section class="card" aria-label="Open incidents"><header><h2>Open incidents</h2><span class="aside">0</span></header><p class="body small dim">None is open.</p></section>;
  return (
    <section class="card" aria-label="Open incidents">
      <header><h2>Open incidents</h2><span class="aside">{brief ? count(items.length) : "worst first, then newest"}</span></header>
      <ul class={`incident-list ${brief ? "brief" : ""}`}>
        {shown.map((item) => (
          <li key={item.id}>
            <a href={here("incident", item.id)}>
              <span>{glyphOrLetter(item)}</span>
              <span>
                <strong>{titleOf(item)}</strong>
                {!brief && <div class="small dim">{item.state === "returned" ? `back in its normal range${item.cleared ? ` since ${moment(ms(item.cleared), now, reading.zone)}` : ""}` : say(item.evidence, item.evidence_parts, [item.since], reading)}</div>}
                <div class="small faint">{standing(item, now, reading.zone)}</div>
              </span>
              <span class="p small"><strong>{item.state === "returned" ? `was ${formatP(item.p)}` : sayP(item.p)}</strong>
                <div class="dim">since {moment(ms(item.since), now, reading.zone)}</div>
                {item.state !== "returned" && drifted(item.p, item.p_now) && <div class="dim">now {formatP(item.p_now)}</div>}
              </span>
            </a>
          </li>
        ))}
      </ul>
      {items.length > shown.length && <p class="body small"><a href={here("alarms", null, { show: "open" })}>{items.length - shown.length} more</a></p>}
    </section>
  );
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

const glyphOrLetter = (item: IncidentLine) =>
  item.state === "unacknowledged" || item.state === "acknowledged" || item.state === "returned"
    ? <Glyph priority={item.priority} state={item.state} size={20} /> : <Letter state={item.state} />;

/** Return how long nobody has acknowledged, or who said what. */
export function standing(item: IncidentLine, now: number, zone?: string): string {
  if (item.state === "unacknowledged") return `unacknowledged for ${duration(now - ms(item.announced ?? item.time))}`;
  if (item.state === "returned") return "returned, not acknowledged";
  if (item.last_note) return `${item.last_note.by} ${moment(ms(item.last_note.time), now, zone)}${item.last_note.text ? `: “${item.last_note.text}”` : ""}`;
  return stateWord(item.state);
}

export function WhatIsStale({ now }: { now: SiteState }) {
  const { points, fresh } = now.counters;
  if (!now.stale.length)
    return <section class="card" aria-label="What is stale"><header><h2>What is stale</h2><span class="aside">{count(fresh)} of {count(points)} points fresh</span></header><p class="body small dim">{fresh === points ? "Nothing: every point is fresh." : "No reading has come yet. Everything is unknown, not normal."}</p></section>;
  const whole = new Map<string, number>();
  const zoneOfPoint = (name: string) => partsOf(name, about.value!)[0];
  for (const point of now.stale) whole.set(zoneOfPoint(point.point), (whole.get(zoneOfPoint(point.point)) ?? 0) + 1);
  const perZone = now.counters.points / Math.max(1, now.zones.length);
  const lost = [...whole].filter(([, n]) => n >= perZone && n > 3);
  const rest = now.stale.filter((point) => !lost.some(([zone]) => zoneOfPoint(point.point) === zone));
  return (
    <section class="card" aria-label="What is stale">
      <header><h2>What is stale</h2><span class="aside">{count(now.counters.fresh)} of {count(now.counters.points)} points fresh</span></header>
      <div class="body">
        {lost.slice(0, 12).map(([zone, n]) => <p key={zone} class="row"><span class="hatch-box" /><span><strong>{zoneTitle(zone)}</strong>, all {n} points</span></p>)}
        {rest.slice(0, 10).map((point) => (
          <p key={point.point} class="row spread"><span class="row cut"><span class="hatch-box" /><span class="cut" title={`${zoneTitle(zoneOfPoint(point.point))} · ${point.name}`}>{zoneTitle(zoneOfPoint(point.point))} · {point.name}</span></span>
            <span class="dim nowrap">{point.age_s === null ? "never" : duration(point.age_s * 1000)}</span></p>
        ))}
        {lost.length + rest.length > 22 && <p class="small">and {count(now.stale.length - 22)} more</p>}
        <p class="small dim">These nodes are unknown, not normal. An attack there would not show.</p>
      </div>
    </section>
  );
}

export function PutAsideCard({ now, plant, zone }: { now: SiteState; plant: number; zone?: string }) {
  if (!now.put_aside.length && !now.planned_stops.length) return null;
  return (
    <section class="card" aria-label="Put aside">
      <header><h2>Put aside</h2><span class="aside">recorded, not announced</span></header>
      <div class="body">
        {now.put_aside.slice(0, 12).map((item) => (
          <p key={item.node} class="row spread"><span class="row cut"><Letter state={item.state} /><span class="cut">{item.zone ? `${zoneTitle(item.zone)} · ` : ""}{item.name} <span class="dim">{item.reason}</span></span></span>
            <span class="dim nowrap">{item.until ? `${duration(ms(item.until) - plant)} left` : "until returned"}</span></p>
        ))}
        {now.planned_stops.map((stop) => (
          <p key={stop.version} class="row"><Letter state="suppressed" /><span>{capital(zoneRange(stop.zones, about.value!.zones_info))} <span class="dim">planned stop, to {clock(ms(stop.until), zone)}</span></span></p>
        ))}
        {!now.planned_stops.length && <p class="small dim">No planned stop now.</p>}
      </div>
    </section>
  );
}
