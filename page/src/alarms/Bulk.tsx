// The bar under the list while rows are selected; it pushes nothing.
import type { IncidentLine } from "../api/types";
import { refusal } from "../store/session";
import { Button } from "../ui/Button";

export function Bulk({ rows, count, command, clear }: { rows: IncidentLine[]; count: number; command: (verb: "ack" | "shelve" | "dispose") => void; clear: () => void }) {
  return (
    <div class={`bulk ${count ? "" : "empty"}`} aria-hidden={count ? undefined : "true"}>
      {count > 0 && (
        <>
          <strong>{count} selected</strong>
          <span class="cut grow">{rows.map((row) => `${row.zone_title} ${row.name}`).join(", ")}</span>
          <Button kind="main" shortcut="a" refused={refusal("ack")} onClick={() => command("ack")}>Acknowledge {count}...</Button>
          <Button kind="tall" shortcut="s" refused={refusal("shelve")} onClick={() => command("shelve")}>Shelve {count}...</Button>
          <Button kind="tall" shortcut="d" refused={refusal("dispose")} onClick={() => command("dispose")}>What were they?...</Button>
          <Button kind="tall" needsServer={false} onClick={clear}>Clear <kbd>Esc</kbd></Button>
        </>
      )}
    </div>
  );
}
