// Cases of the studio, grouped as people think of them; cases that differ in strength alone are one choice.
import type { Case } from "../api/types";
import { NBSP } from "./format";

const FAMILIES: readonly [title: string, says: string, families: readonly string[]][] = [
  ["Valves", "held, leaking", ["valve"]], ["Damper", "held, leaking", ["damper"]],
  ["Sensors", "offset, ramp, saturated, replay", ["sensor_bias", "sensor_ramp", "sensor_saturated", "replay", "sensor"]],
  ["Commands", "more than was asked for", ["command_offset"]], ["Controllers", "reversed, hunting, setpoints", ["controller", "setpoint", "interlock"]],
  ["Coils and air path", "fouled, blocked", ["coil_fouling", "airflow_obstruction"]], ["Coordinated, stealthy", "many nodes, or short", ["coordinated", "stealthy", "temporary"]],
];

export interface Family { title: string; says: string; cases: Case[] }
export interface Kind { name: string; title: string; cases: Case[] }

export function byFamily(cases: readonly Case[]): Family[] {
  const found: Family[] = FAMILIES.map(([title, says, families]) => ({ title, says, cases: cases.filter((item) => families.includes(item.family)) }));
  const known = new Set(FAMILIES.flatMap(([, , families]) => families));
  const rest = cases.filter((item) => !known.has(item.family));
  if (rest.length) found.push({ title: "Others", says: "", cases: rest });
  return found.filter((family) => family.cases.length > 0);
}

/** Return the name of a case without its strength. */
export const stem = (item: Case): string => {
  const parts = item.name.split("_");
  const last = parts.at(-1)!;
  const isStrength = /^[+-]?\d/.test(last) || (item.severity && last.toLowerCase() === item.severity.toLowerCase()) || /^(minor|moderate|severe)$/i.test(last);
  return parts.length > 1 && isStrength ? parts.slice(0, -1).join("_") : item.name;
};

/** Return how strong a case is, with its unit: catalogues write "80" for 80 % and "+4C" for +4 °C. */
export function strength(item: Case): string {
  const said = item.severity || item.name.slice(stem(item).length + 1);
  if (!said) return "as it is";
  if (/^[+-]?\d+(\.\d+)?$/.test(said)) return `${said}${NBSP}%`;
  return said.replace(/(\d) ?%$/, `$1${NBSP}%`).replace(/(\d) ?C$/, `$1${NBSP}°C`).replace(/^[A-Z][a-z]+$/, (word) => word.toLowerCase());
}

/** Return the title of a case as people write it: "+4C off" as "+4 °C off", number and unit on one line. */
export const caseWords = (title: string): string =>
  title.replace(/(\d) ?%/g, `$1${NBSP}%`).replace(/([+-]?\d) ?C\b/g, `$1${NBSP}°C`);

/** Return what will be done: the title, and what it leaves out of targets and strength. */
export function orderWords(item: Case): string {
  const title = caseWords(item.title || item.name), how = strength(item);
  const targets = item.target_names.filter((name) => !title.includes(name));
  const more = [...targets, ...(how === "as it is" || title.toLowerCase().includes(how.toLowerCase()) ? [] : [how])];
  return more.length ? `${title} (${more.join(", ")})` : title;
}

/** Return the words that titles begin with alike: "damper held at 0 %" and "damper held at 30 %" are "damper held". */
export function sharedTitle(titles: readonly string[]): string {
  const words = titles.map((title) => title.split(" "));
  let alike = 0;
  while (words[0]![alike] !== undefined && words.every((one) => one[alike] === words[0]![alike])) alike++;
  return words[0]!.slice(0, alike).join(" ").replace(/[ ,]*(at|by|to|of|\()?$/, "") || titles[0]!;
}

/** Return the cases of a family as kinds with one or more strengths. */
export function kinds(cases: readonly Case[]): Kind[] {
  const found = new Map<string, Case[]>();
  for (const item of cases) (found.get(stem(item)) ?? found.set(stem(item), []).get(stem(item))!).push(item);
  return [...found].map(([name, all]) => ({ name, title: all.length > 1 ? sharedTitle(all.map((item) => item.title || name)) : all[0]!.title || name, cases: all }));
}
