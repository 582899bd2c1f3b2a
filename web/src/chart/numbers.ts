/**
 * Numbers as the page writes them itself, in one way: axis, label, tooltip, table of a chart, share of a pie, cell of a result, meter.
 * 万/亿 in Chinese, K/M/B in English where they are short; the unit once. Figures that a report has written stay as they are (`table.ts`).
 */

const STEPS: Record<string, [number, string][]> = { zh: [[1e8, "亿"], [1e4, "万"]], en: [[1e9, "B"], [1e6, "M"], [1e3, "K"]] };
const inZh = (language: string) => language.startsWith("zh");

/** Halves go up as people write them: 35.835 is 35.84, though its nearest binary fraction lies below. */
export function rounded(value: number, digits: number): number {
  const text = String(Math.abs(value));
  if (!Number.isFinite(value) || text.includes("e")) return value;
  return Math.sign(value) * Number(`${Math.round(Number(`${text}e${digits}`))}e-${digits}`);
}

const written = (value: number, digits: number, language: string, atLeast = 0) =>
  new Intl.NumberFormat(inZh(language) ? "zh-CN" : "en-US", { minimumFractionDigits: atLeast, maximumFractionDigits: digits }).format(rounded(value, digits));

/** For axes and labels: short; `even` figures, side by side, have as many decimals each. A unit that already is a scale (万元, %) keeps numbers as they are. */
export function short(value: number, language: string, unit = "", even = false): string {
  const size = Math.abs(value);
  const scaled = /[万亿%％]|\b[kmb]\b|thousand|million|billion/i.test(unit);
  const step = scaled ? undefined : STEPS[inZh(language) ? "zh" : "en"]?.find(([from]) => size >= from);
  if (!step) return written(value, digitsOf(value, unit), language) + (isPercent(unit) ? "%" : "");
  const digits = size / step[0] >= 100 ? 0 : 2;
  return written(value / step[0], digits, language, even ? digits : 0) + step[1];
}

/** For tooltips and tables: in full, with its unit. */
export const full = (value: number, language: string, unit = ""): string =>
  written(value, isPercent(unit) || Math.abs(value) >= 1000 ? 2 : 4, language) + (isPercent(unit) ? "%" : unit ? ` ${unit}` : "");

const digitsOf = (value: number, unit: string) => (isPercent(unit) || Math.abs(value) < 100 ? (Math.abs(value) >= 1 || isPercent(unit) ? 2 : 4) : 0);

/** A part of a whole, such as a slice of a pie: two decimals, as the tables have. */
export const share = (part: number, whole: number, language: string): string => (whole === 0 ? "–" : `${written((part / whole) * 100, 2, language, 2)}%`);

/** A meter (errors, cache hits, context in use): one decimal. */
export const rate = (fraction: number, language: string): string => `${written(fraction * 100, 1, language, 1)}%`;

/** A computed value has more digits than it means: six significant ones after the point are enough to read. */
export const readable = (value: number): number => rounded(value, Math.abs(value) >= 1 ? 4 : 6);

/** A single value in the running text, with thousands separators. */
export const single = (value: number, language: string): string => written(Number(value.toPrecision(12)), 6, language);

export const isPercent = (unit: string): boolean => /^[%％]$/.test(unit.trim());
