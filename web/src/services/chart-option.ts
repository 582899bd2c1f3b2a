/** A chart by reference (SPEC W4) made ready to draw: data only, in the reader's numbers, as the kind that was asked for or chosen. Pure. */
import type { ChartRef } from "$lib/api/types";
import { roomy } from "$lib/chart/theme";
import { cleanOption, type Option } from "$lib/chart/option";
import { full, share, short } from "$lib/chart/numbers";

export const KINDS = ["bar", "line", "area", "pie", "table"] as const;
export type Kind = (typeof KINDS)[number] | "given";

export interface Grid {
  header: string[];
  rows: (string | number | null)[][];
}

type Dataset = { dimensions?: unknown[]; source?: unknown[] };
const LABELS_UP_TO = 14;
const ZOOMED_FROM = 12;

/** The figures of a chart as a table. */
export function gridOf(chart: ChartRef): Grid {
  const dataset = (chart.option as { dataset?: Dataset }).dataset ?? {};
  const cell = (value: unknown) => (typeof value === "number" || typeof value === "string" ? value : value === null || value === undefined ? null : String(value));
  return {
    header: (dataset.dimensions ?? []).map(String),
    rows: (dataset.source ?? []).map((row) => (Array.isArray(row) ? row.map(cell) : [])),
  };
}

/** Other kinds can only be made of what we built ourselves: one column of names, the rest figures. */
export const canSwitch = (chart: ChartRef): boolean => ["bar", "line", "area", "pie", "stacked"].includes(chart.kind) && gridOf(chart).header.length >= 2 && chart.x !== "";

export function seriesOf(kind: Kind, grid: Grid): Option[] {
  const measures = kind === "pie" ? grid.header.slice(1, 2) : grid.header.slice(1);
  const few = grid.rows.length * measures.length <= LABELS_UP_TO;
  return measures.map((name, at): Option => {
    if (kind === "pie") return { type: "pie", name, radius: ["42%", "68%"], encode: { itemName: 0, value: at + 1 }, label: {} };
    const base: Option = { type: kind === "bar" ? "bar" : "line", name, encode: { x: 0, y: at + 1 } };
    if (kind === "bar") return { ...base, barMaxWidth: 46, label: { show: few, position: "top" } };
    return { ...base, showSymbol: grid.rows.length <= 60, ...(kind === "area" ? { areaStyle: { opacity: 0.2 } } : {}) };
  });
}

/** Of a row of a dataset, the figure that the series draws. */
function valueOf(params: unknown): number | null {
  const { value, encode } = params as { value?: unknown; encode?: Record<string, number[]> };
  if (typeof value === "number") return value;
  if (!Array.isArray(value)) return null;
  const at = encode?.y?.[0] ?? encode?.value?.[0] ?? 1;
  const found: unknown = value[at];
  return typeof found === "number" ? found : null;
}

const list = (value: unknown): Option[] => (Array.isArray(value) ? value : value === undefined ? [] : [value]) as Option[];

/** Zoom by wheel takes the page's own scrolling away, so it needs Ctrl unless the chart has the screen. */
function zoom(rows: number, large: boolean): Option[] {
  if (rows < ZOOMED_FROM) return [];
  const inside = { type: "inside", zoomOnMouseWheel: large ? true : "ctrl", moveOnMouseWheel: false, preventDefaultMouseMove: false };
  return large ? [inside, { type: "slider", height: 22, bottom: 30 }] : [inside];
}

export interface Look {
  narrow?: boolean;
  large?: boolean;
}

export function drawable(chart: ChartRef, kind: Kind, language: string, { narrow = false, large = false }: Look = {}): Option {
  const unit = chart.unit ?? "";
  const grid = gridOf(chart);
  const option = cleanOption(chart.option);
  if (kind !== "given" && kind !== "table") {
    option.series = seriesOf(kind, grid);
    if (kind === "pie") {
      delete option.xAxis;
      delete option.yAxis;
      delete option.dataZoom;
    } else if (!option.xAxis) Object.assign(option, { xAxis: { type: "category" }, yAxis: { type: "value", ...(unit ? { name: unit } : {}) } });
  }
  const axis = (one: Option): Option => {
    const value = one.type === "value" || one.type === undefined;
    const label = (one.axisLabel ?? {}) as Option;
    if (!value) return { ...one, axisLabel: { hideOverlap: true, ...label } };
    return { ...one, axisLabel: { ...label, ...(label.formatter ? {} : { formatter: (v: number) => short(v, language, unit) }) } };
  };
  const pie = list(option.series).some((series) => series.type === "pie");
  // ECharts makes shares add up to 100 by moving the last digit; the tables beside do not.
  const whole = grid.rows.reduce((sum, row) => sum + (typeof row[1] === "number" ? row[1] : 0), 0);
  const slice = (params: unknown) => {
    const value = valueOf(params);
    return `${String((params as { name?: unknown }).name ?? "")}${narrow ? "\n" : " "}${value === null ? "–" : share(value, whole, language)}`;
  };
  option.series = list(option.series).map((series) => {
    const label = (series.label ?? {}) as Option;
    if (series.type === "pie") return { ...series, ...(narrow ? { radius: ["34%", "54%"], center: ["50%", "46%"], labelLine: { length: 16, length2: 4 } } : {}), label: { overflow: "truncate", width: narrow ? 54 : 120, ...label, formatter: slice } };
    const write = (params: unknown) => {
      const value = valueOf(params);
      return value === null ? "" : short(value, language, unit, true);
    };
    return { ...series, ...(series.type === "bar" ? { barMaxWidth: 46 } : {}), label: { ...label, ...(label.formatter ? {} : { formatter: write }) } };
  });
  if (!pie && option.xAxis !== undefined) {
    const [x, y] = [list(option.xAxis).map((one) => axis({ type: "category", ...one })), list(option.yAxis).map((one) => axis(one))];
    Object.assign(option, { xAxis: x.length === 1 ? x[0] : x, yAxis: y.length === 1 ? y[0] : y });
  }
  if (pie || grid.header.length > 2) option.legend = { type: "scroll", bottom: 0, ...(option.legend as Option | undefined) };
  option.tooltip = { ...(option.tooltip as Option | undefined), trigger: pie ? "item" : ((option.tooltip as Option | undefined)?.trigger ?? "axis"), renderMode: "richText", confine: true, formatter: undefined, valueFormatter: (v: unknown) => (typeof v === "number" ? full(v, language, unit) : String(v ?? "–")) };
  delete option.title;
  option.animationDuration = 150;
  option.aria = { enabled: false };
  if (!pie && option.xAxis !== undefined && !option.dataZoom) option.dataZoom = zoom(grid.rows.length, large);
  const slider = list(option.dataZoom).some((one) => one.type === "slider");
  if (!list(option.dataZoom).length) delete option.dataZoom;
  const bottom = slider ? 62 : option.legend ? 34 : 8;
  return roomy(pie ? option : { ...option, grid: { left: 8, right: 20, top: unit ? 34 : 20, bottom, containLabel: true } });
}
