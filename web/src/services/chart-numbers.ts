/** Numbers of charts, written one way in axis, label, tooltip and table: 万/亿 in Chinese, K/M/B in English, the unit once. */

const STEPS: Record<string, [number, string][]> = { zh: [[1e8, "亿"], [1e4, "万"]], en: [[1e9, "B"], [1e6, "M"], [1e3, "K"]] };

const trimmed = (value: number, digits: number, language: string) => new Intl.NumberFormat(language === "zh" ? "zh-CN" : "en-US", { maximumFractionDigits: digits }).format(value);

/** For axes and labels: short. A unit that already is a scale (万元, %) keeps numbers as they are. */
export function short(value: number, language: string, unit = ""): string {
  const size = Math.abs(value);
  const scaled = /[万亿%％]|\b[kmb]\b|thousand|million|billion/i.test(unit);
  const step = scaled ? undefined : STEPS[language === "zh" ? "zh" : "en"]?.find(([from]) => size >= from);
  if (!step) return trimmed(value, size >= 100 ? 0 : size >= 1 ? 2 : 4, language) + (isPercent(unit) ? "%" : "");
  return trimmed(value / step[0], size / step[0] >= 100 ? 0 : 2, language) + step[1];
}

/** For tooltips and tables: in full, with its unit. */
export const full = (value: number, language: string, unit = ""): string => {
  const digits = Math.abs(value) >= 1000 ? 2 : 4;
  return trimmed(value, digits, language) + (isPercent(unit) ? "%" : unit ? ` ${unit}` : "");
};

export const isPercent = (unit: string): boolean => /^[%％]$/.test(unit.trim());
