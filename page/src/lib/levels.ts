// Scores as the page draws them: a level per node. Colour begins where the alarm rule begins.
import type { AlarmLevels } from "../api/types";

export const NORMAL = 0, DOUBT = 1, GREY = 2, ALARM = 3, UNKNOWN = 4;
export const UNKNOWN_BYTE = 255;
const STEPS = 254;

export interface Bounds { doubt: number; grey: number; alarm: number }

/** Return the smallest bytes of each level. A byte is `floor(254 P)`, so rounding up never colours a node too early. */
export const bounds = (levels: AlarmLevels): Bounds => ({
  doubt: Math.ceil(levels.doubt_at * STEPS - 1e-9),
  grey: Math.ceil(levels.grey_at * STEPS - 1e-9),
  alarm: Math.ceil(levels.raise_at * STEPS - 1e-9),
});

export function level(byte: number, at: Bounds): number {
  if (byte === UNKNOWN_BYTE) return UNKNOWN;
  if (byte >= at.alarm) return ALARM;
  if (byte >= at.grey) return GREY;
  return byte >= at.doubt ? DOUBT : NORMAL;
}

export const probability = (byte: number): number | null => (byte === UNKNOWN_BYTE ? null : byte / STEPS);

export const levelOf = (p: number | null, levels: AlarmLevels): number => {
  if (p === null) return UNKNOWN;
  if (p >= levels.raise_at) return ALARM;
  if (p >= levels.grey_at) return GREY;
  return p >= levels.doubt_at ? DOUBT : NORMAL;
};

/** Return the bytes of a base64 text. */
export function decode(text: string): Uint8Array {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let place = 0; place < raw.length; place++) bytes[place] = raw.charCodeAt(place);
  return bytes;
}
