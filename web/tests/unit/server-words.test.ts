import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { serverWords, tellsWhatToDo, withoutTag } from "../../src/services/server-words";

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
      ["this is a PNG image, not a table; upload the figures it shows as CSV or XLSX", "这是 PNG 图片，不是表格；请把图里的数据录成 CSV 或 XLSX 再上传"],
      ["this is a RAR archive, not a table; unpack it and upload what is inside", "这是 RAR 压缩包，不是表格；请解压后上传里面的文件"],
      ["this is binary data, not a table; upload the data as CSV or XLSX", "这是二进制数据，不是表格；请上传 CSV 或 XLSX 格式的数据"],
      ["the workbook is protected by a password; remove the password in Excel and upload it again", "文件有密码保护；请在 Excel 中去掉密码后再上传"],
      ["the server could not store what it found in the file; read it again, or upload it again", "服务器没能保存从文件里读到的内容；请重新读取，或重新上传"],
      ["data.feather is not an Arrow file; upload the file as its program saves it, or the table as CSV or XLSX", "这不是 Arrow 文件；请上传原程序保存的文件，或把表存成 CSV 或 XLSX"],
      ["a.db is not a SQLite database (or it is encrypted)", "这不是 SQLite 数据库，或已加密"],
      ["the gzip file is damaged or cut off: Not a gzipped file; pack or download it again", "文件已损坏或不完整；请重新打包或下载"],
      ["the Word document cannot be read: bad encoding", "Word 文档读不了，文件可能不完整"],
      ["the database has nothing to read: orders holds no rows; export its tables as CSV or Parquet and upload those", "数据库里没有可读的表：orders 没有数据；请把其中的表导出为 CSV 或 Parquet 再上传"],
      ["notes.png in the archive was left out: this is a PNG image, not a table; upload the figures it shows as CSV or XLSX", "notes.png 未读入：这是 PNG 图片，不是表格；请把图里的数据录成 CSV 或 XLSX 再上传"],
      ["Python finished in 0.01 s; last line: x.csv is not a PDF", "Python 用时 0.01 s；最后一行：x.csv is not a PDF"],
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
    const shown = said.map((text) => text.replaceAll("{what}", "not dates").replaceAll("{PROMISED[named]}", "an Arrow file").replaceAll("{NAMES[kind]}", "the ORC file").replace(/\{(?:[^{}"]|"[^"]*")*\}/g, "7"));
    expect(shown.filter((text) => serverWords(text, "zh") === text)).toEqual([]);
  });

  it("are known in Chinese, all that are to be done about a file", () => {
    const folder = "../python/ba_worker/tables/";
    const steps = readdirSync(folder)
      .filter((name) => name.endsWith(".py") && name !== "query.py" && name !== "export.py")
      .flatMap((name) => {
        const source = readFileSync(folder + name, "utf8");
        const places = /^(?:UNPACK|EXPORT|STEP) = "([^"]+)"$|TableError\("[A-Z_]+", f?"(?:[^"\\]|\\.)*"(?:\[.*)?,\s+"([^"]+)"\)/gm;
        return [...source.matchAll(places)].map((found) => (found[1] ?? found[2])!);
      });
    expect(steps.length).toBeGreaterThan(15);
    expect(steps.filter((step) => /[a-z]{3} [a-z]/.test(serverWords(`the file is empty; ${step}`, "zh")))).toEqual([]);
  });

  it("are known in Chinese for every kind of file that is no table", () => {
    const source = readFileSync("../python/ba_worker/tables/signatures.py", "utf8");
    const kinds = [...source.matchAll(/"(an? [A-Za-z0-9 -]+)"/g)].map((found) => found[1]!);
    const steps = [...source.matchAll(/^[A-Z_]+ = "([^"]+)"$/gm)].map((found) => found[1]!);
    expect([kinds.length > 40, steps.length]).toEqual([true, 9]);
    const english = (text: string) => /\b(?:image|archive|program|recording|video|database|file|document|presentation|message|font|icon|as|it|the)\b/.test(text);
    const said = [...kinds, "binary data"].flatMap((kind) => steps.map((step) => `this is ${kind}, not a table; ${step}`));
    expect(said.map((text) => serverWords(text, "zh")).filter(english)).toEqual([]);
    expect(said.every(tellsWhatToDo)).toBe(true);
    expect(tellsWhatToDo("the workbook is protected by a password; remove the password in Excel and upload it again")).toBe(true);
    expect(tellsWhatToDo("the file is empty")).toBe(false);
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
