// Numbers, units, times and ages as people read them.
import type { Time } from "../api/types";

/** Return a text as it fits into a picture; the whole one is said elsewhere. */
export const shorten = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

export const NBSP = "\u00a0";
export type Temperature = "degC" | "degF";

/** Return a probability with two digits, never 0 or 1: nobody is that sure. */
export function formatP(p: number | null | undefined): string {
  if (p === null || p === undefined) return "unknown";
  if (p > 0.99) return `>${NBSP}0.99`;
  if (p < 0.01) return `<${NBSP}0.01`;
  return p.toFixed(2);
}

/** Return `p > 0.99` or `p = 0.56`. */
export function sayP(p: number | null | undefined): string {
  const text = formatP(p);
  return /^[<>]/.test(text) ? `p${NBSP}${text}` : text === "unknown" ? "p unknown" : `p${NBSP}=${NBSP}${text}`;
}

/** Return the number inside a node of the graph: `.99+`, `.56`. */
export const graphP = (p: number): string => (p > 0.99 ? ".99+" : p.toFixed(2).replace(/^0/, ""));

/** Return whether P now is worth a word beside p at the announcement. */
export const drifted = (p: number, now: number | null): boolean => now !== null && Math.abs(now - p) >= 0.05;

const SYMBOLS: Record<string, string> = { degC: "°C", degF: "°F", fraction: "%" };

export interface Shown { number: number; unit: string; decimals: number }

/** Return a value in the unit that is shown: fractions in percent, temperatures by choice of the person. */
export function convert(value: number, unit: string | null, decimals: number, choice: Temperature): Shown {
  if (unit === "fraction") return { number: value * 100, unit: "%", decimals: Math.max(0, decimals - 2) };
  if ((unit === "degC" || unit === "°C") && choice === "degF")
    return { number: value * 1.8 + 32, unit: "°F", decimals };
  return { number: value, unit: SYMBOLS[unit ?? ""] ?? unit ?? "", decimals };
}

export const shownUnit = (unit: string | null, choice: Temperature): string => convert(0, unit, 0, choice).unit;

/** Return the number alone, with its usual decimals; a state by its name. */
export function formatNumber(
  value: number | null, unit: string | null, decimals: number, choice: Temperature, states: string[] = [], low = 0,
): string {
  if (value === null) return "?";
  if (states.length) return states[Math.min(Math.max(Math.round(value - low), 0), states.length - 1)] ?? "?";
  const shown = convert(value, unit, decimals, choice);
  return (Number(shown.number.toFixed(shown.decimals)) + 0).toFixed(shown.decimals);
}

/** Return number and unit, which a line break must not part. */
export function formatValue(
  value: number | null, unit: string | null, decimals: number, choice: Temperature, states: string[] = [], low = 0,
): string {
  const number = formatNumber(value, unit, decimals, choice, states, low);
  if (value === null || states.length) return number;
  return `${number}${NBSP}${shownUnit(unit, choice)}`.trimEnd();
}

/** Return `19–21`; a minus beside a dash would be read as one. */
export const range = (low: string, high: string): string => (low.startsWith("-") || high.startsWith("-") ? `${low} to ${high}` : `${low}–${high}`);

const formatters = new Map<string, Intl.DateTimeFormat>();
function formatter(zone: string | undefined, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone}|${JSON.stringify(options)}`;
  let found = formatters.get(key);
  if (!found) formatters.set(key, (found = new Intl.DateTimeFormat("en-GB", { timeZone: zone, ...options })));
  return found;
}

export const ms = (time: Time): number => Date.parse(time);
/** Return a time as the API takes it: UTC, whole seconds. */
export const iso = (at: number): Time => `${new Date(at).toISOString().slice(0, 19)}Z`;
/** Return `12:41` in a time zone. */
export const clock = (at: number, zone?: string): string =>
  formatter(zone, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(at);
export const clockSeconds = (at: number, zone?: string): string =>
  formatter(zone, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" }).format(at);
export const day = (at: number, zone?: string): string => formatter(zone, { day: "numeric", month: "short" }).format(at);

/** Return the short name of a time zone at a time, such as CDT or UTC. */
export function zoneName(at: number, zone?: string): string {
  const named = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "short" }).formatToParts(at);
  const name = named.find((part) => part.type === "timeZoneName")?.value ?? "UTC";
  return name === "GMT" ? "UTC" : name;
}

/** Return `12:41`, with the day before it where it is not the day of `now`. */
export function moment(at: number, now: number, zone?: string): string {
  const time = clock(at, zone);
  return day(at, zone) === day(now, zone) ? time : `${day(at, zone)} ${time}`;
}

/** Return how long something lasts: `40 s`, `9 min`, `3 h 39 min`, `5 days 20 h`. */
export function duration(span_ms: number): string {
  const seconds = Math.max(0, Math.round(span_ms / 1000));
  if (seconds < 100) return `${seconds}${NBSP}s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes}${NBSP}min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 ? `${hours}${NBSP}h ${minutes % 60}${NBSP}min` : `${hours}${NBSP}h`;
  const days = Math.floor(hours / 24);
  return `${days}${NBSP}day${days === 1 ? "" : "s"}${hours % 24 ? ` ${hours % 24}${NBSP}h` : ""}`;
}

/** Return an integer with thin groups: `1,536`. */
export const count = (value: number): string => value.toLocaleString("en-GB");
export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;
export const percent = (share: number): string => {
  const whole = Math.round(share * 100);
  return whole === 100 && share < 1 ? `99${NBSP}%` : `${whole}${NBSP}%`;
};

/** Return the whole minutes from an instant to the next time of day `HH:MM` in a zone. */
export function minutesUntil(time: string, now: number, zone?: string): number {
  const of = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));
  return ((of(time) - of(clock(now, zone)) + 1440 - 1) % 1440) + 1;
}
