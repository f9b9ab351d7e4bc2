// What it may be, best fit first, with reasons and no probabilities; ATT&CK ids under it.
import type { Hypothesis, Incident } from "../api/types";

export function Hypotheses({ incident }: { incident: Incident }) {
  return (
    <section class="card hypotheses-card" aria-label="What it may be">
      <header><h2>What it may be</h2><span class="aside">{incident.hypotheses.length ? "best fit first; no probabilities" : ""}</span></header>
      {incident.hypotheses.length === 0 && (
        <p class="body small dim">This model names a node, not a cause: an equipment fault, somebody's work on it, or manipulation. Look, then say what it was.</p>
      )}
      <ol class="hypotheses">
        {incident.hypotheses.map((item, place) => (
          <li key={item.kind}>
            <div class="row spread"><strong>{place + 1}. {item.kind.slice(0, 1).toUpperCase() + item.kind.slice(1)}</strong>
              <span class={place === 0 ? "strong small" : "dim small"}>{item.rank}</span></div>
            <Reasons item={item} />
          </li>
        ))}
        <li>
          {incident.techniques.length ? (
            <>
              <p class="small dim">If manipulation, consistent with ATT&CK for ICS:</p>
              <dl class="techniques">{incident.techniques.map((one) => [<dt key={one.id}><code>{one.id}</code></dt>, <dd key={`${one.id}-name`}>{one.name}</dd>])}</dl>
            </>
          ) : <p class="small dim">No technique fits: physical tampering is outside ATT&CK.</p>}
        </li>
      </ol>
    </section>
  );
}

function Reasons({ item }: { item: Hypothesis }) {
  const signed: [string, string][] = item.for || item.against
    ? [...(item.for ?? []).map((text): [string, string] => ["+", text]), ...(item.against ?? []).map((text): [string, string] => ["–", text]),
      ...item.reasons.filter((text) => !item.for?.includes(text)).map((text): [string, string] => ["·", text])]
    : item.reasons.map((text): [string, string] => ["·", text]);
  return <div class="reasons">{signed.map(([sign, text]) => [<span key={text}>{sign === "·" ? sign : <span role="img" aria-label={sign === "+" ? "for it" : "against it"}>{sign}</span>}</span>, <span key={`${text}-words`}>{text.replace(/(\d)%/g, "$1\u00a0%")}</span>])}</div>;
}
