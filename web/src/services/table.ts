/** Tables as people read them: which columns are figures, how they sort, how they leave the page. No DOM. */
import { readable } from "$lib/chart/numbers";

const NUMBER = /^([+\-−–▲▼]?)\s*([¥￥$€£]?)\s*([+\-−]?)(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?\s*(%|％|pp|百分点|万亿|万|亿|千|k|m|bn|b)?(?:\s*(?:元|人|单|件|次|台))?$/i;
const SCALE: Record<string, number> = { 万: 1e4, 亿: 1e8, 万亿: 1e12, 千: 1e3, k: 1e3, m: 1e6, b: 1e9, bn: 1e9 };

/** The value of a figure as written, or null when the text is not one. Bracketed figures are negative, as in accounts. */
export function figure(text: string): number | null {
  const plain = text.trim().replace(/ /g, " ");
  const bracketed = /^\((.+)\)$/.exec(plain);
  const match = NUMBER.exec(bracketed?.[1] ?? plain);
  if (!match) return null;
  const [, sign1 = "", , sign2 = "", whole = "", decimals = "", unit = ""] = match;
  const negative = /[-−–▼]/.test(sign1 + sign2) || bracketed !== null;
  const value = Number(whole.replace(/,/g, "") + decimals) * (SCALE[unit.toLowerCase()] ?? 1);
  return negative ? -value : value;
}

const EMPTY = /^(?:|-|–|—|n\/?a|null|none|nan|无)$/i;

/** A column is numeric when it has figures and nothing but figures and blanks. */
export function isNumericColumn(cells: string[]): boolean {
  const filled = cells.filter((cell) => !EMPTY.test(cell.trim()));
  return filled.length > 0 && filled.every((cell) => figure(cell) !== null);
}

/** `+18.2%` is a change and gets a direction; `18.2%` is a share and does not. */
export function direction(text: string): "up" | "down" | null {
  const match = /^([+\-−▲▼])\s*\d[\d,]*(?:\.\d+)?\s*(?:%|％|pp|百分点)$/.exec(text.trim());
  if (!match || figure(text) === 0) return null;
  return match[1] === "+" || match[1] === "▲" ? "up" : "down";
}

const NAMES_NOT_AMOUNTS = /(^|[\s_(（])(id|no\.?|code|year|zip|phone|tel)([\s_)）]|$)|编号|编码|年份|年度|^年$|电话|手机|邮编|代码|单号|工号/i;

/** As many decimals as the longest has, so that the points stand under each other; only where most figures have some. */
function decimalsOf(plain: string[]): number {
  const lengths = plain.map((cell) => cell.trim().split(".")[1]?.length ?? 0);
  const longest = Math.max(0, ...lengths);
  return longest <= 4 && lengths.filter((length) => length > 0).length * 2 > lengths.length ? longest : 0;
}

const PERCENT = /^([+\-−]?\d[\d,]*)(?:\.(\d+))?\s*([%％])$/;

/** 11.7% beside 60.64% reads as two precisions: one for all, as for amounts. */
function evenPercent(cells: string[], shares: (RegExpExecArray | null)[]): string[] {
  const decimals = decimalsOf(shares.flatMap((share) => (share ? [`0${share[2] ? `.${share[2]}` : ""}`] : [])));
  return cells.map((cell, index) => {
    const share = shares[index];
    if (!share || decimals === 0) return cell;
    return `${share[1]}.${(share[2] ?? "").padEnd(decimals, "0")}${share[3]}`;
  });
}

/** Amounts with thousands separators and even decimals; identifiers, years and anything unsure stay as written. */
export function grouped(header: string, cells: string[]): string[] {
  const plain = cells.filter((cell) => /^-?\d+(\.\d+)?$/.test(cell.trim()));
  const years = plain.length > 0 && plain.every((cell) => /^(19|20)\d\d$/.test(cell.trim()));
  const padded = plain.some((cell) => /^-?0\d/.test(cell.trim()));
  if (NAMES_NOT_AMOUNTS.test(header) || years || padded || !isNumericColumn(cells)) return cells;
  const bare = (cell: string) => (/^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(cell.trim()) ? cell.trim().replace(/,/g, "") : cell.trim());
  const shares = cells.map((cell) => PERCENT.exec(cell.trim()));
  if (shares.some(Boolean)) return evenPercent(cells, shares);
  const decimals = decimalsOf(cells.map(bare).filter((cell) => /^-?\d+(\.\d+)?$/.test(cell)));
  return cells.map((cell) => {
    const match = /^(-?)(\d{1,15})(?:\.(\d+))?$/.exec(bare(cell));
    if (!match) return cell;
    const [, sign, whole = "", rest = ""] = match;
    const tail = rest.padEnd(decimals, "0");
    return `${sign}${whole.replace(/\B(?=(\d{3})+$)/g, ",")}${tail ? `.${tail}` : ""}`;
  });
}

/** One cell as a table would show it. */
export const cellText = (header: string, value: string): string => grouped(header, [shortFraction(value)])[0] ?? value;

const shortFraction = (value: string): string => (/^-?\d+\.\d{5,}$/.test(value.trim()) ? String(readable(Number(value))) : value);

export interface ShownColumn {
  numeric: boolean;
  shown: string[];
}

/** Each column as it is read: whether it holds figures, and its cells as they are written. */
export function shownColumns(header: { text: string }[], rows: { text: string }[][]): ShownColumn[] {
  return header.map((head, index) => {
    const cells = rows.map((row) => row[index]?.text ?? "");
    const numeric = isNumericColumn(cells);
    return { numeric, shown: numeric ? grouped(head.text, cells) : cells };
  });
}

/** A day, month, quarter, week or year as a row's name. */
const TIME = /^(?:19|20)\d\d(?:[-/.年]\s?(?:0?[1-9]|1[0-2])(?:[-/.月]\s?\d{1,2}日?|月)?(?:[ T]\d{1,2}:\d\d(?::\d\d)?)?|[- ]?(?:Q[1-4]|W\d\d?)|年?(?:第?[一二三四1-4]季度|Q[1-4])|年)?$/i;
export const isTimeText = (text: string): boolean => TIME.test(text.trim());

export type SortOrder = "asc" | "desc";

/** Row indices in the new order. Blanks stay last whichever way; equal rows keep their order. */
export function sortRows(rows: string[][], column: number, order: SortOrder, language: string): number[] {
  const numeric = isNumericColumn(rows.map((row) => row[column] ?? ""));
  const collator = new Intl.Collator(language, { numeric: true });
  const sign = order === "asc" ? 1 : -1;
  return rows
    .map((row, index) => ({ index, text: (row[column] ?? "").trim() }))
    .sort((a, b) => {
      const [blankA, blankB] = [EMPTY.test(a.text), EMPTY.test(b.text)];
      if (blankA || blankB) return Number(blankA) - Number(blankB) || a.index - b.index;
      const compared = numeric ? (figure(a.text) ?? 0) - (figure(b.text) ?? 0) : collator.compare(a.text, b.text);
      return compared * sign || a.index - b.index;
    })
    .map((entry) => entry.index);
}

const escaped = (text: string) => text.replace(/[&<>]/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[char] ?? char);

/** For the clipboard: a table that word processors and mail take as one. */
export const toHtmlTable = ([header = [], ...rows]: string[][]): string => {
  const row = (cells: string[], tag: string) => `<tr>${cells.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join("")}</tr>`;
  return `<table border="1" cellspacing="0" cellpadding="4"><thead>${row(header, "th")}</thead><tbody>${rows.map((cells) => row(cells, "td")).join("")}</tbody></table>`;
};

export const toTsv = (rows: string[][]): string => rows.map((row) => row.map((cell) => cell.replace(/[\t\r\n]+/g, " ")).join("\t")).join("\n");

/** A cell of a column of figures as a program wants it: separators are for the eye. With a sign, unit or percent it stays as written. */
export const amount = (cell: string): string | number => (/^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(cell.trim()) ? (figure(cell) ?? cell) : cell);

/** CSV for spreadsheets: a BOM so that Chinese opens right, and no cell that a spreadsheet would run as a formula. */
export function toCsv(rows: (string | number | null)[][]): string {
  const field = (value: string | number | null) => {
    if (typeof value === "number") return String(value);
    const cell = value ?? "";
    const inert = /^[=@\t\r]/.test(cell) || (/^[+-]/.test(cell) && figure(cell) === null) ? `'${cell}` : cell;
    return /[",\r\n]/.test(inert) ? `"${inert.replace(/"/g, '""')}"` : inert;
  };
  return `\uFEFF${rows.map((row) => row.map(field).join(",")).join("\r\n")}\r\n`;
}
