// The shell and the screen of the address.
import { useEffect } from "preact/hooks";
import type { ComponentType } from "preact";
import { duration } from "./lib/format";
import type { Screen } from "./lib/route";
import { AlarmBar } from "./shell/AlarmBar";
import { ActDialog } from "./shell/ActDialog";
import { BottomBar, LiveRegions, PrintFoot, Toast } from "./shell/Foot";
import { Header } from "./shell/Header";
import { ChoicesDialog, HelpDialog } from "./shell/HelpDialog";
import { Login } from "./shell/Login";
import { FoundDialog } from "./shell/FoundDialog";
import { EndStopDialog, StopDialog } from "./shell/StopDialog";
import { Loading, ReadFailed } from "./shell/Loading";
import { Symbols } from "./ui/Icon";
import { Overview } from "./overview/Overview";
import { IncidentScreen } from "./incident/IncidentScreen";
import { Alarms } from "./alarms/Alarms";
import { ZoneScreen } from "./zone/ZoneScreen";
import { KpiScreen } from "./kpis/KpiScreen";
import { ModelScreen } from "./model/ModelScreen";
import { Mapping } from "./mapping/Mapping";
import { Studio } from "./studio/Studio";
import { RunDialog } from "./studio/RunDialog";
import { dialog } from "./store/dialogs";
import { tick } from "./store/clock";
import { isCutOff, link } from "./store/live";
import { route } from "./store/router";
import { needsLogin, session } from "./store/session";
import { about, choose, readFailed, sites, state, waits } from "./store/site";

const SCREENS: Record<Screen, ComponentType> = {
  overview: Overview, alarms: Alarms, incident: IncidentScreen, zones: ZoneScreen, kpis: KpiScreen, model: ModelScreen,
  mapping: Mapping, studio: Studio,
};
const PULSES = 12;

export function App({ begin }: { begin: () => Promise<void> }) {
  const { site, screen } = route.value;
  useEffect(() => {
    if (session.value && site && sites.value.some((known) => known.name === site)) void choose(site).catch(() => undefined);
  }, [site, sites.value.length, session.value?.person]);
  const Shown = SCREENS[screen];
  const isReady = about.value && state.value && about.value.name === site;
  return (
    <div class={`shell ${isCutOff.value ? "is-cut-off" : ""} ${waits.value.length > PULSES ? "no-pulse" : ""} ${screen === "incident" ? "is-incident" : ""}`}>
      <Symbols />
      <div class="top"><Header /><AlarmBar /></div>
      <main class="content" id="content">
        {isCutOff.value && <CutOffWords />}
        {isReady ? <Shown key={`${site}/${screen}`} /> : readFailed.value ? <ReadFailed words={readFailed.value} /> : <Loading />}
        <PrintFoot />
      </main>
      <BottomBar />
      <Toast />
      <LiveRegions />
      {needsLogin.value ? <Login onDone={() => void begin()} /> : <Dialogs />}
    </div>
  );
}

function Dialogs() {
  const open = dialog.value;
  if (!open) return null;
  switch (open.kind) {
    case "act": return <ActDialog key={`${open.verb} ${open.things.map((thing) => thing.id).join()}`} {...open} />;
    case "stop": return <StopDialog />;
    case "found": return <FoundDialog />;
    case "run": return <RunDialog {...open} />;
    case "end-stop": return <EndStopDialog {...open} />;
    case "help": return <HelpDialog />;
    case "choices": return <ChoicesDialog />;
  }
}

function CutOffWords() {
  void tick.value;
  return (
    <div class="card cut-off-words" role="status">
      <h1>What you see is {duration(Date.now() - link.value.since)} old</h1>
      <p class="dim">The monitor most likely goes on. Buttons are off: nothing you press here would reach it.</p>
    </div>
  );
}
