// One incident: the sentence, what to do first, the graph around the root, signals, hypotheses, story.
import { useState } from "preact/hooks";
import type { Incident, ZoneNow } from "../api/types";
import { useKeys } from "../shell/keyboard";
import { useResource } from "../store/resource";
import { route } from "../store/router";
import { about, changes } from "../store/site";
import { Part } from "../ui/Part";
import { Neighbourhood } from "../graph/Neighbourhood";
import { useMinute } from "../store/minute";
import { DoFirst } from "./DoFirst";
import { EvidenceTable } from "./EvidenceTable";
import { Members } from "./Members";
import { Head, act } from "./Head";
import { Hypotheses } from "./Hypotheses";
import { Signals } from "./Signals";
import { zoneAddress, zoneOf } from "../lib/places";
import { StoryCard } from "./StoryCard";

export function IncidentScreen() {
  const id = route.value.thing;
  const incident = useResource<Incident>(id ? `/incidents/${encodeURIComponent(id)}` : null, changes.value);
  if (!id) return <p>No incident is named in the address.</p>;
  return <Part of={incident} what="incident">{(value) => <Shown incident={value} />}</Part>;
}

function Shown({ incident }: { incident: Incident }) {
  const site = about.value!;
  const minute = useMinute(), place = zoneOf(incident, site);
  const hasSignals = place !== null || incident.charts.length > 0;
  const [asTable, setTable] = useState(false);
  const [steps, setSteps] = useState(1);
  const now = useResource<ZoneNow>(place === null ? null : `/sites/${encodeURIComponent(site.name)}/zones/${encodeURIComponent(zoneAddress(place))}`, minute);
  useKeys({
    a: () => act(incident, "ack"), s: () => act(incident, "shelve"), d: () => act(incident, "dispose"), t: () => setTable(!asTable),
  });
  return (
    <article aria-label={`Incident ${incident.id}`}>
      <Head incident={incident} />
      <div class={`incident ${hasSignals ? "" : "no-signals"}`}>
        <div class="stack evidence-column">
          {place !== null && (
            <Neighbourhood incident={incident} place={place} now={now.value} steps={steps} setSteps={setSteps} asTable={asTable} setTable={setTable} />
          )}
          {incident.members.length > 0 ? <Members incident={incident} /> : <EvidenceTable incident={incident} />}
        </div>
        {hasSignals && <Signals incident={incident} minute={minute} asTable={asTable} />}
        <div class="stack first">
          <DoFirst incident={incident} />
          <Hypotheses incident={incident} />
          <StoryCard incident={incident} />
        </div>
      </div>
    </article>
  );
}
