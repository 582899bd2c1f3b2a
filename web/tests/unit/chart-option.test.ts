import { describe, expect, it } from "vitest";
import type { ChartRef } from "../../src/api/types";
import { full, rate, readable, rounded, share, short, single } from "../../src/chart/numbers";
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
    expect([short(66000, "en", "", true), short(67340, "en", "", true), short(70000, "en"), share(1, 3, "en"), share(33, 100, "en")]).toEqual(["66.00K", "67.34K", "70K", "33.33%", "33.00%"]);
  });
});

describe("one way of writing a number", () => {
  // 35.83 % beside 35.84 %: a slice, its tooltip, its label and the table's cell say the same.
  it("gives one figure the same digits wherever it stands", () => {
    const [part, whole] = [3583.5, 10000];
    expect([share(part, whole, "zh"), short((part / whole) * 100, "zh", "%"), full((part / whole) * 100, "en", "%")]).toEqual(["35.84%", "35.84%", "35.84%"]);
    const pie = drawable({ ...chart, kind: "pie", unit: "", option: { dataset: { dimensions: ["地区", "额"], source: [["华东", part], ["其他", whole - part]] }, series: [{ type: "pie", label: { formatter: "{b} {d}%" } }] } }, "given", "zh") as unknown as { series: { label: { formatter: (p: unknown) => string } }[] };
    expect(pie.series[0]?.label.formatter({ name: "华东", value: ["华东", part], encode: { value: [1] } })).toBe("华东 35.84%");
  });

  it("rounds halves up as they are written, on both sides of zero", () => {
    expect([rounded(35.835, 2), rounded(-35.835, 2), rounded(1.005, 2), rounded(0.1 + 0.2, 4), rounded(1e21, 2)]).toEqual([35.84, -35.84, 1.01, 0.3, 1e21]);
    expect([short(-17.4954, "zh", "%"), full(-17.4954, "zh", "%")]).toEqual(["-17.5%", "-17.5%"]);
    expect([readable(0.123456789), readable(12.345678), rate(0.0512, "en"), single(1234567.8000000001, "en"), share(1, 0, "en")]).toEqual([0.123457, 12.3457, "5.1%", "1,234,567.8", "–"]);
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
