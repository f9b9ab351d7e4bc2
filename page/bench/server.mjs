// Serves the built page with made-up answers in the shape of the API, to look at states and to measure frames.
// node bench/server.mjs [--port 8500] [--zones 12] [--state alarms|normal|lost|warm|learning|flood|building|stopped|viewer] [--every 1000] [--hostile]
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const option = (name, other) => (process.argv.includes(`--${name}`) ? process.argv[process.argv.indexOf(`--${name}`) + 1] : other);
const port = Number(option("port", 8500)), count = Number(option("zones", 12)), every = Number(option("every", 1000)), mode = option("state", "alarms");
const isHostile = process.argv.includes("--hostile");
const { template, edges } = JSON.parse(readFileSync(path.join(here, "../test/fixtures/template.json"), "utf8"));
const report = JSON.parse(readFileSync(path.join(here, "../../docs/results/deploy/report.json"), "utf8"));
const START = Date.parse("2018-07-10T17:41:00Z"), MINUTE = 60_000;
let now = START, number = 118;
const iso = (at) => new Date(at).toISOString().replace(".000Z", "Z");
const zoneId = (n) => `zone-${String(n).padStart(2, "0")}`;
const node = (role) => template.find((one) => one.role === role);
const zones = Array.from({ length: count }, (_, n) => ({
  zone: zoneId(n + 1), title: isHostile && n === 1 ? "<img src=x onerror=alert(1)> a name of sixty characters or so, really" : `Zone ${n + 1}`,
  group: count > 150 ? ["Library", "Physics", "Chemistry", "Main hall", "Clinic", "Dormitory A", "Dormitory B", "Sports"][Math.floor(n / 60)] : count > 24 ? `Floor ${Math.floor(n / 12) + 1}` : "",
}));
const levels = { raise_at: 0.5, clear_at: 0.28, votes: 3, window: 5, doubt_at: 0.05, grey_at: 0.28 };
const line = { name: "demo", plant: "fcu", title: "Four-pipe fan-coil unit", model: "fcu@036b20bd339e", zones: count, nodes: count * 32, points: count * 29, step_s: 60,
  is_simulated: count <= 12, as_of: iso(now), is_lost: mode === "lost", open_incidents: 4 };
const about = { ...line, hash: "c0ffee", zones_info: zones, template, edges, levels, main_value: { role: "RM_TEMP", name: "room temperature", settings: ["RMHTGSPT", "RMCLGSPT"] },
  judges_zones: true, stale_after_s: 300, lost_after_s: 600, time_zone: "America/Chicago", speed: null, seed: 7 };

const evidence = (role, text, value, expected, low, high) =>
  ({ role, name: node(role).name, meaning: node(role).meaning, value, expected, normal: [low, high], unit: node(role).unit, deviation: 12, is_unusual: true, text });
const PLAN = [
  [1, "FCU_CVLV", "unacknowledged", 0.996, 11, 9, "valve command is low (0%, expected 72%), room reads warm (22.3 °C, expected 21.3)"],
  [7, "FCU_CVLV", "returned", 0.98, 203, 201, "discharge air humidity is high (89 %RH, expected 62)"],
  [10, "FCU_DMPR", "acknowledged", 0.997, 115, 113, "it reads more open (80%, expected 32%)"],
  [5, "Air_path", "acknowledged", 0.56, 41, 39, "discharge air humidity is high (100 %RH, expected 87)"],
];
const CLOSED = [[3, "RM_TEMP", 0.94, 160, "attack"], [8, "FCU_HVLV", 0.97, 1200, "fault"], [2, "RMHTGSPT", 0.995, 1400, "maintenance"], [6, "FCU_RAT", 0.58, 2300, "false"], [4, "Air_path", 0.61, 2500, null]];
const incidents = new Map();
const told = (by, text, at) => ({ by, text, time: iso(at), wall_time: null });
function incident(id, zone, role, state, p, sinceMin, annMin, why, more = {}) {
  const one = node(role), since = START - sinceMin * MINUTE;
  const title = zones[zone - 1]?.title ?? `Zone ${zone}`;
  const body = {
    id, site: "demo", zone: zoneId(zone), zone_title: title, root: role, name: one.name, kind: one.kind, attack_class: one.kind === "equipment" ? "actuator" : one.kind,
    text: `${title}: ${one.name} is anomalous (${one.kind}), p ${p > 0.99 ? "> 0.99" : `= ${p}`}, since ${iso(since).slice(11, 16)}; ${why}`, evidence: why, state, priority: one.priority, p,
    p_now: role === "Air_path" ? 0.92 : p, since: iso(since), time: iso(since + 2 * MINUTE), announced: iso(START - annMin * MINUTE), cleared: null, closed: null, is_open: true, is_drill: false,
    last_note: state === "acknowledged" ? told("m.keller", role === "FCU_DMPR" ? "Tech on the way, damper in hand" : "Filter change booked for 15:00", START - (annMin - 4) * MINUTE) : null, judged: null, part_of: null, version: 3,
    action: "Put the damper in hand and compare blade position with the command.", equivalents: role === "FCU_CVLV" ? ["cooling valve command"] : [], suspects: [one.name], coverage: null, alarms: [role],
    signals: [evidence("FCU_DMPR", "damper reads more open (80%)", 0.8, 0.32, 0.31, 0.32), evidence("FCU_OA_CFM", "outdoor air flow is high (154)", 154, 20, 19, 21), evidence("FCU_MAT", "mixed air temperature is high (24.3 °C)", 24.3, 22.9, 22.4, 23.4), evidence("FCU_RA_HUMD", "return air humidity is low (59)", 59, 63, 60, 65)],
    edges: [{ source: "FCU_DMPR_DM", target: "FCU_DMPR", relation: "comm", deviation: 9 }],
    hypotheses: [
      { kind: "equipment fault", rank: "fits best", reasons: [], for: ["position and flow moved together while the command stayed: a stuck, slipped or forced blade"], against: ["it moved 50 points within one minute, a worn blade drifts"] },
      { kind: "configuration or maintenance", rank: "possible", reasons: [], for: [], against: ["no planned stop or note is recorded for this zone"] },
      { kind: "manipulation", rank: "cannot be excluded", reasons: [], for: ["command and position disagree"], against: ["one node, one zone; no setpoint moved"] },
    ],
    techniques: [{ id: "T1692.001", name: "Unauthorized Message: Command Message" }, { id: "T0836", name: "Modify Parameter" }, { id: "T0831", name: "Manipulation of Control" }], follows: null, first_doubt: iso(since - MINUTE),
    charts: ["FCU_DMPR", "FCU_OA_CFM", "FCU_MAT", "RM_TEMP", "FCU_RA_HUMD"].map((name) => `${zoneId(zone)}/${name}`),
    story: [{ number: 101, time: iso(since - MINUTE), wall_time: null, mark: "fact", by: null, text: "P first rose above 0.05" }, { number: 102, time: iso(since), wall_time: null, mark: "onset", by: null, text: "onset: first reading at alarm level, P 0.96" },
      { number: 103, time: iso(START - annMin * MINUTE), wall_time: null, mark: "announced", by: null, text: "announced: third of five readings, P > 0.99" }], members: [], body: {}, ...more,
  };
  incidents.set(id, body);
  return body;
}
if (mode !== "normal" && mode !== "warm" && mode !== "learning") {
  for (const [zone, role, state, p, since, ann, why] of PLAN) if (zone <= count) incident(`demo-20180710-${zone}`, zone, role, state, p, since, ann, why);
  for (const [zone, role, p, since, disposition] of CLOSED)
    if (zone <= count) incident(`demo-old-${zone}`, zone, role, "normal", p, since, since - 2, "is high (20.5 °C, expected 19.9)",
      { is_open: false, closed: iso(START - (since - 60) * MINUTE), p_now: null, is_drill: disposition === "attack", judged: disposition && { disposition, by: "a.roy", reason: "", time: iso(START - (since - 90) * MINUTE) }, last_note: told("a.roy", "", START - (since - 5) * MINUTE) });
  if (mode === "flood") for (let n = 2; n <= Math.min(count, 12); n++) if (![1, 5, 7, 10].includes(n)) incident(`demo-flood-${n}`, n, n % 2 ? "RM_TEMP" : "FCU_CVLV", "unacknowledged", 0.9, 5, 4, "room reads warm (25.1 °C, expected 21.3)");
  if (mode === "building") {
    const parts = [2, 3, 4, 6, 8].map((n) => incident(`demo-part-${n}`, n, "FCU_CVLV", "unacknowledged", 0.9, 5, 4, "room reads warm (25.1 °C, expected 21.3)", { part_of: "demo-building" }));
    incident("demo-building", 1, "FCU_CVLV", "unacknowledged", 0.97, 5, 3, "", { zone: null, zone_title: "Building", root: "", name: "Building", kind: "equipment", text: "Building: 5 of 12 zones are anomalous within minutes (actuator), p = 0.97, since 17:36; likeliest: equipment fault", evidence: "",
      signals: [], edges: [], charts: [], equivalents: [], suspects: [], members: parts.map((one) => one.id), alarms: parts.map((one) => `${one.zone}/${one.root}`), action: "Look at what the zones share first: chilled water, air handler, schedule." });
  }
  if (count >= 48) { incident("demo-31", 31, "FCU_CVLV", "unacknowledged", 0.98, 30, 28, "discharge air humidity is high (91 %RH, expected 70)"); incident("demo-44", 44, "Cooling_coil", "unacknowledged", 0.51, 43, 41, "discharge air flow is low (122 L/s, expected 152)"); }
}
const scores = new Uint8Array(count * 32);
function score() {
  for (let n = 0; n < scores.length; n++) scores[n] = mode === "lost" || mode === "warm" ? 255 : Math.random() < 0.012 ? 20 + Math.random() * 60 : 1;
  for (const one of incidents.values()) if (one.is_open && one.zone && one.state !== "returned") scores[(Number(one.zone.slice(5)) - 1) * 32 + template.findIndex((t) => t.role === one.root)] = Math.floor(254 * one.p_now);
  if (count >= 12 && mode === "alarms") for (const role of ["FCU_CLG_GPM", "FCU_CLG_EWT", "FCU_CLG_RWT"]) scores[8 * 32 + template.findIndex((t) => t.role === role)] = 255;
}
score();
const b64 = () => Buffer.from(scores).toString("base64");
const open = () => [...incidents.values()].filter((one) => one.is_open);
let stops = count >= 48 ? [{ zones: ["zone-45", "zone-46", "zone-47", "zone-48"], since: iso(START - 3e6), until: iso(START + 8e6), reason: "filter change", by: "j.ortiz", recorded: 2, version: 1 }] : [];
function state() {
  const stale = mode === "alarms" && count >= 12 ? ["FCU_CLG_GPM", "FCU_CLG_EWT", "FCU_CLG_RWT"].map((role) => ({ point: `zone-09/${role}`, name: node(role).name, since: iso(START - 8 * MINUTE), age_s: 480 })) : [];
  const byZone = new Map(open().map((one) => [one.zone, one]));
  const isUnknown = mode === "lost" || mode === "warm";
  const alarms = Object.fromEntries(open().map((one) => [`${one.zone}/${one.root}`, { unacknowledged: "B", acknowledged: "C", returned: "D" }[one.state]]));
  for (const stop of stops) for (const zone of stop.zones ?? []) for (const t of template) alarms[`${zone}/${t.role}`] = "F";
  const list = zones.map(({ zone }) => {
    const one = byZone.get(zone);
    return { zone, state: one?.state ?? (isUnknown ? "unknown" : stops.some((stop) => stop.zones?.includes(zone)) ? "suppressed" : zone === "zone-11" && mode === "alarms" ? "shelved" : zone === "zone-09" && stale.length ? "unknown" : "normal"),
      unknown: isUnknown ? 32 : zone === "zone-09" ? stale.length : 0, priority: one?.priority ?? null, incident: one?.id ?? null, root: one?.name ?? null, since: one?.since ?? null, main: isUnknown ? null : 22.3, settings: [20, 22.2] };
  });
  const waiting = { critical: 0, high: 0, medium: 0, low: 0 };
  for (const one of open()) if (one.state === "unacknowledged" || one.state === "returned") waiting[one.priority]++;
  return { site: "demo", hash: "c0ffee", number, as_of: iso(now), age_s: 2, server_time: new Date().toISOString(), monitor: mode === "stopped" ? "stopped" : "running", is_lost: mode === "lost", is_warm: mode !== "warm", warm_at: iso(START + 9e6), is_flood: mode === "flood",
    scores: b64(), alarms, zones: list, waiting, acknowledged: open().filter((one) => one.state === "acknowledged").length, last_closed: iso(START - 31 * MINUTE), stale,
    put_aside: mode === "alarms" && count >= 12 ? [{ node: "zone-11/FCU_WAT", name: "fan power", zone: "zone-11", state: "shelved", until: iso(START + 219 * MINUTE), reason: "motor swap, WO 4411", by: "m.keller", version: 2 }] : [],
    planned_stops: stops, counters: { nodes: count * 32, scored: isUnknown ? 0 : count * 32 - stale.length, unknown: isUnknown ? count * 32 : stale.length, put_aside: 0, points: count * 29, fresh: isUnknown ? 0 : count * 29 - stale.length, announced_10_min: 1, announced_day: incidents.size, rejected: {} },
    learning: mode === "learning" ? "Learning what is normal here. Day 6 of 14. Until then the shipped model judges, more coarsely: expect fewer finds. 3 standing faults, listed instead of alarmed." : null,
    lost: mode === "lost" ? { since: iso(START - 14 * MINUTE), reason: "mqtts://broker.example/north: connection refused,", tries: 28, next_try_s: 30 } : null, flood_since: mode === "flood" ? iso(START - 5 * MINUTE) : null };
}
const wave = (at, n) => Math.sin(at / 1.7e6 + n) * 0.5 + (Math.sin(at * 0.013 + n) * 0.5) * 0.15;
function times(query) {
  const to = query.get("to") ? Date.parse(query.get("to")) : now, from = query.get("from") ? Date.parse(query.get("from")) : to - 3 * 36e5;
  const bucket = Math.max(MINUTE, Math.ceil((to - from) / Number(query.get("width") ?? 600) / MINUTE) * MINUTE), all = [];
  for (let at = Math.floor(from / bucket) * bucket; at <= to; at += bucket) all.push(at);
  return { site: "demo", start: iso(from), end: iso(to), bucket_ms: bucket, times: all };
}
function history(query) {
  const base = times(query);
  const series = query.getAll("point").map((point, n) => {
    const role = point.split("/").at(-1), t = node(role), owner = open().find((one) => point.startsWith(one.zone));
    const span = Math.min(t.high - t.low, t.unit === "degC" ? 3 : t.high - t.low), level = t.unit === "degC" ? 22 : t.low + span * (t.unit === "fraction" ? 0.3 : 0.1);
    const onset = owner ? Date.parse(owner.since) : Infinity;
    const mean = base.times.map((at) => level + wave(at, n) * span * 0.02 + (at >= onset - MINUTE && ["FCU_DMPR", "FCU_OA_CFM", "FCU_CVLV", "RM_TEMP"].includes(role) ? span * 0.4 : 0));
    const expected = base.times.map((at) => level + wave(at, n) * span * 0.02);
    return { point, name: t.name, unit: t.unit, decimals: t.decimals, states: t.states, is_setting: t.is_setting, least: mean, mean, most: mean, expected, low: expected.map((v) => v - span * 0.04), high: expected.map((v, i) => v + span * (base.times[i] > onset ? 0.1 : 0.04)),
      kind: base.times.map((at) => (at > onset + 40 * MINUTE ? "unsure" : at > onset ? "affected" : "expected")) };
  });
  return { ...base, series };
}
function scoreHistory(query) {
  const base = times(query), names = query.getAll("node").length ? query.getAll("node") : query.getAll("zone").length ? query.getAll("zone") : zones.map((one) => one.zone);
  const series = names.map((name, n) => {
    const owner = [...incidents.values()].find((one) => name === `${one.zone}/${one.root}` || name === one.zone);
    return { name, p: base.times.map((at) => (owner && at >= Date.parse(owner.since) && at < (owner.closed ? Date.parse(owner.closed) : Infinity) ? owner.p : Math.max(0, wave(at, n) * 0.04))) };
  });
  return { ...base, series, incidents: [...incidents.values()].map(({ id, zone, since, announced, closed, priority }) => ({ id, zone, since, announced, closed, priority })) };
}
function zoneNow(zone) {
  const z = zones.findIndex((one) => one.zone === zone);
  return { site: "demo", zone, as_of: iso(now), state: state().zones[z].state, incidents: [], nodes: template.map((t, n) => {
    const byte = scores[z * 32 + n], owner = open().find((one) => one.zone === zone && one.root === t.role), value = t.signal ? (t.unit === "degC" ? 22.3 : t.low + (t.high - t.low) * 0.3) : null;
    return { node: `${zone}/${t.role}`, role: t.role, name: t.name, kind: t.kind, value, text: value === null ? null : `${value.toFixed(1)}`, unit: t.unit, is_fresh: byte !== 255, read_at: iso(now), expected: value === null ? null : value * (owner ? 0.5 : 1), normal: value === null ? null : [value * 0.9, value * 1.1], disagrees: !!owner && !!t.signal, p: byte === 255 ? null : byte / 254, state: owner?.state ?? "normal", version: 3 };
  }) };
}
const kpis = { site: "demo", start: iso(START - 30 * 864e5), end: iso(START), days: 30, announced: 52, real: 38, false: 9, not_judged: 5, by_disposition: { fault: 26, maintenance: 9, attack: 3 },
  rows: [["average", "Announcements in 10 min, average", 0.01, "", "≤ 1, manageable ≤ 2", true, "", 1, 2], ["peak", "Most in any 10 min", 4, "", "≤ 10", true, "", 10, 14], ["flood", "Time in flood", 0, "%", "< 1 %", true, "", 1, 2], ["chattering", "Chattering alarms", 1, "", "0", false, "zone 7 valve, 2 Jul", 0, 3], ["stale", "Stale alarms (over 24 h)", 2, "", "< 5", true, "", 5, 8], ["worst", "Ten worst nodes' share", 38, "%", "< 5 %", false, "see list", 5, 60], ["high", "Priority high", 42, "%", "about 5 %", false, "all valves are high", 5, 60], ["medium", "Priority medium", 46, "%", "about 15 %", false, "same cause", 15, 60]]
    .map(([key, title, value, unit, target, is_within, why, number_of_target, scale]) => ({ key, title, value, unit, target, is_within, why, number_of_target, scale })),
  honesty: [{ low: 0.5, high: 0.7, judged: 14, real: 8 }, { low: 0.7, high: 0.9, judged: 11, real: 9 }, { low: 0.9, high: 1, judged: 22, real: 21 }],
  worst_nodes: [{ name: "outdoor-air damper", zone_title: "Zone 22", count: 6, by_disposition: { fault: 5 } }, { name: "cooling valve", zone_title: "Zone 7", count: 4, by_disposition: { fault: 2, false: 2 } }], figures: {},
  weeks: [[13, 4, 0], [10, 2, 0], [8, 2, 0], [11, 1, 2], [0, 0, 3]].map(([real, wrong, not_judged], n) => ({ start: iso(START - (29 - 7 * n) * 864e5), real, false: wrong, not_judged })), right_node: { yes: 33, of: 38 }, time_to_acknowledge_min: { median: 6, p90: 31 }, found_by_people: [] };
const injections = [];
const cases = ["FCU_OADMPRStuck_0", "FCU_OADMPRStuck_50", "FCU_OADMPRStuck_80", "FCU_VLVStuck_Cooling_100", "SensorBias_RMTemp_+4C", "CommandOffset_Damper_+30", "FCU_Control_CoolingReverse", "FCU_Fouling_Cooling_Airside_Severe", "Stealthy_RM_TEMP_Drift"].map((name, n) => ({ name, title: ["Outdoor-air damper held", "Outdoor-air damper held", "Outdoor-air damper held", "Cooling valve held", "Room sensor offset", "Damper command offset", "Cooling loop reversed", "Cooling coil fins dirty", "Room sensor drifts"][n], family: ["damper", "damper", "damper", "valve", "sensor_bias", "command_offset", "controller", "coil_fouling", "stealthy"][n], attack_class: "actuator", severity: ["0 %", "50 %", "80 %", "", "", "", "", "severe", ""][n], targets: ["FCU_DMPR"], target_names: ["outdoor-air damper"], equivalents: [] }));
const events = Array.from({ length: 60 }, (_, n) => ({ number: n + 59, site: "demo", time: iso(START - (60 - n) * 3 * MINUTE), kind: ["alarm.raised", "incident.annunciated", "alarm.cleared", "operator.command", "operator.refused", "nodes.stale"][n % 6], by: null, priority: null, text: ["zone-01/FCU_CVLV", "Zone 12 cooling coil, p = 0.66", "zone-07/FCU_CVLV", "m.keller acknowledged incident 5 “valve isolated, tech called”", "a.roy: acknowledge incident 1. It had changed: version 3 was looked at, now it is 7", "Zone 9: cooling water flow and 2 more"][n % 6], body: {} }));
const clients = new Set();
const say = (type, body, id) => { const text = `${id ? `id: ${id}\n` : ""}event: ${type}\ndata: ${JSON.stringify(body)}\n\n`; for (const client of clients) client.write(text); };
function note(kind, text, by = null) { const event = { number: ++number, site: "demo", time: iso(now), kind, by, priority: null, text, body: {} }; events.push(event); say("journal", event, number); return number; }
setInterval(() => {
  now += MINUTE;
  score();
  say("state", { site: "demo", hash: "c0ffee", as_of: iso(now), number, server_time: new Date().toISOString(), scores: b64(), is_lost: mode === "lost", is_flood: mode === "flood" });
}, every);
const role = mode === "viewer" ? "viewer" : "admin";
const session = () => ({ person: role === "viewer" ? "p.guest" : "m.keller", role, may: role === "viewer" ? [] : ["ack", "comment", "shelve", "unshelve", "dispose", "suppress", "out-of-service", "return", "reset", "stop", "inject", "people"], sites: null, kind: "local", expires: null, server_time: new Date().toISOString(), version: "0", boot: "b" });
function command(order) {
  return order.targets.map(({ id, version }) => {
    const one = incidents.get(id);
    if (!one) return { id, outcome: "done", error: null, message: null, version: version + 1, state: "suppressed", number: note("operator.command", `m.keller: ${order.verb} ${id}`), changes: [] };
    if (one.version !== version) return { id, outcome: "refused", error: "ConflictError", message: "changed", version: one.version, state: one.state, number: note("operator.refused", `m.keller: ${order.verb} ${id}`), changes: one.story.slice(-2) };
    one.version++;
    if (order.verb === "ack") { if (one.state === "returned") Object.assign(one, { is_open: false, state: "normal", closed: iso(now) }); else one.state = "acknowledged"; }
    if (order.verb === "shelve") one.state = "shelved";
    if (order.verb === "dispose") one.judged = { disposition: order.disposition, by: "m.keller", reason: order.comment ?? "", time: iso(now) };
    one.last_note = told("m.keller", order.comment ?? "", now);
    return { id, outcome: "done", error: null, message: null, version: one.version, state: one.state, number: note("operator.command", `m.keller: ${order.verb} ${id}`), changes: [] };
  });
}
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
function answer(method, parts, query, body) {
  const [what, , thing] = parts;
  if (what === "session") return session();
  if (what === "sites" && parts.length === 1) return { items: [line], server_time: new Date().toISOString() };
  if (what === "sites" && parts.length === 2) return about;
  if (what === "sites")
    switch (thing) {
      case "state": return state();
      case "zones": return zoneNow(parts[3]);
      case "history": return history(query);
      case "scores": return scoreHistory(query);
      case "kpis": return kpis;
      case "model": return { site: "demo", model: "fcu@036b20bd339e", signed_by: null, levels, card: "# fcu\n\nIt learnt from simulated fan-coil units.\nWhat shows in no reading is not found.", figures: report, loaded: iso(START - 864e5), changes: [] };
      case "points": return { site: "demo", as_of: iso(now), rejected: {}, items: zones.slice(0, 4).flatMap(({ zone }) => template.filter((t) => t.signal).map((t, n) => ({ point: `${zone}/${t.role}`, name: t.name, unit: t.unit, low: t.low, high: t.high, value: t.low + 1, read_at: iso(now), age_s: 20, share_fresh: 1, least: t.low, most: t.low + 2, note: n === 7 ? "reads like degF" : "" }))) };
      case "cases": return { site: "demo", items: cases };
      case "stops": if (method === "POST") { stops = [...stops, { zones: body.zones, since: iso(now), until: iso(now + body.minutes * MINUTE), reason: body.reason, by: "m.keller", recorded: 0, version: 9 }]; note("stop.begun", "planned stop"); return stops.at(-1); } stops = []; note("stop.ended", "planned stop ended"); return null;
      case "injections":
        if (method === "POST") { const made = { id: `i${injections.length + 1}`, case: body.case, title: cases.find((one) => one.name === body.case).title, zone: body.zone, targets: ["FCU_DMPR"], start: iso(now - 9 * MINUTE), end: iso(now + 7e6), by: "m.keller", comment: "", state: "running", found: { incident: "demo-20180710-10", first_doubt: iso(now - 7 * MINUTE), since: iso(now - 4 * MINUTE), announced: iso(now - 2 * MINUTE), minutes: 7, hit: "that very node" } }; injections.push(made); note("injection.begun", made.title); return made; }
        return { site: "demo", as_of: iso(now), items: injections, score: { attacks: injections.length, found: injections.length, that_very_node: injections.length, cannot_be_told_apart: 0, another: 0, median_minutes: 5, false_alarms: 0 }, says: "The simulator knows the truth; the detector sees readings only.", can_start_over: true };
    }
  if (what === "incidents" && parts.length === 2) return incidents.get(parts[1]);
  if (what === "incidents") {
    const all = [...incidents.values()].sort((a, b) => (a.since < b.since ? 1 : -1));
    const items = all.filter((one) => (!query.get("open") || String(one.is_open) === query.get("open")) && (!query.get("judged") || String(!!one.judged) === query.get("judged")) && (!query.get("zone") || one.zone === query.get("zone")) && (!query.getAll("state").length || query.getAll("state").includes(one.state)) && (!query.get("q") || one.text.includes(query.get("q"))));
    return { items: items.slice(0, Number(query.get("limit") ?? 50)), total: items.length, unfiltered: all.length, next: null, number };
  }
  if (what === "events") return { items: events.slice(-60), first: 59, last: number, next: null };
  if (what === "commands") return { results: command(body) };
  return undefined;
}
createServer(async (request, response) => {
  const url = new URL(request.url, "http://x");
  response.setHeader("Content-Security-Policy", CSP);
  if (url.pathname === "/api/v1/stream") {
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    response.write(`event: hello\ndata: ${JSON.stringify({ boot: "b", first: 1, last: number, server_time: new Date().toISOString() })}\n\n`);
    clients.add(response);
    request.on("close", () => clients.delete(response));
    return;
  }
  if (url.pathname === "/test/new") {
    incident(`demo-new-${number}`, 12, "Cooling_coil", "unacknowledged", 0.66, (START - now) / MINUTE + 2, (START - now) / MINUTE, "discharge air flow is low (122 L/s, expected 152)");
    note("incident.annunciated", "Zone 12 cooling coil, p = 0.66");
    return response.end("ok");
  }
  if (url.pathname === "/test/touch") { for (const one of incidents.values()) one.version++; return response.end("ok"); }
  if (url.pathname.startsWith("/api/v1/")) {
    let text = "";
    for await (const part of request) text += part;
    const found = answer(request.method, url.pathname.slice(8).split("/").map(decodeURIComponent), url.searchParams, text ? JSON.parse(text) : null);
    const refused = found?.results?.every((one) => one.outcome === "refused");
    if (found === null) return response.writeHead(204).end();
    response.writeHead(found === undefined ? 404 : refused ? 409 : 200, { "Content-Type": "application/json" });
    return response.end(JSON.stringify(found ?? { error: "NotFoundError", message: "there is nothing here" }));
  }
  const name = url.pathname === "/" ? "index.html" : path.basename(url.pathname);
  try {
    const data = readFileSync(path.join(here, "../../src/graphghha/web/static", name));
    response.writeHead(200, { "Content-Type": TYPES[path.extname(name)] ?? "application/octet-stream" }).end(data);
  } catch {
    response.writeHead(404).end();
  }
}).listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/`));
