// Colours of the theme in force, for canvases.
const cache = new Map<string, string>();
let turn = -1;

/** Return a colour of the style sheet; `turns` counts changes of the theme. */
export function colour(name: string, turns: number): string {
  if (turns !== turn) {
    cache.clear();
    turn = turns;
  }
  let value = cache.get(name);
  if (value === undefined) cache.set(name, (value = getComputedStyle(document.documentElement).getPropertyValue(name).trim()));
  return value;
}
