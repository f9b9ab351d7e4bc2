// The glyph of a priority: shape and digit say how urgent, fill says where in its life.
import type { Priority, State } from "../api/types";
import { digit, glyphFill, letter, stateWord, type Fill } from "../lib/codes";

const SHAPES: Record<Priority, string> = {
  critical: "M7.3 2h9.4L22 7.3v9.4L16.7 22H7.3L2 16.7V7.3z",
  high: "M12 2.2L22.6 21H1.4z",
  medium: "M12 21.8L1.4 3h21.2z",
  low: "M6.5 5.5h11L23 12l-5.5 6.5h-11L1 12z",
};
const DIGIT_Y: Record<Priority, number> = { critical: 16.2, high: 18.4, medium: 14, low: 16.2 };

export function PriorityShape({ priority, fill }: { priority: Priority; fill: Fill }) {
  return (
    <>
      {fill === "ringed" && <path class="ring" d={SHAPES[priority]} />}
      <path class="shape" d={SHAPES[priority]} />
      <text x="12" y={DIGIT_Y[priority]}>{digit(priority)}</text>
    </>
  );
}

export function Glyph({ priority, state, size = 18 }: { priority: Priority; state: State; size?: number }) {
  const fill = glyphFill(state);
  if (!fill) return null;
  return (
    <svg class={`glyph ${fill}`} data-priority={priority} viewBox="0 0 24 24" width={size} height={size} role="img"
      aria-label={`priority ${digit(priority)} ${priority}, ${stateWord(state)}`}>
      <PriorityShape priority={priority} fill={fill} />
    </svg>
  );
}

/** The letter of a state in its box; a normal thing has none. */
export function Letter({ state, title }: { state: State; title?: string }) {
  if (state === "normal") return null;
  return <span class="letter" data-letter={letter(state)} role="img" aria-label={title ?? stateWord(state)}>{letter(state)}</span>;
}
