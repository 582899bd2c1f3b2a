// Runs inside QuickJS, with ECharts and no page: records what a report's scripts would draw, and draws it as SVG text.
"use strict";
const PALETTE = ["#2f6fde", "#e8833a", "#1f9e89", "#b5539c", "#c9a227", "#5b8fb9", "#7d6bc4", "#8a8f98"];
const [TEXT, LINE] = ["#3c4350", "#d5dae1"];
const axis = {
  axisLine: { lineStyle: { color: LINE } }, axisTick: { lineStyle: { color: LINE } }, axisLabel: { color: TEXT },
  splitLine: { lineStyle: { color: LINE, opacity: 0.6 } }, nameTextStyle: { color: TEXT },
};
// The page's light theme (web/src/frame/charts.ts).
echarts.registerTheme("ba-light", {
  color: PALETTE, backgroundColor: "transparent",
  textStyle: { color: TEXT, fontFamily: "sans-serif" },
  title: { textStyle: { color: TEXT, fontSize: 15, fontWeight: 600 }, subtextStyle: { color: TEXT } },
  legend: { textStyle: { color: TEXT } },
  grid: { left: 12, right: 24, containLabel: true },
  categoryAxis: axis, valueAxis: axis, timeAxis: axis, logAxis: axis,
});

const ROOM = 200;
const BELOW = ["grid", "legend", "dataZoom", "visualMap", "timeline", "toolbox"];
const roomy = (option) => ("xAxis" in option && !BELOW.some((name) => name in option) ? { ...option, grid: { bottom: 10 } } : option);

// Paper cannot be pointed at or zoomed: the whole of the data is drawn.
function forPaper(option) {
  const still = { ...roomy(option), animation: false };
  for (const name of ["tooltip", "toolbox", "dataZoom", "brush"]) delete still[name];
  return still;
}

// Labels at the edges may reach beyond them; paper gets the room they need, within reason.
function whole(chart, svg, width, height) {
  let [left, top, right, bottom] = [0, 0, width, height];
  for (const shape of chart.getZr().storage.getDisplayList(true)) {
    if (shape.ignore || shape.invisible || shape.__clipPaths?.length) continue;
    const box = shape.getPaintRect?.();
    if (!box || !(box.width > 0) || !Number.isFinite(box.x + box.y + box.width + box.height)) continue;
    [left, top] = [Math.min(left, box.x - 2), Math.min(top, box.y - 2)];
    [right, bottom] = [Math.max(right, box.x + box.width + 2), Math.max(bottom, box.y + box.height + 2)];
  }
  [left, top] = [Math.max(left, -ROOM), Math.max(top, -ROOM)].map(Math.floor);
  const [wide, tall] = [Math.min(right, width + ROOM) - left, Math.min(bottom, height + ROOM) - top].map(Math.ceil);
  if (wide === width && tall === height) return svg;
  return svg.replace(/^<svg [^>]*>/, (head) => head.replace(/ width="[^"]*"/, ` width="${wide}"`).replace(/ height="[^"]*"/, ` height="${tall}"`)
    .replace(/ viewBox="[^"]*"/, ` viewBox="${left} ${top} ${wide} ${tall}"`));
}

function draw(option, theme, width, height) {
  const chart = echarts.init(null, theme && typeof theme === "object" ? theme : "ba-light", { renderer: "svg", ssr: true, width, height });
  try {
    chart.setOption(forPaper(option));
    return whole(chart, chart.renderToSVGString(), width, height);
  } finally {
    chart.dispose();
  }
}

const recorded = [];

// Stands for everything of a browser that a script may ask for and that draws nothing.
const nothing = new Proxy(function () {}, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => "" : name === "then" || name === Symbol.iterator ? undefined : nothing),
  set: () => true, apply: () => nothing, construct: () => nothing,
});

const elements = new Map();
function element(id) {
  const key = String(id).replace(/^#/, "");
  if (!elements.has(key)) {
    elements.set(key, new Proxy({ id: key, style: {}, clientWidth: 800, clientHeight: 400, offsetWidth: 800, offsetHeight: 400 }, {
      get: (target, name) => (name in target ? target[name] : nothing), set: (target, name, value) => ((target[name] = value), true),
    }));
  }
  return elements.get(key);
}

function recorder(dom, theme) {
  const entry = { box: dom && dom.id ? String(dom.id) : "", theme, option: null };
  recorded.push(entry);
  const chart = {
    setOption(option, notMerge) {
      if (option && typeof option === "object") entry.option = entry.option && !(notMerge === true || notMerge?.notMerge) ? echarts.util.merge(entry.option, option, true) : option;
    },
    getOption: () => entry.option ?? {}, getDom: () => dom, getWidth: () => 800, getHeight: () => 400, isDisposed: () => false, convertToPixel: () => [0, 0],
  };
  return new Proxy(chart, { get: (target, name) => (name in target ? target[name] : () => chart) });
}

function record(code) {
  const queue = [];
  const later = (work) => (queue.length < 1000 && typeof work === "function" ? queue.push(work) : 0);
  const listen = (_name, work) => later(work);
  const library = new Proxy(echarts, { get: (target, name) => (name === "init" ? recorder : name === "getInstanceByDom" ? () => undefined : target[name]) });
  const document = new Proxy({ getElementById: element, querySelector: element, querySelectorAll: () => [], addEventListener: listen, readyState: "complete", body: nothing }, {
    get: (target, name) => (name in target ? target[name] : nothing),
  });
  const base = { echarts: library, document, addEventListener: listen, innerWidth: 1000, innerHeight: 700, devicePixelRatio: 1, setTimeout: later, requestAnimationFrame: later };
  const window = new Proxy(base, { get: (target, name) => (name in target ? target[name] : name in globalThis ? globalThis[name] : undefined), set: (target, name, value) => ((target[name] = value), true) });
  const first = recorded.length;
  let failure = "";
  try {
    new Function("echarts", "document", "window", "self", "setTimeout", "requestAnimationFrame", "setInterval", code)(library, document, window, window, later, later, () => 0);
    for (let at = 0; at < queue.length && at < 1000; at += 1) queue[at].call(window, {});
    if (typeof base.onload === "function") base.onload({});
  } catch (error) {
    failure = String(error);
  }
  return JSON.stringify({ first, boxes: recorded.slice(first).map((entry) => entry.box), failure });
}

// What is left when functions go: for native charts and the page of an export.
function plainOption(option) {
  const seen = new Set();
  const walk = (value, depth) => {
    if (typeof value === "function" || typeof value === "symbol" || typeof value === "bigint" || value === undefined) return undefined;
    if (typeof value === "number") return Number.isFinite(value) ? value : null;
    if (value === null || typeof value !== "object") return value;
    if (seen.has(value) || depth > 40) return undefined;
    seen.add(value);
    const copy = Array.isArray(value) ? value.map((item) => walk(item, depth + 1) ?? null) : {};
    if (!Array.isArray(value)) for (const key of Object.keys(value)) { const item = walk(value[key], depth + 1); if (item !== undefined) copy[key] = item; }
    seen.delete(value);
    return copy;
  };
  return walk(option, 0);
}

// Text crosses as JSON: the binding cannot take every kind of string that the engine makes.
const api = {
  record,
  option: (index) => JSON.stringify(plainOption(recorded[index]?.option) ?? null),
  drawRecorded: (index, width, height) => JSON.stringify([draw(recorded[index].option, recorded[index].theme, width, height)]),
  drawOption: (text, width, height) => JSON.stringify([draw(JSON.parse(text), null, width, height)]),
};
globalThis.call = (name, ...args) => {
  try {
    return api[name](...args);
  } catch (error) {
    return JSON.stringify({ failure: String(error) });
  }
};
