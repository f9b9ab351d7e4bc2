// A planned stop: begin one, or end it early.
import { useState } from "preact/hooks";
import { ApiError, post, remove } from "../api/client";
import { clock } from "../lib/format";
import { zonesOfText } from "../lib/zones";
import { about, asOf, refresh, zone } from "../store/site";
import { say } from "../store/toasts";
import { Icon } from "../ui/Icon";
import { Segments } from "../ui/Segments";
import { Dialog, close } from "./Dialog";

const HOURS = [1, 2, 4, 8, 24];

export function StopDialog() {
  const [text, setText] = useState("");
  const [hours, setHours] = useState(2);
  const [reason, setReason] = useState("");
  const [problem, setProblem] = useState("");
  const until = clock((asOf.value ?? Date.now()) + hours * 3_600_000, zone.value);
  async function send(): Promise<void> {
    const site = about.value;
    if (!site) return;
    const zones = zonesOfText(text, site.zones_info.map((info) => info.zone));
    if (zones === undefined) return setProblem("These zones do not exist here. Write numbers such as 3, 7 or 45-48.");
    if (reason.trim().length < 3) return setProblem("A reason is needed: the next shift has to understand it.");
    try {
      await post(`/sites/${encodeURIComponent(site.name)}/stops`, { minutes: hours * 60, reason: reason.trim(), zones });
      await refresh();
      say(`Planned stop until ${until}. Incidents are recorded, not announced.`);
      close();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setProblem(error.message);
    }
  }
  return (
    <Dialog title="Plan a stop" wide onSend={() => void send()}>
      <div class="inside">
        <p class="dim">Incidents in these zones are recorded, not announced. Everyone sees the hatched bar meanwhile.</p>
        <label class="above"><span>Zones <span class="hint">(numbers such as 45-48; empty: the whole site)</span></span>
          <input class="field" data-first value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <div><p class="strong">Until {until}</p>
          <Segments label="For how long" value={hours} onChange={setHours} options={HOURS.map((value) => ({ value, title: `${value} h` }))} />
        </div>
        <label class="above"><span>Reason <span class="hint">(needed)</span></span>
          <input class="field" value={reason} maxLength={2000} onInput={(event) => setReason(event.currentTarget.value)} />
        </label>
        <p class="warning"><Icon name="warning" /> Who attacks during a planned stop is not announced either. Keep it short; 24 h at most.</p>
        <p role="alert" class="strong">{problem}</p>
      </div>
      <footer>
        <button type="button" class="button" onClick={close}>Cancel</button>
        <button type="submit" class="button main">Begin stop</button>
      </footer>
    </Dialog>
  );
}

export function EndStopDialog({ version, words }: { version: number; words: string }) {
  const [problem, setProblem] = useState("");
  async function send(): Promise<void> {
    try {
      await remove(`/sites/${encodeURIComponent(about.value?.name ?? "")}/stops/${version}`);
      await refresh();
      say("The planned stop has ended. Incidents are announced again.");
      close();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setProblem(error.message);
    }
  }
  return (
    <Dialog title="End the planned stop" onSend={() => void send()}>
      <div class="inside">
        <p>{words}</p>
        <p class="dim">What has been recorded stays in the list. From now on incidents are announced.</p>
        <p role="alert" class="strong">{problem}</p>
      </div>
      <footer>
        <button type="button" class="button" onClick={close}>Cancel</button>
        <button type="submit" class="button main" data-first>End now</button>
      </footer>
    </Dialog>
  );
}
