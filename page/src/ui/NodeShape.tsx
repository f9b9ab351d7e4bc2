// One node as a shape: kind by form, level by shade.
import type { Kind, Priority } from "../api/types";

interface Props { kind: Kind; level: number; priority?: Priority; size?: number; label?: string }

export function NodeShape({ kind, level, priority, size = 12, label }: Props) {
  return (
    <svg width={size} height={size} viewBox="-7 -7 14 14" class="glyph" role={label ? "img" : undefined} aria-label={label} aria-hidden={!label}>
      <use href={`#${kind}`} class="node" data-kind={kind} data-level={level} data-priority={priority} x="-6" y="-6" width="12" height="12" />
    </svg>
  );
}
