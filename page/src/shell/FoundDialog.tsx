// What people found and the monitor did not: it counts in the figures.
import { useState } from "preact/hooks";
import { ApiError, post } from "../api/client";
import type { Disposition } from "../api/types";
import { DISPOSITIONS } from "../lib/codes";
import { about, refresh } from "../store/site";
import { say } from "../store/toasts";
import { Dialog, close } from "./Dialog";

export function FoundDialog() {
  const site = about.value!;
  const [zone, setZone] = useState(site.zones_info[0]?.zone ?? "");
  const [node, setNode] = useState("");
  const [disposition, setDisposition] = useState<Disposition>("fault");
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  async function send(): Promise<void> {
    if (text.trim().length < 3) return setProblem("Say what was found.");
    try {
      await post(`/sites/${encodeURIComponent(site.name)}/found`, { zone, node: node || null, disposition, text: text.trim() });
      await refresh();
      say("Recorded: found by people, not by us.");
      close();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setProblem(error.message);
    }
  }
  return (
    <Dialog title="Found by people, not by us" onSend={() => void send()}>
      <div class="inside">
        <p class="dim">Something was wrong and no alarm named it. It counts beside what was announced; nothing is announced by it.</p>
        <label class="above"><span>Zone</span>
          <select class="field" value={zone} onChange={(event) => setZone(event.currentTarget.value)}>{site.zones_info.map((info) => <option key={info.zone} value={info.zone}>{info.title}</option>)}</select></label>
        <label class="above"><span>Node <span class="hint">(if known)</span></span>
          <select class="field" value={node} onChange={(event) => setNode(event.currentTarget.value)}><option value="">not known</option>{site.template.map((one) => <option key={one.role} value={one.role}>{one.name}</option>)}</select></label>
        <label class="above"><span>What was it?</span>
          <select class="field" value={disposition} onChange={(event) => setDisposition(event.currentTarget.value as Disposition)}>{DISPOSITIONS.filter((one) => one.value !== "false").map((one) => <option key={one.value} value={one.value}>{one.title}</option>)}</select></label>
        <label class="above"><span>What was found <span class="hint">(needed)</span></span>
          <input class="field" data-first maxLength={2000} value={text} onInput={(event) => setText(event.currentTarget.value)} /></label>
        <p role="alert" class="strong">{problem}</p>
      </div>
      <footer>
        <button type="button" class="button" onClick={close}>Cancel</button>
        <button type="submit" class="button main">Record it</button>
      </footer>
    </Dialog>
  );
}
