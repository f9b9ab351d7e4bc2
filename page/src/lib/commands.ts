// Which command an actuator follows: the setting that sends to it over a signal edge, in the same unit.
import type { SiteAbout } from "../api/types";

export function commandOf(role: string, about: Pick<SiteAbout, "template" | "edges">): string | null {
  const target = about.template.findIndex((node) => node.role === role);
  const node = about.template[target];
  if (!node || node.kind !== "actuator") return null;
  for (const edge of about.edges) {
    const source = about.template[edge.source];
    if (edge.target === target && edge.kind === "comm" && source?.kind === "controller" && source.unit === node.unit && node.unit) return source.role;
  }
  return null;
}
