// Presets and filters of the list.
import type { ZoneInfo } from "../api/types";
import { KINDS, PRIORITIES, digit, stateWord } from "../lib/codes";
import type { Filter, Show } from "../lib/filter";
import { Icon } from "../ui/Icon";

interface Props { filter: Filter; set: (next: Partial<Filter>) => void; zones: ZoneInfo[]; counts: { open: number; shown: number | null; unjudged: number | null } }
const STATES = ["unacknowledged", "acknowledged", "returned", "shelved", "suppressed", "out-of-service", "normal"] as const;

export function Filters({ filter, set, zones, counts }: Props) {
  const preset = (show: Show, title: string, n: number | null) => (
    <button type="button" class="chip" aria-pressed={filter.show === show} onClick={() => set({ show })}>{title}{n !== null ? ` ${n}` : ""}</button>
  );
  return (
    <div class="filters">
      {preset("open", "Open", counts.open)}
      {preset("recent", "Last 3 days", filter.show === "recent" ? counts.shown : null)}
      {preset("unjudged", "Closed, not judged", counts.unjudged)}
      {preset("all", "All", filter.show === "all" ? counts.shown : null)}
      <span class="divider" />
      <Pick label="State" value={filter.state} onChange={(state) => set({ state })} options={STATES.map((state) => [state, stateWord(state, false)])} />
      <Pick label="Priority" value={filter.priority} onChange={(priority) => set({ priority })} options={PRIORITIES.map((priority) => [priority, `${digit(priority)} ${priority}`])} />
      <Pick label="Zone" value={filter.zone} onChange={(zone) => set({ zone })} options={zones.map((info) => [info.zone, info.title])} />
      <Pick label="Kind" value={filter.kind} onChange={(kind) => set({ kind })} options={KINDS.map((kind) => [kind, kind])} />
    </div>
  );
}

function Pick({ label, value, options, onChange }: { label: string; value: string; options: readonly (readonly [string, string])[]; onChange: (value: string) => void }) {
  return (
    <span class="pick">
      <select class="chip" aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{label}: any</option>
        {options.map(([name, title]) => <option key={name} value={name}>{label}: {title}</option>)}
      </select>
      <Icon name="down" />
    </span>
  );
}
