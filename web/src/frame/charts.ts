/** Makes the bundled ECharts fit the page: its themes, a height for boxes without one, resizing, PNG export. */
import type { ThemeName } from "./protocol";

type Option = Record<string, unknown>;
interface Chart {
  setOption(option: Option, ...rest: unknown[]): void;
  resize(): void;
  isDisposed(): boolean;
  setTheme?(name: string): void;
  getDataURL(options: Record<string, unknown>): string;
}
interface ECharts {
  init(dom: HTMLElement, theme?: unknown, options?: unknown): Chart;
  registerTheme(name: string, theme: unknown): void;
}

const PALETTE = ["#2f6fde", "#e8833a", "#1f9e89", "#b5539c", "#c9a227", "#5b8fb9", "#7d6bc4", "#8a8f98"];

function theme(text: string, line: string): Record<string, unknown> {
  const axis = {
    axisLine: { lineStyle: { color: line } }, axisTick: { lineStyle: { color: line } }, axisLabel: { color: text },
    splitLine: { lineStyle: { color: line, opacity: 0.6 } }, nameTextStyle: { color: text },
  };
  return {
    color: PALETTE, backgroundColor: "transparent",
    textStyle: { color: text, fontFamily: 'system-ui, -apple-system, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif' },
    title: { textStyle: { color: text, fontSize: 15, fontWeight: 600 }, subtextStyle: { color: text } },
    legend: { textStyle: { color: text } },
    grid: { left: 12, right: 24, containLabel: true },
    categoryAxis: axis, valueAxis: axis, timeAxis: axis, logAxis: axis,
  };
}

const BELOW = ["grid", "legend", "dataZoom", "visualMap", "timeline", "toolbox"];

/** ECharts keeps room under the axis for a legend; without one (or anything else there) the chart takes it. */
export const roomy = (option: Option): Option =>
  option && typeof option === "object" && "xAxis" in option && !BELOW.some((name) => name in option) ? { ...option, grid: { bottom: 10 } } : option;

export class Charts {
  #live: { chart: Chart; dom: HTMLElement }[] = [];
  #theme: ThemeName;

  constructor(themeName: ThemeName) {
    this.#theme = themeName;
  }

  get count(): number {
    return this.#live.filter(({ chart }) => !chart.isDisposed()).length;
  }

  /** Wraps `init`. The model's own theme name gives way to the page's; a theme object it wrote is kept. */
  install(echarts: ECharts): void {
    echarts.registerTheme("ba-light", theme("#3c4350", "#d5dae1"));
    echarts.registerTheme("ba-dark", theme("#c3c9d2", "#3b424c"));
    const init = echarts.init.bind(echarts);
    echarts.init = (dom, wanted, options) => {
      if (!dom) throw new Error("echarts.init: the chart's element was not found");
      if (dom.clientHeight < 40) dom.style.height = "360px";
      if (dom.clientWidth < 40) dom.style.width = "100%";
      const chart = init(dom, typeof wanted === "object" && wanted ? wanted : `ba-${this.#theme}`, options);
      const setOption = chart.setOption.bind(chart);
      chart.setOption = (option, ...rest) => setOption(roomy(option), ...rest);
      this.#live.push({ chart, dom });
      new ResizeObserver(() => {
        if (!chart.isDisposed()) chart.resize();
      }).observe(dom);
      return chart;
    };
  }

  setTheme(name: ThemeName): void {
    this.#theme = name;
    for (const { chart } of this.#live) if (!chart.isDisposed()) chart.setTheme?.(`ba-${name}`);
  }

  images(background: string): string[] {
    return this.#live
      .filter(({ chart }) => !chart.isDisposed())
      .map(({ chart }) => chart.getDataURL({ type: "png", pixelRatio: 2, backgroundColor: background }));
  }
}
