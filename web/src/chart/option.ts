/** ECharts options from outside: data only. No function, no markup that a tooltip would turn into elements, no address to open; bounded. */

export type Option = Record<string, unknown>;

const MAX_DEPTH = 24;
const MAX_NODES = 400_000;
const FORBIDDEN = new Set(["__proto__", "constructor", "prototype", "link", "sublink", "optionToContent", "contentToOption", "extraCssText", "appendTo", "renderItem"]);

/** Tooltips are HTML: of a text only its line breaks stay markup. */
export const withoutTags = (text: string): string => text.replace(/<\/?[a-z!?][^>]*(?:>|$)/gi, (tag) => (/^<br\b/i.test(tag) ? "<br/>" : ""));

interface Scale {
  factor: number;
  digits: number;
  prefix: string;
  suffix: string;
}

const scaleOf = (value: Option): Scale | null => {
  const scale = value.$scale as Partial<Scale> | undefined;
  if (typeof scale !== "object" || scale === null || typeof scale.factor !== "number" || typeof scale.digits !== "number") return null;
  return { factor: scale.factor, digits: Math.max(0, Math.min(8, Math.round(scale.digits))), prefix: String(scale.prefix ?? ""), suffix: String(scale.suffix ?? "") };
};

/** What is left of an option when only data is taken. `$scale` is a formatter of numbers that was read as data. */
export function cleanOption(option: unknown): Option {
  let nodes = 0;
  const clean = (value: unknown, depth: number): unknown => {
    nodes += 1;
    if (nodes > MAX_NODES || depth > MAX_DEPTH) return undefined;
    if (typeof value === "string") return /^(?:image|path):\/\//.test(value) && !value.startsWith("path://") ? "circle" : withoutTags(value);
    if (value === null || typeof value === "number" || typeof value === "boolean") return value;
    if (Array.isArray(value)) return value.map((one) => clean(one, depth + 1) ?? null);
    if (typeof value !== "object") return undefined;
    const scale = scaleOf(value as Option);
    if (scale) return (one: unknown) => (typeof one === "number" ? `${withoutTags(scale.prefix)}${(one * scale.factor).toLocaleString("en-US", { maximumFractionDigits: scale.digits })}${withoutTags(scale.suffix)}` : withoutTags(String(one)));
    const kept: Option = {};
    for (const [name, one] of Object.entries(value)) {
      if (FORBIDDEN.has(name)) continue;
      const inner = clean(one, depth + 1);
      if (inner !== undefined) kept[name] = inner;
    }
    return kept;
  };
  const cleaned = clean(option, 0);
  return typeof cleaned === "object" && cleaned !== null && !Array.isArray(cleaned) ? (cleaned as Option) : {};
}
