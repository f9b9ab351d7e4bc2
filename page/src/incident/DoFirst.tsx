// The plant's advice, verbatim; the only card with a stronger edge.
import type { Incident } from "../api/types";
import { clock, ms } from "../lib/format";
import { here } from "../store/router";
import { zone } from "../store/site";

export function DoFirst({ incident }: { incident: Incident }) {
  const { follows } = incident;
  return (
    <section class="card strong-edge do-first" aria-label="Do this first">
      <header><h2>Do this first</h2></header>
      <div class="body">
        <p class="action">{incident.action || "The plant gives no advice for this node."}</p>
        {incident.equivalents.length > 0 && <p class="small dim">Or the {incident.equivalents.join(" or the ")}: no reading tells them apart.</p>}
        {incident.suspects.length > 1 && (
          <p class="small dim">Suspects: {incident.suspects.join(", ")}{incident.coverage !== null ? `; one of them in ${Math.round(incident.coverage * 100)} % of attacks of the kinds it was taught` : ""}.</p>
        )}
        {follows && (
          <p class="small dim">Perhaps the aftermath of <a href={here("incident", follows.id)}>incident {follows.id}</a>
            {follows.closed ? `, which closed at ${clock(ms(follows.closed), zone.value)}.` : ", which is still open."}</p>
        )}
      </div>
    </section>
  );
}
