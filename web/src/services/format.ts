/** Figures, sizes and times in the reader's language. */

export const bytes = (size: number): string => {
  if (size < 1024) return `${size} B`;
  const units = ["KB", "MB", "GB", "TB"];
  let value = size / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
};

export const duration = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
};

export const count = (value: number, language: string): string => new Intl.NumberFormat(language).format(value);

/** A small amount without a currency: that is configured with the prices. */
export const money = (value: number): string => value.toFixed(value >= 1 ? 2 : 4);

export const clock = (iso: string, language: string): string => {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? "" : new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit" }).format(date);
};

export const dateTime = (iso: string, language: string): string => {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return "";
  return new Intl.DateTimeFormat(language, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" }).format(date);
};

export type DayGroup = "today" | "yesterday" | "week" | "older";

export function dayGroup(iso: string, now = new Date()): DayGroup {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const time = Date.parse(iso);
  if (time >= midnight) return "today";
  if (time >= midnight - 86_400_000) return "yesterday";
  return time >= midnight - 6 * 86_400_000 ? "week" : "older";
}
