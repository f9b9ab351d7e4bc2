// The incidents of today as bars: an alarm stands, settles, is closed.
import type { IncidentLine } from "../api/types";
import { clock, ms, shorten } from "../lib/format";
import { titleOf } from "../lib/order";
import { here } from "../store/router";

interface Props { incidents: IncidentLine[]; now: number; zone?: string }
const WIDTH = 970, LEFT = 216, RIGHT = 4, LANE = 14; // names stand left of the bars
const MOST_LETTERS = 34;

/** Return when the last alarm of an incident went back in range; the end of its bar if one stands or nobody noted it. */
const stoodUntil = (item: IncidentLine, end: number): number => (item.cleared ? Math.min(end, ms(item.cleared)) : end);

export function Lanes({ incidents, now, zone }: Props) {
  const shown = incidents.filter((item) => item.part_of === null).slice(0, 8).sort((a, b) => ms(a.since) - ms(b.since));
  if (!shown.length) return null;
  const from = Math.min(now - 4 * 3_600_000, Math.max(ms(shown[0]!.since) - 1_800_000, now - 24 * 3_600_000));
  const to = now + (now - from) * 0.06;
  const x = (at: number) => LEFT + ((Math.min(Math.max(at, from), to) - from) / (to - from)) * (WIDTH - LEFT - RIGHT);
  const step = Math.max(1_800_000, Math.ceil((now - from) / 9 / 1_800_000) * 1_800_000);
  const ticks: number[] = [];
  for (let at = Math.ceil(from / step) * step; at < now - step / 3; at += step) ticks.push(at);
  const height = shown.length * LANE + 24;
  return (
    <section class="card wide-only" aria-label="Incidents today">
      <header><h2>Incidents today</h2><span class="aside">bar = alarm stands, pale once it is over · thin line = settling, not closed</span></header>
      <div class="body">
        <svg class="lanes" viewBox={`0 0 ${WIDTH} ${height}`} role="group" aria-label={`${shown.length} incidents, the first since ${clock(ms(shown[0]!.since), zone)}`}>
          {ticks.map((at) => (
            <g key={at}><line class="grid" x1={x(at)} x2={x(at)} y1="0" y2={height - 16} /><text x={x(at) + 2} y={height - 4}>{clock(at, zone)}</text></g>
          ))}
          {shown.map((item, lane) => {
            const end = item.closed ? ms(item.closed) : now, begin = x(ms(item.since)), label = titleOf(item).replace(" ·", "");
            const stood = stoodUntil(item, end), isOver = stood < now;
            return (
              <a key={item.id} href={here("incident", item.id)} data-priority={item.priority}>
                <rect class={`bar ${isOver ? "over" : ""}`} x={begin} y={lane * LANE + 4} width={Math.max(3, x(stood) - begin)} height="7" />
                {stood < end && <line class="settle" x1={x(stood)} x2={x(end)} y1={lane * LANE + 7.5} y2={lane * LANE + 7.5} />}
                <text x={begin - 6} y={lane * LANE + 12} text-anchor="end">{shorten(label, MOST_LETTERS)}<title>{label}</title></text>
              </a>
            );
          })}
          <line class="now" x1={x(now)} x2={x(now)} y1="0" y2={height - 16} />
          <text x={x(now) + 4} y={height - 4} class="strong">now</text>
        </svg>
      </div>
    </section>
  );
}
