// False alarms a day in buildings unlike those of training, as shipped and after commissioning.
import type { ShiftRow } from "../lib/card";
import { Icon } from "../ui/Icon";

const TARGET = 1;

export function Shift({ rows }: { rows: ShiftRow[] }) {
  return (
    <section class="card" aria-label="In buildings unlike those of training">
      <header><h2>In buildings unlike those of training</h2><span class="aside">false alarms a day; target {TARGET} a day</span></header>
      <table>
        <thead><tr><th>condition</th><th class="right">shipped</th><th class="right">after</th><th>verdict</th></tr></thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}><td>{row.name}</td><td class="right">{row.shipped?.toFixed(1) ?? "–"}</td><td class="right strong">{row.after?.toFixed(1) ?? "–"}</td>
              <td>{row.after === null ? <span class="dim">no figure yet</span> : row.after <= TARGET ? <span class="verdict dim"><Icon name="check" /> ≤ 1</span> : <strong class="verdict"><Icon name="warning" /> above 1</strong>}</td></tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
