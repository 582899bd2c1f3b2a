/** What one can do with an answer: choose, allow, copy, and work with its tables and charts. Against the real binary. */
import { describe, it } from "node:test";
import { readFileSync } from "node:fs";
import { skip } from "./binary.mjs";
import { ask, assert, drawn, drop, ended, fileReady, firstVisit, lastTurn, SALES, SLOW } from "./harness.mjs";
import { stage } from "./stage.mjs";

const MONTHS = Array.from({ length: 70 }, (_, at) => `| ${2019 + Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, "0")} | ${1000 + at * 37} | ${(at / 3).toFixed(at % 2 ? 1 : 2)}% |`);
const SERIES = `| 月份 | 销售额 | 占比 |\n|---|---|---|\n${MONTHS.join("\n")}`;
const LONG = "这个单元格里有很长的说明，".repeat(20);
const WIDE = `| 门店 | 日期 | 说明 | ${Array.from({ length: 14 }, (_, at) => `指标${at + 1}`).join(" | ")} |\n|${"---|".repeat(17)}\n${["南京东路店", "徐家汇店"].map((name, row) => `| ${name} | 2024-03-0${row + 1} | ${LONG} | ${Array.from({ length: 14 }, (_, at) => (at + 1) * 1234 + row).join(" | ")} |`).join("\n")}`;

describe("working with an answer", { skip }, () => {
  let server, browser, page;
  stage({ pauseMs: 12 }, async (on) => {
    ({ server, browser, page } = on);
    await browser.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: server.url });
    await drop(page, [["sales.csv", SALES]]);
    await fileReady(page);
  });

  const part = (name) => lastTurn(page).locator(`[data-part=${name}]`);
  const clipboard = () => page.evaluate(async () => {
    const [item] = await navigator.clipboard.read();
    const read = async (type) => (item.types.includes(type) ? (await item.getType(type)).text() : "");
    return { html: await read("text/html"), text: await read("text/plain") };
  });
  const download = async (button) => {
    const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
    return readFileSync(await file.path());
  };

  // SPEC W9
  it("a question that asks back is answered by a button", async () => {
    await ask(page, "[choose] 销售额多少？");
    await ended(page);
    assert.deepEqual(await part("choices").locator("button").allInnerTexts(), ["[text]按含税销售额", "[text]按不含税销售额"]);
    assert.equal(await part("questions").count(), 0, "the choices are not shown twice");
    assert.equal(await part("plan").locator(".count").innerText(), "1/3", "the plan ticks only what ran");
    await browser.shot("choices-zh-light");
    const asked = lastTurn(page);
    const before = await page.locator("article[data-state]").count();
    await asked.getByRole("button", { name: "按不含税销售额" }).click();
    await page.locator("article[data-state]").nth(before).waitFor();
    await ended(page);
    assert.match(await part("report").innerText(), /按不含税销售额/);
    const answered = page.locator("article[data-state]").nth(before - 1).locator("[data-part=choices] button");
    assert.deepEqual(await answered.evaluateAll((all) => all.map((one) => [one.disabled, one.getAttribute("aria-pressed")])), [[true, "false"], [true, "true"]]);
  });

  // SPEC H7
  it("an address that nobody gave is read only after consent", async () => {
    await ask(page, "[address] 看看年报");
    await ended(page);
    await part("consent").waitFor();
    assert.match(await part("consent").innerText(), /https:\/\/reports\.invalid\/2024/);
    await browser.shot("consent-zh-light");
    const before = await page.locator("article[data-state]").count();
    await part("consent").getByRole("button", { name: "允许这个网页" }).click();
    await page.locator("article[data-state]").nth(before).waitFor();
    await ended(page);
    // The host does not exist: the tool fails, but no longer for want of consent.
    await part("tools").locator("> summary").click();
    assert.match(await part("tools").innerText(), /web_reader/);
    assert.doesNotMatch(await part("tools").innerText(), /ADDRESS_NOT_GIVEN/);
    assert.equal(await page.locator("[data-part=consent]").count(), 0, "it is not asked again");
  });

  it("a refused address is not asked about again", async () => {
    await page.goto(`${server.url}/#/`);
    await firstVisit(page);
    await ask(page, "[address] 看看年报");
    await ended(page);
    await part("consent").getByRole("button", { name: "拒绝" }).click();
    await part("consent").waitFor({ state: "detached" });
    await page.reload();
    await ended(page);
    await page.waitForTimeout(500);
    assert.equal(await page.locator("[data-part=consent]").count(), 0);
  });

  // SPEC D3
  it("an answer is copied as HTML with tables and pictures, and as Markdown without scripts", async () => {
    await page.goto(`${server.url}/#/`);
    await firstVisit(page);
    await drop(page, [["sales.csv", SALES]]);
    await fileReady(page);
    await ask(page, "[full] 各地区同比");
    await ended(page);
    await drawn(page);
    await lastTurn(page).getByRole("button", { name: "复制回答" }).click();
    await lastTurn(page).getByRole("button", { name: "已复制" }).waitFor(SLOW);
    const { html, text } = await clipboard();
    assert.match(html, /<table[\s\S]*18,203,400[\s\S]*<\/table>/);
    assert.match(html, /<img[^>]+src="data:image\/png;base64,[A-Za-z0-9+/]{2000}/, "the chart is a picture");
    assert.match(html, /def growth/);
    assert.match(text, /\| 华东 \| 18203400/);
    assert.match(text, /```python\ndef growth/);
    assert.match(text, /```sql\nSELECT region/);
    assert.match(text, /\*\*各地区销售额\*\*/);
    for (const form of [html, text]) assert.doesNotMatch(form, /<script|echarts|setOption|\{\{|CODE_SAVED/);
    browser.errors.length = 0;
  });

  it("a chart by reference is copied as a picture, and its figures as a table", async () => {
    await ask(page, "[byref] 画图");
    await ended(page);
    await part("chart").nth(2).locator("canvas").waitFor(SLOW);
    await lastTurn(page).getByRole("button", { name: "复制回答" }).click();
    await lastTurn(page).getByRole("button", { name: "已复制" }).waitFor(SLOW);
    const { html, text } = await clipboard();
    assert.equal(html.match(/data:image\/png/g)?.length, 3);
    assert.match(text, /\*\*各地区销售额\*\* \(元\)\n\n\| 地区 \| 销售额 \|\n\| --- \| --- \|\n\| 华北 \| 67,335 \|/);
  });

  it("a long series shows its newest rows first; a table is filtered, its columns hidden, taken along and drawn", async () => {
    await ask(page, `[text]${SERIES}`);
    await ended(page);
    const table = part("table");
    const rows = table.locator("tbody tr");
    assert.equal(await rows.count(), 50);
    assert.match(await rows.last().innerText(), /2024-10/);
    assert.match(await rows.last().innerText(), /23\.00%/, "one precision in a column");
    await table.getByRole("searchbox", { name: "筛选行" }).fill("2020-");
    assert.equal(await rows.count(), 12);
    await table.locator("summary[aria-label=显示的列]").click();
    await table.getByRole("checkbox", { name: "占比" }).uncheck();
    await table.locator("summary[aria-label=显示的列]").click();
    assert.equal(await table.locator("th").count(), 2);
    const csv = (await download(table.getByRole("button", { name: "下载 CSV" }))).toString();
    assert.equal(csv.trim().split("\n").length, 13);
    assert.doesNotMatch(csv, /占比/);
    const xlsx = await download(table.getByRole("button", { name: "下载 Excel" }));
    assert.equal(xlsx.subarray(0, 2).toString(), "PK");
    await table.getByRole("button", { name: "复制表格" }).click();
    await table.getByRole("button", { name: "已复制" }).waitFor();
    const { html, text } = await clipboard();
    assert.match(html, /<table/);
    assert.match(text, /^月份\t销售额\n2020-01\t1,444/);
    await table.getByRole("button", { name: "画成图表" }).click();
    await table.locator("[data-part=chart] canvas").waitFor(SLOW);
    assert.equal(await table.locator("[data-part=chart]").getAttribute("data-kind"), "line");
    await table.locator("[data-part=chart]").scrollIntoViewIfNeeded();
    await page.waitForTimeout(400);
    await browser.shot("table-chart-zh-light");
  });

  it("full screen holds the focus and gives it back", async () => {
    const table = part("table");
    await table.getByRole("button", { name: "全屏" }).last().click();
    const size = await page.locator(".wrap.large").boundingBox();
    assert.ok(size.width >= 1275 && size.height >= 895, JSON.stringify(size));
    for (let press = 0; press < 25; press += 1) await page.keyboard.press("Tab");
    assert.ok(await page.evaluate(() => document.activeElement.closest(".wrap.large") !== null), "Tab stays inside");
    await browser.shot("table-large-zh-light");
    await page.keyboard.press("Escape");
    assert.equal(await page.locator(".wrap.large").count(), 0);
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "全屏");
  });

  it("a wide table keeps its first column, its dates whole and its long cells folded", async () => {
    await ask(page, `[text]${WIDE}`);
    await ended(page);
    const scroll = part("table").locator(".scroll");
    const left = () => scroll.locator("tbody td").first().evaluate((cell) => cell.getBoundingClientRect().left);
    const before = await left();
    await scroll.evaluate((node) => (node.scrollLeft = 600));
    await page.waitForTimeout(200);
    assert.equal(await left(), before);
    assert.ok((await scroll.locator("tbody td").nth(1).evaluate((cell) => cell.getBoundingClientRect().height)) < 90, "the long cell is folded");
    assert.equal(await scroll.locator("tbody td").nth(1).evaluate((cell) => getComputedStyle(cell).whiteSpace), "nowrap");
    await scroll.scrollIntoViewIfNeeded();
    await browser.shot("table-wide-zh-light");
    await page.setViewportSize({ width: 390, height: 800 });
    await scroll.scrollIntoViewIfNeeded();
    await page.waitForTimeout(300);
    await browser.shot("table-wide-phone-zh-light");
    await page.setViewportSize({ width: 1280, height: 900 });
    await scroll.evaluate((node) => (node.scrollLeft = 0));
    await part("table").getByRole("button", { name: "展开全文" }).first().click();
    assert.equal(await part("table").locator(".folded").count(), 1);
    browser.quiet();
  });

  it("nothing above the text moves when an answer ends", async () => {
    await page.evaluate(() => {
      window.tops = [];
      // At every change of the page: frames may be few on a busy machine, changes are not.
      const look = () => {
        const article = [...document.querySelectorAll("article[data-state]")].at(-1);
        const text = article?.querySelector("[data-part=report] p");
        if (text) window.tops.push([article.dataset.state, Math.round(text.getBoundingClientRect().top - article.getBoundingClientRect().top)]);
      };
      new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
    });
    await ask(page, "[worked] 慢慢写");
    await ended(page);
    await page.waitForTimeout(500);
    const tops = await page.evaluate(() => window.tops.filter(([state]) => state === "running" || state === "complete"));
    const writing = tops.filter(([state]) => state === "running").map(([, top]) => top);
    const after = tops.at(-1)[1];
    assert.ok(writing.length > 0, "the draft was seen");
    assert.ok(Math.abs(writing.at(-1) - after) <= 2, `${writing.at(-1)} → ${after}`);
  });
});
