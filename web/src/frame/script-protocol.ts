/** What the frame and the worker of a report's scripts say to each other. What comes from the worker is the model's word: `readOutcome` checks it. */

/** An element of the report, as its scripts may look for it; the first is the body. */
export interface Known {
  tag: string;
  id: string;
  classes: string;
}
export interface ToWorker {
  scripts: string[];
  known: Known[];
}
/** To the element `ref` of those known. */
export interface Change {
  ref: number;
  style: string;
  html?: string;
  append?: string;
}
export interface Drawing {
  /** Where: an element known, or one that a script made, by id. */
  ref: number;
  id: string;
  /** JSON. */
  option: string;
  notMerge?: boolean;
}
export interface Outcome {
  drawings: Drawing[];
  changes: Change[];
  errors: string[];
}

export const MAX_DRAWINGS = 40;
export const MAX_OPTION_CHARS = 4_000_000;
const MAX_CHANGES = 500;
const MAX_HTML_CHARS = 1_000_000;

const list = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter((one) => typeof one === "object" && one !== null) : []);
const text = (value: unknown, limit: number) => (typeof value === "string" && value.length <= limit ? value : "");
const ref = (value: unknown) => (typeof value === "number" && Number.isInteger(value) ? value : -1);

export function readOutcome(data: unknown): Outcome | null {
  if (typeof data !== "object" || data === null) return null;
  const said = data as Record<string, unknown>;
  const errors = Array.isArray(said.errors) ? said.errors : [];
  return {
    drawings: list(said.drawings).slice(0, MAX_DRAWINGS).map((one) => ({ ref: ref(one.ref), id: text(one.id, 200), option: text(one.option, MAX_OPTION_CHARS), notMerge: one.notMerge === true })),
    changes: list(said.changes).slice(0, MAX_CHANGES).map((one) => ({
      ref: ref(one.ref), style: text(one.style, 5000),
      ...(typeof one.html === "string" ? { html: text(one.html, MAX_HTML_CHARS) } : {}),
      ...(typeof one.append === "string" ? { append: text(one.append, MAX_HTML_CHARS) } : {}),
    })),
    errors: errors.slice(0, 20).map((one) => text(one, 2000)).filter(Boolean),
  };
}
