// The list of incidents with filters, selection and bulk commands; the journal beside it.
import { useEffect, useRef, useState } from "preact/hooks";
import { ROOT, query } from "../api/client";
import type { IncidentLine, Incidents } from "../api/types";
import { filterQuery, fromAddress, type Filter } from "../lib/filter";
import { hold } from "../lib/rows";
import { count, day, iso, ms } from "../lib/format";
import { useKeys } from "../shell/keyboard";
import { ask, dialog, thingOf } from "../store/dialogs";
import { useResource } from "../store/resource";
import { go, here, route, setQuery } from "../store/router";
import { about, asOf, changes, open, zone } from "../store/site";
import { Icon } from "../ui/Icon";
import { Part } from "../ui/Part";
import { Bulk } from "./Bulk";
import { Filters } from "./Filters";
import { JournalColumn } from "./JournalColumn";
import { Table } from "./Table";

export function Alarms() {
  const site = about.value!;
  const filter = fromAddress(route.value.query);
  const set = (next: Partial<Filter>) => setQuery(filterQuery({ ...filter, ...next }));
  const [limit, setLimit] = useState(200);
  const asked = apiQuery(filter, asOf.peek());
  const list = useResource<Incidents>(`/incidents${query({ site: site.name, limit, ...asked })}`, changes.value);
  const unjudged = useResource<Incidents>(`/incidents${query({ site: site.name, limit: 1, open: false, judged: false })}`, changes.value);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [at, setAt] = useState(-1);
  const [isHovered, setHovered] = useState(false);
  const held = useHeld(list.value, isHovered || selected.size > 0 || at >= 0 || dialog.value !== null, JSON.stringify(asked));
  const rows = held.shown;
  const search = useRef<HTMLInputElement>(null);
  const chosen = (): IncidentLine[] => (selected.size ? rows.filter((row) => selected.has(row.id)) : rows[at] ? [rows[at]!] : []);
  const clear = () => {
    setSelected(new Set());
    setAt(-1);
  };
  const toggle = (id: string) => setSelected((before) => {
    const after = new Set(before);
    if (!after.delete(id)) after.add(id);
    return after;
  });
  const command = (verb: "ack" | "shelve" | "dispose") =>
    ask(verb, chosen().map(thingOf), { onRefused: (ids) => setSelected(new Set(ids)), onDone: (ids) => setSelected((before) => new Set([...before].filter((id) => !ids.includes(id)))) });
  useKeys({
    j: () => setAt(Math.min(rows.length - 1, at + 1)), k: () => setAt(Math.max(0, at - 1)),
    Enter: () => rows[at] && go(here("incident", rows[at]!.id)), x: () => rows[at] && toggle(rows[at]!.id),
    a: () => command("ack"), s: () => command("shelve"), d: () => command("dispose"), n: held.showNew, Escape: clear,
    "/": () => search.current?.focus(),
  });
  const exportAt = (format: string) => `${ROOT}/incidents/export${query({ site: site.name, ...asked, format })}`;
  return (
    <>
      <h1 class="hidden-text">Alarms of {site.name}</h1>
      <div class="alarms">
        <div>
          <Filters filter={filter} set={set} zones={site.zones_info} counts={{ open: open.value.length, shown: list.value?.total ?? null, unjudged: unjudged.value?.total ?? null }} />
          <div class="filters">
            <label class="search"><Icon name="search" /><span class="hidden-text">Search zone, node or words</span>
              <input ref={search} type="search" placeholder="Search zone, node or words" value={filter.words} onInput={(event) => set({ words: event.currentTarget.value })} /><kbd>/</kbd></label>
            <span class="dim">{summary(list.value, rows)}</span>
            <span class="grow" />
            <a class="button" href={exportAt("csv")} download>Export CSV</a>
            <a class="button" href={exportAt("json")} download>Export JSON</a>
            <button class="button" onClick={() => print()}><Icon name="print" /> Print</button>
          </div>
          <Part of={list} what="list">
            {(value) => rows.length ? (
              <div class="card" onMouseEnter={() => setHovered(true)} onMouseLeave={() => setHovered(false)}>
                {held.waiting > 0 && <button class="new-rows" onClick={held.showNew}>{held.waiting} new incident{held.waiting === 1 ? "" : "s"} above. Show {held.waiting === 1 ? "it" : "them"} <kbd>n</kbd></button>}
                <Table rows={rows} total={value.total} at={at} selected={selected} toggle={toggle} setAt={setAt}
                  selectAll={() => setSelected(selected.size ? new Set() : new Set(rows.map((row) => row.id)))} />
                {value.next && <p class="body"><button class="link" onClick={() => setLimit(Math.min(500, limit + 100))}>More ({count(value.total)} in all)</button></p>}
                <Bulk rows={chosen()} count={selected.size} command={command} clear={clear} />
              </div>
            ) : (
              <div class="card said-state"><p>No incident matches. {value.unfiltered ? <>{count(value.unfiltered)} do without the filter. <button class="link" onClick={() => setQuery({ show: "all" })}>Clear it</button></> : "None has happened here."}</p></div>
            )}
          </Part>
        </div>
        <JournalColumn />
      </div>
    </>
  );
}

/** Return the filter as the API takes it; "last 3 days" counts back from plant time, to the hour. */
function apiQuery(filter: Filter, now: number | null) {
  const hour = 3_600_000;
  const from = filter.show === "recent" && now ? iso(Math.floor(now / hour) * hour - 72 * hour) : undefined;
  return {
    open: filter.show === "open" ? true : filter.show === "unjudged" ? false : undefined, judged: filter.show === "unjudged" ? false : undefined,
    from, state: filter.state ? [filter.state] : [], priority: filter.priority ? [filter.priority] : [], zone: filter.zone || undefined, kind: filter.kind ? [filter.kind] : [], q: filter.words || undefined,
  };
}

function summary(list: Incidents | null, rows: IncidentLine[]): string {
  if (!list || !rows.length) return "";
  const first = ms(rows.at(-1)!.since), last = ms(rows[0]!.since);
  const days = day(first, zone.value) === day(last, zone.value) ? day(last, zone.value) : `${day(first, zone.value)} – ${day(last, zone.value)}`;
  return `${count(list.total)} incident${list.total === 1 ? "" : "s"}, ${days}`;
}

/** Keep rows where they are while the list is in use. */
function useHeld(list: Incidents | null, inUse: boolean, key: string) {
  const kept = useRef<{ key: string; rows: IncidentLine[] }>({ key: "", rows: [] });
  const [, redraw] = useState(0);
  const isSame = kept.current.key === key;
  const isScrolled = scrollY > 40;
  const held = hold(isSame ? kept.current.rows : [], list?.items ?? [], isSame && (inUse || isScrolled));
  useEffect(() => {
    if (list) kept.current = { key, rows: held.shown };
  });
  return {
    ...held,
    showNew: () => {
      kept.current = { key: "", rows: [] };
      redraw((before) => before + 1);
    },
  };
}
