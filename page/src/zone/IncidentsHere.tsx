// Incidents of a zone, with what they were.
import type { IncidentLine } from "../api/types";
import { digit, dispositionWord, stateWord } from "../lib/codes";
import { duration, moment, ms } from "../lib/format";
import { here } from "../store/router";
import { asOf, zone } from "../store/site";
import { Glyph } from "../ui/Glyph";

export function IncidentsHere({ items }: { items: IncidentLine[] }) {
  return (
    <section class="card" aria-label="Incidents here">
      <header><h2>Incidents here</h2><span class="aside">newest first</span></header>
      <div class="body">
        {!items.length && <p class="dim">None is kept.</p>}
        {items.map((item) => (
          <p key={item.id} class="row">
            {item.is_open ? <Glyph priority={item.priority} state={item.state} /> : <span class="dim">{digit(item.priority)}</span>}
            <a class="nowrap" href={here("incident", item.id)}>{moment(ms(item.since), asOf.value ?? 0, zone.value)}</a>
            <span class="dim cut">{item.name}, {item.judged ? dispositionWord(item.judged.disposition, item.is_drill) : item.is_open ? stateWord(item.state) : "not judged"}
              {item.closed ? `, ${duration(ms(item.closed) - ms(item.since))}` : ""}</span>
          </p>
        ))}
      </div>
    </section>
  );
}
