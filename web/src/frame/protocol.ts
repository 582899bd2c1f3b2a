/**
 * What the page and the sandboxed frame say to each other. The frame holds model-made content, so what comes *from* it counts as
 * forged: `readFrameMessage` accepts only harmless, bounded values, and `Quota` ends a frame that talks without end.
 */

export type ThemeName = "light" | "dark";

export type ToFrame =
  | { type: "ba:render"; html: string; echarts: string; theme: ThemeName; paper: boolean; lang: string }
  | { type: "ba:theme"; theme: ThemeName }
  | { type: "ba:png"; request: string };

export type FromFrame =
  | { type: "ba:hello" }
  | { type: "ba:ready"; charts: number; empty: boolean; problem: string }
  | { type: "ba:height"; height: number }
  | { type: "ba:error"; message: string }
  | { type: "ba:png"; request: string; images: string[] };

/** What the frame says of a script that had to be ended; the page has words for it. */
export const ENDLESS = "the script did not end";

export const MAX_HEIGHT = 4000;
const MAX_IMAGES = 20;
const MAX_IMAGE_CHARS = 12_000_000;

const isPng = (value: unknown): value is string =>
  typeof value === "string" && value.length <= MAX_IMAGE_CHARS && /^data:image\/png;base64,[A-Za-z0-9+/]+=*$/.test(value);

/** A message from the frame, checked; null for anything else. */
export function readFrameMessage(data: unknown): FromFrame | null {
  if (typeof data !== "object" || data === null) return null;
  const message = data as Record<string, unknown>;
  switch (message.type) {
    case "ba:hello":
      return { type: "ba:hello" };
    case "ba:ready": {
      const charts = typeof message.charts === "number" && Number.isInteger(message.charts) ? message.charts : 0;
      return { type: "ba:ready", charts: Math.max(0, Math.min(MAX_IMAGES, charts)), empty: message.empty === true, problem: typeof message.problem === "string" ? message.problem.slice(0, 500) : "" };
    }
    case "ba:height": {
      if (typeof message.height !== "number" || !Number.isFinite(message.height)) return null;
      return { type: "ba:height", height: Math.max(24, Math.min(MAX_HEIGHT, Math.ceil(message.height))) };
    }
    case "ba:error":
      return typeof message.message === "string" ? { type: "ba:error", message: message.message.slice(0, 500) } : null;
    case "ba:png": {
      if (typeof message.request !== "string" || !Array.isArray(message.images)) return null;
      return { type: "ba:png", request: message.request.slice(0, 64), images: message.images.slice(0, MAX_IMAGES).filter(isPng) };
    }
    default:
      return null;
  }
}

/** How many messages one frame may send. */
export class Quota {
  #heard = 0;
  constructor(readonly limit = 400) {}
  /** False from the first message too many on. */
  admits(): boolean {
    this.#heard += 1;
    return this.#heard <= this.limit;
  }
}

const outsideScripts = (html: string) => html.replace(/<script[\s\S]*?<\/script\s*>/gi, "");

/** HTML that sets its own dark text was drawn for white paper: it keeps it in the dark theme too. */
export const wantsPaper = (html: string): boolean => /[^-\w]color\s*:\s*(?:#|rgb|hsl|black)/i.test(outsideScripts(html));

export const usesECharts = (html: string): boolean => /\becharts\b/i.test(html);
