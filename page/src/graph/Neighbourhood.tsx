// The graph around the root of an incident: kind by shape, edge kind by line, score by shade, then colour.
import type { Incident, NodeNow, ZoneNow } from "../api/types";
import { KINDS } from "../lib/codes";
import { clock, formatP, formatValue, graphP, ms } from "../lib/format";
import { levelOf } from "../lib/levels";
import { around, step, type Placed } from "../lib/neighbourhood";
import { temperature } from "../store/preferences";
import { here } from "../store/router";
import { about, zone } from "../store/site";
import { NodeShape } from "../ui/NodeShape";
import { NodeTable } from "./NodeTable";

interface Props {
  incident: Incident; now: ZoneNow | null; steps: number; setSteps: (steps: number) => void; asTable: boolean; setTable: (on: boolean) => void;
}
const WIDTH = 440;

export function Neighbourhood({ incident, now, steps, setSteps, asTable, setTable }: Props) {
  const site = about.value!;
  const root = site.template.findIndex((node) => node.role === incident.root);
  if (root < 0) return null;
  const shown = around(root, site, steps);
  const values = new Map(now?.nodes.map((node) => [node.role, node]));
  const odd = new Map(incident.signals.filter((item) => item.is_unusual).map((item) => [item.role, item]));
  return (
    <section class="card" aria-label="Around the root">
      <header><h2>Around the root{incident.announced ? `, at ${clock(ms(incident.announced), zone.value)}` : ""}</h2>
        <span class="aside">
          {steps === 1 ? "1 step" : <button class="link" onClick={() => setSteps(1)}>1 step</button>} ·{" "}
          {steps === 2 ? "2 steps" : <button class="link" onClick={() => setSteps(2)}>2 steps</button>} ·{" "}
          <button class="link" aria-pressed={asTable} onClick={() => setTable(!asTable)}>{asTable ? "as a picture" : "as a table"}</button>
        </span>
      </header>
      <div class="body">
        {asTable ? <NodeTable nodes={shown.nodes.map((one) => values.get(site.template[one.node]!.role)).filter((one): one is NodeNow => !!one)} /> : (
          <svg class="graph" viewBox={`0 0 ${WIDTH} ${shown.height}`} role="group" aria-label={`Graph around ${incident.name}: ${shown.nodes.length} nodes. Arrow keys walk along edges.`}>
            {["command", "action", "effect"].map((word, place) => <text key={word} class="head" x={shown.columns[place]! - 12} y="12">{word}</text>)}
            {shown.edges.map((edge) => <EdgeLine key={`${edge.source}-${edge.target}`} from={find(shown.nodes, edge.source)} to={find(shown.nodes, edge.target)} kind={edge.kind}
              isBold={edge.source === root && odd.has(site.template[edge.target]!.role) || edge.target === root && (odd.has(incident.root) || incident.edges.some((one) => one.source === site.template[edge.source]!.role))} />)}
            {shown.nodes.map((placed) => {
              const node = site.template[placed.node]!, value = values.get(node.role), evidence = odd.get(node.role), isRoot = placed.node === root;
              const p = isRoot && incident.is_open ? incident.p_now ?? incident.p : value?.p ?? null;
              const words = evidence ? `${formatValue(evidence.value, evidence.unit, node.decimals, temperature.value, node.states, node.low ?? 0)}, expected ${formatValue(evidence.expected, evidence.unit, node.decimals, temperature.value, node.states, node.low ?? 0)}` : "";
              const level = isRoot ? 3 : levelOf(p, site.levels);
              return (
                <a key={node.role} class="thing" tabIndex={0} data-node={placed.node} href={here("zones", `${incident.zone}/${node.role}`)}
                  aria-label={`${node.name}, ${node.kind}${words ? `, ${words}` : value?.text ? `, ${value.text}` : ""}, P ${formatP(p)}`}
                  onKeyDown={(event) => walk(event, placed.node, shown)}>
                  <circle class="halo" cx={placed.x} cy={placed.y} r={isRoot ? 22 : 13} />
                  {isRoot && <RootRing placed={placed} kind={node.kind} priority={incident.priority} />}
                  <use href={`#${node.kind}`} class="node" data-kind={node.kind} data-level={level} data-priority={isRoot ? incident.priority : node.priority}
                    x={placed.x - (isRoot ? 16 : 8)} y={placed.y - (isRoot ? 16 : 8)} width={isRoot ? 32 : 16} height={isRoot ? 32 : 16} />
                  {isRoot && <g data-priority={incident.priority}><text class="number" x={placed.x} y={placed.y + 4}>{graphP(incident.p)}</text></g>}
                  <Name placed={placed} name={node.name} words={words} isBold={isRoot || !!evidence} column={shown.columns.indexOf(placed.x)} isRoot={isRoot} />
                </a>
              );
            })}
          </svg>
        )}
        <div class="legend">
          {KINDS.map((kind) => <span key={kind}><NodeShape kind={kind} level={0} /> {kind}</span>)}
          <span>— signal</span><span>- - physics</span><span>bold = disagrees</span>
        </div>
      </div>
    </section>
  );
}

const find = (nodes: Placed[], node: number): Placed => nodes.find((one) => one.node === node)!;

function walk(event: KeyboardEvent & { currentTarget: Element }, node: number, shown: { nodes: Placed[]; edges: Parameters<typeof step>[3] }): void {
  if (!event.key.startsWith("Arrow")) return;
  event.preventDefault();
  const to = step(node, event.key, shown.nodes, shown.edges);
  (event.currentTarget.parentElement?.querySelector(`[data-node="${to}"]`) as SVGElement | null)?.focus();
}

function EdgeLine({ from, to, kind, isBold }: { from: Placed; to: Placed; kind: string; isBold: boolean }) {
  const dx = to.x - from.x, dy = to.y - from.y, length = Math.hypot(dx, dy) || 1, gap = 14;
  const x1 = from.x + (dx / length) * gap, y1 = from.y + (dy / length) * gap, x2 = to.x - (dx / length) * gap, y2 = to.y - (dy / length) * gap;
  const bend = Math.abs(dx) < 1 ? (from.x < 100 ? -24 : 24) : 0;
  return <path class={`edge ${kind} ${isBold ? "bold" : ""}`} d={bend ? `M${x1} ${y1}Q${from.x + bend} ${(y1 + y2) / 2} ${x2} ${y2}` : `M${x1} ${y1}L${x2} ${y2}`} marker-end="url(#arrow)" />;
}

function RootRing({ placed, kind, priority }: { placed: Placed; kind: string; priority: string }) {
  return <g data-priority={priority}>{kind === "actuator" ? <path class="root-ring" d={`M${placed.x} ${placed.y - 21}l21 21-21 21-21-21z`} />
    : <rect class="root-ring" x={placed.x - 20} y={placed.y - 20} width="40" height="40" rx={kind === "sensor" ? 20 : 4} />}</g>;
}

function Name({ placed, name, words, isBold, column, isRoot }: { placed: Placed; name: string; words: string; isBold: boolean; column: number; isRoot: boolean }) {
  const isRight = column === 2;
  const x = isRight ? placed.x + 14 : placed.x, y = isRight ? placed.y + (words ? -2 : 4) : placed.y + (isRoot ? 38 : 24);
  const anchor = isRight ? "start" : column === 0 ? "start" : "middle";
  const left = column === 0 ? placed.x - 14 : x;
  return (
    <>
      <text class={isBold ? "bold" : ""} x={left} y={y} text-anchor={anchor}>{name.length > 22 && isRight ? `${name.slice(0, 21)}…` : name}</text>
      {words && <text class="second" x={left} y={y + 14} text-anchor={anchor}>{words}</text>}
    </>
  );
}
