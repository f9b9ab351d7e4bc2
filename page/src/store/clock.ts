// The server's clock: ages count on it, because the clock of a browser may be wrong.
import { signal } from "@preact/signals";
import type { Time } from "../api/types";

let offset_ms = 0;
export const setServerTime = (time: Time): void => {
  offset_ms = Date.parse(time) - Date.now();
};
export const serverNow = (): number => Date.now() + offset_ms;

/** Ticks once a second while the page is shown. */
export const tick = signal(0);
setInterval(() => {
  if (!document.hidden) tick.value = tick.peek() + 1;
}, 1000);
