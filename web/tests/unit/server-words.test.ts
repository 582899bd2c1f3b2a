import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { serverWords, withoutTag } from "../../src/services/server-words";

describe("the server's words", () => {
  it("are given in Chinese, names and values untouched", () => {
    const pairs: [string, string][] = [
      ["3 rows × 2 columns", "3 行 × 2 列"],
      ["sales.csv: 200 rows × 4 columns, sheet `Sheet1`", "sales.csv: 200 行 × 4 列，工作表 Sheet1"],
      ["10 rows × 2 columns (cut at 10 of 99)", "10 行 × 2 列（共 99 行，取前 10 行）"],
      ["Python finished in 0.01 s; last line: 12 rows", "Python 用时 0.01 s；最后一行：12 rows"],
      ["skill `a-b` activated inside c", "在 c 之内启用技能 a-b"],
      ["订单日期: suspicious date 1970-01-01 (often a missing value)", "订单日期：可疑日期 1970-01-01（常表示缺失）"],
      ["日期: 1 value(s) are not dates (`合计`); their text is in 日期_raw", "日期：1 个值不是日期（`合计`），原文在 日期_raw"],
      ["门店: spaces around text removed", "门店：去掉了文本两端的空格"],
      ["1 row(s) look like totals (合计/Total): leave them out when summing", "1 行像是合计：求和时请除去"],
      ["the workbook cannot be opened: File is not a zip file", "工作簿打不开，文件可能不完整"],
    ];
    for (const [english, chinese] of pairs) expect(serverWords(english, "zh")).toBe(chinese);
  });

  it("are known in Chinese, all that are written about files", () => {
    const folder = "../python/ba_worker/tables/"; // from web/, where the tests run
    const said = readdirSync(folder)
      // What is said about a query or an export goes to the model.
      .filter((name) => name.endsWith(".py") && name !== "query.py" && name !== "export.py")
      .flatMap((name) => {
        const source = readFileSync(folder + name, "utf8");
        const places = /(?:(?:notes|guesses)(?:\.append\(|=\[| = \[|\[\w+\] = \[)|TableError\("[A-Z_]+", |return \[)f?"((?:[^"\\]|\\.)*)"/g;
        return [...source.matchAll(places)].map((found) => found[1]!);
      })
      // Only whole sentences; what follows in a second literal is not seen here.
      .filter((text) => / /.test(text) && !/[ :]$/.test(text) && !text.endsWith(", "));
    expect(said.length).toBeGreaterThan(40);
    const shown = said.map((text) => text.replaceAll("{what}", "not dates").replace(/\{(?:[^{}"]|"[^"]*")*\}/g, "7"));
    expect(shown.filter((text) => serverWords(text, "zh") === text)).toEqual([]);
  });

  it("stay as they are in English, and when they are not known", () => {
    expect(serverWords("3 rows × 2 columns", "en")).toBe("3 rows × 2 columns");
    expect(serverWords("something new", "zh")).toBe("something new");
    expect(serverWords("$& and $1", "zh")).toBe("$& and $1");
  });

  it("lose the tag of a result, and nothing else", () => {
    expect(withoutTag('<tool_result name="query_database">\na,b\n1,2\n</tool_result>')).toBe("a,b\n1,2");
    expect(withoutTag('<tool_result name="x">\ncut in the mid')).toBe("cut in the mid");
    expect(withoutTag("plain <b>text</b>")).toBe("plain <b>text</b>");
  });
});
