// Many zones as small faces, grouped by floor.
import { memo } from "../ui/memo";
import type { PlannedStop, SiteAbout, ZoneState } from "../api/types";
import { stateWord } from "../lib/codes";
import { groups, shortName, type Group } from "../lib/zones";
import { here } from "../store/router";
import { Glyph, Letter } from "../ui/Glyph";
import { zoneAddress } from "../lib/places";
import { NodeMatrix } from "./NodeMatrix";

/** Return how a group of zones is, in a few words. */
export function groupWords(places: number[], zones: ZoneState[]): { text: string; waits: boolean } {
  const of = (...wanted: string[]) => places.filter((place) => wanted.includes(zones[place]?.state ?? "")).length;
  const fresh = of("unacknowledged");
  const parts = ([[fresh, "unack."], [of("acknowledged"), "in alarm"], [of("returned"), "returned"], [of("unknown"), "unknown"], [of("suppressed", "out-of-service"), "stopped"]] as [number, string][])
    .filter(([n]) => n).map(([n, word]) => `${n} ${word}`);
  return { text: parts.join(" · ") || "normal", waits: fresh > 0 };
}

const Face = memo(function Face({ about, place, now, isStopped }: { about: SiteAbout; place: number; now: ZoneState; isStopped: boolean }) {
  const info = about.zones_info[place]!;
  const isAlarm = now.state === "unacknowledged" || now.state === "acknowledged" || now.state === "returned";
  const words = isAlarm ? now.root : now.state === "normal" ? (now.unknown ? `${now.unknown} unknown` : "") : isStopped ? "planned stop" : stateWord(now.state);
  return (
    <a class="card face" href={here("zones", zoneAddress(info.zone))} data-state={now.state} data-priority={now.priority ?? undefined}>
      <span class="name"><span>{shortName(info)}</span><span class="codes">{now.priority && <Glyph priority={now.priority} state={now.state} size={16} />}<Letter state={now.state} /></span></span>
      <NodeMatrix zone={place} template={about.template} cell={7.4} />
      <div class={`what ${isAlarm ? "" : "aside"}`}>{words || <span class="hidden-text">normal</span>}</div>
    </a>
  );
});

export function Faces({ about, zones, stops }: { about: SiteAbout; zones: ZoneState[]; stops: PlannedStop[] }) {
  const isStopped = (zone: string) => stops.some((stop) => stop.zones === null || stop.zones.includes(zone));
  return (
    <div class="faces">
      {groups(about.zones_info, 12).map((group: Group) => (
        <div class="group" key={group.name}>
          <div class="about"><strong>{group.name}</strong><div class="label">{groupWords(group.places, zones).text}</div></div>
          <div class="cells">{group.places.map((place) => zones[place] && <Face key={place} about={about} place={place} now={zones[place]!} isStopped={isStopped(about.zones_info[place]!.zone)} />)}</div>
        </div>
      ))}
    </div>
  );
}
