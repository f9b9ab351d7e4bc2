// What happened and who did what, newest last. Refusals are part of it.
import type { Incident, Story } from "../api/types";
import { clock, day, moment, ms } from "../lib/format";
import { say } from "../lib/sentence";
import { asOf, reading, zone } from "../store/site";
import { Glyph } from "../ui/Glyph";

export function StoryCard({ incident }: { incident: Incident }) {
  const now = asOf.value ?? ms(incident.time);
  const time = (at: number) => (day(at, zone.value) === day(ms(incident.since), zone.value) ? clock(at, zone.value) : moment(at, now, zone.value));
  return (
    <section class="card story-card" aria-label="Story">
      <header><h2>Story</h2></header>
      <ol class="body story">
        {incident.story.map((item, place) => (
          <li key={item.number ?? place}>
            <time class="dim" dateTime={item.time} title={item.time}>{time(ms(item.time))}</time>
            <span class="mark"><Sign item={item} incident={incident} /></span>
            <span>{item.mark === "refused" && <strong>refused: </strong>}{say(item.text, item.parts, [incident.since, item.time], reading.value)}</span>
          </li>
        ))}
        {incident.is_open && (
          <li><span class="dim">{clock(now, zone.value)}</span><span class="mark"><i class="dot" /></span>
            <span><strong>now</strong>: {incident.state === "unacknowledged" ? "stands, nobody acknowledged" : incident.state === "acknowledged" ? "stands, acknowledged" : incident.state === "returned" ? "back in range, not acknowledged" : incident.state}</span></li>
        )}
        {!incident.is_open && !incident.judged && <li><span /><span class="mark"><i class="dot" /></span><strong>What was it?</strong></li>}
      </ol>
    </section>
  );
}

function Sign({ item, incident }: { item: Story; incident: Incident }) {
  if (item.mark === "announced") return <Glyph priority={incident.priority} state="acknowledged" size={13} />;
  if (item.mark === "person" || item.mark === "refused") return <span class="initials">{initials(item.by)}</span>;
  return <i class={`dot ${item.mark === "onset" ? "full" : ""}`} />;
}

/** Return up to two capitals of a name. */
export const initials = (name: string | null): string =>
  (name ?? "?").split(/[\s._@-]+/).filter(Boolean).slice(0, 2).map((part) => part[0]!.toUpperCase()).join("") || "?";
