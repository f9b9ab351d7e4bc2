// The nodes of a zone by kind: value, expected, P; bold and ≠ where they disagree.
import type { NodeNow } from "../api/types";
import { formatNumber, graphP, shownUnit } from "../lib/format";
import { levelOf } from "../lib/levels";
import { temperature } from "../store/preferences";
import { go, here } from "../store/router";
import { about, nodeOf } from "../store/site";
import { Letter } from "../ui/Glyph";
import { NodeShape } from "../ui/NodeShape";
import { zoneAddress } from "../lib/places";
import { useKeys } from "../shell/keyboard";

const GROUPS: [string, string[]][] = [["controllers", ["controller"]], ["actuators and equipment", ["actuator", "equipment"]], ["sensors", ["sensor"]]];

export function Nodes({ zone, title, nodes, chosen }: { zone: string; title: string; nodes: NodeNow[]; chosen: string }) {
  const ordered = GROUPS.flatMap(([, kinds]) => kinds.flatMap((kind) => nodes.filter((node) => node.kind === kind)));
  const open = (role: string | undefined) => role && go(here("zones", zoneAddress(zone, role)));
  const step = (by: number) => open(ordered[Math.min(ordered.length - 1, Math.max(0, ordered.findIndex((node) => node.role === chosen) + by))]?.role);
  useKeys({ j: () => step(1), k: () => step(-1) });
  return (
    <section class="card" aria-label={`${nodes.length} nodes of ${title}`}>
      <header><h2 class="cut" title={title}>{nodes.length} nodes of {title}</h2><span class="aside nowrap">value · expected · P(attack)</span></header>
      <table class="node-table">
        <colgroup><col width="24" /><col /><col width="86" class="mono" /><col width="68" /><col width="56" /><col width="40" /></colgroup>
        <thead class="hidden-text"><tr><th>kind</th><th>node</th><th class="mono">point</th><th>value</th><th>expected</th><th>P</th></tr></thead>
        {GROUPS.filter(([, kinds]) => ordered.some((node) => kinds.includes(node.kind))).map(([name, kinds]) => (
          <tbody key={name}>
            <tr class="kind"><td colSpan={6}>{name}</td></tr>
            {ordered.filter((node) => kinds.includes(node.kind)).map((node) => <Row key={node.role} node={node} zone={zone} isChosen={node.role === chosen} />)}
          </tbody>
        ))}
      </table>
    </section>
  );
}

/** Return a name as it fits into a column of the table; the whole one is its title. */
const shortWords = (name: string): string => name.replace(/temperature\b/, "temp.");

function Row({ node, zone, isChosen }: { node: NodeNow; zone: string; isChosen: boolean }) {
  const site = about.value!, known = nodeOf.value.get(node.role), choice = temperature.value;
  const decimals = known?.decimals ?? 1, states = known?.states ?? [], low = known?.low ?? 0;
  const level = levelOf(node.p, site.levels), isMeasured = node.unit !== null;
  const address = here("zones", zoneAddress(zone, node.role));
  return (
    <tr aria-selected={isChosen} onClick={() => go(address)}>
      <td><NodeShape kind={node.kind} level={level} priority={known?.priority} label={node.kind} size={14} /></td>
      <td class={`name ${node.disagrees || level === 3 ? "strong" : ""}`} title={node.name}><a href={address}>{shortWords(node.name)}</a> {node.state !== "normal" && node.state !== "unknown" && <Letter state={node.state} />}</td>
      <td class="mono" title={node.role}>{node.role}</td>
      <td class="right">{!isMeasured ? "–" : node.value === null ? <span class="row"><span class="hatch-box" />unknown</span>
        : <><span class={node.disagrees ? "strong" : ""}>{formatNumber(node.value, node.unit, decimals, choice, states, low)}</span>{!states.length && <span class="small dim"> {shownUnit(node.unit, choice)}</span>}{!node.is_fresh && <span class="hatch-box" role="img" aria-label="stale" />}</>}</td>
      <td class="right dim">{!isMeasured || node.expected === null ? "–" : `${formatNumber(node.expected, node.unit, decimals, choice, states, low)}${node.disagrees ? " ≠" : ""}`}</td>
      <td class={`right ${level === 3 ? "strong" : "dim"}`}>{node.p === null ? "?" : node.p < 0.005 ? "0" : graphP(node.p)}</td>
    </tr>
  );
}
