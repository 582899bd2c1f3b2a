import { describe, expect, it } from "vitest";
import type { ChartRef } from "../../src/api/types";
import { full, short } from "../../src/services/chart-numbers";
import { canSwitch, drawable, gridOf } from "../../src/services/chart-option";
import { buildReport } from "../../src/services/report";

const chart: ChartRef = {
  index: 1, tool_call_id: "call_2", kind: "bar", title: "各地区", x: "地区", y: ["销售额"], unit: "元",
  option: { dataset: { dimensions: ["地区", "销售额"], source: [["华东", 15060000], ["华南", 8730]] }, xAxis: { type: "category" }, yAxis: { type: "value" }, series: [{ type: "bar", encode: { x: 0, y: 1 }, label: { show: true } }] },
};

describe("numbers of charts", () => {
  it("are written as their readers do", () => {
    expect([short(15060000, "zh"), short(15060000, "en"), short(230000000, "zh"), short(999, "zh"), short(0.1749, "en")]).toEqual(["1,506万", "15.06M", "2.3亿", "999", "0.1749"]);
    expect([short(35.84, "zh", "%"), short(12000, "zh", "万元"), full(15060000, "zh", "元"), full(35.84, "en", "%")]).toEqual(["35.84%", "12,000", "15,060,000 元", "35.84%"]);
  });
});

describe("a chart by reference (SPEC W4)", () => {
  it("stands where its mark is, as a block of its own", () => {
    const blocks = buildReport({ text: "前\n\n{{CHART:1}}\n\n后 {{CHART:9}}", metadata: { charts: [chart] }, scope: { conversation: "c", files: new Set() } });
    expect(blocks.map((block) => block.kind)).toEqual(["rich", "chart", "rich"]);
  });

  it("gets labels and tooltips in the reader's numbers, and no function of a stranger's", () => {
    const option = drawable({ ...chart, option: { ...chart.option, tooltip: { formatter: "<img src=x>" }, title: { text: "x", link: "https://evil.test" } } }, "given", "zh") as Record<string, never>;
    const { series, yAxis, tooltip } = option as unknown as { series: { label: { formatter: (p: unknown) => string } }[]; yAxis: { axisLabel: { formatter: (v: number) => string } }; tooltip: Record<string, unknown> & { valueFormatter: (v: number) => string } };
    expect(series[0]?.label.formatter({ value: ["华东", 15060000], encode: { y: [1] } })).toBe("1,506万");
    expect(yAxis.axisLabel.formatter(20000)).toBe("2万");
    expect([tooltip.renderMode, tooltip.formatter, tooltip.valueFormatter(8730)]).toEqual(["richText", undefined, "8,730 元"]);
    expect("title" in option).toBe(false);
  });

  it("can be shown as another kind, or as its table", () => {
    expect(canSwitch(chart)).toBe(true);
    expect(canSwitch({ ...chart, kind: "scatter" })).toBe(false);
    const pie = drawable(chart, "pie", "en") as { series: { type: string }[]; xAxis?: unknown };
    expect([pie.series[0]?.type, pie.xAxis]).toEqual(["pie", undefined]);
    expect(gridOf(chart)).toEqual({ header: ["地区", "销售额"], rows: [["华东", 15060000], ["华南", 8730]] });
  });
});
