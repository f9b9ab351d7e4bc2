import assert from "node:assert/strict";
import { test } from "node:test";
import type { Case, IncidentLine, Part, SiteAbout } from "../src/api/types";
import { Announcer } from "../src/lib/announce";
import { askingTitle } from "../src/lib/asking";
import { waitSeconds } from "../src/lib/backoff";
import { byFamily, caseWords, kinds, orderWords, sharedTitle, stem, strength } from "../src/lib/cases";
import { levelRows, readCard } from "../src/lib/card";
import { digit, dispositionWord, glyphFill, letter, stateOfLetter, stateWord } from "../src/lib/codes";
import { commandOf } from "../src/lib/commands";
import { eventWord } from "../src/lib/events";
import { filterQuery, fromAddress } from "../src/lib/filter";
import { convert, drifted, duration, formatNumber, formatP, formatValue, graphP, minutesUntil, moment, percent, range, sayP, zoneName, clock } from "../src/lib/format";
import { wilson } from "../src/lib/interval";
import { readJson } from "../src/lib/json";
import { Keys, isField } from "../src/lib/keys";
import { ALARM, DOUBT, GREY, NORMAL, UNKNOWN, bounds, decode, level } from "../src/lib/levels";
import { nearestPoints } from "../src/lib/nearest";
import { around, step, within } from "../src/lib/neighbourhood";
import { titleOf, waiting, worstFirst } from "../src/lib/order";
import { nodeName, partsOf, zoneAddress, zoneOf, zoneOfAddress } from "../src/lib/places";
import { blocks } from "../src/lib/markdown";
import { bucketsFor, outside } from "../src/lib/outside";
import { link, parse } from "../src/lib/route";
import { hold } from "../src/lib/rows";
import { joinParts, localise, say } from "../src/lib/sentence";
import { stretches } from "../src/lib/stretches";
import { visible } from "../src/lib/window";
import { groups, layoutFor, zoneRange, zonesOfText } from "../src/lib/zones";
import template from "./fixtures/template.json";

const plant = { ...template, main_value: { role: "RM_TEMP", name: "room", settings: [] } } as unknown as SiteAbout;
const incident = (id: string, more: Partial<IncidentLine>): IncidentLine =>
  ({ id, since: "2018-07-10T10:00:00Z", priority: "high", state: "unacknowledged", part_of: null, zone_title: "Zone 1", name: "valve", ...more }) as IncidentLine;

test("digits are priorities and letters are states, and they never mix", () => {
  assert.deepEqual(["critical", "high", "medium", "low"].map((name) => digit(name as never)), [1, 2, 3, 4]);
  assert.equal(letter("unacknowledged"), "B");
  assert.equal(stateOfLetter("G"), "out-of-service");
  assert.equal(glyphFill("returned"), "hollow");
  assert.equal(glyphFill("shelved"), null);
  assert.equal(stateWord("normal", false), "closed");
  assert.equal(dispositionWord("attack", true), "attack (drill)");
});

test("probabilities have two digits and are never certain", () => {
  assert.equal(formatP(1), ">\u00a00.99");
  assert.equal(formatP(0), "<\u00a00.01");
  assert.equal(formatP(0.564), "0.56");
  assert.equal(formatP(null), "unknown");
  assert.equal(sayP(0.56), "p\u00a0=\u00a00.56");
  assert.equal(sayP(0.999), "p\u00a0>\u00a00.99");
  assert.equal(graphP(0.997), ".99+");
  assert.ok(drifted(0.56, 0.92) && !drifted(0.56, 0.6) && !drifted(0.56, null));
});

test("values keep their unit and follow the person's choice", () => {
  assert.equal(formatValue(22.5, "degC", 1, "degC"), "22.5\u00a0°C");
  assert.equal(formatValue(22.5, "degC", 1, "degF"), "72.5\u00a0°F");
  assert.equal(formatValue(0.8, "fraction", 2, "degC"), "80\u00a0%");
  assert.equal(formatValue(1, "mode", 2, "degC", ["off", "auto"], 0), "auto");
  assert.equal(formatNumber(null, "degC", 1, "degC"), "?");
  assert.equal(formatNumber(-0.04, "degC", 1, "degC"), "0.0");
  assert.equal(convert(-40, "degC", 0, "degF").number, -40);
});

test("times are shown in the site's zone, with the day where it is another", () => {
  const at = Date.parse("2018-07-10T17:41:00Z");
  assert.equal(clock(at, "America/Chicago"), "12:41");
  assert.equal(zoneName(at, "America/Chicago"), "CDT");
  assert.equal(zoneName(at, "UTC"), "UTC");
  assert.equal(moment(at, at, "UTC"), "17:41");
  assert.equal(moment(at - 86_400_000, at, "UTC"), "9 Jul 17:41");
  assert.equal(duration(40_000), "40\u00a0s");
  assert.equal(duration(9 * 60_000), "9\u00a0min");
  assert.equal(duration((3 * 60 + 39) * 60_000), "3\u00a0h 39\u00a0min");
  assert.equal(duration((5 * 24 + 20) * 3_600_000), "5\u00a0days 20\u00a0h");
  assert.equal(percent(0.998), "99\u00a0%");
});

test("sentences take the reader's zone and unit", () => {
  const by = { zone: "America/Chicago", temperature: "degF" as const };
  const said = localise("Zone 3: sensor, p = 0.94, since 15:46; reads high (24.3 °C, expected 22.9)", ["2018-07-10T15:46:00Z"], by);
  assert.equal(said, "Zone 3: sensor, p\u00a0=\u00a00.94, since 10:46; reads high (75.7\u00a0°F, expected 73.2)");
  assert.equal(localise("15:46 is not a time here", ["2018-07-10T15:46:00Z"], by), "15:46 is not a time here");
  assert.equal(joinParts(["since ", { time: "2018-07-10T15:46:00Z" }, ": ", { value: 20, unit: "degC", decimals: 0 }], by), "since 10:46: 68\u00a0°F");
});

test("colour begins where the alarm rule begins, and unknown is never normal", () => {
  const at = bounds({ raise_at: 0.5, clear_at: 0.28, votes: 3, window: 5, doubt_at: 0.05, grey_at: 0.28 });
  const byte = (p: number) => Math.floor(254 * p);
  assert.deepEqual([0, 0.04, 0.06, 0.3, 0.499, 0.5, 1].map((p) => level(byte(p), at)), [NORMAL, NORMAL, DOUBT, GREY, GREY, ALARM, ALARM]);
  assert.equal(level(255, at), UNKNOWN);
  for (let p = 0; p <= 1; p += 0.001) if (level(byte(p), at) === ALARM) assert.ok(p >= 0.5 - 1e-9);
  assert.deepEqual([...decode(btoa("\x00\xff\x7f"))], [0, 255, 127]);
});

test("what waits is sorted: unacknowledged before returned, by priority, then newest", () => {
  const items = [
    incident("old", { since: "2018-07-10T09:00:00Z" }), incident("back", { state: "returned", priority: "critical" }),
    incident("new", { since: "2018-07-10T11:00:00Z" }), incident("worst", { priority: "critical", since: "2018-07-10T08:00:00Z" }),
    incident("seen", { state: "acknowledged", priority: "critical" }), incident("part", { part_of: "building" }),
  ];
  assert.deepEqual(waiting(items).map((item) => item.id), ["worst", "new", "old", "back"]);
  assert.equal(worstFirst(items).at(-1)!.id, "seen");
});

test("tries come after 1, 2, 4 .. 30 s", () => assert.deepEqual([1, 2, 3, 4, 5, 6, 20].map(waitSeconds), [1, 2, 4, 8, 16, 30, 30]));

test("addresses survive names with slashes, marks and letters of any kind", () => {
  const made = parse(link("site/ä b", "zones", "zone-01/FCU_CVLV", { hours: "24" }));
  assert.equal(made.site, "site/ä b");
  assert.equal(made.thing, "zone-01/FCU_CVLV");
  assert.equal(made.query.get("hours"), "24");
  assert.equal(parse("#/demo/<script>").screen, "overview");
  assert.equal(parse("#/%E0%A4%A").site, "%E0%A4%A");
});

test("keys work outside fields, without modifiers, and g waits for a second one", () => {
  const keys = new Keys();
  const press = (key: string, more = {}) => keys.take({ key, ctrl: false, alt: false, meta: false, inField: false, time: 0, ...more });
  assert.equal(press("a"), "a");
  assert.equal(press("a", { inField: true }), null);
  assert.equal(press("a", { ctrl: true }), null);
  assert.equal(press("g"), null);
  assert.equal(press("o", { time: 500 }), "g o");
  press("g");
  assert.equal(press("o", { time: 5000 }), "o");
  assert.ok(isField({ tagName: "TEXTAREA" }) && isField({ tagName: "INPUT", type: "search" }) && !isField({ tagName: "INPUT", type: "checkbox" }));
});

test("a screen reader gets one message in five seconds, and a summary of many", () => {
  const announcer = new Announcer();
  announcer.addAlarm(incident("1", {}));
  assert.deepEqual(announcer.next(0), { text: "New high alarm: Zone 1, valve.", isUrgent: true });
  for (let n = 0; n < 10; n++) announcer.addAlarm(incident(String(n), { priority: "low" }));
  assert.equal(announcer.next(4000), null);
  const next = announcer.next(5000)!;
  assert.match(next.text, /^10 messages\. First: New low alarm/);
  assert.equal(next.isUrgent, false);
  assert.equal(announcer.next(20_000), null);
});

test("rows keep their place while the list is in use", () => {
  const before = [{ id: "a", n: 1 }, { id: "b", n: 1 }];
  const answer = [{ id: "c", n: 2 }, { id: "b", n: 2 }, { id: "a", n: 2 }];
  const held = hold(before, answer, true);
  assert.deepEqual(held.shown, [{ id: "a", n: 2 }, { id: "b", n: 2 }]);
  assert.equal(held.waiting, 1);
  assert.deepEqual(hold(before, answer, false).shown, answer);
  assert.deepEqual(hold(before, [], true).shown, before);
});

test("fewer than five readings outside a band are noise", () => {
  const band = [0, 0, 0, 0, 0, 0, 0, 0], top = band.map(() => 1), expected = band.map(() => "expected");
  assert.deepEqual(outside([2, 2, 2, 2, 0, 2, 2, 2], band, top, expected), []);
  assert.deepEqual(outside([0, 2, 2, 2, 2, 2, 0, 0], band, top, expected), [[1, 5]]);
  assert.deepEqual(outside([2, 2, 2, 2, 2, 2, 2, 2], band, top, band.map(() => "unsure")), []);
  assert.equal(bucketsFor(60_000, 60_000), 5);
  assert.equal(bucketsFor(60_000, 600_000), 1);
});

test("long lists draw a window with the space of the rest", () => {
  assert.deepEqual(visible(150, 52, { top: 0, height: 900 }, 0), { first: 0, last: 150, before: 0, after: 0 });
  const range = visible(1000, 50, { top: 5000, height: 900 }, 0);
  assert.equal(range.first, 90);
  assert.equal(range.before + (range.last - range.first) * 50 + range.after, 1000 * 50);
});

test("zones are named as people write them", () => {
  const names = Array.from({ length: 48 }, (_, n) => `zone-${String(n + 1).padStart(2, "0")}`);
  assert.deepEqual(zonesOfText("3, 45-47", names), ["zone-03", "zone-45", "zone-46", "zone-47"]);
  assert.equal(zonesOfText("", names), null);
  assert.equal(zonesOfText("99", names), undefined);
  assert.equal(zonesOfText("47-50", names), undefined);
  assert.deepEqual([12, 48, 480].map(layoutFor), ["tiles", "matrix", "strip"]);
  const zones = names.map((zone, n) => ({ zone, title: `Zone ${n + 1}`, group: n < 24 ? "Floor 1" : "Floor 2" }));
  assert.equal(zoneRange(["zone-45", "zone-46", "zone-48", "zone-02"], zones), "zones 2, 45–46, 48");
  assert.equal(zoneRange(null, zones), "the whole site");
  assert.deepEqual(groups(zones, 12).map((group) => group.places.length), [24, 24]);
  assert.deepEqual(groups(zones.map((zone) => ({ ...zone, group: "" })), 12).map((group) => group.name), ["1–12", "13–24", "25–36", "37–48"]);
});

test("an actuator's command is the setting that sends to it", () => {
  assert.equal(commandOf("FCU_DMPR", plant), "FCU_DMPR_DM");
  assert.equal(commandOf("FCU_CVLV", plant), "FCU_CVLV_DM");
  assert.equal(commandOf("RM_TEMP", plant), null);
  assert.equal(nearestPoints("FCU_CVLV", plant, 4)[1], "FCU_CVLV_DM");
  assert.equal(nearestPoints("FCU_CVLV", plant, 4).length, 4);
});

test("the graph around a root keeps columns, and arrow keys walk it", () => {
  const root = plant.template.findIndex((node) => node.role === "FCU_DMPR");
  const near = within(root, plant.edges, 1);
  assert.ok(near.size > 3 && near.size < within(root, plant.edges, 2).size);
  const shown = around(root, plant, 1);
  assert.equal(new Set(shown.nodes.map((one) => one.x)).size, 3);
  assert.ok(shown.nodes.every((one) => one.y > 0 && one.y < shown.height));
  const narrow = around(root, plant, 1, true);
  assert.ok(narrow.width < shown.width && narrow.nodes.every((one) => one.x < narrow.width) && narrow.height === shown.height);
  const left = step(root, "ArrowLeft", shown.nodes, shown.edges);
  assert.equal(plant.template[left]!.role, "FCU_DMPR_DM");
  assert.equal(step(left, "ArrowLeft", shown.nodes, shown.edges), left);
});

test("a sentence in parts follows the reader's zone and unit", () => {
  const parts: Part[] = ["Zone 3, since ", { time: "2018-07-10T03:10:00Z", on: "2018-07-10T12:00:00Z" }, "; it reads ", { value: 20, unit: "degC", decimals: 1 }, ", expected ", { value: 25, unit: "degC", decimals: 1, is_bare: true }, "; 80% open"];
  assert.equal(say("", parts, [], { zone: "America/Chicago", temperature: "degF" }), "Zone 3, since 9 Jul 22:10; it reads 68.0\u00a0°F, expected 77.0; 80\u00a0% open");
  assert.equal(say("20.0 °C", [], [], { zone: "UTC", temperature: "degF" }), "68.0\u00a0°F");
});

test("cases that differ in strength alone are one choice", () => {
  const of = (name: string, family: string, severity = ""): Case => ({ name, title: "", family, attack_class: "", severity, targets: [], target_names: [], equivalents: [] });
  const cases = [of("FCU_OADMPRStuck_80", "damper"), of("FCU_OADMPRStuck_20", "damper"), of("FCU_Fouling_Cooling_Airside_Minor", "coil_fouling"), of("X", "novel")];
  assert.equal(stem(cases[0]!), "FCU_OADMPRStuck");
  assert.equal(strength(cases[2]!), "minor");
  assert.equal(strength({ ...cases[0]!, severity: "80" }), "80\u00a0%");
  assert.equal(strength({ ...cases[0]!, severity: "+4C" }), "+4\u00a0°C");
  assert.equal(sharedTitle(["damper held at 0 %", "damper held at 30 %"]), "damper held");
  assert.deepEqual(kinds(cases.slice(0, 2)).map((kind) => kind.cases.length), [2]);
  assert.deepEqual(byFamily(cases).map((family) => family.title), ["Damper", "Coils and air path", "Others"]);
});

test("filters live in the address", () => {
  const filter = fromAddress(new URLSearchParams("show=open&state=returned&kind=sensor&q=valve"));
  assert.deepEqual(filterQuery(filter), { show: "open", state: "returned", kind: "sensor", q: "valve" });
  assert.deepEqual(filterQuery(fromAddress(new URLSearchParams(""))), {});
  assert.equal(fromAddress(new URLSearchParams("show=nonsense")).show, "recent");
});

test("words: announced, never annunciated; dialogs name what they are about", () => {
  assert.equal(eventWord("incident.annunciated"), "announced");
  assert.equal(eventWord("model.swapped"), "swapped");
  assert.equal(askingTitle("ack", [{ place: "Zone 10", name: "outdoor-air damper" }]), "Acknowledge: Zone 10, outdoor-air damper");
  assert.equal(askingTitle("dispose", [{ place: "Zone 7", name: "cooling valve" }]), "What was it? Zone 7, cooling valve");
  assert.equal(askingTitle("ack", [{ place: "a", name: "b" }, { place: "c", name: "d" }]), "Acknowledge 2 incidents");
});

test("a report card shows no figure without its count", () => {
  const card = readCard({ card: { events: 320, observable_events: 279, event_recall: 0.982, hit_at_1: 0.928, hit_at_1_strict: 0.846 },
    families: { valve: { observable_events: 59, event_recall: 1, hit_at_1: 1 }, airflow_obstruction: { observable_events: 20, event_recall: 0.95, hit_at_1: 0.4 }, interlock: { observable_events: 0 } } });
  assert.equal(card.figures[0]!.says, "274 of 279 visible ones; 41 more never showed");
  assert.deepEqual(card.families.map((row) => row.name), ["airflow obstruction", "valve"]);
  const zones = { measured: { command: "graphghha bench shift", page: "shift.md" },
    card: { buildings: 31, observable_events: 909, event_recall: 0.8625, event_recall_interval: [0.8386, 0.8834], hit_at_1: 0.7 },
    commissioned: { buildings: 31, observable_events: 909, event_recall: 0.9208, false_alarms_per_day: 0.4167, worst_false_alarms_per_day: 0.8333, worst_false_alarms_per_day_interval: [0.3996, 1.5325] } };
  assert.equal(readCard(zones).figures[0]!.says.replaceAll("\u00a0", " "), "784 of 909 visible ones, 95 %: 84 % – 88 %");
  const after = readCard(zones, true);
  assert.deepEqual(after.figures.map((figure) => figure.value.replaceAll("\u00a0", " ")), ["92 %", "0.42"], "a commissioned model shows what commissioned ones did");
  assert.equal(after.figures[1]!.says.replaceAll("\u00a0", " "), "median of 31 buildings; worst 0.83, 95 %: 0.40 – 1.53");
  assert.deepEqual(after.measured, { command: "graphghha bench shift", page: "shift.md" });
  assert.deepEqual(readCard({}), { measured: null, figures: [], families: [], reliability: null, shift: [] });
});

test("intervals and stretches", () => {
  const [low, high] = wilson(38, 47);
  assert.ok(Math.abs(low - 0.67) < 0.01 && Math.abs(high - 0.9) < 0.01);
  assert.deepEqual(stretches([0, 0, 3, 3, 3, 0]), [{ value: 0, first: 0, length: 2 }, { value: 3, first: 2, length: 3 }, { value: 0, first: 5, length: 1 }]);
});

test("a card's Markdown becomes plain blocks", () => {
  assert.deepEqual(blocks("# A `b`\n\none\ntwo [link](http://x)\n\n| a | b |\n|---|---|\n| 1 | <b> |\n\n- x\n  y\n- z"), [
    { kind: "heading", text: "A b" }, { kind: "text", text: "one two link" }, { kind: "table", head: ["a", "b"], rows: [["1", "<b>"]] }, { kind: "list", items: ["x y", "z"] },
  ]);
});

test("a time of the day is the next one", () => {
  const now = Date.parse("2018-07-10T17:41:00Z");
  assert.equal(minutesUntil("12:45", now, "America/Chicago"), 4);
  assert.equal(minutesUntil("12:40", now, "America/Chicago"), 1439);
  assert.equal(minutesUntil("12:41", now, "America/Chicago"), 1440);
  assert.equal(minutesUntil("00:00", now, "UTC"), 379);
});

test("nodes of a plant without zones are named by their role alone", () => {
  const plain = { zones_info: [{ zone: "", title: "plant", group: "" }] };
  const zoned = { zones_info: [{ zone: "zone-01", title: "Zone 1", group: "" }] };
  assert.deepEqual([nodeName("", "AHU/T1"), nodeName("zone-01", "T1")], ["AHU/T1", "zone-01/T1"]);
  assert.deepEqual([partsOf("AHU/T1", plain), partsOf("zone-01/T1", zoned)], [["", "AHU/T1"], ["zone-01", "T1"]]);
  assert.deepEqual([zoneOf({ zone: null }, plain), zoneOf({ zone: null }, zoned), zoneOf({ zone: "zone-01" }, zoned)], ["", null, "zone-01"]);
  assert.deepEqual([zoneAddress(""), zoneAddress("", "T1"), zoneAddress("zone-01", null), zoneOfAddress("-")], ["-", "-/T1", "zone-01", ""]);
});

test("an incident of the whole building is named once", () => {
  assert.equal(titleOf({ zone_title: "Building", name: "Building" }), "Building");
  assert.equal(titleOf({ zone_title: "Zone 1", name: "fan" }), "Zone 1 · fan");
});

test("a case is said once, with its unit on the same line", () => {
  assert.equal(caseWords("room sensor reads +4C off"), "room sensor reads +4\u00a0°C off");
  const held = { name: "Stuck_80", title: "damper held at 80 %", severity: "80", target_names: ["damper"] } as Case;
  assert.equal(orderWords(held), "damper held at 80\u00a0%");
  assert.equal(orderWords({ ...held, title: "blade forced", target_names: ["outdoor-air damper"] }), "blade forced (outdoor-air damper, 80\u00a0%)");
});

test("the numbers that decide about alarms come in the order in which an alarm passes them", () => {
  const rows = levelRows({ "group.linger": 240, other_number: 1, "group.join_within": 10080, "rule.raise_at": 0.8171, nested: {} });
  assert.deepEqual(rows.map((row) => `${row.words}: ${row.value}`), ["alarm level of P: 0.817", "and within: 10,080 readings", "closes after: 240 quiet readings", "other number: 1"]);
});

test("a range with a minus is said with a word", () => {
  assert.deepEqual([range("19", "21"), range("-1", "2")], ["19–21", "-1 to 2"]);
});

test("marks of direction in names and comments turn nothing round", () => {
  for (const text of ['{"name": ["\u202eabc"]}', '{"name": ["\\u202eabc"]}', '{"name": ["\\u061Cabc"]}']) assert.deepEqual(readJson(text), { name: ["\ufffdabc"] });
  assert.deepEqual(readJson('{"name": "a\\\\u202e"}'), { name: "a\\u202e" }, "a text that only looks like an escape");
  assert.deepEqual(readJson('{"a": 1, "b": "شارع"}'), { a: 1, b: "شارع" });
});
