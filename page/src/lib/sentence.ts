// Sentences of the server, with times in the site's zone and temperatures in the person's unit.
import type { Part, Time } from "../api/types";
import { NBSP, clock, convert, formatNumber, formatValue, moment, ms, type Temperature } from "./format";

export interface Reading { zone?: string; temperature: Temperature }

/** Return a text whose numbers and probabilities no line break parts. */
const together = (text: string): string => text.replace(/(\d)%/g, `$1${NBSP}%`).replace(/\bp ([=<>]) (?=\d)/g, `p${NBSP}$1${NBSP}`);

/** Return a sentence that comes in parts. */
export const joinParts = (parts: Part[], by: Reading): string =>
  parts
    .map((part) => {
      if (typeof part === "string") return together(part);
      if ("time" in part) return moment(ms(part.time), ms(part.on ?? part.time), by.zone);
      const write = part.is_bare ? formatNumber : formatValue;
      return write(part.value, part.unit, part.decimals, by.temperature);
    })
    .join("");

const CELSIUS = /(-?\d+(?:\.\d+)?)[ \u00a0]°C(, expected )?(-?\d+(?:\.\d+)?)?/g;

function fahrenheit(text: string): string {
  const decimals = text.split(".")[1]?.length ?? 0;
  return convert(Number(text), "degC", decimals, "degF").number.toFixed(decimals);
}

/** Return a plain sentence whose UTC times and degrees Celsius are those of the reader.
 *
 * `times` are the instants that may stand in it as HH:MM in UTC; other digits stay as they are.
 */
export function localise(text: string, times: (Time | null | undefined)[], by: Reading): string {
  let said = together(text);
  for (const time of times) {
    if (!time) continue;
    const utc = time.slice(11, 16);
    said = said.replace(new RegExp(`\\b(since|at) ${utc}\\b`, "g"), `$1 ${clock(ms(time), by.zone)}`);
  }
  if (by.temperature === "degC") return said.replace(/ °C/g, `${NBSP}°C`);
  return said.replace(CELSIUS, (_all, value: string, word?: string, expected?: string) => {
    const shown = `${fahrenheit(value)}${NBSP}°F`;
    if (!word) return expected ? `${shown}${expected}` : shown;
    return expected ? `${shown}${word}${fahrenheit(expected)}` : `${shown}${word}`;
  });
}

/** Return a sentence from its parts if the server sends them, otherwise from its text. */
export const say = (
  text: string, parts: Part[] | null | undefined, times: (Time | null | undefined)[], by: Reading,
): string => (parts?.length ? joinParts(parts, by) : localise(text, times, by));
