// The dialog that is open. It holds the versions that were shown, so that nobody acts on what they have not seen.
import { signal } from "@preact/signals";
import type { IncidentLine, Verb } from "../api/types";
import { refusal } from "./session";
import { say } from "./toasts";

export interface Thing { id: string; site: string; version: number; place: string; name: string; root?: string }
export type Open =
  | { kind: "act"; verb: Verb; things: Thing[]; onRefused?: (ids: string[]) => void; onDone?: (ids: string[]) => void }
  | { kind: "stop" }
  | { kind: "found" }
  | { kind: "run"; seed: number; isNew: boolean }
  | { kind: "end-stop"; version: number; words: string }
  | { kind: "help" }
  | { kind: "choices" };

export const dialog = signal<Open | null>(null);

/** A comment whose command was refused, for the next dialog of the same command on the same things. */
let draft = { of: "", comment: "" };
const draftOf = (verb: Verb, things: Thing[]): string => `${verb} ${things.map((thing) => thing.id).join(" ")}`;
export const keepDraft = (verb: Verb, things: Thing[], comment: string): void => void (draft = { of: draftOf(verb, things), comment });
export const takeDraft = (verb: Verb, things: Thing[]): string => (draft.of === draftOf(verb, things) ? draft.comment : "");

export const thingOf = (item: IncidentLine): Thing =>
  ({ id: item.id, site: item.site, version: item.version, place: item.zone_title, name: item.name, root: item.root });

/** Open the dialog of a command, or say why it may not be given. */
export function ask(verb: Verb, things: Thing[], more: { onRefused?: (ids: string[]) => void; onDone?: (ids: string[]) => void } = {}): void {
  const why = refusal(verb);
  if (why) say(why);
  else if (things.length) dialog.value = { kind: "act", verb, things, ...more };
}
