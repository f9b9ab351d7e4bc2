// The operator's sentence, the facts beside it, and the buttons.
import type { Incident, Verb } from "../api/types";
import { digit, dispositionWord, stateWord, stateWords, waits } from "../lib/codes";
import { clock, drifted, duration, formatP, moment, ms, zoneName } from "../lib/format";
import { say } from "../lib/sentence";
import { ask, thingOf } from "../store/dialogs";
import { saveJson } from "../lib/save";
import { refusal } from "../store/session";
import { about, asOf, nodeOf, reading, zone } from "../store/site";
import { here } from "../store/router";
import { say as toast } from "../store/toasts";
import { Button } from "../ui/Button";
import { Glyph, Letter } from "../ui/Glyph";
import { Icon } from "../ui/Icon";
import { zoneAddress, zoneOf } from "../lib/places";
import { Menu } from "../ui/Menu";

export const act = (incident: Incident, verb: Verb): void => ask(verb, [thingOf(incident)]);

/** Where the class of an incident comes from, if the model does not state it by itself. */
const classFrom = ({ class_is }: Incident): string =>
  class_is === "by_kind" ? ", the kind of its node" : class_is === "by_label" ? ", from labelled attacks" : "";

export function Head({ incident }: { incident: Incident }) {
  const now = asOf.value ?? ms(incident.time), place = zoneOf(incident, about.value!);
  const announced = incident.announced ? ms(incident.announced) : null;
  const sentence = say(incident.text, incident.text_parts, [incident.since, incident.follows?.closed], reading.value);
  return (
    <>
      <nav class="crumbs" aria-label="Where this is">
        <a href={here("overview")}>Overview</a><Icon name="right" />
        {place !== null && <><a href={here("zones", zoneAddress(place))}>{incident.zone_title}</a><Icon name="right" /></>}
        <span title={incident.id}>Incident {incident.id.split("-").at(-1)}</span>
      </nav>
      <div class="incident-head">
        <span class="glyph-place"><Glyph priority={incident.priority} state={incident.is_open ? incident.state : "acknowledged"} size={38} /></span>
        <div>
          <h1>{sentence}</h1>
          <div class="facts">
            <span class="row"><Letter state={incident.state} /><strong>{stateWord(incident.state, incident.is_open)}</strong>
              {incident.state === "unacknowledged" && announced !== null && <span>for {duration(now - announced)}</span>}
              {incident.state === "returned" && <span>({stateWords("returned")})</span>}
            </span>
            <span>priority <strong>{digit(incident.priority)} {incident.priority}</strong></span>
            <span>class <strong>{incident.attack_class}</strong>{classFrom(incident)}</span>
            {incident.p_is === "tail" && <span title="It is not the share of such incidents that are attacks.">P from the tail of normal scores</span>}
            <span>{announced === null ? "not announced" : <>announced <strong>{moment(announced, now, zone.value)} {zoneName(announced, zone.value)}</strong>{zoneName(announced, zone.value) !== "UTC" && ` (${clock(announced, "UTC")} UTC)`}</>}</span>
            {drifted(incident.p, incident.p_now) && <span>now <strong>{formatP(incident.p_now)}</strong></span>}
            {incident.root && <code>{incident.root}</code>}
            <span>version {incident.version}</span>
            {incident.is_drill && <span class="tag">drill</span>}
            {incident.judged && <span>it was: <strong>{dispositionWord(incident.judged.disposition, incident.is_drill)}</strong> ({incident.judged.by}{incident.judged.is_right_node === true ? ", the named node" : incident.judged.right_node ? `, the ${nodeOf.value.get(incident.judged.right_node)?.name ?? incident.judged.right_node}` : ""})</span>}
          </div>
        </div>
        <div class="actions">
          <div class="row">
            <Button needsServer={false} onClick={() => void copy()}><Icon name="link" /> Copy link</Button>
            <Button needsServer={false} onClick={() => print()}><Icon name="print" /> Print</Button>
            <Button needsServer={false} onClick={() => saveJson(`${incident.id}.json`, incident)}>Export</Button>
          </div>
          <Commands incident={incident} />
        </div>
      </div>
      <div class="bottom-actions"><Commands incident={incident} isPhone /></div>
    </>
  );
}

function Commands({ incident, isPhone = false }: { incident: Incident; isPhone?: boolean }) {
  const mayAcknowledge = waits(incident.state);
  return (
    <div class={isPhone ? "row grow" : "row wrap"}>
      <Button kind={mayAcknowledge ? "main" : "tall"} shortcut={isPhone ? undefined : "a"} refused={refusal("ack") ?? (mayAcknowledge ? null : "Nobody needs to acknowledge this now.")}
        onClick={() => act(incident, "ack")}>Acknowledge...</Button>
      <Button kind="tall" shortcut={isPhone ? undefined : "s"} refused={refusal("shelve") ?? (incident.is_open ? null : "A closed incident cannot be shelved.")}
        onClick={() => act(incident, "shelve")}>Shelve...</Button>
      {!isPhone && <Button kind={!incident.is_open && !incident.judged ? "main" : "tall"} shortcut="d" refused={refusal("dispose")} onClick={() => act(incident, "dispose")}>What was it?...</Button>}
      <Menu label="More actions" className="button tall" button={isPhone ? <Icon name="dots" /> : <>More <Icon name="down" /></>}>
        {isPhone && <button type="button" onClick={() => act(incident, "dispose")}>What was it?...</button>}
        <button type="button" onClick={() => act(incident, "comment")}>Comment...</button>
        {incident.state === "shelved" && <button type="button" onClick={() => act(incident, "unshelve")}>Bring back...</button>}
        <button type="button" onClick={() => act(incident, "suppress")}>Suppress...</button>
        <button type="button" onClick={() => act(incident, "out-of-service")}>Out of service...</button>
        {(incident.state === "suppressed" || incident.state === "out-of-service") && <button type="button" onClick={() => act(incident, "return")}>Return to service...</button>}
        {isPhone && <a href={here("overview")}>Overview</a>}
        {isPhone && <a href={here("alarms")}>Alarms</a>}
      </Menu>
    </div>
  );
}

async function copy(): Promise<void> {
  await navigator.clipboard.writeText(location.href).then(() => toast("The address is copied."), () => toast("The browser did not let this page copy. The address bar has it."));
}
