import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Note } from "../../src/api/types";
import { NOTES_ZH } from "../../src/i18n/notes";
import { byLevel, noteWords } from "../../src/services/note-words";

const note = (code: string, values: Record<string, unknown> = {}, column?: string): Note => ({ code, level: "step", text: `words of ${code}`, column, values });

/** Codes with the values the server sends. */
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
  ["lines_invalid", { count: 1 }], ["flattened", { path: "data.items" }], ["duplicate_rows", { count: 1 }], ["empty_columns", { columns: ["备注"] }], ["mostly_empty", { percent: 90 }],
  ["suspicious_date", { date: "1970-01-01" }], ["stray_cells", { count: 1 }], ["estimates", {}], ["html_page", {}], ["nul_removed", {}],
  ["encoding_unknown", { encoding: "gbx" }], ["encoding_unfit", { encoding: "big5" }], ["encoding_guessed", {}], ["member_left_out", { member: "图.png" }], ["member_left_out", { file: "a.csv" }],
  ["tables_left_out", {}], ["table_left_out", { table: "订单" }], ["table_empty", { table: "订单" }], ["column_left_out", { column: "照片" }], ["write_ahead", {}], ["labels_applied", {}],
  ["labels_not_applied", {}], ["labelled_values", { codes: { "-9": "拒答" } }], ["column_labels", { labels: { age: "年龄" } }], ["placed_by_position", { pages: [3] }], ["pages_left_out", {}],
  ["hidden_rows", { count: 4 }], ["zone_kept", { zone: "+08:00" }], ["scales_mixed", { examples: ["12"] }], ["same_number", { examples: ["1.1", "1.10"] }],
  ["zero_rows", {}], ["numeric_text", { column: "金额" }], ["filter_removed_all", { rows: 9 }], ["filter_kept_all", { rows: 9 }], ["filter_unmet", {}],
  ["blanks_left_out", { column: "金额", blank: 2, rows: 9 }], ["join_grew", { after: 12 }], ["join_multiplied", { table: "订单", before: 4, after: 9 }], ["totals_in_sum", {}],
  ["total_row_in_result", { column: "地区", label: "合计" }], ["key_variants", { column: "客户", values: ["A", "a"] }], ["case_variants", { column: "客户", values: ["A", "a"] }],
  ["duplicate_key", { columns: ["编号"], count: 2 }], ["blank_values", { column: "金额", blank: 1, rows: 5 }], ["parts_do_not_sum", { column: "金额", sum: 9, expected: 10 }],
  ["formula_cells", { file: "a.csv", count: 2, example: "=A1" }], ["unit_column", { column: "单位", units: ["千克", "吨"] }],
];

describe("notes on tables", () => {
  it("are in Chinese for every code, with all their values", () => {
    for (const [code, values] of CODES) {
      const words = noteWords(note(code, values), "zh");
      expect(words, code).toMatch(/[一-鿿]/);
      expect(words, code).not.toMatch(/words of|[{}]|undefined/);
      for (const value of Object.values(values).flat()) {
        const parts = typeof value === "object" ? Object.entries(value as object).flat() : [value];
        for (const part of parts) expect(words, code).toContain(String(part));
      }
    }
  });

  it("are in Chinese for every code in the worker's sources, and for no other", () => {
    const folder = "../python/ba_worker/tables/"; // from web/, where the tests run
    const files = [...readdirSync(folder).filter((name) => name.endsWith(".py")).map((name) => folder + name), folder + "../checking.py", folder + "../leaving.py"];
    const source = files.map((name) => readFileSync(name, "utf8")).join("\n");
    // A code stands in the call, or in a variable or argument `code` that is handed to it.
    const places = /\b(?:note|warn)\(\s*"(\w+)"(?: if [^"\n]* else "(\w+)")?|\bcode(?:, \w+)? ?= ?\(?"([a-z]\w+)"(?:.* else \("(\w+)")?|filled_note\([^"\n]*"(\w+)"\)/g;
    const codes = new Set([...source.matchAll(places)].flatMap((found) => found.slice(1)).filter((code) => code !== undefined));
    expect(codes.size).toBeGreaterThan(70);
    expect([...codes].filter((code) => !NOTES_ZH[code]?.length)).toEqual([]);
    expect([...new Set(Object.keys(NOTES_ZH).map((key) => key.split(".")[0]!))].filter((code) => !codes.has(code))).toEqual([]);
    expect([...codes].filter((code) => !CODES.some(([sample]) => sample === code))).toEqual([]);
  });

  it("tell apart what one code says in several sentences", () => {
    const says = (code: string, text: string, values: Record<string, unknown> = {}, column?: string) => noteWords({ ...note(code, values, column), text }, "zh");
    expect(says("totals_doubtful", "2 row(s) are called totals but do not equal other rows; they are kept", { label: "小计" })).toBe("2 行名为合计（如“小计”），但与其他行之和不符，仍在表中");
    expect(says("totals_doubtful", "the total row `合计` does not equal the sum of the rows it seems to sum; it is left out", { label: "合计" })).toBe("合计行“合计”与所合计各行之和不符，不在表中");
    expect(says("words_beside", "日期: 1 value(s) are not dates (`无`); their text is in 日期_raw", { count: 1, examples: ["无"] }, "日期")).toBe("日期：1 个值不是日期（无），原文另存一列");
    expect(says("header_joined", "row 2 holds field codes, not data; left out", { rows: 2 })).toBe("第 2 行是字段代码，不是数据，已略去");
    expect(says("footer_left_out", "3 line(s) of page numbers or rules left out", { text: "3" })).toBe("略去 3 行页码或分隔线");
    expect(says("member_left_out", "a.png was left out: it is a PNG image, not a table", { member: "a.png" })).toBe("压缩包里的 a.png 未读入：这是 PNG 图片，不是表格");
    expect(says("member_left_out", "b.csv in the archive was left out: the file holds no values", { file: "b.csv" })).toBe("压缩包里的 b.csv 未读入：文件里没有数据");
    expect(says("table_left_out", "t was left out: 900 rows × 3 columns are too many", { table: "t" })).toBe("表 t 未读入：900 行 × 3 列，超出上限");
    expect(says("tables_left_out", "3 of 53 tables were left out (a, b, c …); at most 50 are read")).toBe("共 53 张表，只读前 50 张，3 张未读入（a, b, c 等）");
    expect(says("placed_by_position", "read from pages 2 to 4 of a PDF by the position of the words; check", { pages: [2, 3, 4] })).toBe("按文字位置读自 PDF 第 2 至 4 页，数字请与原页核对");
    expect(says("scales_mixed", "金额: some values have no 万 (12) and are taken as they stand", { examples: ["12"] }, "金额")).toBe("金额：有的值没有写“万”（12），按原样读");
  });

  it("name all columns they are about, and not too many", () => {
    expect(noteWords(note("spaces_trimmed", { columns: ["门店", "品类"] }), "zh")).toBe("门店、品类：去掉了文本两端的空格");
    expect(noteWords(note("thousands", { columns: [..."一二三四五六七八九十"] }), "zh")).toBe("一、二、三、四、五、六、七、八 等：去掉了千位分隔符");
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
