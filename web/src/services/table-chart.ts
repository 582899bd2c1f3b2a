/** A table of the report as a chart, and as a workbook: nothing is asked of the model. Pure; loaded when wanted. */
import writeXlsxFile, { type SheetData } from "write-excel-file/browser";
import type { ChartRef } from "$lib/api/types";
import { seriesOf } from "./chart-option";
import { figure, isNumericColumn, isTimeText } from "./table";

const MAX_MEASURES = 6;
const percent = (cells: string[]) => cells.some((cell) => /[%％]\s*$/.test(cell));
const unitOf = (header: string) => /[(（]([^()（）]{1,8})[)）]\s*$/.exec(header)?.[1] ?? "";

/** Names along the axis, figures as series; null where a table has not both. Shares and amounts do not share an axis. */
export function chartOf(header: string[], rows: string[][], title: string): ChartRef | null {
  const column = (at: number) => rows.map((row) => row[at] ?? "");
  const numeric = header.map((_, at) => isNumericColumn(column(at)));
  const x = Math.max(0, numeric.indexOf(false));
  const measures = header.map((_, at) => at).filter((at) => at !== x && numeric[at]);
  const first = measures[0];
  if (first === undefined || rows.length === 0) return null;
  const like = measures.filter((at) => percent(column(at)) === percent(column(first)) && unitOf(header[at] ?? "") === unitOf(header[first] ?? "")).slice(0, MAX_MEASURES);
  const dimensions = [header[x] ?? "", ...like.map((at) => header[at] ?? "")];
  const source = rows.map((row) => [row[x] ?? "", ...like.map((at) => figure(row[at] ?? ""))]);
  const kind = rows.length > 1 && column(x).every(isTimeText) ? "line" : "bar";
  const unit = percent(column(first)) ? "%" : unitOf(header[first] ?? "");
  const option = { dataset: { dimensions, source }, xAxis: { type: "category" }, yAxis: { type: "value", ...(unit ? { name: unit } : {}) }, series: seriesOf(kind, { header: dimensions, rows: source }) };
  return { index: 0, tool_call_id: "", kind, title, x: dimensions[0] ?? "", y: dimensions.slice(1), unit: unit || null, option };
}

const width = (text: string) => [...text].reduce((sum, char) => sum + (char.charCodeAt(0) > 255 ? 2 : 1), 0);

/** Typed cells: figures are numbers with their format, all else is text and never a formula. */
export function workbook(header: string[], rows: string[][], name: string): Promise<Blob> {
  const numeric = header.map((_, at) => isNumericColumn(rows.map((row) => row[at] ?? "")));
  const cell = (text: string, at: number) => {
    const value = numeric[at] ? figure(text) : null;
    if (value === null) return { value: text, type: String };
    const decimals = /\.(\d+)/.exec(text)?.[1]?.length ?? 0;
    const places = decimals ? `.${"0".repeat(Math.min(decimals, 8))}` : "";
    return /[%％]\s*\)?$/.test(text) ? { value: value / 100, type: Number, format: `0${places}%` } : { value, type: Number, format: `${/,/.test(text) ? "#,##0" : "0"}${places}` };
  };
  const data: SheetData = [
    header.map((text) => ({ value: text, type: String, fontWeight: "bold" as const })),
    ...rows.map((row) => header.map((_, at) => cell(row[at] ?? "", at))),
  ];
  const columns = header.map((text, at) => ({ width: Math.min(50, Math.max(8, width(text) + 2, ...rows.slice(0, 200).map((row) => width(row[at] ?? "") + 2))) }));
  return writeXlsxFile(data, { columns, sheet: name.replace(/[[\]*?/\\:]/g, " ").slice(0, 31).trim() || "Sheet1", stickyRowsCount: 1 }).toBlob();
}
