/**
 * The frame's own script, and the only one that runs in its document: the served policy names it by its hash. Model-made HTML is put in
 * without its scripts; those run in a worker (`worker/main.ts`), and what they drew is drawn here from data.
 */
import { Charts, type ECharts } from "./charts";
import { ENDLESS, type FromFrame, type ToFrame } from "./protocol";
import { purified, takeScripts } from "./purify";
import { readOutcome, type Outcome, type ToWorker } from "./script-protocol";
import { STYLE } from "./style";

/** The worker's script, put here by the build. */
declare const WORKER_SOURCE: string;

type Render = Extract<ToFrame, { type: "ba:render" }>;

const SCRIPT_MS = 5000;
const SETTLE_MS = 2500;
const MAX_OUTCOMES = 8;
const MAX_KNOWN = 3000;

const host = window.parent;
const send = (message: FromFrame) => host.postMessage(message, "*");
const blobUrl = (code: string) => URL.createObjectURL(new Blob([code], { type: "text/javascript" }));

/** No script of a report runs in this document. Should one ever, it finds no way past `connect-src` here, and nested documents run none. */
function harden(): void {
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "RTCIceTransport", "WebTransport"]) {
    Object.defineProperty(window, name, { value: undefined, configurable: false, writable: false });
  }
}

/** Some content shows nothing and raises nothing; an empty box is never an answer. */
function looksEmpty(): boolean {
  if (document.body.innerText.trim() !== "") return false;
  return ![...document.querySelectorAll("canvas,svg,img,table,video")].some((node) => node.getBoundingClientRect().height > 4);
}

function loadLibrary(code: string): Promise<ECharts | null> {
  if (!code) return Promise.resolve(null);
  return new Promise((resolve) => {
    const script = document.createElement("script");
    script.src = blobUrl(code);
    script.onload = script.onerror = () => resolve((window as unknown as { echarts?: ECharts }).echarts ?? null);
    document.head.append(script);
  });
}

/** Runs the report's scripts; `tell` hears of each outcome. Resolves after the first, or when there will be none. */
function runScripts(scripts: string[], known: HTMLElement[], tell: (outcome: Outcome) => void): Promise<void> {
  return new Promise((resolve) => {
    const worker = new Worker(blobUrl(WORKER_SOURCE));
    let heard = 0;
    const end = () => {
      worker.terminate();
      resolve();
    };
    const fail = (message: string) => {
      if (heard === 0) tell({ drawings: [], changes: [], errors: [message] });
      end();
    };
    const slow = setTimeout(() => fail(ENDLESS), SCRIPT_MS);
    worker.onerror = (event) => {
      event.preventDefault();
      if (event.message) fail(event.message);
    };
    worker.onmessage = (event: MessageEvent) => {
      clearTimeout(slow);
      const outcome = readOutcome(event.data);
      heard += 1;
      if (outcome) tell(outcome);
      if (heard === 1) setTimeout(end, SETTLE_MS);
      if (heard >= MAX_OUTCOMES) end();
      resolve();
    };
    const asKnown = known.map((node) => ({ tag: node.tagName.toLowerCase(), id: node.id, classes: node.getAttribute("class") ?? "" }));
    worker.postMessage({ scripts, known: asKnown } satisfies ToWorker);
  });
}

/** Puts what the scripts wrote and drew into the document. */
class Stage {
  readonly #known: HTMLElement[];
  readonly #applied = new Map<number, string>();
  readonly problems: string[] = [];

  constructor(known: HTMLElement[], readonly charts: Charts | null) {
    this.#known = known;
  }

  apply(outcome: Outcome): void {
    for (const change of outcome.changes) {
      const element = this.#known[change.ref];
      const state = JSON.stringify(change);
      if (!element || this.#applied.get(change.ref) === state) continue;
      this.#applied.set(change.ref, state);
      if (change.style) element.style.cssText += `;${change.style}`;
      if (change.html !== undefined) element.replaceChildren(purified(change.html));
      if (change.append) element.append(purified(change.append));
    }
    for (const error of outcome.errors) this.#note(error);
    for (const drawing of outcome.drawings) {
      const element = this.#known[drawing.ref] ?? document.getElementById(drawing.id);
      if (!(element instanceof HTMLElement)) continue;
      const state = drawing.option;
      if (element.dataset.baDrawn === String(state.length) + state.slice(0, 200)) continue;
      element.dataset.baDrawn = String(state.length) + state.slice(0, 200);
      const problem = this.charts ? this.charts.draw(element, drawing.option, drawing.notMerge ?? false) : "ECharts is missing";
      if (!problem) continue;
      element.textContent = problem;
      element.style.height = "auto";
      this.#note(problem);
    }
  }

  #note(problem: string) {
    if (!this.problems.includes(problem)) this.problems.push(problem);
  }
}

function listen(charts: Charts | null): void {
  window.addEventListener("message", (event: MessageEvent<ToFrame>) => {
    if (event.source !== host) return;
    if (event.data.type === "ba:theme") {
      document.documentElement.dataset.theme = event.data.theme;
      charts?.setTheme(event.data.theme);
    } else if (event.data.type === "ba:png") {
      const dark = document.documentElement.dataset.theme === "dark" && !("paper" in document.documentElement.dataset);
      send({ type: "ba:png", request: event.data.request, images: charts?.images(dark ? "#1c1f24" : "#ffffff") ?? [] });
    }
  });
}

function reportSize(): void {
  let last = 0;
  const measure = () => {
    const height = document.body.scrollHeight;
    if (height !== last) send({ type: "ba:height", height: (last = height) });
  };
  new ResizeObserver(measure).observe(document.body);
  measure();
}

function prepare(message: Render, html: string): HTMLElement[] {
  const root = document.documentElement;
  root.lang = message.lang === "en" ? "en" : "zh-CN";
  root.dataset.theme = message.theme === "dark" ? "dark" : "light";
  if (message.paper) root.dataset.paper = "";
  const style = document.createElement("style");
  style.textContent = STYLE;
  document.head.append(style);
  document.body.replaceChildren(purified(html));
  return [document.body, ...document.body.querySelectorAll<HTMLElement>("*")].slice(0, MAX_KNOWN);
}

async function render(message: Render): Promise<void> {
  const { scripts, html } = takeScripts(message.html);
  const known = prepare(message, html);
  const library = await loadLibrary(message.echarts);
  const charts = library ? new Charts(library, message.paper ? "light" : message.theme) : null;
  listen(charts);
  const stage = new Stage(known, charts);
  let ready = false;
  const settle = () => {
    const [problem] = stage.problems;
    if (problem && (charts?.count ?? 0) === 0 && looksEmpty()) send({ type: "ba:error", message: problem });
    else if (ready) send({ type: "ba:ready", charts: charts?.count ?? 0, empty: looksEmpty(), problem: problem ?? "" });
  };
  if (scripts.length) {
    await runScripts(scripts, known, (outcome) => {
      stage.apply(outcome);
      settle();
    });
  }
  reportSize();
  ready = true;
  setTimeout(settle, 60);
}

function onFirstMessage(event: MessageEvent<ToFrame>): void {
  if (event.source !== host || event.data?.type !== "ba:render") return;
  window.removeEventListener("message", onFirstMessage);
  render(event.data).catch((error: unknown) => send({ type: "ba:error", message: String(error) }));
}

harden();
window.addEventListener("message", onFirstMessage);
send({ type: "ba:hello" });
