// The site that is looked at: what it consists of, how it is now, and its open incidents.
import { batch, computed, signal } from "@preact/signals";
import { ApiError, get, query } from "../api/client";
import type { IncidentLine, Incidents, SiteAbout, SiteLine, Sites, SiteState, StateFrame, TemplateNode } from "../api/types";
import { decode } from "../lib/levels";
import type { Reading } from "../lib/sentence";
import { ms } from "../lib/format";
import { waiting } from "../lib/order";
import { setServerTime } from "./clock";
import { paint, repaint } from "./painter";
import { temperature } from "./preferences";
import { loseSession } from "./session";

export const sites = signal<SiteLine[]>([]);
export const about = signal<SiteAbout | null>(null);
export const state = signal<SiteState | null>(null);
export const open = signal<IncidentLine[]>([]);
export const scores = signal<Uint8Array>(new Uint8Array());
export const committedAt = signal<number | null>(null); // on the server's clock
export const asOf = signal<number | null>(null); // plant time
export const asOfSlowly = signal<number | null>(null); // the same for ages, which change once in ten seconds
let agedAt = -Infinity;
const AGES_MS = 10_000, FAST_AGES_MS = 1000; // a plant at 60 times real time is ten minutes older after ten seconds
export const changes = signal(0); // counts events after which lists are read anew
export const readFailed = signal<string | null>(null);

export const zone = computed<string | undefined>(() => about.value?.time_zone ?? undefined);
export const reading = computed<Reading>(() => ({ zone: zone.value, temperature: temperature.value }));
export const waits = computed(() => waiting(open.value));
export const nodeOf = computed(() => new Map<string, TemplateNode>(about.value?.template.map((node) => [node.role, node])));
export const zoneTitles = computed(() => new Map(about.value?.zones_info.map((info) => [info.zone, info.title])));

export const zoneTitle = (name: string | null): string => (name === null ? "Building" : (zoneTitles.value.get(name) ?? name));

export async function readSites(): Promise<void> {
  const answer = await get<Sites>("/sites");
  setServerTime(answer.server_time);
  sites.value = answer.items;
}

let chosen = "";
export async function choose(site: string): Promise<void> {
  chosen = site;
  batch(() => {
    about.value = null;
    state.value = null;
    open.value = [];
    asOf.value = null;
    committedAt.value = null;
  });
  await readAll();
}

const path = () => `/sites/${encodeURIComponent(chosen)}`;

async function readAll(): Promise<void> {
  const site = chosen;
  const found = await get<SiteAbout>(path());
  if (site !== chosen) return;
  about.value = found;
  await refresh();
}

/** Read state and open incidents; the same answer changes nothing on the page. */
export async function refresh(): Promise<void> {
  const site = chosen;
  if (!site) return;
  try {
    const [now, list] = await Promise.all([
      get<SiteState>(`${path()}/state`),
      get<Incidents>(`/incidents${query({ site, open: true, limit: 500 })}`),
    ]);
    if (site !== chosen) return;
    if (about.value && now.hash !== about.value.hash) about.value = await get<SiteAbout>(path());
    batch(() => {
      setServerTime(now.server_time);
      state.value = now;
      open.value = list.items;
      asOf.value = now.as_of === null ? null : ms(now.as_of);
      asOfSlowly.value = asOf.peek();
      committedAt.value = now.age_s === null ? null : ms(now.server_time) - now.age_s * 1000;
      readFailed.value = null;
      takeScores(now.scores);
      changes.value = changes.peek() + 1;
    });
    repaint(about.value, scores.value, now.alarms);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) loseSession();
    else readFailed.value = error.message;
  }
}

function takeScores(text: string): void {
  scores.value = decode(text);
}

let lastFrame: { plant: number; wall: number } | null = null;
/** Plant minutes that pass in a second: a simulated plant may run faster than real time. */
export const minutesPerSecond = signal(1 / 60);
function measureSpeed(plant: number | null): void {
  const wall = performance.now();
  if (plant === null) return;
  if (lastFrame && plant > lastFrame.plant && wall > lastFrame.wall) {
    const now = (plant - lastFrame.plant) / 60_000 / ((wall - lastFrame.wall) / 1000);
    minutesPerSecond.value = 0.7 * minutesPerSecond.peek() + 0.3 * now;
  }
  if (!lastFrame || plant !== lastFrame.plant) lastFrame = { plant, wall };
}

/** Take a frame of the stream: scores and clock change, nothing is rendered by it but shapes whose level changed. */
export function takeFrame(frame: StateFrame): void {
  if (frame.site !== chosen) return;
  setServerTime(frame.server_time);
  measureSpeed(frame.as_of === null ? null : ms(frame.as_of));
  batch(() => {
    asOf.value = frame.as_of === null ? null : ms(frame.as_of);
    if (performance.now() - agedAt >= ((about.peek()?.speed ?? 1) > 1 ? FAST_AGES_MS : AGES_MS)) {
      agedAt = performance.now();
      asOfSlowly.value = asOf.peek();
    }
    committedAt.value = ms(frame.server_time);
    takeScores(frame.scores);
  });
  paint(about.peek(), scores.peek());
  const known = state.peek();
  if (known && (known.is_lost !== frame.is_lost || known.is_flood !== frame.is_flood)) refreshSoon();
  if (about.peek() && about.peek()!.hash !== frame.hash) refreshSoon();
}

let timer = 0;
/** Refresh once for a batch of events. */
export function refreshSoon(): void {
  if (timer) return;
  timer = window.setTimeout(() => {
    timer = 0;
    void refresh();
  }, 120);
}
