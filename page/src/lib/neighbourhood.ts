// The part of a zone's graph around a node: command, action, effect from left to right.
import type { SiteAbout, TemplateEdge } from "../api/types";

export interface Placed { node: number; x: number; y: number }
export interface Around { nodes: Placed[]; edges: TemplateEdge[]; columns: [number, number, number]; width: number }

/** Return the nodes within some steps of a root, whichever way edges point. */
export function within(root: number, edges: readonly TemplateEdge[], steps: number): Set<number> {
  let found = new Set([root]);
  for (let step = 0; step < steps; step++) {
    const next = new Set(found);
    for (const { source, target } of edges) {
      if (found.has(source)) next.add(target);
      if (found.has(target)) next.add(source);
    }
    found = next;
  }
  return found;
}

// On a phone the picture is drawn nearly as wide as the screen, so that its letters keep their size.
const WIDE = { columns: [36, 172, 270] as [number, number, number], width: 440 };
const NARROW = { columns: [20, 122, 202] as [number, number, number], width: 364 };
const ROW = 44, MIDDLE_ROW = 74;

/** Place the root in the middle of its column and its neighbours in the columns of the template, by their order there. */
export function around(root: number, about: Pick<SiteAbout, "template" | "edges">, steps: number, isNarrow = false): Around & { height: number } {
  const kept = within(root, about.edges, steps);
  const { columns: xs, width } = isNarrow ? NARROW : WIDE;
  const columns: number[][] = [[], [], []];
  for (const node of kept) columns[Math.min(2, Math.max(0, Math.round(about.template[node]!.x)))]!.push(node);
  for (const column of columns) column.sort((a, b) => about.template[a]!.y - about.template[b]!.y);
  const gaps = columns.map((column, place) => (place === 2 || column.length > 5 ? ROW : MIDDLE_ROW));
  const height = Math.max(...columns.map((column, place) => Math.max(1, column.length) * gaps[place]!)) + 34;
  const nodes = columns.flatMap((column, place) => {
    const free = height - 34, gap = Math.min(gaps[place]! * 1.4, free / Math.max(1, column.length));
    const first = 30 + (free - gap * column.length) / 2 + gap / 2;
    return column.map((node, row) => ({ node, x: xs[place]!, y: first + row * gap }));
  });
  return { nodes, edges: about.edges.filter((edge) => kept.has(edge.source) && kept.has(edge.target)), columns: xs, width, height };
}

/** Return the neighbour of a node in a direction, for the arrow keys. */
export function step(from: number, key: string, nodes: readonly Placed[], edges: readonly TemplateEdge[]): number {
  const here = nodes.find((one) => one.node === from);
  if (!here) return from;
  if (key === "ArrowUp" || key === "ArrowDown") {
    const column = nodes.filter((one) => one.x === here.x).sort((a, b) => a.y - b.y);
    const place = column.indexOf(here) + (key === "ArrowDown" ? 1 : -1);
    return column[place]?.node ?? from;
  }
  const isRight = key === "ArrowRight";
  const joined = new Set(edges.flatMap((edge) => (edge.source === from ? [edge.target] : edge.target === from ? [edge.source] : [])));
  const side = nodes.filter((one) => joined.has(one.node) && (isRight ? one.x > here.x : one.x < here.x));
  side.sort((a, b) => Math.abs(a.y - here.y) - Math.abs(b.y - here.y));
  return side[0]?.node ?? from;
}
