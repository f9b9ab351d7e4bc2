// Draws scores into shapes that exist already: a frame touches only shapes whose level changed.
import type { SiteAbout } from "../api/types";
import { UNKNOWN, bounds, level, type Bounds } from "../lib/levels";

interface Face { shapes: Element[]; levels: Uint8Array }
const faces = new Map<number, Set<Face>>();

let at: Bounds = { doubt: 13, grey: 72, alarm: 127 };
let size = 0;
let bytes: Uint8Array = new Uint8Array();
let letters: Record<string, string> = {};
let names: (zone: number, node: number) => string = () => "";

/** Register the shapes of a zone in the order of the template, and paint them. Return how to forget them. */
export function register(zone: number, shapes: Element[]): () => void {
  const face: Face = { shapes, levels: new Uint8Array(shapes.length).fill(255) };
  let all = faces.get(zone);
  if (!all) faces.set(zone, (all = new Set()));
  all.add(face);
  paintFace(zone, face);
  paintLetters(zone, face);
  return () => {
    all.delete(face);
  };
}

function paintFace(zone: number, face: Face): number {
  let touched = 0;
  for (let node = 0; node < face.shapes.length; node++) {
    const byte = bytes[zone * size + node];
    const now = byte === undefined ? UNKNOWN : level(byte, at);
    if (now === face.levels[node]) continue;
    face.levels[node] = now;
    face.shapes[node]!.setAttribute("data-level", String(now));
    touched++;
  }
  return touched;
}

function paintLetters(zone: number, face: Face): void {
  face.shapes.forEach((shape, node) => {
    const letter = letters[names(zone, node)];
    if (letter === "F" || letter === "G") shape.setAttribute("data-aside", letter);
    else if (shape.hasAttribute("data-aside")) shape.removeAttribute("data-aside");
  });
}

let pending = 0;
/** Paint the newest scores in the next animation frame; a hidden page paints nothing until it is shown. */
export function paint(about: SiteAbout | null, newest: Uint8Array): void {
  if (!about) return;
  at = bounds(about.levels);
  size = about.template.length;
  bytes = newest;
  if (document.hidden || pending) return;
  pending = requestAnimationFrame(() => {
    pending = 0;
    for (const [zone, all] of faces) for (const face of all) paintFace(zone, face);
  });
}

/** Paint scores and put-aside marks. */
export function repaint(about: SiteAbout | null, newest: Uint8Array, alarms: Record<string, string>): void {
  if (!about) return;
  letters = alarms;
  names = (zone, node) => {
    const role = about.template[node]?.role ?? "";
    const place = about.zones_info[zone]?.zone ?? "";
    return place && about.zones_info.length > 1 ? `${place}/${role}` : `${place}/${role}` in alarms ? `${place}/${role}` : role;
  };
  paint(about, newest);
  for (const [zone, all] of faces) for (const face of all) paintLetters(zone, face);
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) for (const [zone, all] of faces) for (const face of all) paintFace(zone, face);
});
