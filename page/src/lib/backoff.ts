// When to try again after the stream broke: after 1, 2, 4 .. 30 s.
export const LONGEST_S = 30;
export const waitSeconds = (attempt: number): number => Math.min(LONGEST_S, 2 ** Math.max(0, attempt - 1));
