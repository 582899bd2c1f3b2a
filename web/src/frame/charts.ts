/** Charts in the frame: drawn from data by our own script, one by one, so that a broken one takes no neighbour along. */
import { alike, CHART_THEMES, labelled, roomy } from "../chart/theme";
import { cleanOption, type Option } from "../chart/option";
import type { ThemeName } from "./protocol";

interface Chart {
  setOption(option: Option, ...rest: unknown[]): void;
  resize(): void;
  isDisposed(): boolean;
  dispose(): void;
  setTheme?(name: string): void;
  getDataURL(options: Record<string, unknown>): string;
}
export interface ECharts {
  init(dom: HTMLElement, theme?: unknown, options?: unknown): Chart;
  registerTheme(name: string, theme: unknown): void;
}

export class Charts {
  #live = new Map<HTMLElement, Chart>();
  #theme: ThemeName;

  constructor(readonly library: ECharts, themeName: ThemeName) {
    this.#theme = themeName;
    for (const name of ["light", "dark"] as const) library.registerTheme(`ba-${name}`, CHART_THEMES[name]);
  }

  get count(): number {
    return this.#live.size;
  }

  /** Draws, or says why not. */
  draw(dom: HTMLElement, json: string, notMerge: boolean): string | null {
    try {
      // Said in words for those who do not see it: ECharts describes its own figures.
      const language = document.documentElement.lang === "en" ? "en" : "zh";
      const option = { aria: { enabled: true }, ...roomy(labelled(alike(cleanOption(JSON.parse(json))), language)) };
      if (dom.clientHeight < 40) dom.style.height = "360px";
      if (dom.clientWidth < 40) dom.style.width = "100%";
      let chart = this.#live.get(dom);
      if (!chart) {
        chart = this.library.init(dom, `ba-${this.#theme}`, { locale: language.toUpperCase() });
        this.#live.set(dom, chart);
        const drawn = chart;
        new ResizeObserver(() => !drawn.isDisposed() && drawn.resize()).observe(dom);
      }
      chart.setOption(option, notMerge);
      return null;
    } catch (error) {
      this.#live.get(dom)?.dispose();
      this.#live.delete(dom);
      return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    }
  }

  setTheme(name: ThemeName): void {
    this.#theme = name;
    for (const chart of this.#live.values()) chart.setTheme?.(`ba-${name}`);
  }

  images(background: string): string[] {
    return [...this.#live.values()].map((chart) => chart.getDataURL({ type: "png", pixelRatio: 2, backgroundColor: background }));
  }
}
