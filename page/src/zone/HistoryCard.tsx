// The history of a node and of what it acts upon, from one hour to thirty days.
import { useMemo } from "preact/hooks";
import { query } from "../api/client";
import type { History, IncidentLine, ScoreHistory } from "../api/types";
import { P_RANGE, Plot, type Mark } from "../charts/Plot";
import { SignalChart } from "../charts/SignalChart";
import { commandOf } from "../lib/commands";
import { clock, formatP, iso, ms } from "../lib/format";
import { nearestPoints } from "../lib/nearest";
import { useResource } from "../store/resource";
import { temperature } from "../store/preferences";
import { route, setQuery } from "../store/router";
import { about, asOf, nodeOf, zone as timeZone } from "../store/site";
import { Part } from "../ui/Part";
import { nodeName } from "../lib/places";
import { Segments } from "../ui/Segments";

const RANGES = [{ value: 1, title: "1 h" }, { value: 4, title: "4 h" }, { value: 24, title: "24 h" }, { value: 168, title: "7 d" }, { value: 720, title: "30 d" }];

interface Props { zone: string; role: string; minute: number; incidents: IncidentLine[]; asTable: boolean; setTable: (on: boolean) => void }

export function HistoryCard({ zone, role, minute, incidents, asTable, setTable }: Props) {
  const site = about.value!, node = nodeOf.value.get(role);
  const hours = Number(route.value.query.get("hours")) || (site.step_s > 900 ? 168 : site.step_s > 120 ? 24 : 4);
  const until = route.value.query.get("to");
  const end = useMemo(() => (until ? ms(until) : (asOf.peek() ?? 0)), [until, minute, hours]);
  const range = { from: iso(Math.floor(end / 60_000) * 60_000 - hours * 3_600_000), to: until ?? undefined, width: 600 };
  const roles = nearestPoints(role, site, 4);
  const command = commandOf(role, site);
  const points = [...new Set([...roles, ...(command ? [command] : [])])].map((one) => nodeName(zone, one));
  const path = `/sites/${encodeURIComponent(site.name)}`;
  const version = until ? 0 : minute;
  const key = `${hours} ${role}`;
  const history = useResource<History>(points.length && end ? `${path}/history${query({ point: points, ...range, band: true })}` : null, `${version} ${key}`);
  const scores = useResource<ScoreHistory>(end ? `${path}/scores${query({ node: [nodeName(zone, role)], ...range })}` : null, `${version} ${key}`);
  const own = incidents.find((item) => item.root === role && item.is_open) ?? null;
  const since = own ? ms(own.since) : null;
  const marks: Mark[] = incidents.filter((item) => item.root === role && item.announced).map((item) => ({ at: ms(item.announced!), priority: item.priority }));
  const span = own ? { from: ms(own.since) - 15 * 60_000, to: end + 1, priority: own.priority } : null;
  return (
    <section class="card" aria-label={`History of ${node?.name ?? role}`}>
      <header><h2>History of {node?.name ?? role}</h2>
        <Segments label="Time range" value={hours} options={RANGES} onChange={(value) => setQuery({ hours: String(value), ...(until ? { to: until } : {}) })} /></header>
      <div class="body">
        <Part of={scores} what="history of P">
          {(value) => {
            const p = value.series[0]?.p ?? [], last = p.findLast((one) => one !== null) ?? null, { raise_at, clear_at } = site.levels;
            return asTable ? null : (
              <figure class="signal">
                <figcaption class="title"><span><strong>P(attack)</strong> <span class="dim">dotted: alarm level {raise_at.toFixed(2)}, clears below {clear_at.toFixed(2)}</span></span><span class="dim">now {formatP(last)}</span></figcaption>
                <Plot times={value.times} lines={[{ values: p }]} range={P_RANGE} level={raise_at} since={since} sinceText={since ? `since ${clock(since, timeZone.value)}` : ""} marks={marks} height={70}
                  zone={timeZone.value} hasAxis={!points.length} label={`P of ${node?.name ?? role}, now ${formatP(last)}`} />
              </figure>
            );
          }}
        </Part>
        <Part of={history} what="history">
          {(value) => roles.map((one, place) => {
            const series = value.series.find((found) => found.point === nodeName(zone, one));
            if (!series) return null;
            const asked = one === role && command ? value.series.find((found) => found.point === nodeName(zone, command)) ?? null : null;
            return <SignalChart key={one} history={value} series={series} command={asked} span={span} since={since} hasAxis={place === roles.length - 1} height={84}
              step_ms={site.step_s * 1000} zone={timeZone.value} temperature={temperature.value} asTable={asTable} />;
          })}
        </Part>
        <div class="legend"><span><i class="legend-band" /> expected</span><span><i class="legend-band unsure" /> model cannot say: neighbours contradict</span><span><i class="legend-thick" /> outside 5 readings or more</span>
          <button class="link" aria-pressed={asTable} onClick={() => setTable(!asTable)}>{asTable ? "as charts" : "the numbers"}</button></div>
      </div>
    </section>
  );
}
