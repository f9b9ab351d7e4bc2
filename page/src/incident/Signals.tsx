// P and signals before and after the onset, on one time axis; those of the evidence first, at most six.
import { query } from "../api/client";
import type { History, Incident, ScoreHistory, Series } from "../api/types";
import { SignalChart } from "../charts/SignalChart";
import { P_RANGE, Plot, type Mark } from "../charts/Plot";
import { clock, formatP, iso, ms } from "../lib/format";
import { commandOf } from "../lib/commands";
import { useResource } from "../store/resource";
import { about, asOf, zone } from "../store/site";
import { temperature } from "../store/preferences";
import { nodeName, partsOf, zoneOf } from "../lib/places";
import { Part } from "../ui/Part";

const BEFORE_MS = 3_600_000, AFTER_MS = 3_600_000, MOST = 6;

export function Signals({ incident, minute, asTable }: { incident: Incident; minute: number; asTable: boolean }) {
  const site = about.value!;
  const since = ms(incident.since), now = asOf.value ?? since;
  const from = iso(since - BEFORE_MS), end = Math.min(now, (incident.closed ? ms(incident.closed) : now) + AFTER_MS);
  const range = { from, to: incident.closed && end < now ? iso(end) : undefined, width: 600 };
  const charts = incident.charts.slice(0, MOST);
  const commands = charts.map((point) => commandPoint(point)).filter((point): point is string => point !== null && !charts.includes(point));
  const path = `/sites/${encodeURIComponent(site.name)}`;
  const version = incident.closed ? 0 : minute;
  const history = useResource<History>(charts.length ? `${path}/history${query({ point: [...charts, ...commands], ...range, band: true })}` : null, version);
  const place = zoneOf(incident, site), root = place === null ? null : nodeName(place, incident.root);
  const scores = useResource<ScoreHistory>(root ? `${path}/scores${query({ node: [root], ...range })}` : null, version);
  const marks: Mark[] = [];
  if (incident.announced) marks.push({ at: ms(incident.announced), priority: incident.priority });
  for (const item of incident.story) if (item.mark === "person" && /acknowledge|\back\b/.test(item.text)) marks.push({ at: ms(item.time), letter: "C" });
  const span = { from: ms(incident.first_doubt ?? incident.since), to: incident.closed ? ms(incident.closed) : now + 1, priority: incident.priority };
  return (
    <section class="card" aria-label="Signals before and after">
      <header><h2>Signals before and after</h2>
        <span class="aside legend"><span><i class="legend-band" /> expected</span><span><i class="legend-band dashed" /> after onset: neighbours may be affected</span></span></header>
      <div class="body">
        {root && <Part of={scores} what="history of P">{(value) => <PChart value={value} incident={incident} since={since} marks={marks} asTable={asTable} />}</Part>}
        {charts.length > 0 && (
          <Part of={history} what="history">
            {(value) => charts.map((point, place) => {
              const series = value.series.find((one) => one.point === point);
              if (!series) return null;
              const command = value.series.find((one) => one.point === commandPoint(point) && one !== series) ?? null;
              return <SignalChart key={point} history={value} series={series} command={command} span={span} since={since} hasAxis={place === charts.length - 1}
                step_ms={site.step_s * 1000} zone={zone.value} temperature={temperature.value} asTable={asTable} />;
            })}
          </Part>
        )}
      </div>
    </section>
  );
}

function commandPoint(point: string): string | null {
  const [place, role] = partsOf(point, about.value!);
  const command = commandOf(role, about.value!);
  return command ? nodeName(place, command) : null;
}

function PChart({ value, incident, since, marks, asTable }: { value: ScoreHistory; incident: Incident; since: number; marks: Mark[]; asTable: boolean }) {
  const p = value.series[0]?.p ?? [], level = about.value!.levels.raise_at;
  const last = p.findLast((one) => one !== null) ?? null;
  if (asTable) return null;
  return (
    <figure class="signal">
      <figcaption class="title"><span><strong>P(attack)</strong> <span class="dim">{incident.name} · dotted: alarm level {level.toFixed(2)}</span></span><span class="dim">now {formatP(last)}</span></figcaption>
      <Plot times={value.times} lines={[{ values: p }]} range={P_RANGE} level={level} since={since} sinceText={`since ${clock(since, zone.value)}`} marks={marks}
        height={48} zone={zone.value} label={`P of ${incident.name}, now ${formatP(last)}`} />
    </figure>
  );
}
export type { Series };
