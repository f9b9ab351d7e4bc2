// Line icons and the symbols of node shapes, drawn once and used by reference.
const PATHS = {
  down: "M4 6l4 4 4-4", right: "M6 4l4 4-4 4", left: "M10 4L6 8l4 4", check: "M3 8.5l3.2 3.2L13 5",
  warning: "M8 2.5L14.5 13.5h-13zM8 6.5v3.2M8 11.6v.1", person: "M8 8a2.7 2.7 0 1 0 0-5.4A2.7 2.7 0 0 0 8 8zM3 14c0-3 2-4.4 5-4.4s5 1.4 5 4.4",
  sound: "M2.5 6.2v3.6h2.3L8 12.6V3.4L4.8 6.2zM10.3 5.6a3.4 3.4 0 0 1 0 4.8M12.2 3.8a6 6 0 0 1 0 8.4",
  mute: "M2.5 6.2v3.6h2.3L8 12.6V3.4L4.8 6.2zM10.5 6.3l3.4 3.4M13.9 6.3l-3.4 3.4",
  link: "M6.8 9.2l2.4-2.4M5.5 7.5L4 9a2.1 2.1 0 0 0 3 3l1.5-1.5M10.5 8.5L12 7a2.1 2.1 0 0 0-3-3L7.5 5.5",
  print: "M4.5 6V2.5h7V6M4.5 11.5H3V6.5h10v5h-1.5M4.5 9.5h7v4h-7z", search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3l3.4 3.4",
  pause: "M3 3h10v10H3zM6.5 6v4M9.5 6v4", grid: "M3 3h4v4H3zM9 3h4v4H9zM3 9h4v4H3zM9 9h4v4H9z", dots: "M3.5 8h.1M8 8h.1M12.5 8h.1",
  share: "M5.6 7.2l4.8-2.9M5.6 8.8l4.8 2.9M4 9.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6zM12 5.3a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6zM12 14.3a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6z",
  plug: "M5.5 2v3M10.5 2v3M4 5h8v2.5a4 4 0 0 1-8 0zM8 11.5V14", eye: "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4z",
} as const;
export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

export function Logo() {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.8">
      <path d="M9 12h3M14 10.5l3.5-4M14 13.5l3.5 4" />
      <rect x="2" y="8.5" width="7" height="7" rx="1" fill="currentColor" />
      <path d="M13 9l3 3-3 3-3-3z" />
      <circle cx="19" cy="5.5" r="2.6" />
      <circle cx="19" cy="18.5" r="2.6" />
    </svg>
  );
}

/** The four node shapes and the hatching of what is unknown. */
export function Symbols() {
  return (
    <svg class="symbols" aria-hidden="true">
      <defs>
        <pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <line class="hatch-line" x1="0" y1="0" x2="0" y2="4" stroke-width="2.4" />
        </pattern>
        <symbol id="controller" viewBox="-6 -6 12 12" overflow="visible"><rect x="-4.6" y="-4.6" width="9.2" height="9.2" rx="1" vector-effect="non-scaling-stroke" /></symbol>
        <symbol id="actuator" viewBox="-6 -6 12 12" overflow="visible"><path d="M0-6L6 0 0 6-6 0z" vector-effect="non-scaling-stroke" /></symbol>
        <symbol id="equipment" viewBox="-6 -6 12 12" overflow="visible"><rect x="-6" y="-3.4" width="12" height="6.8" rx="3.4" vector-effect="non-scaling-stroke" /></symbol>
        <symbol id="sensor" viewBox="-6 -6 12 12" overflow="visible"><circle r="4.9" vector-effect="non-scaling-stroke" /></symbol>
        <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto-start-reverse">
          <path d="M0 1L8 4 0 7z" fill="context-stroke" />
        </marker>
      </defs>
    </svg>
  );
}
