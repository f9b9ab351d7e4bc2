// Zones as people write them, and how an overview groups and draws them.
import type { Layout } from "../store/preferences";
import type { ZoneInfo } from "../api/types";

/** Return the zones that a text such as `3, 7, 45-48` names; null for none (the whole site), undefined if one is unknown. */
export function zonesOfText(text: string, names: readonly string[]): string[] | null | undefined {
  const parts = text.split(/[,;]/).map((part) => part.trim()).filter(Boolean);
  if (!parts.length) return null;
  const numbers = new Map(names.map((name) => [Number(/(\d+)$/.exec(name)?.[1] ?? NaN), name]));
  const found: string[] = [];
  for (const part of parts) {
    const range = /^(\d+)\s*[-–]\s*(\d+)$/.exec(part);
    const wanted = range
      ? Array.from({ length: Math.max(0, Number(range[2]) - Number(range[1]) + 1) }, (_, step) => numbers.get(Number(range[1]) + step))
      : [numbers.get(Number(part)) ?? names.find((name) => name === part)];
    if (!wanted.length || wanted.some((name) => name === undefined)) return undefined;
    found.push(...(wanted as string[]));
  }
  return found;
}

/** Return the layout for a number of zones, unless the person chose one. */
export const layoutFor = (zones: number): Layout => (zones <= 24 ? "tiles" : zones <= 150 ? "matrix" : "strip");

export interface Group { name: string; places: number[] }

/** Return zones by group in their own order; without groups, rows of twelve. */
export function groups(zones: readonly ZoneInfo[], rowLength: number): Group[] {
  const named = new Map<string, number[]>();
  zones.forEach((info, place) => {
    const name = info.group || "";
    (named.get(name) ?? named.set(name, []).get(name)!).push(place);
  });
  if (named.size > 1) return [...named].map(([name, places]) => ({ name, places }));
  const rows: Group[] = [];
  for (let first = 0; first < zones.length; first += rowLength)
    rows.push({
      name: `${shortName(zones[first]!)}–${shortName(zones[Math.min(first + rowLength, zones.length) - 1]!)}`,
      places: zones.slice(first, first + rowLength).map((_, step) => first + step),
    });
  return rows;
}

/** Return the short name of a zone for small cells: its number, if it has one. */
export const shortName = (info: ZoneInfo): string => /(\d+)\s*$/.exec(info.title)?.[1] ?? info.title;

/** Return zones in words, runs joined: `zones 45–48, 50`. */
export function zoneRange(zones: readonly string[] | null, all: readonly ZoneInfo[]): string {
  if (!zones) return "the whole site";
  const places = zones.map((zone) => all.findIndex((info) => info.zone === zone)).filter((place) => place >= 0).sort((a, b) => a - b);
  const runs: [number, number][] = [];
  for (const place of places) {
    const last = runs.at(-1);
    if (last && last[1] === place - 1) last[1] = place;
    else runs.push([place, place]);
  }
  const name = (place: number) => shortName(all[place]!);
  return `${places.length === 1 ? "zone" : "zones"} ${runs.map(([first, last]) => (first === last ? name(first) : `${name(first)}–${name(last)}`)).join(", ")}`;
}
