// What lies over and under every screen: toast, live regions, the phone's bottom bar, the foot of a print.
import { clock, day, zoneName } from "../lib/format";
import { assertive, polite } from "../store/announcements";
import { here, route } from "../store/router";
import { session } from "../store/session";
import { about, asOfSlowly, zone } from "../store/site";
import { line } from "../store/toasts";
import { Icon, type IconName } from "../ui/Icon";
import { Menu } from "../ui/Menu";
import { PersonChoices, destinations, isAt } from "./Header";

export function Toast() {
  return (
    <div role="status" aria-live="polite">
      {line.value && <div class="toast"><Icon name="check" /><span>{line.value.text}</span><span class="second">{line.value.second}</span></div>}
    </div>
  );
}

export function LiveRegions() {
  return (
    <>
      <div class="hidden-text" aria-live="polite">{polite.value}</div>
      <div class="hidden-text" aria-live="assertive">{assertive.value}</div>
    </>
  );
}

const ICONS: Record<string, IconName> = { overview: "grid", alarms: "warning", zones: "share" };

export function BottomBar() {
  const all = destinations();
  return (
    <nav class="bottom-bar" aria-label="Screens, below">
      {all.slice(0, 3).map(({ screen, title }) => (
        <div key={screen}><a href={here(screen)} aria-current={isAt(screen) ? "page" : undefined}><Icon name={ICONS[screen]!} />{title}</a></div>
      ))}
      <Menu label="More" className="more" button={<><Icon name="dots" /><span>More</span></>}>
        {all.slice(3).map(({ screen, title }) => <a key={screen} href={here(screen)}>{title}</a>)}
        <PersonChoices />
      </Menu>
    </nav>
  );
}

export function PrintFoot() {
  const now = asOfSlowly.value, address = route.value && location.href; // another screen is another address
  return (
    <p class="print-foot">
      {about.value?.name}, as of {now ? `${day(now, zone.value)} ${clock(now, zone.value)} ${zoneName(now, zone.value)}` : "unknown"}, printed by {session.value?.person}.
      {` ${address}`}
    </p>
  );
}
