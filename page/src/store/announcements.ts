// The live regions: one polite, one assertive.
import { signal } from "@preact/signals";
import { Announcer } from "../lib/announce";

export const announcer = new Announcer();
export const polite = signal("");
export const assertive = signal("");

setInterval(() => {
  const message = announcer.next(Date.now());
  if (!message) return;
  if (message.isUrgent) assertive.value = message.text;
  else polite.value = message.text;
}, 500);
