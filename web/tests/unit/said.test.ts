import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Note } from "../../src/api/types";
import { en } from "../../src/i18n/en";
import { NOTES_ZH, PROBLEMS_ZH, STEPS_ZH, SUMMARIES_ZH } from "../../src/i18n/said";
import { zh } from "../../src/i18n/zh";
import { byLevel, inItsOwnWords, withoutTag } from "../../src/services/notes";
import { noteWords, problemWords, summaryWords } from "../../src/services/said-words";

/** Written by the server's tests from its own lists. */
const CODES = JSON.parse(readFileSync("src/i18n/codes.json", "utf8")) as Record<"notes" | "problems" | "steps" | "summaries" | "errors", string[]>;
const note = (code: string, values: Record<string, unknown> = {}, column?: string): Note => ({ code, level: "step", text: `words of ${code}`, column, values });

describe("every code the server can send", () => {
  const dictionaries = { notes: NOTES_ZH, problems: PROBLEMS_ZH, steps: STEPS_ZH, summaries: SUMMARIES_ZH } as const;
  for (const [kind, words] of Object.entries(dictionaries) as [keyof typeof dictionaries, Record<string, unknown>][]) {
    it(`has Chinese words, and no words are for nothing: ${kind}`, () => {
      expect(CODES[kind].length).toBeGreaterThan(15);
      expect(Object.keys(words).sort()).toEqual([...CODES[kind]].sort());
      for (const said of Object.values(words).flat()) expect(String(said).replace(/\{\w+\}/g, ""), String(said)).toMatch(/[一-鿿]|Python|=|^$/);
    });
  }

  it("has words in both languages: errors", () => {
    expect(CODES.errors.length).toBeGreaterThan(50);
    for (const dictionary of [zh, en] as Record<string, string>[]) {
      const known = Object.keys(dictionary).filter((key) => key.startsWith("fault.")).map((key) => key.slice("fault.".length));
      expect(known.sort()).toEqual([...CODES.errors].sort());
    }
  });
});

describe("notes on tables", () => {
  it("are said by code and case, with their values", () => {
    expect(noteWords(note("totals_doubtful", { label: "小计", count: 2, case: "kept" }))).toBe("2 行名为合计（如“小计”），但与其他行之和不符，仍在表中");
    expect(noteWords(note("words_beside", { count: 1, examples: ["无"], case: "dates" }, "日期"))).toBe("日期：1 个值不是日期（无），原文另存一列");
    expect(noteWords(note("labelled_values", { codes: { "-9": "拒答" } }))).toBe("有的数是代码，不是数量（-9 = 拒答）");
    expect(noteWords(note("delimiter", { delimiter: "tab", case: "tab" }))).toBe("分隔符为制表符");
  });

  it("say a reason inside them, and in the server's words where it has no code of ours", () => {
    const why = { code: "is_image", text: "this is a PNG image, not a table", values: { name: "PNG" } };
    expect(noteWords(note("member_left_out", { member: "a.png", why }))).toBe("压缩包里的 a.png 未读入：这是 PNG 图片，不是表格");
    expect(noteWords(note("table_left_out", { table: "t", why: { code: "brand_new", text: "no such thing" } }))).toBe("表 t 未读入：no such thing");
  });

  it("name all columns they are about, and not too many", () => {
    expect(noteWords(note("spaces_trimmed", { columns: ["门店", "品类"] }))).toBe("门店、品类：去掉了文本两端的空格");
    expect(noteWords(note("thousands", { columns: [..."一二三四五六七八九十"] }))).toBe("一、二、三、四、五、六、七、八 等：去掉了千位分隔符");
    expect(noteWords(note("unit_mixed", { units: ["元", "万元"] }, "金额"))).toBe("金额：单位混杂（元、万元），不能直接相加");
    expect(noteWords(note("total_column", { parts: ["一月"] }, "合计"))).toBe("列“合计”是 一月 的合计，一起相加会重复计算");
  });

  it("are left to the server's words: an unknown code, a missing value, a name of the language itself", () => {
    expect(["brand_new", "header_row", "constructor"].map((code) => noteWords(note(code)))).toEqual([null, null, null]);
    expect(inItsOwnWords({ ...note("unit_mixed", {}, "amount"), text: "units are mixed" })).toBe("amount: units are mixed");
    expect(inItsOwnWords({ ...note("unit_mixed", {}, "amount"), text: "amount: units are mixed" })).toBe("amount: units are mixed");
  });

  it("are parted by level, doubts first", () => {
    const doubt: Note = { ...note("unit_mixed"), level: "warn" };
    expect(byLevel([note("delimiter"), doubt])).toEqual({ doubts: [doubt], steps: [note("delimiter")] });
    expect(byLevel(undefined)).toEqual({ doubts: [], steps: [] });
  });
});

describe("files and calls", () => {
  it("say why a file was not read, and what to do", () => {
    expect(problemWords({ code: "is_archive", step: "unpack", values: { name: "RAR" } })).toBe("这是 RAR 压缩包，不是表格；请解压后上传里面的文件");
    expect(problemWords({ code: "empty_file" })).toBe("文件里没有数据");
    const why = { code: "table_empty", text: "orders holds no rows", values: { table: "orders" } };
    expect(problemWords({ code: "database_unread", step: "export_parquet", values: { why } })).toBe("数据库里没有可读的表：表 orders 没有数据；请把其中的表导出为 CSV 或 Parquet 再上传");
    expect(problemWords({ code: "toString", step: "unpack" })).toBeNull();
  });

  it("say what a call came to, names and values untouched", () => {
    expect(summaryWords({ code: "rows", values: { rows: 3, columns: 2 } })).toBe("3 行 × 2 列");
    expect(summaryWords({ code: "rows_cut_of", values: { rows: 10, columns: 2, total: 99 } })).toBe("10 行 × 2 列（共 99 行）");
    expect(summaryWords({ code: "one_value", values: { name: "$& {value}", value: "$1" } })).toBe("$& {value} = $1");
    expect(summaryWords({ code: "later" })).toBeNull();
  });

  it("lose the tag of a result, and nothing else", () => {
    expect(withoutTag('<tool_result name="query_database">\na,b\n1,2\n</tool_result>')).toBe("a,b\n1,2");
    expect(withoutTag('<tool_result name="x">\ncut in the mid')).toBe("cut in the mid");
    expect(withoutTag("plain <b>text</b>")).toBe("plain <b>text</b>");
  });
});
