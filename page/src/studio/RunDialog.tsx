// End the run of the simulated building and begin it anew, with the same seed or another one.
import { useState } from "preact/hooks";
import { ApiError, post } from "../api/client";
import { about } from "../store/site";
import { say } from "../store/toasts";
import { Dialog, close } from "../shell/Dialog";

const MOST_SEED = 2 ** 31 - 1;

export function RunDialog({ seed, isNew }: { seed: number; isNew: boolean }) {
  const [text, setText] = useState(String(seed));
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  async function send(): Promise<void> {
    const wanted = Number(text);
    if (isBusy) return;
    if (!/^\d+$/.test(text.trim()) || wanted > MOST_SEED) return setProblem(`The seed is a whole number from 0 to ${MOST_SEED}.`);
    setBusy(true);
    setProblem("");
    try {
      await post(`/sites/${encodeURIComponent(about.value!.name)}/runs`, { seed: wanted });
      say(`The building starts over with seed ${wanted}. This page waits for it.`);
      close();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setProblem(error.message);
      setBusy(false);
    }
  }
  return (
    <Dialog title={isNew ? "New building" : "Start over"} onSend={() => void send()}>
      <div class="inside">
        <p class="dim">This run ends for everybody who looks at it: its incidents, comments and score card leave the page. Export it first if you want to keep it.</p>
        {isNew
          ? <label class="above"><span>Seed <span class="hint">(the same number gives the same building again)</span></span>
              <input class="field" data-first inputMode="numeric" value={text} onInput={(event) => setText(event.currentTarget.value)} /></label>
          : <p>The same building begins its day again, attacked on the same schedule (seed {seed}).</p>}
        <p role="alert" class="strong">{problem}</p>
      </div>
      <footer>
        <button type="button" class="button" onClick={close}>Cancel</button>
        <button type="submit" class="button main" aria-disabled={isBusy ? "true" : undefined}>{isBusy ? "Starting..." : isNew ? "Begin with it" : "Start over"}</button>
      </footer>
    </Dialog>
  );
}
