// The zones that turned at about the same time: an incident of the whole building has no root, it has members.
import type { Incident } from "../api/types";
import { clock, ms, sayP } from "../lib/format";
import { partsOf, zoneAddress } from "../lib/places";
import { here } from "../store/router";
import { about, nodeOf, open, zone, zoneTitle } from "../store/site";
import { Glyph } from "../ui/Glyph";

export function Members({ incident }: { incident: Incident }) {
  const own = new Map(open.value.map((item) => [item.id, item]));
  return (
    <section class="card" aria-label="Zones that turned together">
      <header><h2>Zones that turned together</h2><span class="aside">{incident.alarms.length}</span></header>
      <ul class="incident-list">
        {incident.alarms.map((node, place) => {
          const [where, role] = partsOf(node, about.value!), item = own.get(incident.members[place] ?? "");
          return (
            <li key={node}><a href={item ? here("incident", item.id) : here("zones", zoneAddress(where, role))}>
              <span>{item && <Glyph priority={item.priority} state={item.state} />}</span>
              <strong>{zoneTitle(where)} · {nodeOf.value.get(role)?.name ?? role}</strong>
              <span class="p small dim">{item && `${sayP(item.p)}, since ${clock(ms(item.since), zone.value)}`}</span>
            </a></li>
          );
        })}
      </ul>
    </section>
  );
}
