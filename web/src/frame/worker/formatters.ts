/**
 * Options without functions. A formatter is asked what it would write for a placeholder, and becomes ECharts' own template, or a
 * scale (`v / 10000 + "万"`) that the drawer knows; one that is neither is left out.
 */

export interface Scale {
  $scale: { factor: number; digits: number; prefix: string; suffix: string };
}

type Formatter = (...args: unknown[]) => unknown;
const attempt = (formatter: Formatter, argument: unknown): string => {
  try {
    const said = formatter(argument, 0);
    return typeof said === "string" && !/NaN|undefined|\[object/.test(said) ? said : "";
  } catch {
    return "";
  }
};

const NUMBER = /^(\D*?)(-?[\d,]+(?:\.\d+)?)(\D*)$/;

function scaleOf(formatter: Formatter): Scale | null {
  const parts = [10_000_000, 20_000_000].map((value) => NUMBER.exec(attempt(formatter, value)));
  const [first, second] = parts;
  if (!first || !second || first[1] !== second[1] || first[3] !== second[3]) return null;
  const [one, two] = [first, second].map((part) => Number((part[2] ?? "").replaceAll(",", "")));
  if (!one || two !== 2 * one) return null;
  const digits = (/\.(\d+)/.exec(attempt(formatter, 12_345_678.9123))?.[1] ?? "").length;
  return { $scale: { factor: one / 10_000_000, digits: Math.min(digits, 4), prefix: first[1] ?? "", suffix: first[3] ?? "" } };
}

const PARAMS = { name: "{b}", value: "{c}", data: "{c}", seriesName: "{a}", percent: "{d}", axisValue: "{b}", axisValueLabel: "{b}", marker: "", dataIndex: 0, seriesIndex: 0, color: "" };

export function templateOf(formatter: Formatter, path: string[]): string | Scale | null {
  if (path.includes("axisLabel") || path.includes("axisPointer") || path.includes("valueFormatter")) {
    const template = attempt(formatter, "{value}");
    return template.includes("{value}") ? template : scaleOf(formatter);
  }
  for (const params of [PARAMS, [PARAMS]]) {
    const template = attempt(formatter, params);
    if (/\{[bcd]\}/.test(template)) return template;
  }
  return null;
}

const MAX_DEPTH = 24;

/** Plain data: no functions, no cycles, no elements. */
export function plain(value: unknown, path: string[] = []): unknown {
  if (typeof value === "function") {
    const name = path[path.length - 1] ?? "";
    return /formatter$/i.test(name) ? templateOf(value as Formatter, path) ?? undefined : undefined;
  }
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "object" || value === null) return typeof value === "bigint" ? Number(value) : value;
  if (path.length > MAX_DEPTH) return undefined;
  if (Array.isArray(value)) return value.map((one) => plain(one, path) ?? null);
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<number>);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one, [...path, name])]));
}
