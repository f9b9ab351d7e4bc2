// The codes of the page: digits and shapes of priorities, letters and words of states. Nothing is coded by colour alone.
import type { Disposition, Kind, Priority, State } from "../api/types";

export const PRIORITIES: readonly Priority[] = ["critical", "high", "medium", "low"];

/** Return the digit of a priority: 1 is the most urgent. */
export const digit = (priority: Priority): number => PRIORITIES.indexOf(priority) + 1;

const LETTERS: Record<State, string> = {
  normal: "A", unacknowledged: "B", acknowledged: "C", returned: "D", shelved: "E", suppressed: "F",
  "out-of-service": "G", unknown: "?",
};
export const letter = (state: State): string => LETTERS[state];

const STATE_OF_LETTER = Object.fromEntries(Object.entries(LETTERS).map(([state, text]) => [text, state]));
export const stateOfLetter = (text: string): State => (STATE_OF_LETTER[text] ?? "unknown") as State;

/** Return the word for a state; an incident that is over is "closed", never "resolved". */
export function stateWord(state: State, isOpen = true): string {
  if (state === "normal") return isOpen ? "normal" : "closed";
  if (state === "suppressed") return "suppressed";
  if (state === "out-of-service") return "out of service";
  return state;
}

/** Return the long form, used where a sentence has room. */
export const stateWords = (state: State): string =>
  state === "returned" ? "back in range, not acknowledged" : stateWord(state);

export const isPutAside = (state: State): boolean =>
  state === "shelved" || state === "suppressed" || state === "out-of-service";
export const waits = (state: State): boolean => state === "unacknowledged" || state === "returned";

export type Fill = "filled" | "ringed" | "hollow";
/** Return how the glyph of an incident is drawn: ringed until acknowledged, hollow once it is back in range. */
export function glyphFill(state: State): Fill | null {
  if (state === "unacknowledged") return "ringed";
  if (state === "acknowledged") return "filled";
  return state === "returned" ? "hollow" : null;
}

export const KINDS: readonly Kind[] = ["controller", "actuator", "equipment", "sensor"];

export const DISPOSITIONS: readonly { value: Disposition; title: string; says: string }[] = [
  { value: "fault", title: "Equipment fault", says: "something was broken, worn or stuck" },
  { value: "maintenance", title: "Configuration or maintenance", says: "somebody changed or serviced it" },
  { value: "attack", title: "Attack", says: "manipulation, or a drill" },
  { value: "false", title: "False alarm", says: "nothing was wrong" },
];
const DISPOSITION_WORDS: Record<Disposition, string> = {
  fault: "equipment fault", maintenance: "maintenance", attack: "attack", false: "false alarm",
};
export const dispositionWord = (value: Disposition, isDrill = false): string =>
  value === "attack" && isDrill ? "attack (drill)" : DISPOSITION_WORDS[value];
