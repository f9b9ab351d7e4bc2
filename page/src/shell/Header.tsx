// Product, site, destinations, and whether what is shown can be trusted: what is stale, and how old the data is.
import { clock, clockSeconds, count, duration, zoneName } from "../lib/format";
import type { Screen } from "../lib/route";
import { link as address } from "../lib/route";
import { serverNow, tick } from "../store/clock";
import { dialog } from "../store/dialogs";
import { isCutOff, link } from "../store/live";
import { go, here, route } from "../store/router";
import { logout, session } from "../store/session";
import { about, asOf, committedAt, open, sites, state, zone } from "../store/site";
import { mutedUntil, press, sound } from "../store/sound";
import { Icon, Logo } from "../ui/Icon";
import { Menu } from "../ui/Menu";

export interface Destination { screen: Screen; title: string }
export function destinations(): Destination[] {
  const last: Destination = about.value?.is_simulated ? { screen: "studio", title: "Studio" } : { screen: "mapping", title: "Mapping" };
  return [
    { screen: "overview", title: "Overview" }, { screen: "alarms", title: "Alarms" }, { screen: "zones", title: "Zones" },
    { screen: "kpis", title: "KPIs" }, { screen: "model", title: "Model" }, last,
  ];
}
export const isAt = (screen: Screen): boolean =>
  route.value.screen === screen || (screen === "alarms" && route.value.screen === "incident");

export function Header() {
  return (
    <header class="header">
      <a class="brand" href={here("overview")} aria-label="graphghha, overview"><Logo /><span>graphghha</span></a>
      <span class="divider" aria-hidden="true" />
      <SiteChoice />
      {about.value?.is_simulated && <span class="tag">Simulated</span>}
      <nav class="destinations" aria-label="Screens">
        {destinations().map(({ screen, title }) => (
          <a key={screen} href={here(screen)} aria-current={isAt(screen) ? "page" : undefined}>
            {title}
            {screen === "alarms" && open.value.length > 0 && <span class="badge">{count(open.value.length)}<span class="hidden-text"> open</span></span>}
          </a>
        ))}
      </nav>
      <span class="grow" />
      <Staleness />
      <AsOf />
      <SoundSwitch />
      <Person />
    </header>
  );
}

function SiteChoice() {
  const all = sites.value;
  const name = route.value.site ?? "";
  if (all.length <= 1) return <strong class="cut site-choice" title={name}>{name}</strong>;
  return (
    <select class="site-choice" aria-label="Site" title={name} value={name} onChange={(event) => go(address(event.currentTarget.value, "overview"))}>
      {all.map((site) => <option key={site.name} value={site.name}>{site.name}</option>)}
    </select>
  );
}

function Staleness() {
  const stale = state.value?.stale.length ?? 0;
  if (!stale) return null;
  return (
    <a class="stale-note" href={here("overview")}><span class="hatch-box" />{count(stale)} of {count(state.value!.counters.points)} points stale</a>
  );
}

function AsOf() {
  void tick.value;
  const plant = asOf.value, committed = committedAt.value, site = about.value;
  if (plant === null || committed === null || !site) return <span class="as-of">No data yet</span>;
  const age_s = Math.max(0, ((isCutOff.value ? link.value.since : Date.now()) + serverNow() - Date.now() - committed) / 1000);
  const step_s = site.step_s / (site.speed || 1);
  const isStale = age_s >= (site.stale_after_s || Infinity), isSlow = age_s >= 2 * Math.max(step_s, 1);
  return (
    <span class={`as-of ${isStale ? "stale hatched" : isSlow ? "slow" : ""}`}>
      <span>
        <span class="wide-only">Data as of </span>
        <strong>{clock(plant, zone.value)} {zoneName(plant, zone.value)}</strong>{" "}
        {zoneName(plant, zone.value) !== "UTC" && <span class="utc">{clock(plant, "UTC")} UTC </span>}<span class="wide-only">· </span>
        <span class="age" title={clockSeconds(plant, zone.value)}>
          {isCutOff.value ? "frozen" : site.speed && site.speed > 1 && age_s < 30 ? `${site.speed} × real time` : `${duration(age_s * 1000)} ago`}
        </span>
      </span>
    </span>
  );
}

function SoundSwitch() {
  void tick.value;
  const isMuted = mutedUntil.value > Date.now();
  const words = sound.value === "blocked" ? "Sound is blocked by the browser" : sound.value === "off" ? "Sound is off"
    : isMuted ? `Sound muted until ${clock(mutedUntil.value)}` : "Sound is on";
  return (
    <button type="button" class="plain sound" aria-pressed={sound.value === "on"} aria-label={words} title={words} onClick={() => void press()}>
      <Icon name={sound.value === "on" && !isMuted ? "sound" : "mute"} />
      {isMuted && sound.value === "on" && <span>until {clock(mutedUntil.value)}</span>}
      {sound.value === "blocked" && <span>blocked</span>}
    </button>
  );
}

function Person() {
  const who = session.value;
  if (!who) return null;
  return (
    <div class="person">
      <Menu label={`${who.person} · ${who.role}: choices`} className="plain" button={<><Icon name="person" /><span>{who.person} · {who.role}</span></>}>
        <PersonChoices />
      </Menu>
    </div>
  );
}

export function PersonChoices() {
  return (
    <>
      <button type="button" onClick={() => (dialog.value = { kind: "choices" })}>Theme and units...</button>
      <button type="button" onClick={() => (dialog.value = { kind: "help" })}>Keyboard...</button>
      <hr />
      <button type="button" onClick={() => void logout()}>Log out</button>
    </>
  );
}
