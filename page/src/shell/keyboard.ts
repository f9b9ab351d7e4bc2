// Keys of the whole page; a screen adds its own while it is shown.
import { useLayoutEffect } from "preact/hooks";
import { Keys, isField, type Handler } from "../lib/keys";
import { dialog } from "../store/dialogs";
import { lettersAreKeys } from "../store/preferences";
import { go, here } from "../store/router";
import { press } from "../store/sound";

const stack: Record<string, Handler>[] = [];
const keys = new Keys();

const EVERYWHERE: Record<string, Handler> = {
  "g o": () => go(here("overview")), "g a": () => go(here("alarms")), "g z": () => go(here("zones")),
  "g k": () => go(here("kpis")), "g m": () => go(here("model")),
  m: () => void press(), "?": () => (dialog.value = { kind: "help" }),
};

export function listen(): void {
  addEventListener("keydown", (event) => {
    if (dialog.value || event.defaultPrevented) return;
    if (!lettersAreKeys.value && event.key.length === 1) return;
    const command = keys.take({
      key: event.key, ctrl: event.ctrlKey, alt: event.altKey, meta: event.metaKey,
      inField: isField(event.target as HTMLElement) && event.key !== "Escape", time: event.timeStamp,
    });
    if (!command) return;
    for (let place = stack.length - 1; place >= 0; place--) {
      const handler = stack[place]![command];
      if (handler) {
        event.preventDefault();
        return handler();
      }
    }
    const handler = EVERYWHERE[command];
    if (handler) {
      event.preventDefault();
      handler();
    }
  });
}

/** Use keys while a component is shown: from its drawing on, not from the next frame on, so that no fast key is lost. */
export function useKeys(handlers: Record<string, Handler>): void {
  useLayoutEffect(() => {
    stack.push(handlers);
    return () => {
      stack.splice(stack.indexOf(handlers), 1);
    };
  });
}
