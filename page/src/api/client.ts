// Requests to the API. Every refusal becomes an ApiError with the server's own words.
import { readJson } from "../lib/json";
import type { Problem } from "./types";

export const ROOT = "/api/v1";

export class ApiError extends Error {
  constructor(readonly status: number, readonly problem: Problem, readonly body: unknown) {
    super(problem.message);
  }
}

async function answer<T>(response: Response): Promise<T> {
  if (response.status === 204) return undefined as T;
  const text = await response.text();
  let body: unknown;
  try {
    body = readJson(text);
  } catch {
    body = { error: "Unreadable", message: `the server answered ${response.status} without JSON` };
  }
  if (!response.ok) throw new ApiError(response.status, body as Problem, body);
  return body as T;
}

async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  let response: Response;
  try {
    response = await fetch(ROOT + path, {
      method,
      credentials: "same-origin",
      headers: body === undefined ? { Accept: "application/json" } : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(20_000),
    });
  } catch {
    throw new ApiError(0, { error: "Unreachable", message: "The server does not answer." }, null);
  }
  return answer<T>(response);
}

export const get = <T>(path: string): Promise<T> => send<T>("GET", path);
export const post = <T>(path: string, body: unknown): Promise<T> => send<T>("POST", path, body);
export const remove = (path: string): Promise<void> => send<void>("DELETE", path);

export type Query = Record<string, string | number | boolean | string[] | null | undefined>;

/** Return `?a=1&b=2`; what is null or empty is left out, lists are repeated. */
export function query(values: Query): string {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (Array.isArray(value)) for (const one of value) parts.append(name, one);
    else if (value !== null && value !== undefined && value !== "") parts.append(name, String(value));
  }
  const text = parts.toString();
  return text ? `?${text}` : "";
}
