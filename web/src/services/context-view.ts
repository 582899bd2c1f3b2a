/** The context inspector's data: what one turn sent to the model, part by part, and what was shortened on the way (SPEC X). */

export interface ContextPart {
  kind: string;
  role: string;
  round: number | null;
  tokens: number;
  original: number;
  synopses: number;
  shortened: boolean;
  preview: string;
}

export interface ContextView {
  parts: ContextPart[];
  tokens: number;
  saved: number;
  window: number;
  overBudget: boolean;
  /** In the configured currency, when the server says it. */
  cost: number | null;
}

type Fields = Record<string, unknown>;
const fields = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});
const number = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

function part(value: unknown): ContextPart {
  const item = fields(value);
  const tokens = number(item.tokens);
  return {
    kind: text(item.kind) || "?", role: text(item.role), round: typeof item.round === "number" ? item.round : null, tokens,
    original: Math.max(tokens, number(item.original_tokens)), synopses: number(item.synopses), shortened: item.shortened === true, preview: text(item.preview),
  };
}

/** Reads leniently: the inspector is for looking, so it shows what it can. */
export function readContext(data: unknown): ContextView {
  const item = fields(data);
  const parts = Array.isArray(item.parts) ? item.parts.map(part) : [];
  return { parts, tokens: number(item.tokens), saved: number(item.saved_tokens), window: number(item.window), overBudget: item.over_budget === true, cost: typeof item.cost === "number" ? item.cost : null };
}
