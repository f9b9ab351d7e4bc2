// The same nodes as rows.
import type { NodeNow } from "../api/types";
import { formatNumber, formatP, formatValue } from "../lib/format";
import { temperature } from "../store/preferences";
import { nodeOf } from "../store/site";

export function NodeTable({ nodes }: { nodes: NodeNow[] }) {
  return (
    <table>
      <thead><tr><th>node</th><th>kind</th><th class="right">value</th><th class="right">expected</th><th class="right">P</th></tr></thead>
      <tbody>
        {nodes.map((now) => {
          const node = nodeOf.value.get(now.role);
          return (
            <tr key={now.role}>
              <td>{now.name}</td><td class="dim">{now.kind}</td>
              <td class="right">{now.value === null ? "–" : formatValue(now.value, now.unit, node?.decimals ?? 1, temperature.value, node?.states, node?.low ?? 0)}</td>
              <td class="right dim">{formatNumber(now.expected, now.unit, node?.decimals ?? 1, temperature.value, node?.states, node?.low ?? 0)}{now.disagrees ? " ≠" : ""}</td>
              <td class="right">{formatP(now.p)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
