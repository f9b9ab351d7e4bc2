// The newest events of the journal: a ring, so that the heap stays flat.
import { signal } from "@preact/signals";
import { get, query } from "../api/client";
import type { EventLine, Events } from "../api/types";

export const KEPT = 500;
export const events = signal<EventLine[]>([]); // newest first
export const firstKept = signal(0);
export const lastNumber = signal(0);

export function add(event: EventLine): void {
  lastNumber.value = Math.max(lastNumber.peek(), event.number);
  if (events.peek().some((known) => known.number === event.number)) return;
  events.value = [event, ...events.peek()].sort((a, b) => b.number - a.number).slice(0, KEPT);
}

export async function readNewest(): Promise<void> {
  const answer = await get<Events>(`/events${query({ before: Number.MAX_SAFE_INTEGER, limit: 60 })}`);
  take(answer);
}

export async function readOlder(): Promise<void> {
  const oldest = events.peek().at(-1)?.number ?? Number.MAX_SAFE_INTEGER;
  take(await get<Events>(`/events${query({ before: oldest, limit: 100 })}`));
}

function take(answer: Events): void {
  const known = new Map(events.peek().map((event) => [event.number, event]));
  for (const event of answer.items) known.set(event.number, event);
  events.value = [...known.values()].sort((a, b) => b.number - a.number).slice(0, KEPT);
  firstKept.value = answer.first;
  lastNumber.value = Math.max(lastNumber.peek(), answer.last);
}
