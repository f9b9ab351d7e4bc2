// Words of the dialogs and of what follows them.
import type { Verb } from "../api/types";

export interface Asking {
  title: string; // before the name of the thing
  many: string; // button for several
  says: string;
  button: string;
  doing: string;
  done: string;
  needsReason: boolean;
}

export const ASKING: Record<Verb, Asking> = {
  ack: {
    title: "Acknowledge", many: "Acknowledge", button: "Acknowledge", doing: "Acknowledging...", done: "Acknowledged", needsReason: false,
    says: "It says that you have seen it and take it on. The alarm stands until it is back in its range.",
  },
  shelve: {
    title: "Shelve", many: "Shelve", button: "Shelve", doing: "Shelving...", done: "Shelved", needsReason: true,
    says: "It is still judged and recorded, but not announced. It comes back by itself.",
  },
  unshelve: {
    title: "Bring back", many: "Bring back", button: "Bring back", doing: "Bringing back...", done: "Brought back", needsReason: false,
    says: "It is announced again when it alarms.",
  },
  suppress: {
    title: "Suppress", many: "Suppress", button: "Suppress", doing: "Suppressing...", done: "Suppressed", needsReason: true,
    says: "It is judged and recorded, but not announced until somebody returns it.",
  },
  "out-of-service": {
    title: "Out of service", many: "Out of service", button: "Take out of service", doing: "Taking out of service...",
    done: "Out of service", needsReason: true, says: "It is recorded, but not announced until somebody returns it.",
  },
  return: {
    title: "Return to service", many: "Return", button: "Return to service", doing: "Returning...", done: "Returned to service",
    needsReason: false, says: "It is announced again when it alarms.",
  },
  reset: {
    title: "Reset", many: "Reset", button: "Reset", doing: "Resetting...", done: "Reset", needsReason: false,
    says: "The alarm begins anew. If its cause lasts, it is raised again.",
  },
  dispose: {
    title: "What was it?", many: "What were they?", button: "Save", doing: "Saving...", done: "Judged", needsReason: false,
    says: "Counts in “how often were we right”. It can be changed later; both answers stay in the journal.",
  },
  comment: {
    title: "Comment", many: "Comment", button: "Save", doing: "Saving...", done: "Noted", needsReason: true,
    says: "The next shift will read it.",
  },
};

/** Return the title of a dialog: one thing by name, several by count. */
export function askingTitle(verb: Verb, things: { place: string; name: string }[]): string {
  const words = ASKING[verb];
  if (things.length === 1) {
    const one = `${things[0]!.place}, ${things[0]!.name}`;
    return words.title.endsWith("?") ? `${words.title} ${one}` : `${words.title}: ${one}`;
  }
  return words.many.endsWith("?") ? `${words.many} ${things.length} incidents` : `${words.many} ${things.length} incidents`;
}
