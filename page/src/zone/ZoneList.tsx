// All zones in their own order, to choose from.
import { stateWord } from "../lib/codes";
import { here } from "../store/router";
import { about, state } from "../store/site";
import { zoneAddress } from "../lib/places";
import { Glyph, Letter } from "../ui/Glyph";

export function ZoneList({ wanted }: { wanted: string }) {
  const site = about.value!, now = state.value!;
  return (
    <>
      <h1>Zones of {site.name}</h1>
      {wanted && <p role="status">There is no zone “{wanted}” here.</p>}
      <div class="zones-list">
        {site.zones_info.map((info, place) => {
          const zone = now.zones[place];
          return (
            <a key={info.zone} class="card" href={here("zones", zoneAddress(info.zone))}>
              <span class="cut"><strong>{info.title}</strong> <span class="dim">{zone?.root ?? (zone ? stateWord(zone.state) : "")}</span></span>
              <span class="row">{zone?.priority && <Glyph priority={zone.priority} state={zone.state} />}{zone && <Letter state={zone.state} />}</span>
            </a>
          );
        })}
      </div>
    </>
  );
}
