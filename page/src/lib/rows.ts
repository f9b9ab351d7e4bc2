// Rows never move under a hand: new ones wait while the list is in use.
export interface Keyed { id: string }

export interface Held<T> { shown: T[]; waiting: number }

/** Return the rows to show and how many new ones wait.
 *
 * Rows that were shown keep their place and take their new content; rows that left the answer are dropped only when
 * the list is not in use.
 */
export function hold<T extends Keyed>(before: readonly T[], answer: readonly T[], inUse: boolean): Held<T> {
  if (!inUse || !before.length) return { shown: [...answer], waiting: 0 };
  const fresh = new Map(answer.map((row) => [row.id, row]));
  const known = new Set(before.map((row) => row.id));
  return {
    shown: before.map((row) => fresh.get(row.id) ?? row),
    waiting: answer.filter((row) => !known.has(row.id)).length,
  };
}
