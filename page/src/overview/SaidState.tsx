// The states of a site in words: nothing wrong, first start, learning, source lost, monitor stopped, flood.
import type { ScoreHistory, SiteAbout, SiteState } from "../api/types";
import { clock, count, day, duration, ms } from "../lib/format";
import { here } from "../store/router";
import { events } from "../store/journal";
import { session } from "../store/session";
import { open } from "../store/site";

interface Props { now: SiteState; about: SiteAbout; zone?: string; plant: number; scores: ScoreHistory | null }

export function SaidState(props: Props) {
  const { now, about, zone, plant } = props;
  if (now.monitor === "stopped")
    return <Said title={`The monitor does not answer${now.as_of ? ` since ${clock(ms(now.as_of), zone)}` : ""}.`} text={`Nothing is judged. Last data ${now.as_of ? clock(ms(now.as_of), zone) : "unknown"}.`} isHatched />;
  if (now.is_lost) {
    const since = now.lost?.since ?? now.as_of;
    const tries = now.lost?.tries ? ` tried ${count(now.lost.tries)} times${now.lost.next_try_s ? `, next try in ${now.lost.next_try_s} s` : ""}.` : "";
    const silent = since ? `No reading since ${clock(ms(since), zone)}${plant > ms(since) ? ` (${duration(plant - ms(since))})` : now.age_s ? ` (${duration(now.age_s * 1000)})` : ""}. ` : "";
    return <Said title="Nobody is watching: the source is silent" text={`${silent}${now.lost?.reason ?? ""}${tries} Alarms that stood keep standing.`} isHatched />;
  }
  if (!now.is_warm)
    return <Said title="Nothing has been judged yet." text={`The windows fill${now.warm_at ? ` until ${clock(ms(now.warm_at), zone)}` : ""}. Until then every node is unknown.`} />;
  const unknown = stillUnknown(now, about, plant);
  if (unknown > 0) return <Said title="Data is back." text={`Unknown for ${unknown} more minute${unknown === 1 ? "" : "s"}.`} isHatched />;
  if (now.is_flood) return <Flood now={now} zone={zone} />;
  if (now.learning) return <Learning now={now} says={now.learning} zone={zone} plant={plant} />;
  if (!open.value.length && !now.stale.length && now.counters.unknown === 0) return <NothingWrong now={now} about={about} plant={plant} zone={zone} scores={props.scores} />;
  return null;
}

const SETTLE_ROWS = 10; // after a silence

/** Return for how many minutes nodes stay unknown after a silence of the source; 0 if there was none. */
function stillUnknown(now: SiteState, about: SiteAbout, plant: number): number {
  const back = events.value.find((event) => event.site === about.name && event.kind === "source.found");
  return back && now.counters.unknown ? Math.max(0, Math.ceil((SETTLE_ROWS * about.step_s * 1000 - (plant - ms(back.time))) / 60_000)) : 0;
}

/** The first sentence as the headline, the rest below it, and how far it has come. */
function Learning({ now, says, zone, plant }: { now: SiteState; says: string; zone?: string; plant: number }) {
  const end = says.indexOf(". ") + 1, progress = now.learning_progress;
  if (!progress) return <Said title={says.slice(0, end || undefined)} text={end ? says.slice(end + 1) : ""} />;
  const since = ms(progress.since), until = ms(progress.until), share = Math.min(1, Math.max(0, (plant - since) / Math.max(1, until - since)));
  const quiet = now.no_incident_since ? `No incidents since ${day(ms(now.no_incident_since), zone)} ${clock(ms(now.no_incident_since), zone)}.` : "";
  return (
    <div class="card said-state learning" role="status">
      <div><h2 class="strong">Learning what is normal here. Day {progress.day} of {progress.days}.</h2>
        <p class="dim">Until then the shipped model judges, more coarsely: expect fewer finds. {quiet}</p></div>
      <div class="progress" role="img" aria-label={`${Math.round(share * 100)} % of the days, until ${day(until, zone)}`}>
        <div class="base"><i style={{ width: `${share * 100}%` }} /></div>
        <div class="row spread small dim"><span>{day(since, zone)}</span><span>{Math.round(share * 100)} %</span><span>{day(until, zone)}</span></div>
      </div>
    </div>
  );
}

function Said({ title, text, isHatched = false }: { title: string; text: string; isHatched?: boolean }) {
  return <div class={`card said-state ${isHatched ? "strong-edge" : ""}`} role="status"><h2 class="strong">{title}</h2><p class="dim">{text}</p></div>;
}

/** Say to somebody who may only look why buttons are off. */
export const ViewerNote = () =>
  session.value?.role === "viewer" ? <Said title="You are looking as a viewer." text="Acknowledge, shelve and judge need the operator role." /> : null;

function NothingWrong({ now, about, plant, zone, scores }: Props) {
  const since = now.no_incident_since ?? now.last_closed ? ms((now.no_incident_since ?? now.last_closed)!) : null;
  const { counters } = now;
  return (
    <div class="card said-state">
      <h2 class="strong">{since ? `No incidents since ${day(since, zone)} ${clock(since, zone)}` : "No incidents so far"}</h2>
      <p class="dim">
        {since ? `${duration(plant - since)}. ` : ""}{about.zones_info.length > 1 ? `All ${count(about.zones_info.length)} zones were` : "Everything was"} scored {about.step_s <= 60 ? "this minute" : `at ${clock(plant, zone)}`}: {count(counters.scored)} of {count(counters.nodes)} nodes,
        {" "}{count(counters.fresh)} of {count(counters.points)} points fresh.
      </p>
      {scores && <ScoredMinutes scores={scores} />}
    </div>
  );
}

/** One bar per scored bucket: proof that somebody looks. */
function ScoredMinutes({ scores }: { scores: ScoreHistory }) {
  const last = scores.times.slice(-90);
  const first = scores.times.length - last.length;
  return (
    <div>
      <p class="label">one bar = {duration(scores.bucket_ms)} scored, newest right; hatched = unknown</p>
      <div class="minutes" aria-hidden="true">
        {last.map((time, place) => <i key={time} class={scores.series.some((one) => one.p[first + place] === null) ? "unknown" : ""} />)}
      </div>
    </div>
  );
}

function Flood({ now, zone }: { now: SiteState; zone?: string }) {
  const held = open.value.filter((item) => item.announced === null).length;
  return (
    <div class="card said-state" role="status">
      <h2 class="strong">{count(open.value.length)} incidents, {count(open.value.length - held)} announced{now.flood_since ? `, flood since ${clock(ms(now.flood_since), zone)}` : ""}</h2>
      <p class="dim">The strongest first, zones you have not heard about before the rest.{held ? ` ${count(held)} wait and are in the list.` : ""} They share a cause?</p>
      <p><a href={here("alarms", null, { show: "open" })}>Open list</a></p>
    </div>
  );
}
