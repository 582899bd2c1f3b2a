/** Figures that nothing proves (SPEC V): sent back once, what stays is marked on the page and in print, and every figure says where it comes from. */
import { after, before, describe, it } from "node:test";
import { skip, startServer } from "./binary.mjs";
import { ask, assert, drop, ended, fileReady, firstVisit, lastTurn, openBrowser, STARTING } from "./harness.mjs";

describe("proof of figures", { skip }, () => {
  let server;
  let browser;
  let page;
  before(async () => {
    server = await startServer({ audit: "gate" });
    browser = await openBrowser();
    page = browser.page;
    await page.goto(server.url);
    await firstVisit(page);
    await drop(page, [["regions.csv", "地区,销售额\n华东,150600\n华南,87300\n华北,64250\n西南,41870\n"]]);
    await fileReady(page);
    await ask(page, "[proof] 各地区销售额？");
    await ended(page);
  }, STARTING);
  after(async () => {
    await browser?.close();
    await server?.close();
  });
  const figure = (text) => lastTurn(page).locator("[data-figure]", { hasText: text });

  it("three of four wrong figures are corrected and the fourth is marked", async () => {
    assert.match(await lastTurn(page).locator("[data-part=report]").innerText(), /华东销售额 150,600 元，华南销售额 87,300 元/);
    assert.deepEqual(await lastTurn(page).locator(".doubtful").allInnerTexts(), ["999,999"]);
    assert.match(await lastTurn(page).locator("[data-part=proof]").innerText(), /5 个数字：3 个来自结果，1 个由结果算得，1 个未证实/);
    await browser.shot("proof-zh-light");
  });

  it("a figure says where it comes from, pointed at or with the keyboard", async () => {
    await figure("87,300").hover();
    const card = page.locator("[data-part=figure-card]");
    assert.match(await card.innerText(), /query_database[\s\S]*第 2 行[\s\S]*销售额[\s\S]*SELECT 地区/);
    await browser.shot("proof-card-zh-light");
    await figure("12.2%").focus();
    assert.match(await card.innerText(), /a \/ sum\(b\)[\s\S]*41870/);
    await page.keyboard.press("Escape");
    await card.waitFor({ state: "detached" });
  });

  it("the mark is there in print and after loading the page again", async () => {
    await page.emulateMedia({ media: "print" });
    const mark = await lastTurn(page).locator(".doubtful").evaluate((node) => [getComputedStyle(node).textDecorationLine, getComputedStyle(node, "::after").content]);
    assert.deepEqual(mark, ["underline", '"?"']);
    await page.emulateMedia({ media: "screen" });
    await page.reload();
    await ended(page);
    assert.deepEqual(await lastTurn(page).locator(".doubtful").allInnerTexts(), ["999,999"]);
    browser.quiet();
  });
});
