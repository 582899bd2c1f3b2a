import { describe, expect, it } from "vitest";
import type { Note } from "../../src/api/types";
import { byLevel, noteWords } from "../../src/services/note-words";

const note = (code: string, values: Record<string, unknown> = {}, column?: string): Note => ({ code, level: "step", text: `words of ${code}`, column, values });

/** Every code the server has, with the values it sends. */
const CODES: [string, Record<string, unknown>][] = [
  ["encoding_doubtful", { encoding: "gb18030", others: ["big5", "euc_kr"] }], ["characters_lost", { count: 2, encoding: "big5" }], ["delimiter", { delimiter: ";" }],
  ["header_row", { row: 3 }], ["titles_left_out", { count: 2, text: "销售表" }], ["no_header", {}], ["header_joined", { rows: 2 }], ["units_row", { row: 2 }],
  ["unit_from_title", { unit: "万元", text: "单位：万元" }], ["index_column", { column: "index" }], ["names_numbered", { count: 1 }], ["blank_rows", { count: 1 }],
  ["short_rows", { count: 1 }], ["long_rows", { count: 1 }], ["footer_left_out", { text: "制表：财务部" }], ["repeated_header", { count: 1 }],
  ["totals_left_out", { count: 1, labels: ["合计"] }], ["totals_doubtful", { label: "小计" }], ["total_column", { column: "合计", parts: ["一月", "二月"] }],
  ["filled_down", { columns: ["地区"] }], ["merged_filled", { columns: ["地区"] }], ["tables_split", { count: 2 }], ["year_month", { columns: ["年", "月"] }],
  ["year_from_title", { year: 2024 }], ["months_first_day", {}], ["dates_written", { formats: "%Y/%m/%d" }], ["day_month_swapped", {}],
  ["dates_not_read", { examples: ["合计"] }], ["zoned_utc", {}], ["percent_fraction", {}], ["percent_mixed", {}], ["thousands", {}], ["decimal_comma", {}],
  ["decimal_comma_doubtful", {}], ["scales", { scales: ["万"] }], ["parentheses_negative", {}], ["currency_mixed", { currencies: ["¥", "$"] }],
  ["unit_mixed", { units: ["元", "万元"] }], ["read_as_empty", { marks: ["-"] }], ["words_beside", { count: 1, examples: ["无"] }],
  ["mixed_types", { fit: 8, present: 10, examples: ["x"] }], ["digits_lost", { examples: ["1.2E+15"] }], ["spaces_trimmed", {}], ["long_digits_text", {}],
  ["lines_invalid", { count: 1 }], ["flattened", { depth: 2 }], ["duplicate_rows", { count: 1 }], ["empty_columns", { columns: ["备注"] }], ["mostly_empty", { percent: 90 }],
  ["suspicious_date", { date: "1970-01-01" }], ["stray_cells", { count: 1 }], ["estimates", {}], ["html_page", {}], ["not_json_lines", { count: 1 }],
];

describe("notes on tables", () => {
  it("are in Chinese for every code, with all their values", () => {
    for (const [code, values] of CODES) {
      const words = noteWords(note(code, values), "zh");
      expect(words, code).toMatch(/[一-鿿]/);
      expect(words, code).not.toMatch(/words of|[{}]|undefined/);
      for (const value of Object.values(values).flat()) expect(words, code).toContain(String(value));
    }
  });

  it("have the name of their column in front, unless they say it themselves", () => {
    expect(noteWords(note("unit_mixed", { units: ["元", "万元"] }, "金额"), "zh")).toBe("金额：单位混杂（元、万元），不能直接相加");
    expect(noteWords(note("total_column", { parts: ["一月"] }, "合计"), "zh")).toBe("列“合计”是 一月 的合计，一起相加会重复计算");
    expect(noteWords({ ...note("unit_mixed", {}, "amount"), text: "units are mixed" }, "en")).toBe("amount: units are mixed");
    expect(noteWords({ ...note("unit_mixed", {}, "amount"), text: "amount: units are mixed" }, "en")).toBe("amount: units are mixed");
  });

  it("fall back to what the server said: an unknown code, a missing value, an old profile", () => {
    expect(noteWords(note("brand_new"), "zh")).toBe("words of brand_new");
    expect(noteWords(note("header_row"), "zh")).toBe("words of header_row");
    expect(noteWords(note("constructor"), "zh")).toBe("words of constructor");
    expect(noteWords({ code: "note", level: "step", text: "3 blank row(s) left out" }, "zh")).toBe("略去 3 个空行");
    expect(noteWords(note("dates_written", { formats: "Excel" }), "zh")).toBe("Excel 日期序号按日期读");
  });

  it("are parted by level, doubts first", () => {
    const doubt: Note = { ...note("unit_mixed"), level: "warn" };
    expect(byLevel([note("delimiter"), doubt])).toEqual({ doubts: [doubt], steps: [note("delimiter")] });
    expect(byLevel(undefined)).toEqual({ doubts: [], steps: [] });
  });
});
