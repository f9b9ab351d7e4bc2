// Where a signal is outside its band for long enough to be more than noise.
export type Run = [first: number, last: number];
type Values = readonly (number | null)[];
export const READINGS = 5; // the monitor's own evidence uses as many

/** Return runs of at least `atLeast` buckets outside the band; buckets whose band the model cannot say are inside. */
export function outside(mean: Values, low: Values, high: Values, kind: readonly (string | null)[], atLeast = READINGS): Run[] {
  const runs: Run[] = [];
  let first = -1;
  for (let place = 0; place <= mean.length; place++) {
    const value = mean[place] ?? null, least = low[place] ?? null, most = high[place] ?? null;
    const isOut = value !== null && least !== null && most !== null && kind[place] !== "unsure" && (value < least || value > most);
    if (isOut && first < 0) first = place;
    if (!isOut && first >= 0) {
      if (place - first >= atLeast) runs.push([first, place - 1]);
      first = -1;
    }
  }
  return runs;
}

/** Return how many buckets five readings are. */
export const bucketsFor = (step_ms: number, bucket_ms: number): number =>
  Math.max(1, Math.ceil((READINGS * step_ms) / Math.max(bucket_ms, 1)));
