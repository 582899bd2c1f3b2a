import { describe, expect, it } from "vitest";
import { amount, direction, figure, grouped, isNumericColumn, sortRows, toCsv, toTsv } from "../../src/services/table";

describe("figures", () => {
  it.each([["1,234.5", 1234.5], ["+18.2%", 18.2], ["−3", -3], ["(1,200)", -1200], ["¥3.5万", 35000], ["1.2亿", 1.2e8], ["$-5", -5], ["12k", 12000]])("%s is %d", (text, value) => {
    expect(figure(text)).toBe(value);
  });

  it.each(["", "2024-01-01", "SO-1001", "1.2.3", "abc", "12 abc", "1,23"])("%s is not a figure", (text) => {
    expect(figure(text)).toBeNull();
  });

  it("sees a column of figures with blanks as numeric, one with a word as text", () => {
    expect(isNumericColumn(["1", "-", "2%"])).toBe(true);
    expect(isNumericColumn(["1", "合计"])).toBe(false);
    expect(isNumericColumn(["", "-"])).toBe(false);
  });

  it("gives changes a direction and shares none", () => {
    expect([direction("+1.2%"), direction("-1.2%"), direction("1.2%"), direction("+0.0%"), direction("-5")]).toEqual(["up", "down", null, null, null]);
  });
});

describe("thousands separators", () => {
  it("go to amounts", () => expect(grouped("销售额", ["1234567", "-89000.5", "12"])).toEqual(["1,234,567", "-89,000.5", "12"]));
  it("come with even decimals where most have some", () => {
    expect(grouped("销售额", ["2923382.55", "2,529,233.6", "1757126", "-"])).toEqual(["2,923,382.55", "2,529,233.60", "1,757,126.00", "-"]);
    expect(grouped("比率", ["0.123456", "0.5"])).toEqual(["0.123456", "0.5"]);
    expect(grouped("份额", ["25.7%", "3.25%", "–"])).toEqual(["25.70%", "3.25%", "–"]);
    expect(grouped("同比", ["+18.2%", "-3%", "12%", "5%"])).toEqual(["+18.2%", "-3%", "12%", "5%"]);
  });
  it.each([["年份", ["2023", "2024"]], ["order id", ["100001"]], ["销售额", ["2023", "2024"]], ["编号", ["12345"]], ["邮编", ["010010"]], ["x", ["010010"]]])("never to %s", (header, cells) => {
    expect(grouped(header, cells)).toEqual(cells);
  });
});

describe("sorting", () => {
  const rows = [["b", "10%"], ["a", "9%"], ["c", "-"], ["d", "9%"]];
  it("sorts figures by value, blanks last both ways, equals in their order", () => {
    expect(sortRows(rows, 1, "asc", "zh-CN")).toEqual([1, 3, 0, 2]);
    expect(sortRows(rows, 1, "desc", "zh-CN")).toEqual([0, 1, 3, 2]);
  });
  it("sorts Chinese text by its reading", () => expect(sortRows([["上海"], ["北京"]], 0, "asc", "zh-CN")).toEqual([1, 0]));
});

describe("leaving the page", () => {
  it("quotes CSV, keeps figures, and disarms formulas", () => {
    expect(toCsv([["a,b", 'c"d'], ["=HYPERLINK(1)", "-5"], ["@x", "+cmd"]])).toBe('\uFEFF"a,b","c""d"\r\n\'=HYPERLINK(1),-5\r\n\'@x,\'+cmd\r\n');
  });
  it("writes amounts as numbers, and leaves everything else as it is written", () => {
    expect(["1,234.50", "-12,000", "007", "12.5%", "¥1,200", "+1,000"].map(amount)).toEqual([1234.5, -12000, "007", "12.5%", "¥1,200", "+1,000"]);
    expect(toCsv([["x"], [1234.5], [null]])).toBe("\uFEFFx\r\n1234.5\r\n\r\n");
  });
  it("keeps TSV one row per line", () => expect(toTsv([["a\tb", "c\nd"]])).toBe("a b\tc d"));
});
