// The largest P of a zone over time, as a strip of shades; colour from the alarm level on.
import { memo } from "../ui/memo";
import type { AlarmLevels, Priority, ScoreHistory } from "../api/types";
import { levelOf } from "../lib/levels";
import { stretches } from "../lib/stretches";

interface Props { scores: ScoreHistory | null; name: string; levels: AlarmLevels; priority: Priority | null }

export const ScoreStrip = memo(function ScoreStrip({ scores, name, levels, priority }: Props) {
  const series = scores?.series.find((one) => one.name === name);
  const marks = scores?.incidents.filter((mark) => mark.zone === name) ?? [];
  const length = series?.p.length ?? 1;
  const shades = series ? stretches(series.p.map((p) => levelOf(p, levels))) : [];
  const colour = (place: number): Priority => {
    const at = scores!.times[place]!;
    const mark = marks.find((one) => Date.parse(one.since) <= at + scores!.bucket_ms && (!one.closed || Date.parse(one.closed) >= at));
    return mark?.priority ?? priority ?? "medium";
  };
  return (
    <svg class="strip" viewBox={`0 0 ${length} 7`} preserveAspectRatio="none" aria-hidden="true">
      <rect class="l0" x="0" y="0" width={length} height="7" />
      {shades.filter((one) => one.value > 0).map((one) => (
        <rect key={one.first} class={`l${one.value}`} data-priority={one.value === 3 ? colour(one.first) : undefined} x={one.first} width={one.length}
          y={one.value < 3 ? 2 : 0} height={one.value < 3 ? 3 : 7} />
      ))}
    </svg>
  );
});
