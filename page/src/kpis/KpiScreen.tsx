// How the alarms behave, against ISA-18.2, and how often they were right.
import { useState } from "preact/hooks";
import { query } from "../api/client";
import type { Disposition, Kpis } from "../api/types";
import { dispositionWord } from "../lib/codes";
import { count, day, iso, ms, percent, plural } from "../lib/format";
import { wilson } from "../lib/interval";
import { useResource } from "../store/resource";
import { here } from "../store/router";
import { about, asOf, changes, state, zone } from "../store/site";
import { dialog } from "../store/dialogs";
import { refusal } from "../store/session";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Part } from "../ui/Part";
import { Honesty } from "./Honesty";
import { Targets } from "./Targets";
import { Weeks } from "./Weeks";

const PERIODS = [{ days: 30, title: "30 days" }, { days: 7, title: "7 days" }, { days: 0, title: "Everything kept" }];

export function KpiScreen() {
  const site = about.value!;
  const [days, setDays] = useState(30);
  const hour = 3_600_000, end = Math.floor((asOf.peek() ?? Date.now()) / hour) * hour;
  const from = days ? iso(end - days * 24 * hour) : "1970-01-01T00:00:00Z";
  const path = `/sites/${encodeURIComponent(site.name)}/kpis${query({ from })}`;
  const kpis = useResource<Kpis>(path, changes.value);
  return (
    <Part of={kpis} what="page of figures">
      {(value) => (
        <div class="kpis">
          <div class="stack">
            <div class="row wrap">
              <h1 class="grow">How the alarms behave</h1>
              {PERIODS.map((period) => <button key={period.days} class="chip" aria-pressed={period.days === days} onClick={() => setDays(period.days)}>{period.title}</button>)}
              <a class="button" href={`/api/v1${path}`} download={`${site.name}_kpis.json`}>Export</a>
              <button class="button" onClick={() => print()}><Icon name="print" /> Print</button>
            </div>
            <Targets kpis={value} zones={site.zones_info.length} />
            <WorstNodes kpis={value} />
            <Below kpis={value} />
          </div>
          <div class="stack"><Right kpis={value} /><Honesty kpis={value} /><Weeks kpis={value} /></div>
        </div>
      )}
    </Part>
  );
}

function WorstNodes({ kpis }: { kpis: Kpis }) {
  const most = Math.max(1, ...kpis.worst_nodes.map((node) => node.count));
  if (!kpis.worst_nodes.length) return null;
  return (
    <section class="card" aria-label="Worst nodes">
      <header><h2>Worst nodes</h2><span class="aside">announcements in {plural(Math.max(1, Math.round(kpis.days)), "day")}, what they turned out to be</span></header>
      <table class="kpi-table"><tbody>
        {kpis.worst_nodes.slice(0, 10).map((node) => (
          <tr key={`${node.zone_title} ${node.name}`}>
            <td>{node.zone_title ? `${node.zone_title} · ` : ""}{node.name}</td><td class="right strong">{node.count}</td>
            <td><svg width="130" height="10" aria-hidden="true"><rect width={(node.count / most) * 130} height="10" class="bar-fill" /></svg></td>
            <td class="dim">{Object.entries(node.by_disposition ?? {}).map(([what, n]) => `${dispositionWord(what as Disposition)} ${n}`).join(", ")}</td>
          </tr>
        ))}
      </tbody></table>
    </section>
  );
}

function Below({ kpis }: { kpis: Kpis }) {
  const aside = state.value!.put_aside;
  const of = (name: string) => aside.filter((item) => item.state === name).length;
  const took = kpis.time_to_acknowledge_min;
  return (
    <section class="card">
      <div class="body big-figures padded">
        <div><h2>Time to acknowledge</h2><p>{took ? <><strong>{Math.round(took.median)} min</strong> <span class="dim">median</span> <strong>{Math.round(took.p90)} min</strong> <span class="dim">nine of ten</span></> : <span class="dim">no figure yet</span>}</p></div>
        <div><h2>Put aside now</h2><p><strong>{of("shelved")}</strong> <span class="dim">shelved</span> <strong>{of("suppressed")}</strong> <span class="dim">suppressed</span> <strong>{of("out-of-service")}</strong> <span class="dim">out of service</span></p></div>
        {kpis.found_by_people && <div><h2>Found by people, not by us</h2><p><strong>{count(kpis.found_by_people.length)}</strong> <span class="dim">{kpis.found_by_people.slice(0, 3).map((item) => [item.zone_title, item.name, item.text, day(ms(item.time), zone.value)].filter(Boolean).join(", ")).join("; ")}</span></p>
          <Button refused={refusal("found")} onClick={() => (dialog.value = { kind: "found" })}>Record one...</Button></div>}
      </div>
    </section>
  );
}

function Right({ kpis }: { kpis: Kpis }) {
  const judged = kpis.real + kpis.false, node = kpis.right_node;
  const share = (name: string) => kpis.by_disposition[name] ?? 0;
  const parts: [string, number, string][] = [
    ["equipment fault", share("fault"), "var(--node-2)"], ["configuration or maintenance", share("maintenance"), "var(--node-1)"], ["attack", share("attack"), "var(--node-0)"],
    ["false alarm", kpis.false, "var(--ink)"], ["not judged yet", kpis.not_judged, ""],
  ];
  const total = parts.reduce((sum, [, n]) => sum + n, 0);
  const figure = (yes: number, of: number) => {
    const [low, high] = wilson(yes, of);
    return <><div class="figure">{percent(yes / of)}</div><div class="dim small">{yes} of {of}{of ? ` · 95 %: ${Math.round(low * 100)}–${Math.round(high * 100)} %` : ""}</div></>;
  };
  return (
    <section class="card" aria-label="How often were we right?">
      <header><h2>How often were we right?</h2><span class="aside">{count(kpis.announced)} announced, {judged} judged by people</span></header>
      <div class="body">
        {judged === 0 ? <p class="dim">Nobody has judged an announcement yet, so there is no figure.</p> : <div class="big-figures">
          <div>{figure(kpis.real, judged)}<div>something was really wrong</div></div>
          {node && <div>{figure(node.yes, node.of)}<div>and the named node was it</div></div>}
        </div>}
        {total > 0 && (
          <>
            <div class="stacked" role="img" aria-label={parts.map(([name, n]) => `${name} ${n}`).join(", ")}>
              {parts.filter(([, n]) => n).map(([name, n, fill]) => (
                <span key={name} class={fill ? "" : "hatched"} style={{ width: `${(n / total) * 100}%`, background: fill || undefined, color: fill === "var(--ink)" || fill === "var(--node-2)" ? "var(--page)" : "var(--ink)" }}>{n}</span>
              ))}
            </div>
            <div class="legend">{parts.map(([name, , fill]) => <span key={name}><i class={`swatch ${fill ? "" : "hatched"}`} style={{ background: fill || undefined }} /> {name}</span>)}</div>
          </>
        )}
        {kpis.not_judged > 0 && (
          <p><strong>{count(kpis.not_judged)} {kpis.not_judged === 1 ? "waits" : "wait"} for your judgement.</strong> <span class="dim">Without it these figures, and the p you are shown, cannot become this site's own.</span>{" "}
            <a href={here("alarms", null, { show: "unjudged" })}>Judge them</a></p>
        )}
        <p class="label">{day(ms(kpis.start), zone.value)} – {day(ms(kpis.end), zone.value)}</p>
      </div>
    </section>
  );
}
