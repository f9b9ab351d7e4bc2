// The hatched bar above the zones during a planned stop.
import type { SiteState } from "../api/types";
import { clock, ms, plural } from "../lib/format";
import { dialog } from "../store/dialogs";
import { refusal } from "../store/session";
import { zoneRange } from "../lib/zones";
import { about } from "../store/site";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";

export function PlannedStops({ now, zone }: { now: SiteState; zone?: string }) {
  return (
    <>
      {now.planned_stops.map((stop) => {
        const where = zoneRange(stop.zones, about.value!.zones_info);
        const words = `${where} until ${clock(ms(stop.until), zone)}, ${stop.reason} (${stop.by}). Recorded, not announced: ${plural(stop.recorded, "incident")} so far.`;
        return (
          <div class="planned-stop" key={stop.version} role="status">
            <Icon name="pause" /><strong>Planned stop</strong><span class="grow">{words}</span>
            <Button kind="bar" refused={refusal("stop")} onClick={() => (dialog.value = { kind: "end-stop", version: stop.version, words })}>End now...</Button>
          </div>
        );
      })}
    </>
  );
}
