// What the model found and what it missed, in the same size; no figure without its count.
import type { ModelCard } from "../api/types";
import { NBSP, count, percent } from "../lib/format";
import { levelRows, readCard, type Family } from "../lib/card";
import { useResource } from "../store/resource";
import { about } from "../store/site";
import { Icon } from "../ui/Icon";
import { Part } from "../ui/Part";
import { Markdown } from "../ui/Markdown";
import { Calibration } from "./Calibration";
import { CommissioningRecord } from "./CommissioningRecord";
import { Shift } from "./Shift";

export function ModelScreen() {
  const path = `/sites/${encodeURIComponent(about.value!.name)}/model`;
  const card = useResource<ModelCard>(path);
  return <Part of={card} what="model card">{(value) => <Shown card={value} path={path} />}</Part>;
}

function Shown({ card, path }: { card: ModelCard; path: string }) {
  const read = readCard(card.figures, card.commissioning !== null);
  return (
    <>
      <div class="zone-head">
        <h1>Model {card.model.split("@")[0]}</h1><code class="dim">{card.model.split("@")[1] ?? ""}</code>
        <span class="dim row">{card.signed_by ? <><Icon name="check" /> signed by {card.signed_by}</> : "not signed"}</span>
        <span class="dim">{card.commissioning ? `commissioned on this site, ${card.commissioning.days} days` : "not commissioned: as shipped"}</span>
        <span class="grow" />
        <a class="button" href={`/api/v1${path}`} download="model-card.json">Card as JSON</a>
        <button class="button" onClick={() => print()}><Icon name="print" /> Print</button>
      </div>
      <div class="stack">
        {read.figures.length === 0 && <p class="dim">This model has no figures: nobody has evaluated it.</p>}
        {read.figures.length > 0 && (
          <section class="card model-figures" aria-label="Figures of the report card">
            {read.figures.map((figure) => <div key={figure.title}><div class="big-figures"><span class="figure">{figure.value}</span></div><div>{figure.title}</div><div class="small dim">{figure.says}</div></div>)}
          </section>
        )}
        {read.measured && <p class="small dim">In simulated buildings{read.shift.length > 0 && (card.commissioning ? ", commissioned" : ", as shipped")}. Measured by <code>{read.measured.command}</code>{read.measured.page && <>; <code>{read.measured.page}</code></>}.</p>}
        <div class="model">
          <div class="stack">
            {card.commissioning && <CommissioningRecord record={card.commissioning} />}
            {read.reliability && <Calibration bins={read.reliability} />}
            <section class="card"><header><h2>What decides about alarms</h2></header>
              <dl class="body about-node">{levelRows(card.levels).map((row) => [<dt key={row.name}>{row.words}</dt>, <dd key={`${row.name}-value`}>{row.value}</dd>])}</dl></section>
          </div>
          {read.families.length > 0 && <Families rows={read.families} />}
          <div class={`stack ${read.families.length ? "" : "no-families"}`}>
            {read.shift.length > 0 && <Shift rows={read.shift} />}
            {card.card && <section class="card"><header><h2>Its card</h2><span class="aside">what it cannot do is part of it</span></header><div class="body card-text" tabIndex={0}><Markdown text={card.card} /></div></section>}
            {card.changes.length > 0 && <section class="card"><header><h2>Changes</h2></header><ul>{card.changes.map((event) => <li key={event.number} class="body small">{event.time.slice(0, 16).replace("T", " ")} {event.text}</li>)}</ul></section>}
          </div>
        </div>
      </div>
    </>
  );
}

function Families({ rows }: { rows: Family[] }) {
  const x = (share: number) => 4 + share * 132;
  return (
    <section class="card" aria-label="By kind of attack, weakest first">
      <header><h2>By kind of attack, weakest first</h2><span class="aside legend"><span>○ found</span><span>◆ right node first</span></span></header>
      <table>
        <thead><tr><th>kind</th><th class="right">attacks</th><th>0 to 100{NBSP}%</th></tr></thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <td>{row.name}</td><td class="right dim">{count(row.attacks)}</td>
              <td>
                <svg class="picture" viewBox="0 0 140 14" role="img" aria-label={`found ${percent(row.found)}, right node first ${percent(row.right)}`} style={{ maxWidth: "150px" }}>
                  <line class="grid" x1="4" x2="136" y1="7" y2="7" /><line class="curve" x1={x(row.right)} x2={x(row.found)} y1="7" y2="7" />
                  <circle cx={x(row.found)} cy="7" r="3.6" fill="var(--card)" stroke="var(--ink)" stroke-width="1.6" /><path class="point" d={`M${x(row.right)} 3.4l3.6 3.6-3.6 3.6-3.6-3.6z`} />
                </svg>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
