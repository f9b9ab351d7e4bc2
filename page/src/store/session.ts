// Who looks, and what they may do.
import { signal } from "@preact/signals";
import { ApiError, get, post, remove } from "../api/client";
import type { Role, Session } from "../api/types";

export const session = signal<Session | null>(null);
export const needsLogin = signal(false);
export const loggedOutAt = signal<number | null>(null);

export async function readSession(): Promise<void> {
  try {
    session.value = await get<Session>("/session");
    needsLogin.value = false;
    loggedOutAt.value = null;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    loseSession();
  }
}

/** Ask for a login; the page keeps what it shows. */
export function loseSession(): void {
  if (session.value && loggedOutAt.value === null) loggedOutAt.value = Date.now();
  needsLogin.value = true;
}

export async function login(name: string, password: string): Promise<void> {
  await post("/session", { name, password });
  await readSession();
}

export async function logout(): Promise<void> {
  await remove("/session");
  session.value = null;
  needsLogin.value = true;
}

export const may = (what: string): boolean => session.value?.may.includes(what) ?? false;

const NEEDS: Record<string, Role> = {
  ack: "operator", comment: "operator", shelve: "operator", unshelve: "operator", dispose: "operator", found: "operator",
  suppress: "engineer", "out-of-service": "engineer", return: "engineer", reset: "engineer", stop: "engineer",
  inject: "engineer", people: "admin",
};
/** Return why something may not be done, or null if it may. */
export function refusal(what: string): string | null {
  if (!session.value) return "Log in first.";
  return may(what) ? null : `This needs the ${NEEDS[what] ?? "operator"} role; you are ${session.value.role}.`;
}
