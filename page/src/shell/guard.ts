// A button never changes its meaning within a second of a press: if what a place shows has just changed, ask for a second press.
const shown = new Map<string, { id: string; since: number }>();
const CALM_MS = 1000;

/** Note what a place shows now. */
export function note(place: string, id: string): void {
  const known = shown.get(place);
  if (!known || known.id !== id) shown.set(place, { id, since: performance.now() });
}

export function guarded(place: string, id: string, act: () => void): void {
  const known = shown.get(place);
  if (known && known.id === id && performance.now() - known.since < CALM_MS) return;
  act();
}
