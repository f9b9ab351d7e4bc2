// Announcements by week: real, false, not judged.
import type { Kpis } from "../api/types";
import { day, ms } from "../lib/format";
import { zone } from "../store/site";

export function Weeks({ kpis }: { kpis: Kpis }) {
  const weeks = kpis.weeks ?? [];
  if (!weeks.length) return null;
  const most = Math.max(1, ...weeks.map((week) => week.real + week.false + week.not_judged));
  const width = 440, height = 130, step = Math.min(82, (width - 30) / weeks.length), y = (n: number) => (n / most) * (height - 30);
  return (
    <section class="card" aria-label="Announced by week">
      <header><h2>Announced by week</h2><span class="aside legend"><span><i class="swatch" style={{ background: "var(--node-1)" }} /> real</span><span><i class="swatch" style={{ background: "var(--ink)" }} /> false</span><span><i class="swatch hatched" /> not judged</span></span></header>
      <div class="body">
        <svg class="picture" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={weeks.map((week) => `${day(ms(week.start))}: ${week.real} real, ${week.false} false, ${week.not_judged} not judged`).join("; ")}>
          <text x="24" y="12" text-anchor="end">{most}</text><text x="24" y={height - 16} text-anchor="end">0</text>
          {weeks.map((week, place) => {
            const x = 30 + place * step + step * 0.1, w = step * 0.8, base = height - 20;
            return (
              <g key={week.start}>
                <rect x={x} width={w} y={base - y(week.real)} height={y(week.real)} fill="var(--node-1)" />
                <rect x={x} width={w} y={base - y(week.real + week.false)} height={y(week.false)} fill="var(--ink)" />
                <rect x={x} width={w} y={base - y(week.real + week.false + week.not_judged)} height={y(week.not_judged)} fill="url(#hatch)" stroke="var(--edge)" />
                <text x={x + w / 2} y={height - 4} text-anchor="middle">{day(ms(week.start), zone.value)}</text>
              </g>
            );
          })}
        </svg>
      </div>
    </section>
  );
}
