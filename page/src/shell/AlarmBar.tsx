// Does anything need me? The same place and height on every screen, also while loading or cut off.
import type { IncidentLine, Priority } from "../api/types";
import { PRIORITIES } from "../lib/codes";
import { clock, duration, moment, ms, plural, sayP, day } from "../lib/format";
import { say } from "../lib/sentence";
import { tick } from "../store/clock";
import { ask, thingOf } from "../store/dialogs";
import { isCutOff, link, retryNow } from "../store/live";
import { here } from "../store/router";
import { refusal } from "../store/session";
import { asOf, open, reading, state, waits, zone } from "../store/site";
import { Button } from "../ui/Button";
import { Glyph } from "../ui/Glyph";
import { Icon } from "../ui/Icon";
import { useEffect } from "preact/hooks";
import { titleOf } from "../lib/order";
import { guarded, note } from "./guard";

export function AlarmBar() {
  if (isCutOff.value) return <CutOff />;
  const now = state.value;
  if (!now) return <section class="alarm-bar" aria-label="Alarms"><div><span class="blank" /> <span class="faint">Reading the journal...</span></div></section>;
  const isTroubled = now.is_lost || now.monitor === "stopped";
  const [first, second] = isTroubled ? waits.value.slice(0, 1) : waits.value; // what is troubled needs the room
  const standing = open.value.filter((item) => item.state === "acknowledged").length;
  return (
    <section class={`alarm-bar ${isTroubled ? "lost" : ""}`} aria-label="Alarms">
      <Trouble />
      {waits.value.length > 0 && <Counts />}
      {first && <Slot item={first} place="first" />}
      {second ? <Slot item={second} place="second" /> : first && !isTroubled && (
        <div class="slot second faint"><span class="cut">No other alarm waits for you. {standing ? `${plural(standing, "acknowledged one")} stand${standing === 1 ? "s" : ""}.` : ""}</span></div>
      )}
      {second && <SecondLine />}
      {!first && <Nothing standing={standing} />}
      <a class="all" href={here("alarms")}>All alarms <Icon name="right" /></a>
    </section>
  );
}

function Trouble() {
  void tick.value;
  const now = state.value!;
  if (now.monitor === "stopped")
    return <div role="status"><Icon name="plug" /><strong>The monitor does not answer.</strong><span class="cut">Nothing is judged. Last data {now.as_of ? clock(ms(now.as_of), zone.value) : "unknown"}.</span></div>;
  if (now.is_lost) {
    const since = now.lost?.since ?? now.as_of;
    return (
      <div role="status"><Icon name="plug" />
        <strong class="cut">No reading since {since ? `${clock(ms(since), zone.value)} (${duration((asOf.value ?? ms(since)) - ms(since) || (now.age_s ?? 0) * 1000)})` : "the start"}.</strong>
        <span>Site unknown.</span>
      </div>
    );
  }
  return null;
}

function Counts() {
  const count = (state: string, priority: Priority) => waits.value.filter((item) => item.state === state && item.priority === priority).length;
  const shown = (name: "unacknowledged" | "returned") => PRIORITIES.map((priority) => ({ priority, n: count(name, priority) })).filter(({ n }) => n);
  const fresh = shown("unacknowledged"), back = shown("returned");
  return (
    <div class="counts">
      {fresh.map(({ priority, n }, place) => (
        <span key={priority}><Glyph priority={priority} state="unacknowledged" /><strong>{n}</strong>{place === fresh.length - 1 && <span class="dim">unacknowledged</span>}</span>
      ))}
      {back.map(({ priority, n }, place) => (
        <span key={priority}><Glyph priority={priority} state="returned" /><strong>{n}</strong>{place === back.length - 1 && !fresh.some((_, at) => at > 0) && <span class="dim">returned</span>}</span>
      ))}
      <Flood />
    </div>
  );
}

/** Say that there is a flood: beside the counts, and on a phone, which has no room for those, beside the rest. */
function Flood() {
  const { is_flood, flood_since } = state.value!;
  return is_flood ? <strong>flood{flood_since ? ` since ${clock(ms(flood_since), zone.value)}` : ""}</strong> : null;
}

function Slot({ item, place }: { item: IncidentLine; place: "first" | "second" }) {
  const words = item.state === "returned"
    ? "back in range, waits for you"
    : `${sayP(item.p)}, since ${moment(ms(item.since), asOf.peek() ?? ms(item.since), zone.value)}${item.evidence ? `; ${say(item.evidence, item.evidence_parts, [item.since], reading.value)}` : ""}`;
  useEffect(() => note(`bar-${place}`, item.id), [item.id]);
  return (
    <div class={`slot ${place}`}>
      <Glyph priority={item.priority} state={item.state} size={20} />
      <a class="said" href={here("incident", item.id)}><strong>{titleOf(item)}</strong><span class="cut">{words}</span></a>
      <Button kind="bar" refused={refusal("ack")} label={`Acknowledge... ${item.zone_title}, ${item.name}`}
        onClick={() => guarded(`bar-${place}`, item.id, () => ask("ack", [thingOf(item)]))}>Acknowledge...</Button>
    </div>
  );
}

function SecondLine() {
  const rest = waits.value.slice(1);
  const worst = rest[0]!;
  const returned = rest.every((item) => item.state === "returned");
  return (
    <div class="second-line"><Glyph priority={worst.priority} state={worst.state} />
      <span><strong>{rest.length}</strong> {returned ? "returned, wait for you" : "more wait for you"} <Flood /></span>
    </div>
  );
}

function Nothing({ standing }: { standing: number }) {
  const now = state.value!;
  if (now.is_lost || now.monitor === "stopped") return null;
  if (!now.is_warm) return <div class="slot first"><span class="hatch-box" /><span class="cut">Nothing has been judged yet: no alarm can come before the windows are full.</span></div>;
  const closed = now.last_closed && asOf.value ? `the last one closed ${duration(asOf.value - ms(now.last_closed))} ago` : "";
  const rest = standing ? `${plural(standing, "acknowledged one")} stand${standing === 1 ? "s" : ""}${closed ? `; ${closed}` : ""}.`
    : closed ? `${closed[0]!.toUpperCase()}${closed.slice(1)}.` : "";
  const until = now.learning_progress ? ` Learning until ${day(ms(now.learning_progress.until), zone.value)}.` : "";
  return <div class="slot first">{now.learning ? <span class="letter" data-letter="L">L</span> : <Icon name="check" />}<span class="cut">No alarm waits for you. {rest}{until}</span></div>;
}

function CutOff() {
  void tick.value;
  const { since, nextTryAt } = link.value;
  const wait_s = nextTryAt === null ? 0 : Math.max(0, Math.ceil((nextTryAt - Date.now()) / 1000));
  return (
    <section class="alarm-bar cut-off" aria-label="Alarms" role="status">
      <div class="grow"><Icon name="warning" /><strong>Cut off since {clock(since)}.</strong><span>{wait_s ? `Next try in ${wait_s} s` : "Trying..."}</span></div>
      <div><button type="button" class="button bar" onClick={retryNow}>Try now</button></div>
    </section>
  );
}
