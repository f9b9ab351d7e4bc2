// The journal, newest first, live; people and refusals are part of it.
import { useEffect, useState } from "preact/hooks";
import type { EventLine } from "../api/types";
import { eventWord, isLoud, isPeople, isSource } from "../lib/events";
import { clock, count, day, ms } from "../lib/format";
import { say } from "../lib/sentence";
import * as journal from "../store/journal";
import { about, asOf, reading, zone } from "../store/site";

type Which = "everything" | "people" | "source";
const WHICH: Record<Which, (event: EventLine) => boolean> = {
  everything: () => true, people: (event) => isPeople(event.kind), source: (event) => isSource(event.kind),
};

export function JournalColumn() {
  const [which, setWhich] = useState<Which>("everything");
  const [problem, setProblem] = useState(false);
  useEffect(() => {
    if (journal.events.value.length < 20) journal.readNewest().then(() => setProblem(false), () => setProblem(true));
  }, []);
  const here = journal.events.value.filter((event) => event.site === about.value?.name || !event.site);
  const shown = here.filter(WHICH[which]).slice(0, 120);
  return (
    <div class="journal-column">
      <div class="filters">
        {(["everything", "people", "source"] as const).map((name) => (
          <button key={name} class="chip" aria-pressed={which === name} onClick={() => setWhich(name)}>{name.slice(0, 1).toUpperCase() + name.slice(1)}</button>
        ))}
      </div>
      <div class="filters dim small">{shown.length ? `Events ${count(shown.at(-1)!.number)} – ${count(shown[0]!.number)} of ${count(journal.lastNumber.value)}, newest first` : ""}</div>
      <section class="card journal" aria-label="Journal">
        <header><h2>Journal</h2><span class="aside">live</span></header>
        <ol>
          {shown.map((event) => <Row key={event.number} event={event} />)}
        </ol>
        {problem && <p class="body">The journal could not be read. <button class="link" onClick={() => void journal.readNewest()}>Try again</button></p>}
        <p class="body"><button class="link" onClick={() => void journal.readOlder()}>Older events</button></p>
      </section>
    </div>
  );
}

function Row({ event }: { event: EventLine }) {
  const at = ms(event.time), now = asOf.peek() ?? at;
  return (
    <li class={isLoud(event.kind) ? "loud" : ""}>
      <span class="faint">{event.number}</span>
      <time dateTime={event.time} title={event.time}>{day(at, zone.value) === day(now, zone.value) ? clock(at, zone.value) : day(at, zone.value)}</time>
      <span class={isLoud(event.kind) ? "strong cut" : "cut"}>{eventWord(event.kind)}</span>
      <span class="text" title={event.text}>{say(event.text, event.parts, [event.time], reading.value)}</span>
    </li>
  );
}
