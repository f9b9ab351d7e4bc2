// All nodes of a zone, the history of one, its place in the graph, incidents here. Without a zone: the list of zones.
import { useState } from "preact/hooks";
import { query } from "../api/client";
import type { Incidents, NodeNow, ZoneNow } from "../api/types";
import { waits } from "../lib/codes";
import { formatNumber, formatValue } from "../lib/format";
import { useKeys } from "../shell/keyboard";
import { useMinute } from "../store/minute";
import { temperature } from "../store/preferences";
import { useResource } from "../store/resource";
import { go, here, route } from "../store/router";
import { about, changes, state } from "../store/site";
import { Glyph, Letter } from "../ui/Glyph";
import { Icon } from "../ui/Icon";
import { Part } from "../ui/Part";
import { AboutNode } from "./AboutNode";
import { HistoryCard } from "./HistoryCard";
import { IncidentsHere } from "./IncidentsHere";
import { Nodes } from "./Nodes";
import { WholeGraph } from "./WholeGraph";
import { zoneAddress, zoneOfAddress } from "../lib/places";
import { ZoneList } from "./ZoneList";

export function ZoneScreen() {
  const [named = "", ...rest] = (route.value.thing ?? "").split("/");
  const zone = zoneOfAddress(named);
  const place = about.value!.zones_info.findIndex((info) => info.zone === zone);
  if (place < 0) return <ZoneList wanted={named} />;
  return <One key={zone} zone={zone} place={place} role={rest.join("/") || null} />;
}

function One({ zone, place, role }: { zone: string; place: number; role: string | null }) {
  const site = about.value!, minute = useMinute();
  const now = useResource<ZoneNow>(`/sites/${encodeURIComponent(site.name)}/zones/${encodeURIComponent(zoneAddress(zone))}`, `${minute} ${changes.value}`);
  const incidents = useResource<Incidents>(`/incidents${query({ site: site.name, zone, limit: 12 })}`, changes.value);
  const [asTable, setTable] = useState(false);
  const info = site.zones_info[place]!, zoneNow = state.value!.zones[place];
  const neighbour = (step: number) => site.zones_info[(place + step + site.zones_info.length) % site.zones_info.length]!;
  const open = (step: number) => go(here("zones", zoneAddress(neighbour(step).zone, role)));
  const chosen = role ?? incidents.value?.items.find((item) => item.is_open)?.root ?? site.main_value?.role ?? site.template[0]!.role;
  useKeys({ "[": () => open(-1), "]": () => open(1), t: () => setTable(!asTable) });
  const unacknowledged = incidents.value?.items.filter((item) => item.is_open && waits(item.state)).length ?? 0;
  return (
    <>
      <div class="zone-head">
        <nav class="crumbs" aria-label="Where this is"><a href={here("overview")}>Overview</a><Icon name="right" /></nav>
        <h1>{info.title}</h1>
        {zoneNow?.priority && <Glyph priority={zoneNow.priority} state={zoneNow.state} size={22} />}
        {zoneNow && <Letter state={zoneNow.state} />}
        {unacknowledged > 0 && <strong>{unacknowledged} unacknowledged alarm{unacknowledged === 1 ? "" : "s"}</strong>}
        <span class="dim">{now.value ? facts(now.value) : ""}</span>
        <span class="grow" />
        {site.zones_info.length > 1 && (
          <>
            <button class="button" onClick={() => open(-1)}>‹ {neighbour(-1).title} <kbd>[</kbd></button>
            <button class="button" onClick={() => open(1)}>{neighbour(1).title} › <kbd>]</kbd></button>
          </>
        )}
      </div>
      <div class="zone">
        <Part of={now} what="zone">{(value) => <Nodes zone={zone} title={info.title} nodes={value.nodes} chosen={chosen} />}</Part>
        <HistoryCard zone={zone} role={chosen} minute={minute} incidents={incidents.value?.items ?? []} asTable={asTable} setTable={setTable} />
        <div class="stack">
          <WholeGraph place={place} zone={zone} role={chosen} nodes={now.value?.nodes ?? []} />
          {now.value && <AboutNode zone={zone} role={chosen} node={now.value.nodes.find((one) => one.role === chosen) ?? null} setTable={() => setTable(!asTable)} />}
          <IncidentsHere items={incidents.value?.items ?? []} />
        </div>
      </div>
    </>
  );
}

/** Return "29 of 29 points fresh · room 23.3 °C, setpoints 20.0 – 22.2 °C". */
function facts(now: ZoneNow): string {
  const measured = now.nodes.filter((node) => node.unit !== null);
  const main = about.value!.main_value;
  const value = (role: string): NodeNow | undefined => now.nodes.find((node) => node.role === role);
  const parts = [`${measured.filter((node) => node.is_fresh).length} of ${measured.length} points fresh`];
  const room = main && value(main.role), node = about.value!.template.find((one) => one.role === main?.role);
  if (main && room && node) {
    const settings = main.settings.map(value).map((one) => one?.value ?? null).filter((one): one is number => one !== null).sort((a, b) => a - b);
    const range = settings.map((one) => formatNumber(one, node.unit, node.decimals, temperature.value)).join(" – ");
    parts.push(`${main.name} ${room.is_fresh ? formatValue(room.value, node.unit, node.decimals, temperature.value) : "unknown"}${range ? `, setpoints ${range}` : ""}`);
  }
  return parts.join(" · ");
}
