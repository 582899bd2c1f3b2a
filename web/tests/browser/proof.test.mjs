/** Figures that nothing proves (SPEC V): sent back once, what stays is marked on the page and in print, and every figure says where it comes from. */
import { describe, it } from "node:test";
import { skip } from "./binary.mjs";
import { ask, assert, drop, ended, fileReady, lastTurn } from "./harness.mjs";
import { stage } from "./stage.mjs";

describe("proof of figures", { skip }, () => {
  let browser, page;
  stage({ audit: "gate" }, async (on) => {
    ({ browser, page } = on);
    await drop(page, [["regions.csv", "地区,销售额\n华东,150600\n华南,87300\n华北,64250\n西南,41870\n"]]);
    await fileReady(page);
    await ask(page, "[proof] 各地区销售额？");
    await ended(page);
  });
  const first = () => page.locator("article[data-state]").first();
  const figure = (text) => first().locator("[data-figure]", { hasText: text });

  it("three of four wrong figures are corrected and the fourth is marked", async () => {
    assert.match(await lastTurn(page).locator("[data-part=report]").innerText(), /华东销售额 150,600 元，华南销售额 87,300 元/);
    assert.deepEqual(await lastTurn(page).locator(".doubtful").allInnerTexts(), ["999,999"]);
    assert.match(await lastTurn(page).locator("[data-part=proof]").innerText(), /5 个数字：3 个来自结果，1 个由结果算得，1 个未证实/);
    await browser.shot("proof-zh-light");
  });

  it("a figure says where it comes from, pointed at or with the keyboard", async () => {
    await figure("87,300").hover();
    const card = page.locator("[data-part=figure-card]");
    assert.match(await card.innerText(), /地区\s+销售额\s+query_database[\s\S]*第 2 行\s+华南\s+87,300\s+SELECT 地区/, "the row with its column names, and the SQL");
    assert.equal(await card.locator(".own").innerText(), "87,300");
    await browser.shot("proof-card-zh-light");
    await card.hover();
    await page.waitForTimeout(500);
    assert.equal(await card.count(), 1, "one can go to the card");
    await figure("12.2%").focus();
    assert.match(await card.innerText(), /a \/ sum\(b\)[\s\S]*西南\s+41,870/);
    assert.equal(await figure("12.2%").getAttribute("aria-describedby"), await card.getAttribute("id"));
    await browser.shot("proof-card-derived-zh-light");
    await page.keyboard.press("Escape");
    await card.waitFor({ state: "detached" });
  });

  it("a tap shows the card at the lower edge of a phone, another elsewhere takes it away", async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await figure("87,300").click();
    const card = page.locator("[data-part=figure-card]");
    const box = await card.boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 800 && box.y > 300, JSON.stringify(box));
    await browser.shot("proof-card-phone-zh-light");
    await page.mouse.move(200, 60);
    await page.waitForTimeout(400);
    assert.equal(await card.count(), 1, "a tapped figure keeps its card");
    await page.mouse.click(200, 60);
    await card.waitFor({ state: "detached" });
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  it("the keyboard reaches the figures of a table", async () => {
    await ask(page, "[prooftable] 列成表");
    await ended(page);
    await lastTurn(page).locator("[data-part=table] [role=region]").focus();
    await page.keyboard.press("Enter");
    const card = page.locator("[data-part=figure-card]");
    assert.match(await card.innerText(), /华东\s+150,600/);
    await page.keyboard.press("ArrowDown");
    assert.match(await card.innerText(), /华南\s+87,300/);
    await browser.shot("proof-card-table-zh-light");
    await page.keyboard.press("Escape");
    await card.waitFor({ state: "detached" });
    await page.locator("article[data-state]").first().scrollIntoViewIfNeeded();
  });

  it("the mark is there in print and after loading the page again", async () => {
    await page.emulateMedia({ media: "print" });
    const mark = await first().locator(".doubtful").evaluate((node) => [getComputedStyle(node).textDecorationLine, getComputedStyle(node, "::after").content]);
    assert.deepEqual(mark, ["underline", '"?"']);
    await page.emulateMedia({ media: "screen" });
    await page.reload();
    await ended(page);
    assert.deepEqual(await first().locator(".doubtful").allInnerTexts(), ["999,999"]);
    browser.quiet();
  });
});
