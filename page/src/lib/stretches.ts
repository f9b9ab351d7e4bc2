// Runs of equal values.
export interface Stretch { value: number; first: number; length: number }

export function stretches(values: readonly number[]): Stretch[] {
  const found: Stretch[] = [];
  values.forEach((value, place) => {
    const last = found.at(-1);
    if (last && last.value === value) last.length++;
    else found.push({ value, first: place, length: 1 });
  });
  return found;
}
