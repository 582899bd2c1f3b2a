/**
 * Runs a report's scripts in a worker of the sandboxed frame: no document, no WebRTC, no frames can exist here, and the policy it inherits
 * lets nothing out. The scripts find a document to write to and an `echarts` to call; what they wrote and drew goes to the frame as data.
 */
import type { Drawing, Outcome, ToWorker } from "../script-protocol";
import { FakeDocument, FakeElement } from "./dom";
import { plain } from "./formatters";

interface Scope extends Record<string, unknown> {
  postMessage(message: unknown): void;
  importScripts(url: string): void;
  onmessage: unknown;
}
const scope = self as unknown as Scope;
const say = scope.postMessage.bind(scope);
const load = scope.importScripts.bind(scope);
const later = setTimeout.bind(self);
const nothing = () => {};

const drawings = new Map<FakeElement, { option: unknown; notMerge: boolean }>();
const errors: string[] = [];
let page: FakeDocument;
let made = 0;
let dirty = false;

function merge(old: unknown, fresh: unknown): unknown {
  const both = typeof old === "object" && typeof fresh === "object" && old && fresh && !Array.isArray(old) && !Array.isArray(fresh);
  if (!both) return fresh;
  return { ...old, ...Object.fromEntries(Object.entries(fresh).map(([name, value]) => [name, merge((old as Record<string, unknown>)[name], value)])) };
}

/** A chart that only remembers its option. Whatever else is asked of it does nothing, and says itself again. */
function init(where: unknown): unknown {
  const element = typeof where === "string" ? page.getElementById(where) : where;
  if (!(element instanceof FakeElement)) throw new Error("echarts.init: the chart's element was not found");
  if (element.ref < 0 && !element.id) element.id = `ba-made-${(made += 1)}`;
  let option: unknown = {};
  const chart: Record<string, unknown> = {
    setOption(fresh: unknown, how?: unknown) {
      const notMerge = how === true || (typeof how === "object" && how !== null && (how as { notMerge?: boolean }).notMerge === true);
      option = notMerge ? fresh : merge(option, fresh);
      drawings.set(element, { option, notMerge });
      dirty = true;
    },
    getOption: () => option, getDom: () => element, getWidth: () => 760, getHeight: () => 360, isDisposed: () => false,
    dispose: () => drawings.delete(element), id: element.id,
  };
  const proxy = new Proxy(chart, { get: (target, name) => (name in target ? target[name as string] : name === "then" ? undefined : nothing) });
  return proxy;
}

class Gradient {
  constructor(type: "linear" | "radial", numbers: unknown[], colorStops: unknown) {
    const names = type === "linear" ? ["x", "y", "x2", "y2"] : ["x", "y", "r"];
    Object.assign(this, { type, colorStops, ...Object.fromEntries(names.map((name, at) => [name, numbers[at] ?? 0])) });
  }
}
class LinearGradient extends Gradient {
  constructor(x: unknown, y: unknown, x2: unknown, y2: unknown, stops: unknown) { super("linear", [x, y, x2, y2], stops); }
}
class RadialGradient extends Gradient {
  constructor(x: unknown, y: unknown, r: unknown, stops: unknown) { super("radial", [x, y, r], stops); }
}

const addCommas = (value: unknown) => Number(value).toLocaleString("en-US");
const library: Record<string, unknown> = {
  init, version: "6", graphic: { LinearGradient, RadialGradient }, format: { addCommas, formatTime: String },
  getInstanceByDom: () => undefined, use: nothing, registerTheme: nothing, registerMap: nothing, connect: nothing, dispose: nothing,
  util: { map: (all: unknown[], f: (one: unknown) => unknown) => all.map(f), each: (all: unknown[], f: (one: unknown) => void) => all.forEach(f) },
};

const define = (name: string, value: unknown) => {
  try {
    Object.defineProperty(scope, name, { value, configurable: true, writable: true });
  } catch {
    // The worker's own stays.
  }
};

function furnish(): void {
  class Observer {
    observe() {}
    disconnect() {}
    unobserve() {}
  }
  const loaded = (name: string, listener: () => void) => void (/^(?:load|DOMContentLoaded)$/.test(name) && page.listeners.push(listener));
  const frame = (callback: (now: number) => void) => later(() => callback(0), 16);
  const stored = { getItem: () => null, setItem: nothing, removeItem: nothing };
  const globals: Record<string, unknown> = {
    window: scope, document: page, echarts: library, addEventListener: loaded, removeEventListener: nothing, requestAnimationFrame: frame, cancelAnimationFrame: nothing,
    ResizeObserver: Observer, MutationObserver: Observer, IntersectionObserver: Observer, HTMLElement: FakeElement, Element: FakeElement, Image: class {},
    getComputedStyle: () => ({ getPropertyValue: () => "" }), matchMedia: () => ({ matches: false, addEventListener: nothing, addListener: nothing }),
    innerWidth: 800, innerHeight: 600, devicePixelRatio: 1, alert: nothing, confirm: () => false, prompt: () => null, scrollTo: nothing, localStorage: stored, sessionStorage: stored,
    parent: undefined, top: undefined, onload: null, onresize: null, open: () => null, print: nothing,
  };
  for (const [name, value] of Object.entries(globals)) define(name, value);
  for (const [id, element] of page.named) if (!(id in scope)) define(id, element);
}

const described = (error: unknown) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));

/** Each script is a script of its own: one that fails stops none of the others. */
function run(code: string): void {
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  try {
    load(url);
  } catch (error) {
    errors.push(described(error));
  }
  URL.revokeObjectURL(url);
}

function attempt(listener: unknown): void {
  if (typeof listener !== "function") return;
  try {
    (listener as (event: unknown) => void)({ type: "load", target: page });
  } catch (error) {
    errors.push(described(error));
  }
}

function outcome(): Outcome {
  const drawn: Drawing[] = [];
  for (const [element, { option, notMerge }] of drawings) {
    try {
      drawn.push({ ref: element.ref, id: element.id, option: JSON.stringify(plain(option) ?? {}), notMerge });
    } catch (error) {
      errors.push(described(error));
    }
  }
  return { drawings: drawn, changes: page.changes(), errors: [...errors] };
}

scope.onmessage = (event: MessageEvent<ToWorker>) => {
  scope.onmessage = null;
  page = new FakeDocument(event.data.known);
  furnish();
  const onerror = (problem: { message?: string; reason?: unknown }) => void errors.push(problem.message ?? described(problem.reason));
  EventTarget.prototype.addEventListener.call(self, "error", onerror as unknown as EventListener);
  EventTarget.prototype.addEventListener.call(self, "unhandledrejection", onerror as unknown as EventListener);
  for (const code of event.data.scripts) run(code);
  page.readyState = "complete";
  page.listeners.forEach(attempt);
  attempt(scope.onload);
  dirty = false;
  say(outcome());
  // What a timer or a promise adds later is told a few times more.
  let last = JSON.stringify(page.changes()) + errors.length;
  for (const wait of [60, 250, 700, 1500]) {
    later(() => {
      const now = JSON.stringify(page.changes()) + errors.length;
      if (dirty || now !== last) say(outcome());
      [dirty, last] = [false, now];
    }, wait);
  }
};
