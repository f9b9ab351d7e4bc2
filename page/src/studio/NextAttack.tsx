// What, where, when; one sentence that repeats the order; inject.
import { useState } from "preact/hooks";
import { ApiError, post } from "../api/client";
import type { Case, Injection } from "../api/types";
import { byFamily, caseWords, kinds, orderWords, strength } from "../lib/cases";
import { clock, minutesUntil } from "../lib/format";
import { shortName } from "../lib/zones";
import { useKeys } from "../shell/keyboard";
import { refusal } from "../store/session";
import { about, asOf, minutesPerSecond, refreshSoon, zone as timeZone, zoneTitle } from "../store/site";
import { say } from "../store/toasts";
import { Button } from "../ui/Button";
import { Segments } from "../ui/Segments";

const LASTS = [{ value: 30, title: "for 30 min" }, { value: 120, title: "2 h" }, { value: 360, title: "6 h" }, { value: 0, title: "its own" }];

const LEAD_S = 4;

export function NextAttack({ cases, running, onInjected }: { cases: Case[]; running: Injection[]; onInjected: (id: string) => void }) {
  const site = about.value!;
  const families = byFamily(cases);
  const [family, setFamily] = useState(families[1]?.title ?? families[0]?.title ?? "");
  const [kindName, setKind] = useState("");
  const [caseName, setCase] = useState("");
  const [zone, setZone] = useState("");
  const [delay, setDelay] = useState(1); // minutes; 0: at a time of the day
  const [at, setAt] = useState("");
  const [lasts, setLasts] = useState(120);
  const [problem, setProblem] = useState("");
  const choices = kinds(families.find((one) => one.title === family)?.cases ?? []);
  const kind = choices.find((one) => one.name === kindName) ?? choices[0];
  const chosen = kind?.cases.find((one) => one.name === caseName) ?? kind?.cases[0];
  const busy = new Map([...running].sort((a, b) => (a.start < b.start ? 1 : -1)).filter((one) => one.state !== "over").map((one) => [one.zone, one]));
  const place = zone && !busy.has(zone) ? zone : (site.zones_info.find((info) => !busy.has(info.zone))?.zone ?? "");
  // A fast plant is further on when the order arrives: it begins a few seconds of plant time later.
  const lead = Math.ceil(minutesPerSecond.value * LEAD_S);
  const minutes = delay === 0 ? Math.max(lead, minutesUntil(at, asOf.value ?? 0, timeZone.value)) : Math.max(delay, lead + (delay > 1 ? delay : 0));
  const start = (asOf.value ?? 0) + minutes * 60_000;

  async function inject(): Promise<void> {
    if (!chosen || !place || (delay === 0 && !at) || refusal("inject")) return;
    setProblem("");
    try {
      const made = await post<Injection>(`/sites/${encodeURIComponent(site.name)}/injections`, { case: chosen.name, zone: place, in_minutes: Math.min(1440, minutes), minutes: lasts || null });
      say(`Injected into ${zoneTitle(place)}: ${caseWords(made.title || made.case)}, from ${clock(Date.parse(made.start), timeZone.value)}.`);
      refreshSoon();
      onInjected(made.id);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setProblem(error.message);
    }
  }
  useKeys({ i: () => void inject() });
  return (
    <section class="card" aria-label="Next attack">
      <header><h2>Next attack</h2><span class="tag">simulated site only</span></header>
      <div class="body">
        <div class="step-head"><i>1</i> What</div>
        <div class="families" role="group" aria-label="What">
          {families.map((one) => <button key={one.title} type="button" aria-pressed={one.title === family} onClick={() => { setFamily(one.title); setKind(""); setCase(""); }}><span>{one.title} <span class="dim">{one.says}</span></span><span class="dim">{one.cases.length}</span></button>)}
        </div>
        <p><select class="field" aria-label="Case" value={kind?.name ?? ""} onChange={(event) => { setKind(event.currentTarget.value); setCase(""); }}>{choices.map((one) => <option key={one.name} value={one.name}>{one.title}</option>)}</select></p>
        {kind && kind.cases.length > 1 && <><p class="label">how strong</p><Segments label="How strong" value={chosen?.name ?? ""} onChange={setCase} options={kind.cases.map((one) => ({ value: one.name, title: strength(one) }))} /></>}
        <div class="step-head"><i>2</i> Where</div>
        {site.zones_info.length <= 48 ? (
          <div class="zone-pick" role="group" aria-label="Where">
            {site.zones_info.map((info) => <button key={info.zone} type="button" aria-label={info.title} aria-pressed={info.zone === place} aria-disabled={busy.has(info.zone) ? "true" : undefined} onClick={() => !busy.has(info.zone) && setZone(info.zone)}>{shortName(info)}</button>)}
          </div>
        ) : <select class="field" aria-label="Zone" value={place} onChange={(event) => setZone(event.currentTarget.value)}>{site.zones_info.map((info) => <option key={info.zone} value={info.zone}>{info.title}</option>)}</select>}
        {[...busy.values()].slice(0, 3).map((one) => <p key={one.id} class="small dim">{zoneTitle(one.zone)} {one.state === "planned" ? `will be attacked from ${clock(Date.parse(one.start), timeZone.value)}` : "is under attack"}{one.end ? ` until ${clock(Date.parse(one.end), timeZone.value)}` : ""}</p>)}
        <div class="step-head"><i>3</i> When</div>
        <Segments label="When" value={delay} onChange={setDelay} options={[{ value: 1, title: "now" }, { value: 5, title: "in 5 min" }, { value: 0, title: "at a time..." }]} />
        {delay === 0 && <p><input class="field" type="time" aria-label="At" value={at} onInput={(event) => setAt(event.currentTarget.value)} /></p>}
        <p /><Segments label="For how long" value={lasts} onChange={setLasts} options={LASTS} />
        <hr />
        <p>{chosen ? <>In <strong>{zoneTitle(place)}</strong>: <strong>{orderWords(chosen)}</strong>, from {clock(start, timeZone.value)}
          {lasts ? <> for <strong>{lasts >= 60 ? `${lasts / 60} h` : `${lasts} min`}</strong></> : ""}. The detector is not informed.</> : "There is no case to choose."}</p>
        <p role="alert" class="strong">{problem}</p>
        <Button kind="main" shortcut="i" refused={refusal("inject") ?? (!chosen || !place ? "Choose a case and a zone first." : delay === 0 && !at ? "Say at what time." : null)} onClick={() => void inject()}>Inject into {zoneTitle(place)}</Button>
      </div>
    </section>
  );
}
