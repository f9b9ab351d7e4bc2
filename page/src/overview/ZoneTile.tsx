// One zone: name, codes, root, nodes, the value people ask for, and its largest P over time.
import { memo } from "../ui/memo";
import type { IncidentLine, ScoreHistory, SiteAbout, StalePoint, PutAside, ZoneInfo, ZoneState } from "../api/types";
import { clock, formatP, formatValue, moment, ms, NBSP, type Temperature } from "../lib/format";
import { stateWord } from "../lib/codes";
import { shortName } from "../lib/zones";
import { here } from "../store/router";
import { Glyph, Letter } from "../ui/Glyph";
import { NodeMatrix } from "./NodeMatrix";
import { asOfSlowly } from "../store/site";
import { zoneAddress } from "../lib/places";
import { ScoreStrip } from "./ScoreStrip";

export interface TileProps {
  info: ZoneInfo; place: number; now: ZoneState; about: SiteAbout; incident: IncidentLine | null; pNow: string | null;
  stale: StalePoint[]; aside: PutAside | null; scores: ScoreHistory | null; zone?: string; temperature: Temperature;
}

/** Return the two lines under a zone's name. */
export function tileWords(props: TileProps): { what: string; since: string; isNormal: boolean } {
  const { now, incident, stale, aside, zone } = props;
  const time = (text: string | null) => (text ? moment(ms(text), asOfSlowly.peek() ?? ms(text), zone) : "unknown");
  if (now.state === "unacknowledged" || now.state === "acknowledged")
    return { what: now.root ?? "alarm", since: `now ${props.pNow ?? "unknown"} · since ${time(now.since)}`, isNormal: false };
  if (now.state === "returned") return { what: now.root ?? "alarm", since: `back in range${incident?.cleared ? ` since ${time(incident.cleared)}` : ""}`, isNormal: false };
  if (now.state === "unknown" || stale.length) {
    const first = stale.map((point) => point.since).filter((since) => since !== null).sort()[0];
    const what = stale.length ? `${stale.length} point${stale.length === 1 ? "" : "s"} silent` : "unknown";
    return { what, since: first ? `since ${time(first)}` : now.unknown ? `${now.unknown} nodes unknown` : "", isNormal: false };
  }
  if (aside) return { what: aside.name, since: `${stateWord(aside.state)}${aside.until ? ` until ${time(aside.until)}` : ""}`, isNormal: false };
  if (now.state !== "normal") return { what: stateWord(now.state), since: "", isNormal: false };
  return { what: "normal", since: now.unknown ? `${now.unknown} nodes unknown` : "", isNormal: true };
}

export const ZoneTile = memo(function ZoneTile(props: TileProps) {
  const { info, place, now, about } = props;
  const words = tileWords(props);
  const shown = now.state === "normal" && props.stale.length ? "unknown" : now.state;
  return (
    <a class="card tile" href={here("zones", zoneAddress(info.zone))} data-state={shown} data-priority={now.priority ?? undefined}>
      <span class="name"><span><span class="wide-only">{info.title.replace(shortName(info), "")}</span>{shortName(info)}</span>
        <span class="codes">{now.priority && <Glyph priority={now.priority} state={now.state} />}<Letter state={shown} /></span>
      </span>
      <span class={`what ${words.isNormal ? "normal" : ""}`}>{words.what}</span>
      <div class="since cut">{words.since}</div>
      <div class="middle">
        <NodeMatrix zone={place} template={about.template} cell={13} />
        <MainValue now={now} about={about} temperature={props.temperature} />
      </div>
      <ScoreStrip scores={props.scores} name={info.zone} levels={about.levels} priority={now.priority} />
      <div class="ticks" aria-hidden="true"><span>{props.scores ? clock(props.scores.times[0] ?? 0, props.zone) : ""}</span><span>now</span></div>
    </a>
  );
});

function MainValue({ now, about, temperature }: { now: ZoneState; about: SiteAbout; temperature: Temperature }) {
  const main = about.main_value;
  const node = about.template.find((one) => one.role === main?.role);
  if (!main || !node) return null;
  const value = formatValue(now.main, node.unit, node.decimals, temperature);
  const settings = now.settings.filter((one): one is number => one !== null).sort((a, b) => a - b)
    .map((one) => formatValue(one, node.unit, node.decimals, temperature).split(NBSP)[0]);
  return (
    <span class="value"><strong>{now.main === null ? "unknown" : value}</strong>
      {settings.length > 0 && <span class="small dim">set {settings.join("–")}</span>}
    </span>
  );
}

export const pText = formatP;
