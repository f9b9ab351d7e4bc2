// Joins the stream with the rest of the page: connection, new alarms, gaps, title and tab icon.
import { computed, effect, signal } from "@preact/signals";
import { Live, type Link } from "../api/live";
import { PRIORITIES } from "../lib/codes";
import { setServerTime } from "./clock";
import * as journal from "./journal";
import { announcer } from "./announcements";
import { loseSession, readSession } from "./session";
import { asOf, open, refreshSoon, state, takeFrame, waits } from "./site";
import { say } from "./toasts";

export const link = signal<Link>({ isUp: false, since: Date.now(), nextTryAt: null, attempt: 0 });
/** The page is cut off: it was connected, or tried twice, and is not any more. */
export const isCutOff = computed(() => !link.value.isUp && link.value.attempt > 0);

const READ_AGAIN = /^(alarm|incident|nodes|zone|source|site|stop|operator|journal|model|injection|device)\./;
let boot = "";
let wasDown = false;

const stream = new Live({
  hello(hello) {
    setServerTime(hello.server_time);
    if (hello.last < journal.lastNumber.peek()) return location.reload(); // another journal: nothing shown here is in it
    if (boot && boot !== hello.boot) void readSession();
    boot = hello.boot;
    journal.lastNumber.value = Math.max(journal.lastNumber.peek(), hello.last);
  },
  frame: takeFrame,
  event(event) {
    journal.add(event);
    if (READ_AGAIN.test(event.kind)) refreshSoon();
  },
  gap(gap) {
    say(`Events ${gap.from}–${gap.to} are no longer kept; lists were read anew.`);
    refreshSoon();
    void journal.readNewest();
  },
  link(now) {
    link.value = now;
    if (!now.isUp && now.attempt === 1) announcer.add({ text: "This page is cut off from the server.", isUrgent: true });
    if (!now.isUp) {
      wasDown = true;
      if (now.attempt === 1) void readSession().catch(() => undefined);
    } else if (wasDown) {
      wasDown = false;
      refreshSoon();
    }
  },
  sessionOver: loseSession,
});

export const retryNow = (): void => stream.retryNow();

let known: Set<string> | null = null;
function watchAlarms(): void {
  const waiting = waits.value;
  const ids = new Set(waiting.map((item) => item.id));
  if (known) for (const item of waiting) if (!known.has(item.id) && item.state === "unacknowledged") announcer.addAlarm(item);
  if (open.value.length || state.value) known = ids;
}

function markTab(): void {
  const unacknowledged = waits.value.filter((item) => item.state === "unacknowledged");
  document.title = unacknowledged.length ? `(${unacknowledged.length}) graphghha` : "graphghha";
  const worst = PRIORITIES.findIndex((priority) => unacknowledged.some((item) => item.priority === priority));
  document.getElementById("icon")?.setAttribute("href", `/icon${worst < 0 ? "" : `-${worst + 1}`}.svg`);
}

let wasLost = false;
function watchSource(): void {
  const isLost = state.value?.is_lost ?? false;
  if (isLost && !wasLost) announcer.add({ text: "Nobody is watching: the source is silent.", isUrgent: true });
  wasLost = isLost;
}

export function start(): void {
  stream.start();
  effect(watchAlarms);
  effect(markTab);
  effect(watchSource);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && asOf.peek() !== null) refreshSoon();
  });
}
