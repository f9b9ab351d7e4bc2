// The live stream, one for all tabs of a browser: the tab that holds the lock reads it and passes it on.
import { readJson } from "../lib/json";
import { ROOT } from "./client";
import type { EventLine, StateFrame } from "./types";
import { waitSeconds } from "../lib/backoff";

export interface Hello { boot: string; first: number; last: number; server_time: string }
export interface Gap { from: number; to: number }
export interface Link { isUp: boolean; since: number; nextTryAt: number | null; attempt: number }

export interface Listener {
  hello(hello: Hello): void;
  frame(frame: StateFrame): void;
  event(event: EventLine): void;
  gap(gap: Gap): void;
  link(link: Link): void;
  sessionOver(): void;
}

type Message =
  | { type: "hello" | "state" | "journal" | "gap" | "error"; data: string }
  | { type: "link"; link: Link }
  | { type: "ask" }
  | { type: "retry" };

const SILENT_MS = 45_000; // three comments late: the connection is dead although nobody said so
const NAME = "graphghha-stream";

export class Live {
  private channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel(NAME);
  private source: EventSource | null = null;
  private timer = 0;
  private link: Link = { isUp: false, since: Date.now(), nextTryAt: null, attempt: 0 };
  private last = 0;
  private heardAt = 0;
  private isLeader = false;

  constructor(private readonly listener: Listener) {}

  start(): void {
    this.channel?.addEventListener("message", (message: MessageEvent<Message>) => this.receive(message.data));
    setInterval(() => this.watch(), 5000);
    if (!this.channel || !navigator.locks) {
      this.lead();
      return;
    }
    void navigator.locks.request(NAME, () => {
      this.lead();
      return new Promise(() => undefined); // held until the tab closes
    });
    this.channel.postMessage({ type: "ask" } satisfies Message);
  }

  retryNow(): void {
    if (this.isLeader) this.open();
    else this.channel?.postMessage({ type: "retry" } satisfies Message);
  }

  private lead(): void {
    this.isLeader = true;
    this.open();
  }

  private receive(message: Message): void {
    if (message.type === "ask") {
      if (this.isLeader) this.pass({ type: "link", link: this.link });
    } else if (message.type === "retry") {
      if (this.isLeader) this.open();
    } else if (message.type === "link") this.setLink(message.link);
    else this.deliver(message.type, message.data);
  }

  private pass(message: Message): void {
    if (this.isLeader) this.channel?.postMessage(message);
  }

  private open(): void {
    clearTimeout(this.timer);
    this.source?.close();
    const source = new EventSource(`${ROOT}/stream${this.last ? `?after=${this.last}` : ""}`);
    this.source = source;
    this.heardAt = Date.now();
    source.onopen = () => {
      this.heardAt = Date.now();
      this.setLink({ isUp: true, since: Date.now(), nextTryAt: null, attempt: 0 });
    };
    source.onerror = () => this.broken(source);
    for (const type of ["hello", "state", "journal", "gap", "error"] as const)
      source.addEventListener(type, (event) => {
        const data = (event as MessageEvent<string>).data;
        if (typeof data !== "string") return; // the browser's own error event has no data
        this.heardAt = Date.now();
        this.deliver(type, data);
        this.pass({ type, data });
      });
  }

  private broken(source: EventSource): void {
    if (source !== this.source) return;
    source.close();
    this.source = null;
    const attempt = this.link.attempt + 1;
    const wait_ms = waitSeconds(attempt) * 1000;
    this.setLink({
      isUp: false, attempt, nextTryAt: Date.now() + wait_ms, since: this.link.isUp ? Date.now() : this.link.since,
    });
    this.timer = window.setTimeout(() => this.open(), wait_ms);
  }

  private watch(): void {
    if (this.isLeader && this.source && this.link.isUp && Date.now() - this.heardAt > SILENT_MS) this.broken(this.source);
  }

  private setLink(link: Link): void {
    this.link = link;
    this.listener.link(link);
    this.pass({ type: "link", link });
  }

  private deliver(type: "hello" | "state" | "journal" | "gap" | "error", data: string): void {
    const body = readJson(data);
    if (type === "hello") this.listener.hello(body as Hello);
    else if (type === "state") this.listener.frame(body as StateFrame);
    else if (type === "gap") this.listener.gap(body as Gap);
    else if (type === "error") this.listener.sessionOver();
    else {
      const event = body as EventLine;
      this.last = Math.max(this.last, event.number);
      this.listener.event(event);
    }
  }
}
