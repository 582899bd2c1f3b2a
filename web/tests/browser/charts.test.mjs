/** HTML and charts in their frame: several, resized, in both themes, and what happens to one that fails. */
import { describe, it } from "node:test";
import { skip } from "./binary.mjs";
import { ask, assert, drawn, ended, lastTurn, SLOW } from "./harness.mjs";
import { stage } from "./stage.mjs";

describe("charts", { skip }, () => {
  let browser, page;
  stage({}, (on) => ({ browser, page } = on));

  it("are drawn several in one answer, each in its own frame, with the text between them", async () => {
    await ask(page, "[charts] 两张图");
    await drawn(page, 1);
    assert.equal(await page.locator("[data-part=frame]").count(), 2);
    await page.getByText("两图之间的文字。").waitFor();
    await page.waitForTimeout(300);
    await browser.shot("two-charts-zh-light");
    browser.quiet();
  });

  it("follow the theme and the width", async () => {
    const frame = await (await page.locator("iframe").first().elementHandle()).contentFrame();
    const width = () => frame.locator("canvas").first().evaluate((node) => node.getBoundingClientRect().width);
    const wide = await width();
    await page.setViewportSize({ width: 700, height: 900 });
    await frame.waitForFunction((before) => document.querySelector("canvas").getBoundingClientRect().width < before, wide);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole("button", { name: "主题: 深色" }).click();
    await frame.locator("html[data-theme=dark]").waitFor();
    await page.waitForTimeout(300);
    await browser.shot("two-charts-zh-dark");
  });

  it("show their error and their source when they throw", async () => {
    await ask(page, "[badchart] 坏图");
    await lastTurn(page).locator("[data-part=frame][data-phase=failed]").waitFor(SLOW);
    const text = await lastTurn(page).locator("[data-part=frame]").innerText();
    assert.match(text, /undefinedVariable is not defined/);
    assert.match(text, /echarts\.init/);
    await browser.shot("chart-error-zh-dark");
    browser.errors.length = 0;
  });

  it("say so when they draw nothing", async () => {
    await ask(page, '[text]看：\n\n<div id="e" style="height:0"></div>');
    await page.getByText("这段内容没有画出任何东西").waitFor();
  });

  it("are drawn again after a reload, in the chosen theme", async () => {
    await page.reload();
    await ended(page);
    assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
    await page.locator("[data-part=frame]").first().scrollIntoViewIfNeeded();
    await drawn(page, 1);
  });
});
