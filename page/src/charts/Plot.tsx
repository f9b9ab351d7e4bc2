// One small chart: measured line, expected band, since, announcement. Small multiples share time axis and cursor.
import uPlot from "uplot";
import { useEffect, useRef } from "preact/hooks";
import type { BandKind, Priority } from "../api/types";
import { clock, day } from "../lib/format";
import type { Run } from "../lib/outside";
import { digit } from "../lib/codes";
import { themeTurns } from "../store/preferences";
import { ground, drawBand, drawDotted, drawEnvelope, drawMark, drawRuns, drawVertical, shade } from "./draw";
import { colour } from "./theme";

type Values = (number | null)[];
export interface Line { values: Values; isBold?: boolean; priority?: Priority | null; label?: string }
export interface Mark { at: number; priority?: Priority; letter?: string }
export interface PlotProps {
  times: number[];
  lines: Line[];
  dotted?: Values | null;
  envelope?: { least: Values; most: Values } | null;
  band?: { low: Values; high: Values; kind: (BandKind | null)[] } | null;
  runs?: Run[];
  priority?: Priority | null; // of thick runs; null: ink
  level?: number | null; // a dotted horizontal line
  range?: [number, number] | null;
  since?: number | null;
  sinceText?: string;
  marks?: Mark[];
  shaded?: [number, number] | null;
  height?: number;
  hasAxis?: boolean;
  zone?: string;
  label: string;
  sync?: string;
}

export const P_RANGE: [number, number] = [-0.06, 1.08];
const LEFT = 44, RIGHT = 10;

export function Plot(props: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const turns = themeTurns.value;
  const shape = `${props.lines.length} ${props.hasAxis} ${props.height} ${props.zone} ${turns} ${props.lines.map((line) => line.priority ?? "").join()}`;
  useEffect(() => {
    const element = place.current!;
    plot.current = new uPlot(options(latest, element.clientWidth, turns), data(latest.current), element);
    const watch = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: heightOf(latest.current) }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shape]);
  useEffect(() => {
    if (!document.hidden) plot.current?.setData(data(props));
  }, [props.times, props.lines, props.runs, props.since, props.marks]);
  return <div class="plot" ref={place} role="img" aria-label={props.label} />;
}

const heightOf = (props: PlotProps): number => (props.height ?? 70) + (props.hasAxis ? 22 : 4);
const data = (props: PlotProps): uPlot.AlignedData => [props.times, ...props.lines.map((line) => line.values)] as uPlot.AlignedData;

function options(latest: { current: PlotProps }, width: number, turns: number): uPlot.Options {
  const paint = (name: string) => colour(name, turns);
  const props = latest.current;
  const axis = { stroke: paint("--ink-3"), grid: { stroke: paint("--line"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
  return {
    width: Math.max(width, 120),
    height: heightOf(props),
    ms: 1,
    padding: [6, RIGHT, 2, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, sync: { key: props.sync ?? "page" }, points: { size: 5 } },
    scales: { x: { time: true }, y: { range: (_plot, low, high) => yRange(latest.current, low, high) } },
    axes: [
      { ...axis, show: true, size: props.hasAxis ? 20 : 0, gap: 3, space: 70,
        values: (_plot, splits) => splits.map((at) => (props.hasAxis ? axisText(at, splits, props.zone) : "")) },
      { ...axis, size: LEFT, gap: 6, space: 26, values: (_plot, splits) => splits.map((value) => String(Number(value.toFixed(4)))) },
    ],
    series: [
      {},
      ...props.lines.map((line) => ({
        stroke: line.priority ? paint(`--p${digit(line.priority)}`) : line.isBold === false ? paint("--edge") : paint("--ink"),
        width: line.priority ? 2.6 : 1.6,
        points: { show: false },
        spanGaps: false,
      })),
    ],
    hooks: {
      drawClear: [(plot) => ground(plot, paint("--chart"))],
      drawAxes: [(plot) => {
        const now = latest.current;
        if (now.shaded) shade(plot, now.shaded, paint("--sunken"));
        if (now.band) drawBand(plot, now.times, now.band, { fill: paint("--band"), edge: paint("--band-edge"), strong: paint("--edge"), hatch: paint("--hatch") });
        if (now.envelope) drawEnvelope(plot, now.times, now.envelope.least, now.envelope.most, paint("--ink"));
        if (now.level != null) drawDotted(plot, [now.times[0] ?? 0, now.times.at(-1) ?? 0], [now.level, now.level], paint("--ink-2"));
        if (now.dotted) drawDotted(plot, now.times, now.dotted, paint("--ink"));
      }],
      draw: [(plot) => {
        const now = latest.current;
        const thick = now.priority ? paint(`--p${digit(now.priority)}`) : paint("--ink");
        if (now.runs?.length) drawRuns(plot, now.times, now.lines[0]!.values, now.runs, thick, now.priority === "medium" ? paint("--ink") : null);
        if (now.since != null) drawVertical(plot, now.since, paint("--ink"), now.sinceText, paint("--chart"));
        for (const mark of now.marks ?? []) drawMark(plot, mark, paint);
      }],
    },
  };
}

function yRange(props: PlotProps, low: number | null, high: number | null): [number, number] {
  if (props.range) return props.range;
  let least = low ?? 0, most = high ?? 1;
  for (const values of [props.band?.low, props.band?.high, props.dotted]) {
    values?.forEach((value, place) => {
      if (value === null || props.band?.kind[place] === "unsure") return;
      least = Math.min(least, value);
      most = Math.max(most, value);
    });
  }
  const pad = (most - least) * 0.08 || Math.max(Math.abs(most) * 0.05, 0.5);
  return [least - pad, most + pad];
}

function axisText(at: number, splits: number[], zone?: string): string {
  const span = (splits.at(-1) ?? at) - (splits[0] ?? at);
  return span > 36 * 3_600_000 ? day(at, zone) : clock(at, zone);
}
