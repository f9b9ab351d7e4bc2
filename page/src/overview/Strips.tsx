// Hundreds of zones: one cell each, digit for priority and letter for state.
import { memo } from "../ui/memo";
import type { SiteAbout, ZoneState } from "../api/types";
import { digit, letter, stateWord } from "../lib/codes";
import { count } from "../lib/format";
import { groups } from "../lib/zones";
import { here } from "../store/router";
import { zoneAddress } from "../lib/places";
import { groupWords } from "./Faces";

export const GROUPS_ONLY = 1000;

const Cell = memo(function Cell({ title, zone, now }: { title: string; zone: string; now: ZoneState }) {
  const words = now.state === "normal" ? `${title}: normal` : `${title}: ${now.root ?? ""} ${stateWord(now.state)}${now.priority ? `, priority ${digit(now.priority)}` : ""}`;
  const isAlarm = now.state === "unacknowledged" || now.state === "acknowledged";
  const code = isAlarm && now.priority ? `${digit(now.priority)}\n${letter(now.state)}` : now.state === "returned" && now.priority ? String(digit(now.priority))
    : now.state === "normal" || now.state === "unknown" ? "" : letter(now.state);
  return <a class="cell" href={here("zones", zoneAddress(zone))} data-state={now.state} data-priority={now.priority ?? undefined} title={words}>{code}<span class="hidden-text"> {words}</span></a>;
});

export function Strips({ about, zones }: { about: SiteAbout; zones: ZoneState[] }) {
  const isHuge = zones.length > GROUPS_ONLY;
  return (
    <section class={`card strips ${zones.length > 600 ? "dense" : ""}`} aria-label="Zones">
      <header><h2>{isHuge ? "One row = one group" : "One cell = one zone, by number"}</h2>
        <span class="aside">digit = priority, letter = state; hatched = unknown; dashed = planned stop; hover or focus names the zone, Enter opens it</span></header>
      <div class="body">
        {groups(about.zones_info, 60).map((group) => {
          const words = groupWords(group.places, zones);
          return (
            <div class="group" key={group.name}>
              <div><strong>{group.name}</strong><div class={`small ${words.waits ? "strong" : "dim"}`}>{words.text}</div></div>
              <div class="cells">
                {isHuge ? <span class="dim">{count(group.places.length)} zones</span>
                  : group.places.map((place) => zones[place] && <Cell key={place} title={about.zones_info[place]!.title} zone={about.zones_info[place]!.zone} now={zones[place]!} />)}
              </div>
            </div>
          );
        })}
      </div>
    </section>
  );
}
