/** Charts by reference (SPEC W4), calls that share an id, a reload in the middle of an answer, drafts and queued questions: against the real binary. */
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { skip } from "./binary.mjs";
import { ask, assert, drop, ended, fileReady, firstVisit, input, lastTurn, SALES, SLOW } from "./harness.mjs";
import { stage } from "./stage.mjs";

describe("charts by reference", { skip }, () => {
  let server, browser, page;
  stage({ pauseMs: 30 }, (on) => ({ server, browser, page } = on));

  const charts = () => lastTurn(page).locator("[data-part=chart]");

  it("are drawn by the page from the results of two calls that had one id; a tag without data is a note", async () => {
    await drop(page, [["sales.csv", SALES]]);
    await fileReady(page);
    await ask(page, "[byref] 画图");
    await ended(page);
    await charts().nth(2).locator("canvas").waitFor(SLOW);
    assert.equal(await charts().count(), 3);
    assert.equal(await lastTurn(page).locator("iframe").count(), 0, "no frame is needed");
    assert.match(await charts().nth(0).locator("table").innerText(), /华南\s+66,000/);
    assert.match(await charts().nth(1).locator("table").innerText(), /2024-12/);
    assert.match(await lastTurn(page).locator("[data-part=report]").innerText(), /call_7 不存在.*call_1, call_1_2/s);
    await page.waitForTimeout(400);
    await browser.shot("by-reference-zh-light");
    browser.quiet();
  });

  it("are opened again after a reload, both steps there", async () => {
    await page.reload();
    await ended(page);
    await charts().nth(2).scrollIntoViewIfNeeded();
    await charts().nth(2).locator("canvas").waitFor(SLOW);
    await lastTurn(page).locator("[data-part=tools] > summary").click();
    assert.equal(await lastTurn(page).locator("[data-part=tools] .card").count(), 2);
    browser.quiet();
  });

  it("come back when the network does", async () => {
    await page.route(/echarts\.min[^/]*\.js/, (route) => route.abort());
    await page.reload();
    await ended(page);
    await charts().first().scrollIntoViewIfNeeded();
    await charts().first().and(page.locator("[data-state=failed]")).waitFor(SLOW);
    const again = charts().first().locator(".problem").getByRole("button", { name: "重新绘制" });
    await again.waitFor();
    await page.unroute(/echarts\.min[^/]*\.js/);
    // It may come back by itself before the click.
    await again.click({ timeout: 3000 }).catch(() => {});
    await charts().first().locator("canvas").waitFor(SLOW);
    await charts().first().and(page.locator("[data-state=drawn]")).waitFor(SLOW);
    // What the cut wire left in the console is not the page's fault.
    browser.errors.length = 0;
  });

  it("change their kind, their size and their theme without the model", async () => {
    const first = charts().first();
    await first.scrollIntoViewIfNeeded();
    await first.getByLabel("图表类型").selectOption("table");
    assert.equal(await first.locator("canvas").count(), 0);
    await first.getByLabel("图表类型").selectOption("pie");
    await first.locator("canvas").waitFor();
    await page.getByRole("button", { name: "主题: 深色" }).click();
    await first.getByRole("button", { name: "全屏" }).click();
    await page.waitForTimeout(300);
    await browser.shot("by-reference-large-zh-dark");
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("figure.large").count(), 0);
    await page.setViewportSize({ width: 390, height: 800 });
    await page.waitForTimeout(400);
    await browser.shot("by-reference-phone-zh-dark");
    await page.setViewportSize({ width: 1280, height: 900 });
    browser.quiet();
  });

  it("are saved as CSV, Excel, PNG and SVG, under their name", async () => {
    const first = charts().first();
    const saved = async (name) => {
      const [file] = await Promise.all([page.waitForEvent("download"), first.getByRole("button", { name }).click()]);
      return [file.suggestedFilename(), readFileSync(await file.path())];
    };
    const [, csv] = await saved("保存为 CSV");
    assert.match(csv.toString(), /华南,66000/);
    const [, book] = await saved("下载 Excel");
    assert.equal(book.subarray(0, 2).toString(), "PK");
    const [name, png] = await saved("导出 PNG");
    assert.equal(name, "各地区销售额.png");
    assert.ok(png.length > 4000, "a picture with something on it");
    const [, svg] = await saved("保存为 SVG");
    for (const words of [/^<svg/, /各地区销售额/, /华南/]) assert.match(svg.toString(), words);
    browser.quiet();
  });

  it("move nothing but the conversation when one goes to a place in it", async () => {
    const place = () => page.evaluate(() => [document.querySelector(".shell").getBoundingClientRect().top, document.scrollingElement.scrollTop, document.scrollingElement.scrollHeight - innerHeight]);
    await charts().last().evaluate((node) => node.scrollIntoView({ block: "start" }));
    assert.deepEqual(await place(), [0, 0, 0]);
    await charts().last().locator("table").evaluate((node) => node.scrollIntoView({ block: "end" }));
    assert.deepEqual(await place(), [0, 0, 0], "the tables for those who do not see the charts make no room below the page");
  });

  it("a reload in the middle of an answer shows its text from the beginning", async () => {
    await ask(page, "[essay] 慢慢写");
    await lastTurn(page).locator("[data-part=report]").getByText("第 丙 段").first().waitFor(SLOW);
    await page.reload();
    // On a slow machine the answer may be whole by now: the text begins where it began all the same.
    await lastTurn(page).locator("[data-part=report] p").nth(2).waitFor(SLOW);
    const text = await lastTurn(page).locator("[data-part=report]").innerText();
    assert.match(text, /^第 甲 段/);
    assert.ok(!text.includes("\\n"), text.slice(0, 80));
  });

  it("a question sent meanwhile waits, and a draft stays with its conversation", async () => {
    await ended(page);
    await ask(page, "[essay] 再慢慢写");
    await lastTurn(page).and(page.locator("[data-state=running]")).waitFor(SLOW);
    await input(page).fill("[text]排队的问题");
    await page.keyboard.press("Enter");
    await page.locator("[data-part=queued]").waitFor();
    await input(page).fill("没写完的");
    await page.reload();
    assert.equal(await input(page).inputValue(), "没写完的");
    await page.goto(`${server.url}/#/`);
    await firstVisit(page);
    assert.equal(await input(page).inputValue(), "");
  });
});
