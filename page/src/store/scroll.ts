// The scroll position, at most once per animation frame.
import { useEffect, useState } from "preact/hooks";
import type { Scroll } from "../lib/window";

const now = (): Scroll => ({ top: scrollY, height: innerHeight });

export function useScroll(): Scroll {
  const [scroll, setScroll] = useState(now);
  useEffect(() => {
    let frame = 0;
    const look = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        setScroll(now());
      });
    };
    addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener("scroll", look);
      removeEventListener("resize", look);
    };
  }, []);
  return scroll;
}
