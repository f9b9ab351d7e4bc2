// A command that was refused: what changed meanwhile, with the comment kept.
import type { Result, Verb } from "../api/types";
import { clock, ms } from "../lib/format";
import { say } from "../lib/sentence";
import { dialog, thingOf, type Thing } from "../store/dialogs";
import { open, reading, zone } from "../store/site";
import { here } from "../store/router";
import { Dialog, close } from "./Dialog";

const DONE: Partial<Record<Verb, string>> = { ack: "acknowledged", shelve: "shelved", dispose: "judged" };

export function Refused({ verb, results, things, comment }: { verb: Verb; results: Result[]; things: Thing[]; comment: string }) {
  const thing = (id: string) => things.find((one) => one.id === id);
  const hasChanged = results.some((result) => result.changes.length > 0 || (result.version !== null && result.version !== thing(result.id)?.version));
  function lookAgain(): void {
    const fresh = results.flatMap((result) => {
      const found = open.value.find((item) => item.id === result.id);
      const old = thing(result.id);
      if (found) return [thingOf(found)];
      return old && result.version !== null ? [{ ...old, version: result.version }] : [];
    });
    dialog.value = null;
    if (fresh.length === 1 && things.length === 1 && !fresh[0]!.id.includes("/")) location.hash = here("incident", fresh[0]!.id);
  }
  return (
    <Dialog title={hasChanged ? "It has changed while you looked" : "It was refused"} onSend={lookAgain}>
      <div class="inside">
        {results.map((result) => (
          <div key={result.id}>
            <p>
              {things.length > 1 && <strong>{thing(result.id)?.place}, {thing(result.id)?.name}: </strong>}
              {hasChanged && `Nothing was ${DONE[verb] ?? "changed"}. `}
              {hasChanged && result.version !== null
                ? `You looked at version ${thing(result.id)?.version}, now it is ${result.version}:`
                : result.message}
            </p>
            {result.changes.length > 0 && (
              <ul class="changes">
                {result.changes.map((change, place) => (
                  <li key={place}>
                    <span class="letter" data-letter="·" aria-hidden="true">·</span>
                    <span>{clock(ms(change.time), zone.value)} {say(change.text, change.parts, [change.time], reading.value)}</span>
                  </li>
                ))}
              </ul>
            )}
          </div>
        ))}
        {comment && <p class="dim">Your comment is kept: “{comment}”.</p>}
      </div>
      <footer>
        <button type="button" class="button" onClick={close}>Cancel</button>
        <button type="submit" class="button main" data-first>Look again</button>
      </footer>
    </Dialog>
  );
}
