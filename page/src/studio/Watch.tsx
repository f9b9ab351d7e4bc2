// The four moments of an attack, P of all nodes of its zone, and the signals of the incident.
import { useState } from "preact/hooks";
import { ApiError, query, remove } from "../api/client";
import type { History, Incident, Injection, Priority, ScoreHistory } from "../api/types";
import { P_RANGE, Plot, type Line, type Mark } from "../charts/Plot";
import { SignalChart } from "../charts/SignalChart";
import { caseWords } from "../lib/cases";
import { clock, formatP, iso, ms } from "../lib/format";
import { nearestPoints } from "../lib/nearest";
import { useResource } from "../store/resource";
import { temperature } from "../store/preferences";
import { about, asOf, nodeOf, zone as timeZone, zoneTitle } from "../store/site";
import { here } from "../store/router";
import { refusal } from "../store/session";
import { say } from "../store/toasts";
import { Button } from "../ui/Button";
import { Glyph } from "../ui/Glyph";
import { nodeName, partsOf } from "../lib/places";
import { Part } from "../ui/Part";

export function Watch({ injection, minute, onStopped }: { injection: Injection | null; minute: number; onStopped: () => void }) {
  if (!injection) return <section class="card"><header><h2>Nothing has been injected yet</h2></header><p class="body dim">Choose an attack on the left. Its four moments appear here: injected, first doubt, since, announced.</p></section>;
  return <One key={injection.id} injection={injection} minute={minute} onStopped={onStopped} />;
}

const HITS = { "that very node": "right node first", "cannot be told apart": "a node no reading tells apart", another: "another node named" } as const;

function One({ injection, minute, onStopped }: { injection: Injection; minute: number; onStopped: () => void }) {
  const site = about.value!, { found } = injection;
  const start = ms(injection.start), now = asOf.value ?? start;
  const path = `/sites/${encodeURIComponent(site.name)}`;
  const end = injection.end ? ms(injection.end) : null;
  const range = { from: iso((injection.state === "planned" ? Math.min(start, asOf.peek() ?? start) : start) - 20 * 60_000), to: end && end + 3_600_000 < now ? iso(end + 3_600_000) : undefined, width: 400 };
  const version = injection.state === "over" ? 0 : minute;
  const nodes = site.template.map((node) => nodeName(injection.zone, node.role));
  const scores = useResource<ScoreHistory>(`${path}/scores${query({ node: nodes, ...range })}`, version);
  const incident = useResource<Incident>(found.incident ? `/incidents/${encodeURIComponent(found.incident)}` : null, version);
  const points = (incident.value?.charts.slice(0, 3) ?? nearestPoints(injection.targets[0] ?? "", site, 3).map((role) => nodeName(injection.zone, role)));
  const history = useResource<History>(points.length ? `${path}/history${query({ point: points, ...range, band: true })}` : null, `${version} ${points.join()}`);
  const priority = incident.value?.priority ?? null;
  const marks: Mark[] = found.announced && priority ? [{ at: ms(found.announced), priority }] : [];
  const title = found.announced ? `found after ${found.minutes?.toFixed(0)} min${found.hit ? `, ${HITS[found.hit]}` : ""}` : injection.state === "over" ? "over, not found" : injection.state === "planned" ? "planned" : "running, not found yet";
  return (
    <section class="card" aria-label="The attack that is watched">
      <header><h2 class="strong wraps">{zoneTitle(injection.zone)}: {title}</h2>{injection.state !== "over" && <Stop injection={injection} onStopped={onStopped} />}</header>
      <div class="body">
        <p class="dim">{caseWords(injection.title || injection.case)}, injected by {injection.by}{injection.stopped_by ? `, stopped by ${injection.stopped_by}` : ""}{found.incident && <>; <a href={here("incident", found.incident)}>its incident</a></>}</p>
        <Moments injection={injection} priority={priority} />
        <Part of={scores} what="history of P">{(value) => <AllNodes value={value} injection={injection} priority={priority} marks={marks} start={start} end={end ?? now} />}</Part>
        <Part of={history} what="history">
          {(value) => points.map((point, place) => {
            const series = value.series.find((one) => one.point === point);
            return series && <SignalChart key={point} history={value} series={series} since={start} span={priority ? { from: start, to: now, priority } : null} hasAxis={place === points.length - 1} height={84}
              step_ms={site.step_s * 1000} zone={timeZone.value} temperature={temperature.value} />;
          })}
        </Part>
      </div>
    </section>
  );
}

/** End the attack: the plant goes on without it from the next minute on. */
function Stop({ injection, onStopped }: { injection: Injection; onStopped: () => void }) {
  const [isStopping, setStopping] = useState(false);
  async function stop(): Promise<void> {
    setStopping(true);
    try {
      await remove(`/sites/${encodeURIComponent(about.value!.name)}/injections/${encodeURIComponent(injection.id)}`);
      say(`${injection.state === "planned" ? "Taken back" : "Stopped"}: ${zoneTitle(injection.zone)}, ${caseWords(injection.title || injection.case)}.`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      say(`Not stopped: ${error.message}`);
    } finally {
      setStopping(false);
      onStopped();
    }
  }
  return <Button refused={refusal("inject") ?? (isStopping ? "It is being stopped." : null)} onClick={() => void stop()}>{isStopping ? "Stopping..." : injection.state === "planned" ? "Take it back" : "Stop it"}</Button>;
}

function Moments({ injection, priority }: { injection: Injection; priority: Priority | null }) {
  const { found } = injection;
  const time = (at: string | null) => (at ? clock(ms(at), timeZone.value) : "");
  const moments: [string, string | null, string][] = [
    ["injected", injection.start, injection.comment], ["first doubt", found.first_doubt, "P above 0.05"], ["since", found.since, "alarm level"], ["announced", found.announced, ""],
  ];
  return (
    <div class="four">
      {moments.map(([name, at, says], place) => (
        <div key={name}><div class="at">{place === 3 && at && priority ? <Glyph priority={priority} state="acknowledged" size={16} /> : <i class={`mark ${place === 0 ? "square" : at ? "" : "open"}`} />}</div>
          <strong>{time(at)} {name}</strong><div class="small dim">{at ? says : found.announced ? "not on that node" : "not yet"}</div></div>
      ))}
    </div>
  );
}

const SHOWN = 4;
function AllNodes({ value, injection, priority, marks, start, end }: { value: ScoreHistory; injection: Injection; priority: Priority | null; marks: Mark[]; start: number; end: number }) {
  const largest = (p: (number | null)[]) => p.reduce<number>((most, one) => Math.max(most, one ?? 0), 0);
  const ranked = [...value.series].sort((a, b) => largest(b.p) - largest(a.p)).slice(0, SHOWN);
  const level = about.value!.levels.raise_at;
  const lines: Line[] = ranked.map((one) => ({ values: one.p, isBold: false, priority: priority && largest(one.p) >= level ? priority : null }));
  const name = (text: string) => nodeOf.value.get(partsOf(text, about.value!)[1])?.name ?? text;
  const says = ranked.map((one) => `${name(one.name)} ${formatP(one.p.findLast((p) => p !== null) ?? null)}`).join(" · ");
  return (
    <figure class="signal">
      <figcaption class="title"><span><strong>P(attack) of all {value.series.length} nodes</strong> <span class="dim">dotted: alarm level · shaded: the attack lasts</span></span></figcaption>
      <Plot times={value.times} lines={lines} range={P_RANGE} level={level} shaded={[start, end]} since={start} sinceText={`injected ${clock(start, timeZone.value)}`} marks={marks} height={150} zone={timeZone.value} hasAxis label={`P of the nodes of ${zoneTitle(injection.zone)}: ${says}`} />
      <p class="small dim">largest: {says}; {Math.max(0, value.series.length - SHOWN)} others below</p>
    </figure>
  );
}
