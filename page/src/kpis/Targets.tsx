// Eight figures of ISA-18.2, each beside its target and a verdict in words. No traffic lights.
import type { Kpis, Target18 } from "../api/types";
import { NBSP, count, day, ms, percent } from "../lib/format";
import { zone } from "../store/site";
import { Icon } from "../ui/Icon";

const SAME = new Set(["per_hour", "per_day"]); // the average again, in other units; the export has them

export function Targets({ kpis, zones }: { kpis: Kpis; zones: number }) {
  return (
    <section class="card" aria-label="Against ISA-18.2 targets">
      <header><h2>Against ISA-18.2 targets</h2><span class="aside">{day(ms(kpis.start), zone.value)} – {day(ms(kpis.end), zone.value)} · {count(kpis.announced)} announcements · {count(zones)} zones</span></header>
      <table class="kpi-table">
        <thead><tr><th>measure</th><th class="right">value</th><th class="wide-only">against target</th><th>target</th><th>verdict</th></tr></thead>
        <tbody>
          {kpis.rows.filter((row) => !SAME.has(row.key)).map((row) => (
            <tr key={row.key}>
              <td>{row.title.slice(0, 1).toUpperCase() + row.title.slice(1)}</td><td class="right strong">{valueText(row)}</td><td class="wide-only"><Track row={row} /></td><td class="dim nowrap">{row.target.replace(" %", `${NBSP}%`)}</td><td><Verdict row={row} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export function valueText(row: Target18): string {
  if (row.value === null) return "–";
  if (row.unit === "share") return percent(row.value);
  const number = Number.isInteger(row.value) ? count(row.value) : row.value.toFixed(row.value < 1 ? 2 : 1);
  return row.unit ? `${number}${NBSP}${row.unit}` : number;
}

function Track({ row }: { row: Target18 }) {
  if (row.value === null || row.number_of_target == null) return null;
  const scale = row.scale ?? Math.max(row.number_of_target * 2, row.value * 1.2, 1e-9);
  const x = (value: number) => 3 + Math.min(1, Math.max(0, value / scale)) * 144;
  return (
    <svg class="track" viewBox="0 0 150 14" aria-hidden="true">
      <rect class="base" x="0" y="4" width="150" height="6" /><rect class="good" x="0" y="4" width={x(row.number_of_target)} height="6" />
      <line class="target" x1={x(row.number_of_target)} x2={x(row.number_of_target)} y1="0" y2="14" /><circle class="dot" cx={x(row.value)} cy="7" r="4" />
    </svg>
  );
}

function Verdict({ row }: { row: Target18 }) {
  if (row.is_within === null) return <span class="dim">no figure yet{row.why ? `: ${row.why}` : ""}</span>;
  if (row.is_within) return <span class="verdict dim"><Icon name="check" /> within</span>;
  return <strong class="verdict"><Icon name="warning" /> outside{row.why ? `: ${row.why}` : ""}</strong>;
}
