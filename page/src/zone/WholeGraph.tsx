// Where a node sits in its zone: all nodes and edges, its own in bold.
import { memo } from "../ui/memo";
import type { NodeNow } from "../api/types";
import { formatP, shorten } from "../lib/format";
import { levelOf } from "../lib/levels";
import { here } from "../store/router";
import { zoneAddress } from "../lib/places";
import { about } from "../store/site";

const WIDTH = 330, HEIGHT = 360, LEFT = 36, RIGHT = 300;

export const WholeGraph = memo(function WholeGraph({ zone, role, nodes }: { place: number; zone: string; role: string; nodes: NodeNow[] }) {
  const site = about.value!;
  const ys = site.template.map((node) => node.y), low = Math.min(...ys), high = Math.max(...ys);
  const x = (place: number) => LEFT + (site.template[place]!.x / 2) * (RIGHT - LEFT);
  const y = (place: number) => 16 + ((site.template[place]!.y - low) / (high - low || 1)) * (HEIGHT - 32);
  const chosen = site.template.findIndex((node) => node.role === role);
  const values = new Map(nodes.map((node) => [node.role, node]));
  const own = site.edges.filter((edge) => edge.source === chosen || edge.target === chosen).length;
  const lines = [...site.edges].sort((a, b) => Number(isOwn(a, chosen)) - Number(isOwn(b, chosen)));
  return (
    <section class="card" aria-label="Where it sits">
      <header><h2>Where it sits</h2><span class="aside">{own} edges, bold</span></header>
      <div class="body">
        <svg class="graph" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="group" aria-label={`Graph of ${zone}`}>
          {lines.map((edge) => {
            const x1 = x(edge.source), y1 = y(edge.source), x2 = x(edge.target), y2 = y(edge.target), bend = Math.abs(x1 - x2) < 1 ? -22 : 0;
            return <path key={`${edge.source}-${edge.target}-${edge.kind}`} class={`edge ${edge.kind} ${isOwn(edge, chosen) ? "bold" : ""}`} d={bend ? `M${x1} ${y1}Q${x1 + bend} ${(y1 + y2) / 2} ${x2} ${y2}` : `M${x1} ${y1}L${x2} ${y2}`} />;
          })}
          {site.template.map((node, place) => {
            const p = values.get(node.role)?.p ?? null, isChosen = place === chosen, size = isChosen ? 18 : 11;
            return (
              <a key={node.role} class="thing" href={here("zones", zoneAddress(zone, node.role))} aria-label={`${node.name}, ${node.kind}, P ${formatP(p)}`} aria-current={isChosen ? "true" : undefined}>
                <circle class="halo" cx={x(place)} cy={y(place)} r="10" />
                <use href={`#${node.kind}`} class="node" data-kind={node.kind} data-priority={node.priority} data-level={levelOf(p, site.levels)} x={x(place) - size / 2} y={y(place) - size / 2} width={size} height={size} />
                {isChosen && <Name name={shorten(node.name, 34)} x={x(place)} y={y(place) - 14} />}
              </a>
            );
          })}
        </svg>
      </div>
    </section>
  );
});

const isOwn = (edge: { source: number; target: number }, node: number): boolean => edge.source === node || edge.target === node;

/** The name of the chosen node, moved so far to the side that it stays within the picture. */
function Name({ name, x, y }: { name: string; x: number; y: number }) {
  const half = 8 + name.length * 3.6;
  return <text aria-hidden="true" class="bold" x={Math.min(Math.max(x, half), WIDTH - half)} y={y} text-anchor="middle">{name}</text>;
}
