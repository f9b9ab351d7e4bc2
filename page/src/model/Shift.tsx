// False alarms a day in buildings unlike those of training, as shipped and after commissioning.
import { conditionWords, type ShiftRow } from "../lib/card";
import { Icon } from "../ui/Icon";

const TARGET = 1;

/** Shipped as a ring, after commissioning as a dot, the target as a dotted line. */
function Dots({ row, most }: { row: ShiftRow; most: number }) {
  const x = (value: number) => 6 + (Math.min(value, most) / most) * 128;
  return (
    <svg class="dots" width="140" height="14" viewBox="0 0 140 14" aria-hidden="true">
      <line x1={x(TARGET)} x2={x(TARGET)} y1="0" y2="14" class="target" />
      {row.shipped !== null && row.after !== null && <line x1={x(row.shipped)} x2={x(row.after)} y1="7" y2="7" class="way" />}
      {row.after !== null && <circle cx={x(row.after)} cy="7" r="4" class="after" />}
      {row.shipped !== null && <circle cx={x(row.shipped)} cy="7" r="4" class="shipped" />}
    </svg>
  );
}

export function Shift({ rows }: { rows: ShiftRow[] }) {
  const most = Math.max(2 * TARGET, ...rows.flatMap((row) => [row.shipped ?? 0, row.after ?? 0]));
  return (
    <section class="card" aria-label="In buildings unlike those of training">
      <header><h2>In buildings unlike those of training</h2><span class="aside">false alarms a day; ring: as shipped, dot: after commissioning, dotted: target {TARGET} a day</span></header>
      <table>
        <thead><tr><th>condition</th><th class="right">shipped</th><th class="right">after</th><th class="wide-only" aria-hidden="true" /><th>verdict</th></tr></thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}><td>{conditionWords(row.name)}</td><td class="right">{row.shipped?.toFixed(1) ?? "–"}</td><td class="right strong">{row.after?.toFixed(1) ?? "–"}</td>
              <td class="wide-only"><Dots row={row} most={most} /></td>
              <td>{row.after === null ? <span class="dim">no figure yet</span> : row.after <= TARGET ? <span class="verdict dim"><Icon name="check" /> ≤ 1</span> : <strong class="verdict"><Icon name="warning" /> above 1</strong>}</td></tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
