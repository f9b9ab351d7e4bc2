// The first screen: counters, zones, what is open, what is stale, what is put aside, the day.
import { useMemo } from "preact/hooks";
import { query } from "../api/client";
import type { IncidentLine, Incidents, PutAside, ScoreHistory, StalePoint } from "../api/types";
import { formatP, iso } from "../lib/format";
import { probability } from "../lib/levels";
import { layoutFor } from "../lib/zones";
import { dialog } from "../store/dialogs";
import { layouts, temperature, type Layout } from "../store/preferences";
import { refusal } from "../store/session";
import { about, asOfSlowly, changes, open, reading, scores, state, zone } from "../store/site";
import { useResource } from "../store/resource";
import { useMinute } from "../store/minute";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Segments } from "../ui/Segments";
import { Counters } from "./Counters";
import { Faces } from "./Faces";
import { Lanes } from "./Lanes";
import { Legend } from "./Legend";
import { PlannedStops } from "./PlannedStops";
import { OpenIncidents, PutAsideCard, WhatIsStale } from "./SideCards";
import { SaidState, ViewerNote } from "./SaidState";
import { Strips } from "./Strips";
import { partsOf } from "../lib/places";
import { ZoneTile } from "./ZoneTile";

export function Overview() {
  const site = about.value!, now = state.value!;
  const zones = site.zones_info.length;
  const layout: Layout = layouts.value[site.name] ?? layoutFor(zones);
  const minute = useMinute();
  const path = `/sites/${encodeURIComponent(site.name)}`;
  const history = useResource<ScoreHistory>(layout === "tiles" && asOfSlowly.value !== null ? `${path}/scores${query({ width: 240 })}` : null, minute);
  const today = useResource<Incidents>(`/incidents${query({ site: site.name, limit: 60, from: dayAgo() })}`, changes.value);
  const plant = asOfSlowly.value ?? 0;
  const recent = (today.value?.items ?? []).filter((item) => item.announced !== null);
  return (
    <>
      <h1 class="hidden-text">Overview of {site.name}</h1>
      <div class={`overview ${layout}-layout`}>
        <div class="stack">
          <Counters now={now}>
            <div class="tools">
              {zones > 12 && <Segments label="Layout" value={layout} onChange={(value) => (layouts.value = { ...layouts.value, [site.name]: value })}
                options={[{ value: "tiles", title: "Tiles" }, { value: "matrix", title: "Matrix" }, { value: "strip", title: "Strip" }]} />}
              <Button refused={refusal("stop")} onClick={() => (dialog.value = { kind: "stop" })}><Icon name="pause" /> Plan a stop...</Button>
            </div>
          </Counters>
          <ViewerNote />
          <SaidState now={now} about={site} zone={zone.value} plant={plant} scores={history.value} />
          <PlannedStops now={now} zone={zone.value} />
          {layout === "tiles" ? <Tiles history={history.value} /> : layout === "matrix" ? <Faces about={site} zones={now.zones} stops={now.planned_stops} /> : <Strips about={site} zones={now.zones} />}
          {layout !== "strip" && <Legend levels={site.levels} />}
          {layout !== "strip" && <Lanes incidents={recent} now={plant} zone={zone.value} />}
        </div>
        <div class="stack">
          <OpenIncidents items={open.value} reading={reading.value} now={plant} brief={layout !== "tiles"} />
          <WhatIsStale now={now} />
          <PutAsideCard now={now} plant={plant} zone={zone.value} />
        </div>
      </div>
    </>
  );
}

/** Return the time a day before the newest row, to the hour, so that the address stays the same for an hour. */
function dayAgo(): string {
  const hour = 3_600_000;
  return iso(Math.floor((asOfSlowly.value ?? Date.now()) / hour) * hour - 24 * hour);
}

function Tiles({ history }: { history: ScoreHistory | null }) {
  const site = about.value!, now = state.value!;
  const byId = useMemo(() => new Map(open.value.map((item) => [item.id, item])), [open.value]);
  const stale = useMemo(() => groupBy(now.stale, (point) => partsOf(point.point, site)[0]), [now]);
  const aside = useMemo(() => new Map(now.put_aside.map((item): [string | null, PutAside] => [item.zone ?? "", item])), [now]);
  return (
    <div class="tiles">
      {site.zones_info.map((info, place) => {
        const zoneNow = now.zones[place];
        if (!zoneNow) return null;
        const incident = (zoneNow.incident && byId.get(zoneNow.incident)) || null;
        return (
          <ZoneTile key={info.zone} info={info} place={place} now={zoneNow} about={site} incident={incident} pNow={incident ? pNow(incident, place) : null}
            stale={stale.get(info.zone) ?? NONE} aside={aside.get(info.zone) ?? null} scores={history} zone={zone.value} temperature={temperature.value} />
        );
      })}
    </div>
  );
}

const NONE: StalePoint[] = [];

/** Return P now of an incident's root, from the newest frame. */
function pNow(incident: IncidentLine, place: number): string {
  const node = about.value!.template.findIndex((one) => one.role === incident.root);
  const byte = scores.peek()[place * about.value!.template.length + node];
  return formatP(byte === undefined ? incident.p_now : probability(byte));
}

function groupBy<T>(items: T[], key: (item: T) => string): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const item of items) (found.get(key(item)) ?? found.set(key(item), []).get(key(item))!).push(item);
  return found;
}
