// A signal with its title, its band and the right end "now 156, expected 19–21".
import { useMemo } from "preact/hooks";
import type { History, Priority, Series } from "../api/types";
import { clock, convert, formatNumber, range, shownUnit, type Temperature } from "../lib/format";
import { bucketsFor, outside, type Run } from "../lib/outside";
import { Plot, type Mark } from "./Plot";

export interface Span { from: number; to: number; priority: Priority } // an incident, within which thick runs are coloured
interface Props {
  history: History; series: Series; command?: Series | null; span?: Span | null; since?: number | null; marks?: Mark[];
  hasAxis?: boolean; height?: number; step_ms: number; zone?: string; temperature: Temperature; asTable?: boolean;
}

type Values = (number | null)[];

/** Return values in the unit that is shown. */
export const shownValues = (values: Values, unit: string, choice: Temperature): Values =>
  values.map((value) => (value === null ? null : convert(value, unit, 0, choice).number));

export function SignalChart(props: Props) {
  const { history, series, command, span, temperature, zone } = props;
  const unit = shownUnit(series.unit, temperature);
  const drawn = useMemo(() => {
    const turn = (values: Values) => shownValues(values, series.unit, temperature);
    const band = series.low.length ? { low: turn(series.low), high: turn(series.high), kind: series.kind } : null;
    const mean = turn(series.mean);
    const runs = band ? outside(mean, band.low, band.high, band.kind, bucketsFor(props.step_ms, history.bucket_ms)) : [];
    const isCoarse = history.bucket_ms > props.step_ms * 1.5;
    return {
      lines: [{ values: mean }], band, runs,
      envelope: isCoarse ? { least: turn(series.least), most: turn(series.most) } : null,
      dotted: command ? turn(command.mean) : null,
    };
  }, [history, series, command, temperature]);
  const coloured = span ? clip(drawn.runs, history.times, span) : [];
  const end = summary(series, command ?? null, temperature);
  const name = capital(series.name);
  return (
    <figure class="signal">
      <figcaption class="title">
        <span class="cut"><strong>{name}</strong> <span class="dim">{unit}{command ? " · dotted: command" : ""}</span></span>
        <span class="dim right">{end}</span>
      </figcaption>
      {props.asTable ? <Numbers history={history} series={series} temperature={temperature} zone={zone} /> : (
        <Plot times={history.times} lines={drawn.lines} band={drawn.band} envelope={drawn.envelope} dotted={drawn.dotted}
          runs={span ? coloured : drawn.runs} priority={span && coloured.length ? span.priority : null} since={props.since ?? null}
          marks={props.marks ?? []} hasAxis={props.hasAxis ?? false} height={props.height ?? 68} zone={zone} label={`${name}, ${end} ${unit}`} />
      )}
    </figure>
  );
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
const clip = (runs: Run[], times: number[], span: Span): Run[] =>
  runs.filter(([first, last]) => times[last]! >= span.from && times[first]! <= span.to);

/** Return "now 80 · expected 33–35 · command 30". */
export function summary(series: Series, command: Series | null, temperature: Temperature): string {
  const last = series.mean.findLastIndex((value) => value !== null);
  const number = (value: number | null | undefined) => formatNumber(value ?? null, series.unit, series.decimals, temperature, series.states);
  const parts = [`now ${last < 0 ? "unknown" : number(series.mean[last])}`];
  if (series.low.length && last >= 0) {
    if (series.kind[last] === "unsure") parts.push("expected: cannot say");
    else if (series.low[last] != null) parts.push(`expected ${range(number(series.low[last]), number(series.high[last]))}`);
  }
  const asked = command?.mean.findLast((value) => value !== null);
  if (command && asked !== undefined) parts.push(`command ${formatNumber(asked, command.unit, command.decimals, temperature)}`);
  return parts.join(" · ");
}

function Numbers({ history, series, temperature, zone }: { history: History; series: Series; temperature: Temperature; zone?: string }) {
  const every = Math.max(1, Math.ceil(history.times.length / 40));
  const number = (value: number | null | undefined) => formatNumber(value ?? null, series.unit, series.decimals, temperature, series.states);
  return (
    <table class="small">
      <thead><tr><th>time</th><th class="right">value</th><th class="right">expected range</th></tr></thead>
      <tbody>
        {history.times.map((time, place) => place % every === 0 && (
          <tr key={time}><td>{clock(time, zone)}</td><td class="right">{number(series.mean[place])}</td>
            <td class="right">{series.kind[place] === "unsure" ? "cannot say" : series.low.length ? `${number(series.low[place])} – ${number(series.high[place])}` : ""}</td></tr>
        ))}
      </tbody>
    </table>
  );
}
