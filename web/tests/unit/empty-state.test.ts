/** What the first page offers to ask once a file is there. */
import { flushSync, mount, unmount } from "svelte";
import { afterEach, expect, it } from "vitest";
import type { UploadedFile } from "../../src/api/types";
import EmptyState from "../../src/components/layout/EmptyState.svelte";
import { chat } from "../../src/stores/chat.svelte";
import { prefs } from "../../src/stores/prefs.svelte";

let shown: Record<string, unknown> | null = null;
afterEach(() => {
  if (shown) void unmount(shown);
  chat.files = [];
  document.body.replaceChildren();
});

const FILE: UploadedFile = {
  file_id: "upload_001", filename: "台账.xlsx", file_type: "xlsx", size: 1, created_at: "", description: "", status: "ready",
  profile: { tables: [{ name: "台账", rows: 90, columns: [{ name: "业务员", type: "VARCHAR", distinct: 3, nulls: 0 }, { name: "金额（元）", type: "DOUBLE", distinct: 80, nulls: 2 }] }] },
};

function offered(files: UploadedFile[], language: "zh" | "en" = "zh"): string[] {
  prefs.language = language;
  chat.files = files;
  shown = mount(EmptyState, { target: document.body, props: { onpick: () => {} } });
  flushSync();
  return [...document.querySelectorAll(".questions button")].map((button) => button.textContent ?? "");
}

it("asks about the columns of the file", () => {
  expect(offered([FILE])).toEqual(["各个业务员的金额是多少？", "哪些列有缺失值？", "各个业务员有多少条记录？"]);
});

it("puts no Chinese column names into English questions", () => {
  expect(offered([FILE], "en")).toEqual(["How many rows are there?", "Are there missing values?"]);
});

it("falls back on three that fit most tables", () => {
  const questions = offered([{ ...FILE, profile: { lines: 3 } }]);
  expect([questions.length, questions[0]]).toEqual([3, "各地区的销售额是多少？用图表展示"]);
});

it("asks nothing about a file that is being read or cannot be", () => {
  expect(offered([{ ...FILE, status: "processing", profile: null }, { ...FILE, file_id: "upload_002", status: "failed", profile: null }])).toEqual([]);
  expect(document.querySelector("h1")?.textContent).toBe("正在读取数据……");
});

it("does not call data ready that cannot be read", () => {
  expect(offered([{ ...FILE, status: "failed", profile: null }])).toEqual([]);
  expect(document.querySelector("h1")?.textContent).toBe("没有能读的文件");
});

it("does not add general advice to a reason that says what to do", () => {
  const error = "this is a PNG image, not a table; upload the figures it shows as CSV or XLSX";
  offered([{ ...FILE, status: "failed", profile: null, error, problem: { code: "is_image", step: "picture", values: { name: "PNG" } } }]);
  const lines = [...document.querySelectorAll("[data-part=file] .line")].map((line) => line.textContent);
  expect(lines).toEqual(["这是 PNG 图片，不是表格；请把图里的数据录成 CSV 或 XLSX 再上传"]);
});
