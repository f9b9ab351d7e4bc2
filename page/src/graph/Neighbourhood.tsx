// The graph around the root of an incident: kind by shape, edge kind by line, score by shade, then colour.
import type { Evidence, Incident, NodeNow, TemplateNode, ZoneNow } from "../api/types";
import { KINDS } from "../lib/codes";
import { clock, formatP, formatValue, graphP, ms, shorten } from "../lib/format";
import { commandOf } from "../lib/commands";
import { levelOf } from "../lib/levels";
import { around, step, type Placed } from "../lib/neighbourhood";
import { temperature } from "../store/preferences";
import { here } from "../store/router";
import { about, zone } from "../store/site";
import { NodeShape } from "../ui/NodeShape";
import { zoneAddress } from "../lib/places";
import { NodeTable } from "./NodeTable";

interface Props {
  incident: Incident; place: string; now: ZoneNow | null; steps: number; setSteps: (steps: number) => void; asTable: boolean; setTable: (on: boolean) => void;
}
const isNarrow = (): boolean => matchMedia("screen and (max-width: 899px)").matches;

export function Neighbourhood({ incident, place, now, steps, setSteps, asTable, setTable }: Props) {
  const site = about.value!;
  const root = site.template.findIndex((node) => node.role === incident.root);
  if (root < 0) return null;
  const shown = around(root, site, steps, isNarrow());
  const values = new Map(now?.nodes.map((node) => [node.role, node]));
  const command = commandOf(incident.root, site);
  const disagrees = (role: string) => (role === command && odd.has(incident.root)) || incident.edges.some((one) => one.source === role && one.target === incident.root && one.deviation !== null);
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
          <svg class="graph" viewBox={`0 0 ${shown.width} ${shown.height}`} role="group" aria-label={`Graph around ${incident.name}: ${shown.nodes.length} nodes. Arrow keys walk along edges.`}>
            {["command", "action", "effect"].map((word, column) => <text key={word} class="head" x={shown.columns[column]! - 12} y="12">{word}</text>)}
            {shown.edges.map((edge) => <EdgeLine key={`${edge.source}-${edge.target}-${edge.kind}`} from={find(shown.nodes, edge.source, root)} to={find(shown.nodes, edge.target, root)} kind={edge.kind}
              isBold={edge.source === root && odd.has(site.template[edge.target]!.role) || edge.target === root && disagrees(site.template[edge.source]!.role)} />)}
            {shown.nodes.map((placed) => {
              const node = site.template[placed.node]!, value = values.get(node.role), evidence = odd.get(node.role), isRoot = placed.node === root;
              const p = isRoot && incident.is_open ? incident.p_now ?? incident.p : value?.p ?? null;
              const words = says(node, evidence);
              const level = isRoot ? 3 : levelOf(p, site.levels);
              return (
                <a key={node.role} class="thing" tabIndex={0} data-node={placed.node} href={here("zones", zoneAddress(place, node.role))}
                  aria-label={`${node.name}, ${node.kind}${words ? `, ${words}` : value?.text ? `, ${value.text}` : ""}, P ${formatP(p)}`}
                  onKeyDown={(event) => walk(event, placed.node, shown)}>
                  <circle class="halo" cx={placed.x} cy={placed.y} r={isRoot ? 28 : 13} />
                  {isRoot && <RootRing placed={placed} kind={node.kind} priority={incident.priority} />}
                  <use href={`#${node.kind}`} class="node" data-kind={node.kind} data-level={level} data-priority={isRoot ? incident.priority : node.priority}
                    x={placed.x - (isRoot ? 20 : 8)} y={placed.y - (isRoot ? 20 : 8)} width={isRoot ? 40 : 16} height={isRoot ? 40 : 16} />
                </a>
              );
            })}
            <g class="names" aria-hidden="true">
              {shown.nodes.map((placed) => {
                const node = site.template[placed.node]!, isRoot = placed.node === root;
                return (
                  <g key={node.role} data-priority={incident.priority}>
                    {isRoot && <text class="number" x={placed.x} y={placed.y + 4}>{graphP(incident.p)}</text>}
                    <Name placed={placed} name={node.name} words={says(node, odd.get(node.role))} isBold={isRoot || odd.has(node.role)} column={shown.columns.indexOf(placed.x)} isRoot={isRoot} />
                  </g>
                );
              })}
            </g>
          </svg>
        )}
        <div class="legend">
          {KINDS.map((kind) => <span key={kind}><NodeShape kind={kind} level={0} /> {kind}</span>)}
          <span>— signal</span><span>- - physics</span>{shown.edges.some((edge) => edge.kind === "near") && <span>··· moves together</span>}<span>bold = disagrees</span>
        </div>
      </div>
    </section>
  );
}

const find = (nodes: Placed[], node: number, root: number): Placed & { isRoot: boolean } => ({ ...nodes.find((one) => one.node === node)!, isRoot: node === root });

/** Return what an unusual reading was, beside what was expected of it. */
function says(node: TemplateNode, evidence: Evidence | undefined): string {
  if (!evidence) return "";
  const value = (number: number) => formatValue(number, evidence.unit, node.decimals, temperature.value, node.states, node.low ?? 0);
  return `${value(evidence.value)}, expected ${value(evidence.expected)}`;
}

function walk(event: KeyboardEvent & { currentTarget: Element }, node: number, shown: { nodes: Placed[]; edges: Parameters<typeof step>[3] }): void {
  if (!event.key.startsWith("Arrow")) return;
  event.preventDefault();
  const to = step(node, event.key, shown.nodes, shown.edges);
  (event.currentTarget.parentElement?.querySelector(`[data-node="${to}"]`) as SVGElement | null)?.focus();
}

function EdgeLine({ from, to, kind, isBold }: { from: Placed & { isRoot?: boolean }; to: Placed & { isRoot?: boolean }; kind: string; isBold: boolean }) {
  const dx = to.x - from.x, dy = to.y - from.y, length = Math.hypot(dx, dy) || 1, gap = 14, before = from.isRoot ? 28 : gap, after = to.isRoot ? 30 : gap;
  const x1 = from.x + (dx / length) * before, y1 = from.y + (dy / length) * before, x2 = to.x - (dx / length) * after, y2 = to.y - (dy / length) * after;
  const bend = Math.abs(dx) < 1 ? (from.x < 100 ? -24 : 24) : 0;
  return <path class={`edge ${kind} ${isBold ? "bold" : ""}`} d={bend ? `M${x1} ${y1}Q${from.x + bend} ${(y1 + y2) / 2} ${x2} ${y2}` : `M${x1} ${y1}L${x2} ${y2}`} marker-end="url(#arrow)" />;
}

function RootRing({ placed, kind, priority }: { placed: Placed; kind: string; priority: string }) {
  return <g data-priority={priority}>{kind === "actuator" ? <path class="root-ring" d={`M${placed.x} ${placed.y - 25}l25 25-25 25-25-25z`} />
    : <rect class="root-ring" x={placed.x - 23} y={placed.y - 23} width="46" height="46" rx={kind === "sensor" ? 23 : 6} />}</g>;
}

/** Break a long name at a space; what is too long for two lines is cut. */
function twoLines(name: string, most: number): string[] {
  const at = name.length > most ? name.lastIndexOf(" ", most) : -1;
  return (at > 0 ? [name.slice(0, at), name.slice(at + 1)] : [name]).map((line) => shorten(line, most + 4));
}

function Name({ placed, name, words, isBold, column, isRoot }: { placed: Placed; name: string; words: string; isBold: boolean; column: number; isRoot: boolean }) {
  const isRight = column === 2;
  const x = isRight ? placed.x + (isRoot ? 32 : 14) : placed.x, y = isRight ? placed.y + (words ? -2 : 4) : column === 0 ? placed.y - (words ? 28 : 14) : placed.y + (isRoot ? 40 : 22);
  const anchor = isRight ? "start" : column === 0 ? "start" : "middle";
  const left = column === 0 ? placed.x - 14 : x;
  const lines = twoLines(name, isRight ? 24 : isRoot ? 22 : 17);
  const up = (lines.length - 1) * (column === 0 ? 14 : isRight ? 7 : 0);
  return (
    <>
      {lines.map((line, place) => <text key={line} class={isBold ? "bold" : ""} x={left} y={y - up + place * 14} text-anchor={anchor}>{line}</text>)}
      {words && <text class="second" x={left} y={y - up + lines.length * 14} text-anchor={anchor}>{words}</text>}
    </>
  );
}
