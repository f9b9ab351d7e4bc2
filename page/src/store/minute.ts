// Reads history again when plant time has gone on by a minute, at most once in five seconds.
import { useEffect, useRef, useState } from "preact/hooks";
import { asOf } from "./site";

const EVERY_MS = 5000;

export function useMinute(): number {
  const [minute, setMinute] = useState(0);
  const last = useRef({ minute: 0, at: 0 });
  useEffect(() => {
    const look = () => {
      const now = Math.floor((asOf.peek() ?? 0) / 60_000);
      if (document.hidden || now === last.current.minute || performance.now() - last.current.at < EVERY_MS) return;
      last.current = { minute: now, at: performance.now() };
      setMinute(now);
    };
    look();
    const timer = setInterval(look, 1000);
    return () => clearInterval(timer);
  }, []);
  return minute;
}
