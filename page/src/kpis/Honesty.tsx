// Is p honest here: what was said beside what people found.
import type { Kpis } from "../api/types";
import { wilson } from "../lib/interval";

const WIDTH = 260, HEIGHT = 210, LEFT = 34, BOTTOM = 34;

export function Honesty({ kpis }: { kpis: Kpis }) {
  const bins = kpis.honesty.filter((bin) => bin.judged > 0);
  const x = (p: number) => LEFT + ((p - 0.4) / 0.6) * (WIDTH - LEFT - 10), y = (share: number) => 8 + (1 - share) * (HEIGHT - BOTTOM - 8);
  return (
    <section class="card" aria-label="Is p honest here?">
      <header><h2>Is p honest here?</h2></header>
      <div class="body row wrap">
        {bins.length ? (
          <>
            <svg class="picture" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} style={{ maxWidth: "280px" }} role="img" aria-label={bins.map((bin) => `p ${bin.low} to ${bin.high}: ${bin.real} of ${bin.judged} real`).join("; ")}>
              <rect class="frame" x={LEFT} y="8" width={WIDTH - LEFT - 10} height={HEIGHT - BOTTOM - 8} />
              <line class="ideal" x1={x(0.4)} y1={y(0.4)} x2={x(1)} y2={y(1)} />
              {[0, 0.5, 1].map((share) => <text key={share} x={LEFT - 6} y={y(share) + 4} text-anchor="end">{share * 100}</text>)}
              {[0.4, 0.6, 0.8, 1].map((p) => <text key={p} x={x(p)} y={HEIGHT - BOTTOM + 14} text-anchor="middle">{p}</text>)}
              <text x={(LEFT + WIDTH) / 2} y={HEIGHT - 4} text-anchor="middle">p when announced</text>
              {bins.map((bin) => {
                const at = Math.max(0.4, (bin.low + bin.high) / 2), [low, high] = wilson(bin.real, bin.judged);
                return <g key={bin.low}><line class="interval" x1={x(at)} x2={x(at)} y1={y(low)} y2={y(high)} /><circle class="point" cx={x(at)} cy={y(bin.real / bin.judged)} r="4" /><text x={x(at) - 7} y={y(bin.real / bin.judged) - 5} text-anchor="end">{bin.real} of {bin.judged}</text></g>;
              })}
            </svg>
            <div class="grow small"><p class="strong">Points on the dashed line are honest.</p>
              <p class="dim">{bins.map((bin) => `When p was between ${bin.low} and ${bin.high}, ${bin.real} of ${bin.judged} were real.`).join(" ")}</p>
              <p class="faint">% that were real, bars: 95 % interval. Few cases: read it as a hint.</p></div>
          </>
        ) : <p class="dim">Nobody has judged an incident in this time. Say what closed incidents were, and this becomes the site's own figure.</p>}
      </div>
    </section>
  );
}
