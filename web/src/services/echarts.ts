/** ECharts, fetched once and only when a chart is there: as text for the sandboxed frames, as a script for the page's own charts. */
import url from "echarts/dist/echarts.min.js?url";
import type * as ECharts from "echarts";

let source: Promise<string> | null = null;
let loaded: Promise<typeof ECharts> | null = null;

export function echartsSource(): Promise<string> {
  source ??= fetch(url).then(async (response) => {
    if (!response.ok) throw new Error(`ECharts: HTTP ${response.status}`);
    return response.text();
  });
  source.catch(() => (source = null));
  return source;
}

export function loadECharts(): Promise<typeof ECharts> {
  loaded ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = url;
    script.onload = () => resolve((window as unknown as { echarts: typeof ECharts }).echarts);
    script.onerror = () => {
      loaded = null;
      reject(new Error("ECharts"));
    };
    document.head.append(script);
  });
  return loaded;
}
