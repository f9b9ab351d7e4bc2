// What shapes and shades mean; the bounds come from the model.
import type { AlarmLevels } from "../api/types";
import { KINDS } from "../lib/codes";
import { formatP } from "../lib/format";
import { NodeShape } from "../ui/NodeShape";

export function Legend({ levels }: { levels: AlarmLevels }) {
  return (
    <div class="legend wide-only">
      {KINDS.map((kind) => <span key={kind}><NodeShape kind={kind} level={1} /> {kind}</span>)}
      <span class="divider" />
      <span>P(attack)</span>
      <span><NodeShape kind="sensor" level={0} /> under {levels.doubt_at}</span>
      <span><NodeShape kind="sensor" level={1} /> to {levels.grey_at}</span>
      <span><NodeShape kind="sensor" level={2} /> to {formatP(levels.raise_at)}</span>
      <span>from {formatP(levels.raise_at)}: colour of its priority</span>
      <span><span class="hatch-box" /> unknown</span>
    </div>
  );
}
