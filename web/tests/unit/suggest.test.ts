/** The first questions about a reader's own table name its own columns. */
import { describe, expect, it } from "vitest";
import type { ColumnProfile, TableProfile, UploadedFile } from "../../src/api/types";
import { suggest } from "../../src/services/suggest";

const column = (name: string, type: string, distinct: number, more: Partial<ColumnProfile> = {}): ColumnProfile => ({ name, type, distinct, nulls: 0, ...more });
const text = (name: string, distinct: number, more: Partial<ColumnProfile> = {}) => column(name, "VARCHAR", distinct, more);
const number = (name: string, more: Partial<ColumnProfile> = {}) => column(name, "DOUBLE", 140, more);
const date = (name: string) => column(name, "DATE", 251, { min: "2024-01-01", max: "2024-12-31" });
const table = (columns: ColumnProfile[], rows = 420): TableProfile => ({ name: "t", rows, columns });
const file = (...tables: TableProfile[]): UploadedFile => ({ file_id: "upload_001", filename: "t.xlsx", file_type: "xlsx", size: 1, created_at: "", description: "", status: "ready", profile: { tables } });
const asked = (columns: ColumnProfile[], language: "zh" | "en" = "zh", rows = 420) => suggest([file(table(columns, rows))], language);

const LEDGER = [
  date("日期"),
  text("日期_raw", 1, { nulls: 419 }),
  text("客户名称", 4, { nulls: 1 }),
  text("业务员", 3),
  text("产 品", 4),
  column("数量(箱)", "BIGINT", 40),
  number("单价（元）"),
  number("金额（元）"),
  text("备注", 2, { nulls: 400 }),
];

describe("questions about a table of one's own", () => {
  it("take the group, the total and the date that are there, units dropped", () => {
    expect(asked(LEDGER)).toEqual(["各个客户名称的金额是多少？", "按月看金额的趋势", "哪些列有缺失值？"]);
    expect(asked(LEDGER, "en")).toEqual(["What is the total 金额 for each 客户名称?", "Show 金额 by month", "Are there missing values?"]);
  });

  it("rank what has more than five values", () => {
    const orders = [text("order_id", 400), date("order_date"), text("region", 5), text("product", 17), number("unit_price"), number("net_revenue")];
    expect(asked(orders, "en")).toEqual(["What is the total net_revenue for each region?", "Show net_revenue by month", "Show the top 5 product by net_revenue"]);
    expect(asked(orders)).toEqual(["各个 region 的 net_revenue 是多少？", "按月看 net_revenue 的趋势", "net_revenue 排名前5的 product 是哪些？"]);
  });

  it("never take numbers that only number or name something for figures", () => {
    const ids = ["客户ID", "订单号", "手机", "年份", "门店编码", "zip code", "phone", "Order No", "rank"].map((name) => column(name, "BIGINT", 300));
    const years = column("founded", "BIGINT", 40, { min: 1950, max: 2020 });
    expect(asked([text("地区", 5), ...ids, years])).toEqual(["各个地区有多少条记录？"]);
    expect(asked([text("地区", 5), ...ids, years], "en")).toEqual(["How many rows are there by 地区?"]);
    expect(asked([text("地区", 5), ...ids, number("amount_paid")])[0]).toBe("各个地区的 amount_paid 是多少？");
  });

  it("never group by remarks, flags, codes, blanks, texts beside numbers or what is different in every row", () => {
    const useless = [
      text("备注", 5), text("是否退货", 2), text("会员", 2, { examples: ["是", "否"] }), text("金额_raw", 8), text("客户编号", 40),
      text("区域", 5, { nulls: 200 }), text("名字", 419), text("类别", 1), text("城市", 51), text("意见", 9, { examples: ["很长的一段话".repeat(6)] }),
    ];
    expect(asked([...useless, text("柜台", 6), number("金额")])[0]).toBe("各个柜台的金额是多少？");
    expect(asked([...useless, number("金额")])[0]).toBe("金额排名前5的城市是哪些？");
  });

  it("prefer money to pieces, a total to a price, what came in to what was taken off", () => {
    const first = (...names: string[]) => asked([text("门店", 5), ...names.map((name) => number(name))])[0];
    expect(first("数量", "单价", "金额")).toBe("各个门店的金额是多少？");
    expect(first("单价", "数量")).toBe("各个门店的数量是多少？");
    expect(first("优惠金额", "实付金额")).toBe("各个门店的实付金额是多少？");
    expect(first("运费", "销售额", "成本")).toBe("各个门店的销售额是多少？");
    expect(first("Unit Price ($)", "Total Price ($)")).toBe("各个门店的 Total Price 是多少？");
  });

  it("ask for the mean of what cannot be added up", () => {
    expect(asked([text("department", 6), number("age"), number("monthly_salary"), date("hire_date")], "en")[0]).toBe("What is the average monthly_salary for each department?");
    expect(asked([text("班级", 6), number("成绩")])[0]).toBe("各个班级的平均成绩是多少？");
    expect(asked([text("线路", 4), number("准点", { unit: "%" })])[0]).toBe("各个线路的平均准点是多少？");
  });

  it("show a course over months only where rows happened in more than one", () => {
    const sums = [text("渠道", 4), number("收入")];
    const monthly = (when: ColumnProfile) => asked([...sums, when]).includes("按月看收入的趋势");
    expect(monthly(date("下单日期"))).toBe(true);
    expect(monthly(column("下单时间", "TIMESTAMP WITH TIME ZONE", 300, { min: "2024-01-31 08:00:00+00", max: "2024-02-01 08:00:00+00" }))).toBe(true);
    expect(monthly(date("出生日期"))).toBe(false);
    expect(monthly(column("下单日期", "DATE", 20, { min: "2024-03-01", max: "2024-03-31" }))).toBe(false);
  });

  it("keep a unit where two columns would be called the same", () => {
    expect(asked([text("产线", 5), number("耗电(度)"), number("产量(吨)"), number("产量(件)")])[0]).toBe("各个产线的产量(吨)是多少？");
  });

  it("are about the largest table that could be read", () => {
    const small = table([text("部门", 4), number("预算")], 20);
    const large = table([text("地区", 4), number("销售额")], 900);
    const broken: UploadedFile = { ...file(table([text("门店", 4), number("收入")], 5000)), status: "failed" };
    expect(suggest([file(small), broken, file(small, large)], "zh")[0]).toBe("各个地区的销售额是多少？");
  });

  it("are none where nothing fits", () => {
    expect(suggest([], "zh")).toEqual([]);
    expect(suggest([{ ...file(), profile: { lines: 12 } }, { ...file(), status: "processing", profile: null }], "zh")).toEqual([]);
    expect(asked([text("备注", 300), column("订单号", "BIGINT", 420)])).toEqual([]);
  });
});
