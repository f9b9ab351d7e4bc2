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

/** Read an address whenever it changes or `version` does; keep the old answer until the new one is there. */
export function useResource<T>(path: string | null, version: unknown = 0): Resource<T> {
  const [kept, setKept] = useState<{ path: string; value: T } | null>(null);
  const [problem, setProblem] = useState<Resource<T>["problem"]>(null);
  const [isLate, setLate] = useState(false);
  const [tries, setTries] = useState(0);
  const running = useRef(0);
  useEffect(() => {
    if (!path) return;
    const mine = ++running.current;
    const late = setTimeout(() => mine === running.current && setLate(true), LATE_MS);
    get<T>(path)
      .then((value) => {
        if (mine !== running.current) return;
        setKept({ path, value });
        setProblem(null);
      })
      .catch((error: unknown) => {
        if (mine !== running.current) return;
        if (!(error instanceof ApiError)) throw error;
        if (error.status === 401) loseSession();
        setProblem({ message: error.message, code: error.problem.error, at: Date.now() });
      })
      .finally(() => {
        clearTimeout(late);
        if (mine === running.current) setLate(false);
      });
    return () => clearTimeout(late);
  }, [path, version, tries]);
  const again = useCallback(() => setTries((before) => before + 1), []);
  const isSame = kept !== null && path !== null && kept.path.split("?")[0] === path.split("?")[0];
  return { value: isSame ? kept.value : null, problem, isLate, again };
}
