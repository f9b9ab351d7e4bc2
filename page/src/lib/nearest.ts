// Which signals to draw for a node: its own, then those it is joined to, commands before effects.
import type { SiteAbout } from "../api/types";
import { commandOf } from "./commands";

export function nearestPoints(role: string, about: Pick<SiteAbout, "template" | "edges" | "main_value">, most: number): string[] {
  const node = about.template.findIndex((one) => one.role === role);
  if (node < 0) return [];
  const command = commandOf(role, about);
  const out = about.edges.filter((edge) => edge.source === node).map((edge) => edge.target);
  const into = about.edges.filter((edge) => edge.target === node).map((edge) => edge.source);
  const ranked = [role, ...(command ? [command] : []), ...[...out, ...into].map((place) => about.template[place]!.role)];
  const main = about.main_value?.role;
  const measured = [...new Set(ranked)].filter((name) => about.template.find((one) => one.role === name)?.signal);
  const kept = measured.slice(0, main && measured.indexOf(main) >= most ? most - 1 : most);
  return main && measured.includes(main) && !kept.includes(main) ? [...kept, main] : kept;
}
