// Kinds of journal events in the words of the page.
const WORDS: Record<string, string> = {
  "incident.annunciated": "announced", "incident.held": "recorded", "incident.closed": "closed", "incident.changed": "changed", "alarm.raised": "raised",
  "alarm.cleared": "cleared", "operator.command": "command", "operator.refused": "refused", "access.refused": "refused", "access.login": "logged in",
  "source.lost": "silent", "source.found": "found", "nodes.stale": "stale", "nodes.fresh": "fresh", "zone.blind": "blind", "zone.seen": "seen",
  "operator.found": "found by people", "studio.injected": "injected", "studio.withdrawn": "ended", "site.watching": "watching", "site.learning": "learning",
};

/** Return one word for an event; "announced", never "annunciated". */
export const eventWord = (kind: string): string => WORDS[kind] ?? kind.split(".").at(-1)!.replaceAll("_", " ").replaceAll("-", " ");
export const isPeople = (kind: string): boolean => /^(operator|access|stop|studio)\./.test(kind);
export const isSource = (kind: string): boolean => /^(source|nodes|zone|device|readings|journal|site|model)\./.test(kind);
export const isLoud = (kind: string): boolean =>
  ["incident.annunciated", "operator.refused", "access.refused", "source.lost", "zone.blind", "operator.command", "journal.failing"].includes(kind);
