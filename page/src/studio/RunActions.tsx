// What can be done with the whole run: begin it anew, take another building, keep what happened as a file.
import { ApiError, get, query } from "../api/client";
import type { Incidents, Injections } from "../api/types";
import { saveJson } from "../lib/save";
import { dialog } from "../store/dialogs";
import { refusal } from "../store/session";
import { about } from "../store/site";
import { say } from "../store/toasts";
import { Button } from "../ui/Button";

export function RunActions({ run }: { run: Injections }) {
  const seed = about.value!.seed ?? 0;
  const begin = (isNew: boolean) => (dialog.value = { kind: "run", isNew, seed: isNew ? 1 + Math.floor(Math.random() * 9999) : seed });
  return (
    <div class="row wrap" role="group" aria-label="This run">
      {run.can_start_over && <Button refused={refusal("inject")} onClick={() => begin(false)}>Start over, same seed...</Button>}
      {run.can_start_over && <Button refused={refusal("inject")} onClick={() => begin(true)}>New building...</Button>}
      <Button onClick={() => void save(run)}>Export run</Button>
    </div>
  );
}

/** Save the run as one JSON file: which building and model, what was injected, what was found, every incident. */
async function save(run: Injections): Promise<void> {
  const { name, title, plant, model, seed, speed, zones } = about.value!;
  try {
    const incidents = await get<Incidents>(`/incidents${query({ site: name, limit: 500 })}`);
    const content = { site: name, title, plant, model, seed, speed, zones, as_of: run.as_of, score: run.score, says: run.says, injections: run.items, incidents: incidents.items, incidents_in_all: incidents.total };
    saveJson(`${name}_run_seed-${seed ?? "unknown"}_${(run.as_of ?? "").slice(0, 10)}.json`, content);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    say(`Not exported: ${error.message}`);
  }
}
