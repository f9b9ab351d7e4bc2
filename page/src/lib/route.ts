// Addresses of the page: `#/site/screen/thing?filter=..`. They are real links and open in tabs.
export type Screen =
  | "overview" | "alarms" | "incident" | "zones" | "kpis" | "model" | "mapping" | "studio";
const SCREENS: readonly string[] = ["overview", "alarms", "incident", "zones", "kpis", "model", "mapping", "studio"];

export interface Route { site: string | null; screen: Screen; thing: string | null; query: URLSearchParams }

export function parse(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [site, screen, ...rest] = path.split("/").map(decode);
  return {
    site: site || null,
    screen: (SCREENS.includes(screen ?? "") ? screen : "overview") as Screen,
    thing: rest.length ? rest.join("/") || null : null,
    query: new URLSearchParams(search),
  };
}

export function link(site: string, screen: Screen, thing?: string | null, query?: Record<string, string>): string {
  const parts = [site, screen, ...(thing ? thing.split("/") : [])].map(encodeURIComponent).join("/");
  const search = new URLSearchParams(query ?? {}).toString();
  return `#/${parts}${search ? `?${search}` : ""}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
