// A part of a screen that is read on its own: when it fails, the rest goes on.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, get } from "../api/client";
import { loseSession } from "./session";

export interface Resource<T> {
  value: T | null;
  problem: { message: string; code: string; at: number } | null;
  isLate: boolean; // nothing has come for five seconds
  again: () => void;
}

const LATE_MS = 5000;
const base = (path: string): string => path.split("?")[0]!;

/** Read an address whenever it changes or `version` does; keep the old answer until the new one is there.
 *
 * While a request for the same thing runs, later ones wait and only the newest is sent: a slow server still answers.
 */
export function useResource<T>(path: string | null, version: unknown = 0): Resource<T> {
  const [kept, setKept] = useState<{ path: string; value: T } | null>(null);
  const [problem, setProblem] = useState<Resource<T>["problem"]>(null);
  const [isLate, setLate] = useState(false);
  const [tries, setTries] = useState(0);
  const wanted = useRef<string | null>(path);
  const running = useRef<{ path: string; hasNewer: boolean } | null>(null);
  const isGone = useRef(false);
  wanted.current = path;

  async function read(): Promise<void> {
    const mine = { path: wanted.current!, hasNewer: false };
    running.current = mine;
    const isCurrent = () => running.current === mine && !isGone.current;
    const late = setTimeout(() => isCurrent() && setLate(true), LATE_MS);
    try {
      const value = await get<T>(mine.path);
      if (isCurrent()) {
        setKept({ path: mine.path, value });
        setProblem(null);
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401) loseSession();
      if (isCurrent()) setProblem({ message: error.message, code: error.problem.error, at: Date.now() });
    } finally {
      clearTimeout(late);
      if (isCurrent()) {
        setLate(false);
        running.current = null;
        if (mine.hasNewer && wanted.current) void read();
      }
    }
  }

  useEffect(() => {
    if (!path) return;
    if (running.current && base(running.current.path) === base(path)) running.current.hasNewer = true;
    else void read();
  }, [path, version, tries]);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);
  const again = useCallback(() => setTries((before) => before + 1), []);
  const isSame = kept !== null && path !== null && base(kept.path) === base(path);
  return { value: isSame ? kept.value : null, problem, isLate, again };
}
