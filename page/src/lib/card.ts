// The report card of a model, as far as it has one. No figure without its count.
import { NBSP, percent } from "./format";

export interface Figure { value: string; title: string; says: string }
export interface Family { name: string; attacks: number; found: number; right: number }
export interface Bin { said: number; was: number; count: number }
export interface ShiftRow { name: string; shipped: number | null; after: number | null }
export interface Measured { command: string; page: string }
export interface Card { measured: Measured | null; figures: Figure[]; families: Family[]; reliability: Bin[] | null; shift: ShiftRow[] }

type Json = Record<string, unknown>;
const object = (value: unknown): Json => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {});
const number = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) ? value : null);
const numbers = (value: unknown): number[] => (Array.isArray(value) ? value.map(Number) : []);

/** Read what the page shows of a report card; parts that are missing are left out. */
export function readCard(figures: Json, isCommissioned = false): Card {
  const card = object((isCommissioned ? figures["commissioned"] : undefined) ?? figures["card"] ?? figures), unseen = object(object(figures["unseen_cases"])["card"]);
  return { measured: measured(object(figures["measured"])), figures: headline(card, unseen), families: families(object(figures["families"])), reliability: reliability(object(object(figures["curves"])["reliability"])), shift: shift(figures["shift"]) };
}

function measured(stated: Json): Measured | null {
  return typeof stated["command"] === "string" ? { command: stated["command"], page: typeof stated["page"] === "string" ? stated["page"] : "" } : null;
}

const between = (limits: unknown, format: (value: number) => string): string =>
  numbers(limits).length === 2 ? `, 95${NBSP}%: ${numbers(limits).map(format).join(" – ")}` : "";

function headline(card: Json, unseen: Json): Figure[] {
  const found: Figure[] = [];
  const seen = number(card["observable_events"]), all = number(card["events"]), recall = number(card["event_recall"]);
  if (recall !== null && seen !== null)
    found.push({ value: percent(recall), title: "attacks found", says: `${Math.round(recall * seen)} of ${seen} visible ones${between(card["event_recall_interval"], percent)}${all !== null ? `; ${all - seen} more never showed` : ""}` });
  const hit = number(card["hit_at_1"]), strict = number(card["hit_at_1_strict"]);
  if (hit !== null) found.push({ value: percent(hit), title: "right node first", says: strict !== null ? `or one no reading tells apart; strictly ${percent(strict)}` : `of ${seen ?? "the"} attacks${between(card["hit_at_1_interval"], percent)}` });
  const delay = number(card["median_ttd_min"]), slow = number(card["p90_ttd_min"]);
  if (delay !== null) found.push({ value: `${delay.toFixed(0)}${NBSP}min`, title: "median delay", says: slow !== null ? `nine of ten within ${slow.toFixed(0)} min` : "" });
  const wrong = number(card["false_alarms_per_day"]), late = number(card["late_per_day"]), days = number(card["days"]);
  const worst = number(card["worst_false_alarms_per_day"]), buildings = number(card["buildings"]);
  if (wrong !== null && worst !== null) found.push({ value: wrong.toFixed(2), title: "false alarms a day", says: `median of ${buildings ?? "the"} buildings; worst ${worst.toFixed(2)}${between(card["worst_false_alarms_per_day_interval"], (value) => value.toFixed(2))}` });
  else if (wrong !== null) found.push({ value: wrong.toFixed(2), title: "false alarms a day", says: `${days !== null ? `over ${days} building-days` : ""}${late !== null ? `; ${late.toFixed(2)} more while a zone recovers` : ""}` });
  const newHit = number(unseen["hit_at_1"]), newRecall = number(unseen["event_recall"]), newWrong = number(unseen["false_alarms_per_day"]), newEvents = number(unseen["observable_events"]);
  if (newHit !== null) found.push({ value: percent(newHit), title: "right node, cases never taught", says: `of ${newEvents} attacks; zone found ${percent(newRecall ?? 0)}${newWrong !== null ? `; ${newWrong.toFixed(2)} false alarms a day` : ""}` });
  const ece = number(card["ece"]);
  if (ece !== null) found.push({ value: ece.toFixed(3), title: "calibration error", says: "of probabilities from 0.05" });
  return found;
}

function families(all: Json): Family[] {
  return Object.entries(all)
    .map(([name, value]) => {
      const row = object(value);
      return { name: name.replaceAll("_", " "), attacks: number(row["observable_events"]) ?? 0, found: number(row["event_recall"]) ?? 0, right: number(row["hit_at_1"]) ?? 0 };
    })
    .filter((row) => row.attacks > 0)
    .sort((a, b) => a.right + a.found - b.right - b.found || a.name.localeCompare(b.name));
}

function reliability(curve: Json): Bin[] | null {
  const said = numbers(curve["confidence"]), was = numbers(curve["frequency"]), counts = numbers(curve["counts"]);
  if (!said.length || said.length !== was.length) return null;
  return said.map((value, place) => ({ said: value, was: was[place]!, count: counts[place] ?? 0 })).filter((bin) => bin.count > 0);
}

function shift(rows: unknown): ShiftRow[] {
  if (!Array.isArray(rows)) return [];
  return rows.map(object).filter((row) => typeof row["name"] === "string").map((row) => ({ name: String(row["name"]), shipped: number(row["shipped"]), after: number(row["after"]) }));
}

const CONDITIONS: Record<string, string> = {
  reference: "as trained (reference)", "sensor offsets": "sensors read off by a constant", "one sensor off": "one sensor reads off", "noise x3": "noise three times as large",
  "chilled water 10": "chilled water at 10 °C", "hot water 60": "hot water at 60 °C", "setpoints 24 21": "setpoints 24 and 21 °C", "setback 26 17": "setback to 26 and 17 °C",
  "deadband 1": "dead band of 1 K", "loop gains x3": "control loops three times as sharp", "seven days": "in use on all seven days", cov: "points report changes only",
  "rounded 0.5": "readings rounded to 0.5", "samples 5 min": "a reading every 5 minutes", "samples 15 min": "a reading every 15 minutes", "loss 10 percent": "one reading in ten is lost",
  "points 14": "14 of 29 points only", "gains x2": "twice the heat from people and machines", "mass x3": "three times the thermal mass", "mass third": "a third of the thermal mass",
  "envelope x3": "walls that leak three times the heat", "coils 40 percent larger": "coils 40 % larger", "all at once": "all of these at once",
};
/** Return the condition of a building in words; one that is not known here as the card writes it. */
export const conditionWords = (name: string): string => CONDITIONS[name] ?? name;

// In the order in which an alarm passes them.
const LEVELS: readonly [name: string, words: string, unit: string][] = [
  ["rule.raise_at", "alarm level of P", ""], ["rule.votes", "raised by readings at that level", ""], ["rule.window", "out of the newest", ""],
  ["rule.clear_at", "clears below P", ""], ["rule.clear_after", "for", "readings"], ["group.settle", "announced after", "readings"], ["group.max_hops", "an incident takes nodes within", "steps of the graph"],
  ["group.join_within", "and within", "readings"], ["group.linger", "closes after", "quiet readings"], ["calibration.inverse_temperature", "calibration, slope", ""],
];
export interface Level { name: string; words: string; value: string }
/** Return the numbers that decide about alarms, in words; those that are not known here come last. */
export function levelRows(levels: Json): Level[] {
  const order = (name: string) => (LEVELS.findIndex(([known]) => known === name) + 1) || LEVELS.length + 1;
  const shown = (value: unknown) => (typeof value === "number" ? Number(value.toFixed(3)).toLocaleString("en-GB") : value === null ? "none" : String(value));
  return Object.entries(levels).filter(([, value]) => typeof value !== "object" || value === null).sort(([a], [b]) => order(a) - order(b)).map(([name, value]) => {
    const [, words, unit] = LEVELS.find(([known]) => known === name) ?? [name, name.split(".").at(-1)!.replaceAll("_", " "), ""];
    return { name, words, value: unit ? `${shown(value)} ${unit}` : shown(value) };
  });
}
