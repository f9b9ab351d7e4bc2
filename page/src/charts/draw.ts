// What uPlot does not draw itself: bands of three kinds, thick runs, the line at since, glyphs on the top edge.
import type uPlot from "uplot";
import type { BandKind } from "../api/types";
import { digit } from "../lib/codes";
import type { Run } from "../lib/outside";
import type { Mark } from "./Plot";

type Values = readonly (number | null)[];
const ratio = (): number => devicePixelRatio || 1;

function inside(plot: uPlot, act: (pen: CanvasRenderingContext2D) => void): void {
  const pen = plot.ctx, { left, top, width, height } = plot.bbox;
  pen.save();
  pen.beginPath();
  pen.rect(left, top, width, height);
  pen.clip();
  act(pen);
  pen.restore();
}

const x = (plot: uPlot, time: number): number => plot.valToPos(time, "x", true);
const y = (plot: uPlot, value: number): number => plot.valToPos(value, "y", true);

export function ground(plot: uPlot, fill: string): void {
  inside(plot, (pen) => {
    pen.fillStyle = fill;
    pen.fillRect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
  });
}

export function shade(plot: uPlot, [from, to]: [number, number], fill: string): void {
  inside(plot, (pen) => {
    pen.globalAlpha = 0.55;
    pen.fillStyle = fill;
    pen.fillRect(x(plot, from), plot.bbox.top, x(plot, to) - x(plot, from), plot.bbox.height);
  });
}

interface Band { low: Values; high: Values; kind: readonly (BandKind | null)[] }
export function drawBand(plot: uPlot, times: readonly number[], band: Band, paint: { fill: string; edge: string; strong: string; hatch: string }): void {
  inside(plot, (pen) => {
    let first = 0;
    while (first < times.length) {
      const kind = band.kind[first] ?? null;
      let last = first;
      while (last + 1 < times.length && (band.kind[last + 1] ?? null) === kind) last++;
      if (kind === "unsure") hatch(pen, plot, x(plot, times[first]!), x(plot, times[Math.min(last + 1, times.length - 1)]!), paint.hatch);
      else if (kind) strip(pen, plot, times, band, first, Math.min(last + 1, times.length - 1), kind, paint);
      first = last + 1;
    }
  });
}

function strip(
  pen: CanvasRenderingContext2D, plot: uPlot, times: readonly number[], band: Band, first: number, last: number,
  kind: BandKind, paint: { fill: string; edge: string; strong: string },
): void {
  const known: number[] = [];
  for (let place = first; place <= last; place++)
    if (band.low[place] != null && band.high[place] != null && band.kind[place] !== "unsure") known.push(place);
  if (known.length < 2) return;
  const edge = (values: Values) => {
    pen.beginPath();
    known.forEach((place, step) => pen[step ? "lineTo" : "moveTo"](x(plot, times[place]!), y(plot, values[place]!)));
  };
  edge(band.high);
  for (const place of [...known].reverse()) pen.lineTo(x(plot, times[place]!), y(plot, band.low[place]!));
  pen.closePath();
  pen.fillStyle = paint.fill;
  pen.fill();
  pen.lineWidth = ratio();
  pen.strokeStyle = kind === "affected" ? paint.strong : paint.edge;
  pen.setLineDash(kind === "affected" ? [3 * ratio(), 3 * ratio()] : []);
  edge(band.high);
  pen.stroke();
  edge(band.low);
  pen.stroke();
  pen.setLineDash([]);
}

function hatch(pen: CanvasRenderingContext2D, plot: uPlot, from: number, to: number, stroke: string): void {
  const { top, height } = plot.bbox, step = 6 * ratio();
  pen.save();
  pen.beginPath();
  pen.rect(from, top, Math.max(to - from, 1), height);
  pen.clip();
  pen.strokeStyle = stroke;
  pen.lineWidth = ratio();
  pen.beginPath();
  for (let at = from - height; at < to; at += step) {
    pen.moveTo(at, top + height);
    pen.lineTo(at + height, top);
  }
  pen.stroke();
  pen.restore();
}

export function drawEnvelope(plot: uPlot, times: readonly number[], least: Values, most: Values, fill: string): void {
  inside(plot, (pen) => {
    pen.strokeStyle = fill;
    pen.globalAlpha = 0.28;
    pen.lineWidth = ratio() * 1.4;
    pen.beginPath();
    times.forEach((time, place) => {
      if (least[place] == null || most[place] == null) return;
      pen.moveTo(x(plot, time), y(plot, least[place]!));
      pen.lineTo(x(plot, time), y(plot, most[place]!));
    });
    pen.stroke();
  });
}

export function drawDotted(plot: uPlot, times: readonly number[], values: Values, stroke: string): void {
  inside(plot, (pen) => {
    pen.strokeStyle = stroke;
    pen.lineWidth = 1.3 * ratio();
    pen.setLineDash([2 * ratio(), 3 * ratio()]);
    pen.beginPath();
    let isDown = false;
    times.forEach((time, place) => {
      const value = values[place];
      if (value == null) isDown = false;
      else {
        pen[isDown ? "lineTo" : "moveTo"](x(plot, time), y(plot, value));
        isDown = true;
      }
    });
    pen.stroke();
  });
}

export function drawRuns(plot: uPlot, times: readonly number[], values: Values, runs: readonly Run[], stroke: string, core: string | null): void {
  inside(plot, (pen) => {
    for (const [colour, width] of core ? [[stroke, 4], [core, 1.2]] as const : [[stroke, 3.2]] as const) {
      pen.strokeStyle = colour;
      pen.lineWidth = width * ratio();
      pen.lineCap = "round";
      for (const [first, last] of runs) {
        pen.beginPath();
        for (let place = first; place <= last; place++) {
          const value = values[place];
          if (value != null) pen[place === first ? "moveTo" : "lineTo"](x(plot, times[place]!), y(plot, value));
        }
        pen.stroke();
      }
    }
  });
}

export function drawVertical(plot: uPlot, at: number, stroke: string, text = "", ground = ""): void {
  inside(plot, (pen) => {
    const place = x(plot, at);
    pen.strokeStyle = stroke;
    pen.lineWidth = 1.5 * ratio();
    pen.beginPath();
    pen.moveTo(place, plot.bbox.top);
    pen.lineTo(place, plot.bbox.top + plot.bbox.height);
    pen.stroke();
    if (!text) return;
    pen.textAlign = "left";
    pen.textBaseline = "alphabetic";
    pen.font = `600 ${11 * ratio()}px system-ui, sans-serif`;
    const width = pen.measureText(text).width, gap = 8 * ratio();
    const left = place - width - gap < plot.bbox.left ? place + gap : place - width - gap;
    pen.fillStyle = ground;
    pen.fillRect(left - 3, plot.bbox.top + 12 * ratio(), width + 6, 14 * ratio());
    pen.fillStyle = stroke;
    pen.fillText(text, left, plot.bbox.top + 23 * ratio());
  });
}

const GLYPHS = {
  critical: "M7.3 2h9.4L22 7.3v9.4L16.7 22H7.3L2 16.7V7.3z", high: "M12 2.2L22.6 21H1.4z", medium: "M12 21.8L1.4 3h21.2z",
  low: "M6.5 5.5h11L23 12l-5.5 6.5h-11L1 12z",
};

export function drawMark(plot: uPlot, mark: Mark, paint: (name: string) => string): void {
  const pen = plot.ctx, scale = 0.6 * ratio();
  const place = x(plot, mark.at);
  if (place < plot.bbox.left - 4 || place > plot.bbox.left + plot.bbox.width + 4) return;
  pen.save();
  pen.translate(place - 12 * scale, plot.bbox.top - 2 * ratio());
  pen.scale(scale, scale);
  pen.textAlign = "center";
  pen.textBaseline = "alphabetic";
  pen.font = "700 15px system-ui, sans-serif";
  if (mark.priority) {
    const shape = new Path2D(GLYPHS[mark.priority]), number = digit(mark.priority);
    pen.fillStyle = paint(`--p${number}`);
    pen.strokeStyle = mark.priority === "medium" ? paint("--p3-edge") : paint("--ink");
    pen.lineWidth = 1.5;
    pen.fill(shape);
    pen.stroke(shape);
    pen.fillStyle = paint(`--p${number}-digit`);
    pen.fillText(String(number), 12, mark.priority === "medium" ? 14 : 18.5);
  } else {
    pen.fillStyle = paint("--chart");
    pen.strokeStyle = paint("--ink");
    pen.lineWidth = 2;
    pen.fillRect(2, 2, 20, 20);
    pen.strokeRect(2, 2, 20, 20);
    pen.fillStyle = paint("--ink");
    pen.fillText(mark.letter ?? "C", 12, 18);
  }
  pen.restore();
}
