// Acknowledge, shelve, judge and the other commands, for one thing or several.
import { useState } from "preact/hooks";
import { ApiError, post } from "../api/client";
import type { Disposition, Order, Result } from "../api/types";
import { ASKING, askingTitle } from "../lib/asking";
import { DISPOSITIONS } from "../lib/codes";
import { clock, NBSP, zoneName } from "../lib/format";
import { keepDraft, takeDraft, type Open, type Thing } from "../store/dialogs";
import { loseSession, session } from "../store/session";
import { about, asOf, refresh, zone } from "../store/site";
import { say } from "../store/toasts";
import { Segments } from "../ui/Segments";
import { Dialog, close } from "./Dialog";
import { Refused } from "./Refused";

const HOURS = [1, 4, 8, 24] as const;
type Act = Extract<Open, { kind: "act" }>;

export function ActDialog({ verb, things, onRefused, onDone }: Act) {
  const words = ASKING[verb];
  const [comment, setComment] = useState(() => takeDraft(verb, things));
  const [hours, setHours] = useState<number>(8);
  const [disposition, setDisposition] = useState<Disposition | null>(null);
  const [rightNode, setRightNode] = useState(""); // its role; empty: not known
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const [refused, setRefused] = useState<Result[] | null>(null);
  const now = asOf.value ?? Date.now();
  const until = clock(now + hours * 3_600_000, zone.value);

  async function send(): Promise<void> {
    if (isBusy) return;
    if (words.needsReason && comment.trim().length < 3) return setProblem("A reason is needed: the next shift has to understand it.");
    if (verb === "dispose" && !disposition) return setProblem("Choose what it was.");
    setBusy(true);
    setProblem("");
    const order: Order = { verb, comment: comment.trim(), targets: things.map(({ id, site, version }) => ({ id, site, version })) };
    if (verb === "shelve") order.minutes = hours * 60;
    if (verb === "dispose") {
      order.disposition = disposition!;
      if (rightNode && disposition !== "false") order.right_node = rightNode;
    }
    const began = performance.now();
    try {
      const answer = await post<{ results: Result[] }>("/commands", order);
      await settle(answer.results, performance.now() - began);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const results = (error.body as { results?: Result[] } | null)?.results;
      if (results) await settle(results, performance.now() - began);
      else if (error.status === 401) loseSession();
      else if (error.status === 403) setProblem(`You may not do this here. It was written down. ${error.message}`);
      else setProblem(error.message);
    } finally {
      setBusy(false);
    }
  }

  async function settle(results: Result[], took_ms: number): Promise<void> {
    await refresh();
    const failed = results.filter((result) => result.outcome !== "done");
    const done = results.filter((result) => result.outcome === "done");
    if (done.length) onDone?.(done.map((result) => result.id));
    keepDraft(verb, things, failed.length ? comment : "");
    if (failed.length) {
      onRefused?.(failed.map((result) => result.id));
      return setRefused(failed);
    }
    const what = things.length === 1 ? `${things[0]!.place}, ${things[0]!.name}` : `${things.length} incidents`;
    const number = done.at(-1)?.number;
    say(`${words.done}: ${what}. ${(took_ms / 1000).toFixed(1)} s`, number ? `Journal ${number}` : "");
    close();
  }

  if (refused) return <Refused verb={verb} results={refused} things={things} comment={comment} />;
  return (
    <Dialog title={askingTitle(verb, things)} onSend={() => void send()}>
      <div class="inside">
        {verb !== "dispose" && <p class="dim">{words.says}</p>}
        {things.length > 1 && <p class="small">{things.map((thing) => `${thing.place} ${thing.name}`).join(", ")}</p>}
        {verb === "shelve" && <ForHowLong hours={hours} setHours={setHours} until={until} />}
        {verb === "dispose" && <Judgement disposition={disposition} choose={setDisposition} />}
        {verb === "dispose" && disposition && disposition !== "false" && things.length === 1 && things[0]!.root && (
          <RightNode name={things[0]!.name} root={things[0]!.root} value={rightNode} onChange={setRightNode} />
        )}
        <label class="above">
          <span>{words.needsReason ? "Reason" : "Comment"} <span class="hint">{words.needsReason ? "(needed)" : "(the next shift will read it)"}</span></span>
          <textarea class="field" rows={verb === "dispose" ? 1 : 2} maxLength={2000} data-first value={comment}
            aria-invalid={problem ? "true" : undefined} aria-describedby="dialog-problem"
            onInput={(event) => setComment(event.currentTarget.value)} />
        </label>
        {verb === "dispose" && <p class="small dim">{words.says}</p>}
        <p class="small dim">
          Signed {session.value?.person}, {clock(now, zone.value)} {zoneName(now, zone.value)}. {looked(things)}
        </p>
        <p id="dialog-problem" role="alert" class="strong">{problem}</p>
      </div>
      <footer>
        <span class="keys"><kbd>Ctrl</kbd><kbd>Enter</kbd></span>
        <button type="button" class="button" onClick={close}>Cancel</button>
        <button type="submit" class="button main" aria-disabled={isBusy ? "true" : undefined}>
          {isBusy ? words.doing : verb === "shelve" ? `Shelve until ${until}` : words.button}
        </button>
      </footer>
    </Dialog>
  );
}

const looked = (things: Thing[]): string =>
  things.length === 1 ? `You looked at version ${things[0]!.version}.` : `You looked at ${things.length} versions.`;

function ForHowLong({ hours, setHours, until }: { hours: number; setHours: (hours: number) => void; until: string }) {
  const now = asOf.value ?? Date.now();
  return (
    <div>
      <p class="strong">For how long</p>
      <Segments label="For how long" value={hours} onChange={setHours} options={HOURS.map((value) => ({ value, title: `${value}${NBSP}h` }))} />
      <p class="small dim">
        Back at {until} {zoneName(now, zone.value)}{zoneName(now, zone.value) !== "UTC" && ` (${clock(now + hours * 3_600_000, "UTC")} UTC)`}. At most 24 h; more needs a fresh decision.
      </p>
    </div>
  );
}

function Judgement({ disposition, choose }: { disposition: Disposition | null; choose: (value: Disposition) => void }) {
  return (
    <div role="radiogroup" aria-label="What was it?">
      {DISPOSITIONS.map((option) => (
        <label class="choice" key={option.value}>
          <input type="radio" name="disposition" value={option.value} checked={disposition === option.value} onChange={() => choose(option.value)} />
          <strong>{option.title}</strong>
          <span class="says">{option.says}</span>
        </label>
      ))}
    </div>
  );
}

function RightNode({ name, root, value, onChange }: { name: string; root: string; value: string; onChange: (role: string) => void }) {
  const others = about.value!.template.filter((node) => node.role !== root);
  return (
    <div>
      <p class="strong">Was the named node the right one?</p>
      <div class="row wrap">
        <Segments label="Was the named node the right one?" value={value === root ? "yes" : value ? "no" : "unsure"} onChange={(choice) => onChange(choice === "yes" ? root : choice === "no" ? others[0]!.role : "")}
          options={[{ value: "yes", title: `Yes, the ${name}` }, { value: "no", title: "No, it was..." }, { value: "unsure", title: "Not known" }]} />
        {value && value !== root && (
          <select class="field" aria-label="The node that it was" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
            {others.map((node) => <option key={node.role} value={node.role}>{node.name}</option>)}
          </select>
        )}
      </div>
    </div>
  );
}
