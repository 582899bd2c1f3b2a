import { describe, expect, it } from "vitest";
import { alike, labelled, roomy } from "../../src/chart/theme";
import { MAX_HEIGHT, Quota, readFrameMessage, usesECharts, wantsPaper } from "../../src/frame/protocol";

describe("messages from the frame are hostile (SPEC U9)", () => {
  it.each([null, 1, "ba:ready", {}, { type: "other" }, { type: "ba:height", height: "9" }, { type: "ba:height", height: NaN }, { type: "ba:error", message: {} }, { type: "ba:png", request: 1, images: [] }, { type: "ba:png", request: "x" }])("ignores %j", (data) => {
    expect(readFrameMessage(data)).toBeNull();
  });

  it("bounds heights, counts and texts", () => {
    expect(readFrameMessage({ type: "ba:height", height: 1e9 })).toEqual({ type: "ba:height", height: MAX_HEIGHT });
    expect(readFrameMessage({ type: "ba:height", height: -5 })).toEqual({ type: "ba:height", height: 24 });
    expect(readFrameMessage({ type: "ba:ready", charts: 1e6 })).toMatchObject({ charts: 20, empty: false });
    expect(readFrameMessage({ type: "ba:error", message: "x".repeat(9999) })).toMatchObject({ message: "x".repeat(500) });
  });

  it("lets only PNG data through as images", () => {
    const images = ["data:image/png;base64,aGk=", "data:text/html;base64,aGk=", "javascript:1", "https://evil.test/x.png", 5, "data:image/png;base64,<b>"];
    expect(readFrameMessage({ type: "ba:png", request: "r", images })).toEqual({ type: "ba:png", request: "r", images: [images[0]] });
  });
});

describe("a frame that talks without end", () => {
  it("is not listened to any longer", () => {
    const quota = new Quota(3);
    expect([1, 2, 3, 4, 5].map(() => quota.admits())).toEqual([true, true, true, false, false]);
  });
});

describe("HTML for the frame", () => {
  it("knows who needs ECharts, and who needs white paper", () => {
    expect(usesECharts("<script>echarts.init(x)</script>")).toBe(true);
    expect(usesECharts("<div>表</div>")).toBe(false);
    expect(wantsPaper('<p style="color:#333">x</p>')).toBe(true);
    expect(wantsPaper('<p style="background-color: #fff">x</p>')).toBe(false);
    expect(wantsPaper("<script>var o = { color: '#333' }</script>")).toBe(false);
  });
});

describe("room under a chart", () => {
  it("is given back when nothing of the chart's own stands there", () => {
    expect(roomy({ xAxis: {}, series: [] })).toEqual({ xAxis: {}, series: [], grid: { bottom: 10 } });
    for (const option of [{ xAxis: {}, legend: {} }, { xAxis: {}, grid: { bottom: 90 } }, { series: [{ type: "pie" }] }]) expect(roomy(option)).toBe(option);
  });

  it("lets a few bars say their figures, in short or as the axis writes percentages", () => {
    const drawn = (option: Record<string, unknown>, value: number) => {
      const [series] = labelled(option, "en").series as { label?: { position: string; formatter(params: { value: number }): string } }[];
      return series?.label ? [series.label.position, series.label.formatter({ value })] : null;
    };
    const bars = (data: unknown[]) => [{ type: "bar", data }];
    expect(drawn({ yAxis: { type: "value" }, series: bars([66000, 67340]) }, 66000)).toEqual(["top", "66.00K"]);
    expect(drawn({ xAxis: { type: "value" }, series: bars([3, null]) }, 3)).toEqual(["right", "3"]);
    expect(drawn({ yAxis: { axisLabel: { formatter: (v: number) => `${v * 100}%` } }, series: bars([0.5]) }, 0.5)).toEqual(["top", "50%"]);
    expect(drawn({ series: bars(Array(15).fill(1)) }, 1)).toBeNull();
    expect(drawn({ series: [...bars([1]), ...bars([2])] }, 1)).toBeNull();
    expect(drawn({ series: bars([{ value: 1 }]) }, 1)).toBeNull();
  });

  it("makes charts look alike: the title left, one palette, several titles where they are", () => {
    expect(alike({ color: ["red"], title: { text: "a", left: "center", textStyle: { fontSize: 14 } }, series: [] })).toEqual({ title: { text: "a", left: 0, textStyle: { fontSize: 14 } }, series: [] });
    expect(alike({ title: [{ text: "a", left: "25%" }, { text: "b", left: "75%" }] })).toEqual({ title: [{ text: "a", left: "25%" }, { text: "b", left: "75%" }] });
    expect(alike({ series: [] })).toEqual({ series: [] });
  });
});
