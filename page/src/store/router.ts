// The address in force.
import { signal } from "@preact/signals";
import { link, parse, type Screen } from "../lib/route";

export const route = signal(parse(location.hash));
addEventListener("hashchange", () => {
  route.value = parse(location.hash);
});

export const here = (screen: Screen, thing?: string | null, query?: Record<string, string>): string =>
  link(route.value.site ?? "", screen, thing, query);
export const go = (to: string): void => {
  location.hash = to;
};
/** Replace the query of the address without a new entry in the history. */
export function setQuery(query: Record<string, string>): void {
  const { site, screen, thing } = route.value;
  const to = link(site ?? "", screen, thing, query);
  history.replaceState(null, "", to);
  route.value = parse(to);
}
