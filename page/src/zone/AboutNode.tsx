// What a node is, when it was read, and its alarm.
import type { NodeNow } from "../api/types";
import { stateWord } from "../lib/codes";
import { clockSeconds, formatValue, ms } from "../lib/format";
import { ask } from "../store/dialogs";
import { temperature } from "../store/preferences";
import { refusal } from "../store/session";
import { about, nodeOf, zone as timeZone, zoneTitle } from "../store/site";
import { Button } from "../ui/Button";
import { Letter } from "../ui/Glyph";

export function AboutNode({ zone, role, node, setTable }: { zone: string; role: string; node: NodeNow | null; setTable: () => void }) {
  const known = nodeOf.value.get(role), site = about.value!;
  if (!known || !node) return null;
  const things = [{ id: node.node, site: site.name, version: node.version, place: zoneTitle(zone), name: node.name }];
  const value = (number: number) => formatValue(number, known.unit, known.decimals, temperature.value, known.states, known.low ?? 0);
  const isAside = node.state === "suppressed" || node.state === "out-of-service";
  return (
    <section class="card" aria-label="This node">
      <header><h2>This node</h2></header>
      <div class="body">
        <dl class="about-node">
          <dt>kind</dt><dd>{known.kind}{known.is_setting ? ", setting" : ""}</dd>
          {known.meaning && <><dt>meaning</dt><dd>{known.meaning}</dd></>}
          {known.low !== null && known.high !== null && <><dt>instrument</dt><dd>{value(known.low)} to {value(known.high)}</dd></>}
          <dt>last reading</dt><dd>{known.signal === null ? "not measured" : node.read_at ? `${clockSeconds(ms(node.read_at), timeZone.value)}, ${node.is_fresh ? "fresh" : "stale"}` : "never"}</dd>
          <dt>alarm</dt><dd class="row"><Letter state={node.state} /> {stateWord(node.state)}</dd>
        </dl>
        <div class="row wrap">
          {isAside ? <Button refused={refusal("return")} onClick={() => ask("return", things)}>Return to service...</Button> : (
            <>
              <Button refused={refusal("out-of-service")} onClick={() => ask("out-of-service", things)}>Out of service...</Button>
              <Button refused={refusal("suppress")} onClick={() => ask("suppress", things)}>Suppress...</Button>
            </>
          )}
          <Button needsServer={false} onClick={setTable}>Table</Button>
        </div>
      </div>
    </section>
  );
}
