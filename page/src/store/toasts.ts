// One line at the foot of the page that says what was done, for six seconds.
import { signal } from "@preact/signals";

export const line = signal<{ text: string; second: string } | null>(null);
let timer = 0;

export function say(text: string, second = ""): void {
  line.value = { text, second };
  clearTimeout(timer);
  timer = window.setTimeout(() => (line.value = null), 6000);
}
