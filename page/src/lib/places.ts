// Names of nodes and points: `zone/role`, or the role alone in a plant without zones, whose one zone has no name.
import type { IncidentLine, SiteAbout } from "../api/types";

const NO_ZONE = "-"; // how addresses write the zone without a name
type Zones = Pick<SiteAbout, "zones_info">;

export const hasZones = (site: Zones): boolean => site.zones_info.some((info) => info.zone !== "");
export const nodeName = (zone: string, role: string): string => (zone ? `${zone}/${role}` : role);

/** Return the zone of a point or node and its role; a name without zones may hold slashes itself. */
export function partsOf(name: string, site: Zones): [zone: string, role: string] {
  const at = hasZones(site) ? name.indexOf("/") : -1;
  return at < 0 ? ["", name] : [name.slice(0, at), name.slice(at + 1)];
}

/** Return the zone of an incident; null if it is one of a building with zones as a whole. */
export const zoneOf = (incident: Pick<IncidentLine, "zone">, site: Zones): string | null => incident.zone ?? (hasZones(site) ? null : "");

/** Return a zone, and a node of it, as addresses write them. */
export const zoneAddress = (zone: string, role?: string | null): string => `${zone || NO_ZONE}${role ? `/${role}` : ""}`;
export const zoneOfAddress = (text: string): string => (text === NO_ZONE ? "" : text);
