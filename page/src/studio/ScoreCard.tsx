// The score card of this run, and what its figures are not.
import type { Injections } from "../api/types";
import { caseWords } from "../lib/cases";
import { clock, ms, NBSP } from "../lib/format";
import { here } from "../store/router";
import { RunActions } from "./RunActions";
import { about, zone, zoneTitle } from "../store/site";

const SIGNS = { "that very node": "✓", "cannot be told apart": "≈", another: "✕" } as const;

export function ScoreCard({ value, shown, choose }: { value: Injections; shown: string | null; choose: (id: string) => void }) {
  const { score } = value, { seed, speed } = about.value!;
  const run = [speed ? `${speed} × real time` : "", seed != null ? `seed ${seed}` : ""].filter(Boolean).join(", ");
  const rows = [...value.items].sort((a, b) => (a.start < b.start ? 1 : -1));
  return (
    <div class="stack">
      <section class="card" aria-label="Score card of this run">
        <header><h2>Score card of this run</h2><span class="aside">{run}</span></header>
        <div class="body big-figures">
          <div><div class="figure">{score.found} of {score.attacks}</div><span class="dim">found</span></div>
          <div><div class="figure">{score.that_very_node + score.cannot_be_told_apart} of {score.found}</div><span class="dim">right node first</span></div>
          <div><div class="figure">{score.median_minutes === null ? "–" : `${score.median_minutes.toFixed(0)} min`}</div><span class="dim">median{score.median_minutes === null ? "" : ", from the injection"}</span></div>
          <div><div class="figure">{score.false_alarms}</div><span class="dim">false alarms</span></div>
        </div>
        {rows.length > 0 && (
          <table>
            <thead><tr><th>from</th><th>zone</th><th>what was done, what was named</th><th class="right">found</th><th>right</th></tr></thead>
            <tbody>
              {rows.map((item) => (
                <tr key={item.id} aria-selected={item.id === shown}>
                  <td><button class="link" onClick={() => choose(item.id)}>{clock(ms(item.start), zone.value)}</button></td><td>{zoneTitle(item.zone).replace(/ (\d+)$/, `${NBSP}$1`)}</td>
                  <td>{caseWords(item.title || item.case)}{item.found.incident && <div class="small dim">named: <a href={here("incident", item.found.incident)}>{item.found.named ?? "its incident"}</a></div>}</td>
                  <td class="right nowrap">{item.found.minutes === null ? (item.state === "over" ? "not found" : item.state) : `${item.found.minutes.toFixed(0)} min`}</td>
                  <td>{item.found.hit ? <span role="img" aria-label={item.found.hit}>{SIGNS[item.found.hit]}</span> : ""}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <p class="body small dim">✓ that very node  ≈ a node that cannot be told apart from it by any reading  ✕ another</p>
      </section>
      <section class="card"><header><h2>How to read this</h2></header><p class="body">{value.says || "The simulator knows the truth; the detector sees readings only. Cases it was taught are easier."} <a href={here("model")}>Model card</a></p></section>
      <RunActions run={value} />
    </div>
  );
}
