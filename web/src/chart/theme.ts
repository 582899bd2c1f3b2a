/** The one look of every chart, in the page and in the frame: palette, text, lines, room. */
import { short } from "./numbers";
import type { Option } from "./option";

export const PALETTE = ["#2f6fde", "#e8833a", "#1f9e89", "#b5539c", "#c9a227", "#5b8fb9", "#7d6bc4", "#8a8f98"];
const FONT = 'system-ui, -apple-system, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif';

function theme(text: string, line: string, paper: string): Record<string, unknown> {
  const axis = {
    axisLine: { lineStyle: { color: line } }, axisTick: { lineStyle: { color: line } }, axisLabel: { color: text },
    splitLine: { lineStyle: { color: line, opacity: 0.6 } }, nameTextStyle: { color: text },
  };
  const label = { color: text, textBorderWidth: 0 };
  return {
    color: PALETTE, backgroundColor: "transparent",
    textStyle: { color: text, fontFamily: FONT },
    title: { left: 0, textStyle: { color: text, fontSize: 15, fontWeight: 600 }, subtextStyle: { color: text } },
    legend: { textStyle: { color: text } },
    grid: { left: 12, right: 24, containLabel: true },
    tooltip: { backgroundColor: paper, borderColor: line, textStyle: { color: text, fontSize: 13 } },
    categoryAxis: axis, valueAxis: axis, timeAxis: axis, logAxis: axis,
    pie: { label, labelLine: { lineStyle: { color: line } }, itemStyle: { borderColor: paper, borderWidth: 1 } },
    bar: { label }, line: { label, symbolSize: 5 }, scatter: { label }, funnel: { label },
  };
}

export const CHART_THEMES = { light: theme("#3c4350", "#d5dae1", "#ffffff"), dark: theme("#c3c9d2", "#3b424c", "#1c1f24") };

const BELOW = ["grid", "legend", "dataZoom", "visualMap", "timeline", "toolbox"];

/** Every chart looks like the others, whatever its option says: its title left, our colours in their order. Of several titles each belongs to its own grid. */
export function alike(option: Option): Option {
  const { color: _theirs, title, ...rest } = option;
  if (typeof title !== "object" || title === null || Array.isArray(title)) return title === undefined ? rest : { ...rest, title };
  const { x: _x, right: _right, textAlign: _align, ...words } = title as Option;
  return { ...rest, title: { ...words, left: 0 } };
}

const LABELS_UP_TO = 14;
const isOption = (value: unknown): value is Option => typeof value === "object" && value !== null && !Array.isArray(value);

/** A few bars say their figures themselves: in short, or as the axis writes percentages. */
export function labelled(option: Option, language: string): Option {
  const [bar, ...others] = Array.isArray(option.series) ? (option.series as unknown[]) : [option.series];
  if (others.length > 0 || !isOption(bar) || bar.type !== "bar" || bar.label !== undefined) return option;
  if (!Array.isArray(bar.data) || bar.data.length > LABELS_UP_TO || !bar.data.every((one) => typeof one === "number" || one === null)) return option;
  const lying = isOption(option.xAxis) && option.xAxis.type === "value";
  const axis = lying ? option.xAxis : option.yAxis;
  const written = isOption(axis) && isOption(axis.axisLabel) ? axis.axisLabel.formatter : undefined;
  const percent = typeof written === "function" && String(written(1)).endsWith("%") ? (written as (value: number) => string) : null;
  const formatter = ({ value }: { value?: unknown }) => (typeof value !== "number" ? "" : percent ? percent(value) : short(value, language, "", true));
  return { ...option, series: [{ ...bar, label: { show: true, position: lying ? "right" : "top", formatter }, labelLayout: { hideOverlap: true } }] };
}

/** ECharts keeps room under the axis for a legend; without one (or anything else there) the chart takes it. */
export const roomy = (option: Option): Option =>
  option && typeof option === "object" && "xAxis" in option && !BELOW.some((name) => name in option) ? { ...option, grid: { bottom: 10 } } : option;
