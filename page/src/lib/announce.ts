// What a screen reader is told about alarms: at most one message in five seconds, in a flood one summary.
import type { IncidentLine } from "../api/types";
import { digit } from "./codes";

export const EVERY_MS = 5000;
export interface Message { text: string; isUrgent: boolean }

export const describe = (item: IncidentLine): string =>
  `New ${item.priority} alarm: ${item.zone_title}, ${item.name}.`;

/** Collects messages and gives out one at a time. */
export class Announcer {
  private queue: Message[] = [];
  private lastAt = -Infinity;

  add(message: Message): void {
    this.queue.push(message);
  }

  addAlarm(item: IncidentLine): void {
    this.add({ text: describe(item), isUrgent: digit(item.priority) <= 2 });
  }

  /** Return the next message if its time has come; several that wait become one summary. */
  next(now: number): Message | null {
    if (!this.queue.length || now - this.lastAt < EVERY_MS) return null;
    this.lastAt = now;
    const waiting = this.queue.splice(0);
    if (waiting.length === 1) return waiting[0]!;
    const isUrgent = waiting.some((message) => message.isUrgent);
    if (waiting.length <= 2) return { text: waiting.map((message) => message.text).join(" "), isUrgent };
    return { text: `${waiting.length} messages. First: ${waiting[0]!.text}`, isUrgent };
  }
}
