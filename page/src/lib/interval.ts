// The 95 % interval of a share (Wilson), which small counts need.
export function wilson(yes: number, of: number): [number, number] {
  if (!of) return [0, 1];
  const z = 1.96, share = yes / of, scale = 1 + (z * z) / of;
  const middle = (share + (z * z) / (2 * of)) / scale;
  const half = (z / scale) * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}
