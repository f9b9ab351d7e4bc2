// The filter of the alarm list, as the address carries it.
export type Show = "open" | "recent" | "unjudged" | "all";
export interface Filter { show: Show; state: string; priority: string; zone: string; kind: string; words: string }
const SHOWS: readonly string[] = ["open", "recent", "unjudged", "all"];

export function fromAddress(query: URLSearchParams): Filter {
  const show = query.get("show") ?? "recent";
  return {
    show: (SHOWS.includes(show) ? show : "recent") as Show, state: query.get("state") ?? "", priority: query.get("priority") ?? "",
    zone: query.get("zone") ?? "", kind: query.get("kind") ?? "", words: query.get("q") ?? "",
  };
}

/** Return the filter for an address; what is not chosen is left out. */
export function filterQuery(filter: Filter): Record<string, string> {
  const named: Record<string, string> = { show: filter.show, state: filter.state, priority: filter.priority, zone: filter.zone, kind: filter.kind, q: filter.words };
  return Object.fromEntries(Object.entries(named).filter(([name, value]) => value && !(name === "show" && value === "recent")));
}
