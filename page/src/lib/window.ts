// Which rows of a long list are drawn.
export const FROM = 200;
export interface Scroll { top: number; height: number }
export interface Range { first: number; last: number; before: number; after: number }

/** Return the rows to draw and the space of those above and below; short lists are drawn whole. */
export function visible(rows: number, rowHeight: number, scroll: Scroll, listTop: number, margin = 10): Range {
  if (rows <= FROM) return { first: 0, last: rows, before: 0, after: 0 };
  const first = Math.min(Math.max(0, rows - 1), Math.max(0, Math.floor((scroll.top - listTop) / rowHeight) - margin));
  const last = Math.min(rows, first + Math.ceil(scroll.height / rowHeight) + 2 * margin);
  return { first, last, before: first * rowHeight, after: (rows - last) * rowHeight };
}
