// Rows of one height: codes, what and why, p, times, who said what, what it was. Windowed above 200 rows.
import { useEffect, useRef } from "preact/hooks";
import type { IncidentLine } from "../api/types";
import { digit, dispositionWord, stateWord, waits } from "../lib/codes";
import { drifted, formatP, moment, ms } from "../lib/format";
import { say } from "../lib/sentence";
import { visible } from "../lib/window";
import { ask, thingOf } from "../store/dialogs";
import { refusal } from "../store/session";
import { asOfSlowly, reading, zone } from "../store/site";
import { useScroll } from "../store/scroll";
import { here } from "../store/router";
import { Button } from "../ui/Button";
import { titleOf } from "../lib/order";
import { Glyph, Letter } from "../ui/Glyph";

interface Props {
  rows: IncidentLine[]; total: number; at: number; selected: ReadonlySet<string>; toggle: (id: string) => void; setAt: (place: number) => void; selectAll: () => void;
}
const HEIGHT = 52;

export function Table({ rows, total, at, selected, toggle, setAt, selectAll }: Props) {
  const body = useRef<HTMLTableSectionElement>(null);
  const scroll = useScroll();
  const range = visible(rows.length, HEIGHT, scroll, body.current?.offsetTop ?? 0);
  useEffect(() => {
    const row = rows[at];
    if (row) body.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(row.id)}"]`)?.scrollIntoView({ block: "nearest" });
  }, [at]);
  return (
    <table class="incidents-table" aria-rowcount={total + 1}>
      <colgroup><col width="36" /><col width="38" /><col width="164" /><col /><col width="104" /><col width="84" /><col width="88" /><col width="158" class="wide-only" /><col width="108" /></colgroup>
      <thead>
        <tr>
          <th><input type="checkbox" aria-label="Select all rows" checked={selected.size > 0 && selected.size === rows.length} onChange={selectAll} /></th>
          <th><span class="hidden-text">priority</span></th><th>state</th><th>what and why</th><th class="right">p</th><th class="right">since ▾</th><th class="right">announced</th><th>who said what</th><th>what it was</th>
        </tr>
      </thead>
      <tbody ref={body}>
        {range.before > 0 && <tr aria-hidden="true" style={{ height: `${range.before}px` }} />}
        {rows.slice(range.first, range.last).map((row, step) => (
          <Row key={row.id} row={row} index={range.first + step} isAt={range.first + step === at} isSelected={selected.has(row.id)} toggle={toggle} setAt={setAt} />
        ))}
        {range.after > 0 && <tr aria-hidden="true" style={{ height: `${range.after}px` }} />}
      </tbody>
    </table>
  );
}

function Row({ row, index, isAt, isSelected, toggle, setAt }: {
  row: IncidentLine; index: number; isAt: boolean; isSelected: boolean; toggle: (id: string) => void; setAt: (place: number) => void;
}) {
  const now = asOfSlowly.value ?? ms(row.time);
  const isLoud = waits(row.state);
  const hasGlyph = row.is_open && (isLoud || row.state === "acknowledged") || row.state === "returned";
  return (
    <tr data-id={row.id} class={isAt ? "at" : ""} aria-selected={isSelected} aria-rowindex={index + 2} onClick={() => setAt(index)}>
      <td><input type="checkbox" aria-label={`Select ${row.zone_title}, ${row.name}`} checked={isSelected} onChange={() => toggle(row.id)} onClick={(event) => event.stopPropagation()} /></td>
      <td>{hasGlyph ? <Glyph priority={row.priority} state={row.state} /> : <span class="dim" aria-label={`priority ${digit(row.priority)}`}>{digit(row.priority)}</span>}</td>
      <td><span class="row"><Letter state={row.state} /><span class={isLoud ? "strong" : "dim"}>{stateWord(row.state, row.is_open)}</span></span></td>
      <td><a href={here("incident", row.id)} class={row.is_open || isLoud ? "" : "closed"}><span class={row.is_open || isLoud ? "strong cut" : "cut"}>{titleOf(row)}</span>
        <span class="small dim cut">{say(row.evidence || row.text, row.evidence ? row.evidence_parts : row.text_parts, [row.since], reading.value)}</span></a></td>
      <td class="right"><strong>{formatP(row.p)}</strong>{drifted(row.p, row.p_now) && row.is_open && <div class="small dim nowrap">now {formatP(row.p_now)}</div>}</td>
      <td class="right wide-only">{moment(ms(row.since), now, zone.value)}</td>
      <td class="right dim wide-only">{row.announced ? moment(ms(row.announced), now, zone.value) : "not"}</td>
      <td class="wide-only">{isLoud ? <Button refused={refusal("ack")} label={`Acknowledge... ${row.zone_title}, ${row.name}`} onClick={() => ask("ack", [thingOf(row)])}>Acknowledge...</Button>
        : row.last_note && <span class="two-lines dim" title={row.last_note.text}>{row.last_note.by} {moment(ms(row.last_note.time), now, zone.value)}{row.last_note.text ? ` “${row.last_note.text}”` : ""}</span>}</td>
      <td class="wide-only"><span class="small dim">{row.judged ? <span class="cut" title={dispositionWord(row.judged.disposition, row.is_drill)}>{dispositionWord(row.judged.disposition, row.is_drill)}</span>
        : !row.is_open && <button class="link" onClick={() => ask("dispose", [thingOf(row)])}>what was it?</button>}
        {row.closed && <div>closed {moment(ms(row.closed), now, zone.value)}</div>}</span></td>
    </tr>
  );
}
