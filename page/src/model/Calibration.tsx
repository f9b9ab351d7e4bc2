// Is p honest: dots on a diagonal, size by count, one sentence that says how to read it.
import type { Bin } from "../lib/card";
import { count } from "../lib/format";

const SIZE = 300, LEFT = 40, TOP = 8, SIDE = 240;

export function Calibration({ bins }: { bins: Bin[] }) {
  const x = (p: number) => LEFT + p * SIDE, y = (p: number) => TOP + (1 - p) * SIDE;
  const most = Math.max(...bins.map((bin) => Math.log10(bin.count + 1)));
  return (
    <section class="card" aria-label="Is p honest?">
      <header><h2>Is p honest?</h2><span class="aside">size = number of node-minutes</span></header>
      <div class="body">
        <svg class="picture" viewBox={`0 0 ${SIZE} ${SIZE}`} role="img" aria-label={bins.map((bin) => `said ${bin.said.toFixed(2)}, was ${bin.was.toFixed(2)}, ${count(bin.count)} times`).join("; ")}>
          <rect class="frame" x={LEFT} y={TOP} width={SIDE} height={SIDE} />
          {[0.25, 0.5, 0.75].map((at) => <g key={at}><line class="grid" x1={x(at)} x2={x(at)} y1={TOP} y2={TOP + SIDE} /><line class="grid" x1={LEFT} x2={LEFT + SIDE} y1={y(at)} y2={y(at)} /></g>)}
          <line class="ideal" x1={x(0)} y1={y(0)} x2={x(1)} y2={y(1)} />
          <polyline class="curve" points={bins.map((bin) => `${x(bin.said)},${y(bin.was)}`).join(" ")} />
          {bins.map((bin) => <circle key={bin.said} class="point" cx={x(bin.said)} cy={y(bin.was)} r={2.5 + (3.5 * Math.log10(bin.count + 1)) / most} />)}
          {[0, 0.5, 1].map((at) => <g key={at}><text x={LEFT - 6} y={y(at) + 4} text-anchor="end">{at}</text><text x={x(at)} y={TOP + SIDE + 15} text-anchor="middle">{at}</text></g>)}
          <text x={LEFT + SIDE / 2} y={SIZE - 8} text-anchor="middle">P(attack) said</text>
        </svg>
        <p class="small dim">Across: what it said. Up: the share that was true. Above the dashed line it was true more often than it said.</p>
      </div>
    </section>
  );
}
