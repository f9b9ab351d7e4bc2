// The readings at the announcement, frozen.
import type { Incident } from "../api/types";
import { formatNumber, formatP, formatValue } from "../lib/format";
import { localise } from "../lib/sentence";
import { nodeOf, zone } from "../store/site";
import { temperature } from "../store/preferences";

/** Return readings that contradict each other, whatever the model expects: the first thing to read. */
function contradictions(incident: Incident): string[] {
  const items = Array.isArray(incident.body["evidence"]) ? (incident.body["evidence"] as Record<string, unknown>[]) : [];
  return items.filter((item) => item["kind"] === "contradiction").map((item) => String(item["text"])).map((text) => text.slice(0, 1).toUpperCase() + text.slice(1));
}

export function EvidenceTable({ incident }: { incident: Incident }) {
  const unusual = incident.signals.filter((item) => item.is_unusual);
  return (
    <section class="card" aria-label="Evidence at the announcement">
      <header><h2>Evidence at the announcement</h2></header>
      <div class="body">
        {contradictions(incident).map((text) => <p key={text} class="contradiction"><strong>{localise(text, [], { zone: zone.value, temperature: temperature.value })}</strong></p>)}
        {!unusual.length && !contradictions(incident).length && <p>No single reading is out of its normal range; the model judged by the pattern. P {formatP(incident.p)}.</p>}
        {incident.signals.length > 0 && (
          <table>
            <thead><tr><th>reading</th><th class="right">value</th><th class="right">expected</th><th class="right">normal range</th></tr></thead>
            <tbody>
              {incident.signals.map((item) => {
                const node = nodeOf.value.get(item.role), decimals = node?.decimals ?? 1, choice = temperature.value;
                const number = (value: number) => formatNumber(value, item.unit, decimals, choice, node?.states, node?.low ?? 0);
                return (
                  <tr key={item.role}>
                    <td>{item.text.split(" (")[0]}</td>
                    <td class={`right ${item.is_unusual ? "strong" : ""}`}>{formatValue(item.value, item.unit, decimals, choice, node?.states, node?.low ?? 0)}</td>
                    <td class="right dim">{number(item.expected)}</td>
                    <td class="right dim">{number(item.normal[0])} – {number(item.normal[1])}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        )}
      </div>
    </section>
  );
}
