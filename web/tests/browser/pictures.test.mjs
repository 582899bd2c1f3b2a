/** The pictures of the README: the first page, and an answer of the offline analyst about the sample data.
 *  `SCREENSHOTS=docs/images` writes them anew; without it they land in a temporary folder and only the states are checked. */
import { describe, it } from "node:test";
import { skip } from "./binary.mjs";
import { assert, drawn, ended, fileReady, firstVisit, lastTurn, partsOfLastAnswer } from "./harness.mjs";
import { stage } from "./stage.mjs";

const QUESTION = "各地区的销售额是多少？用图表展示";

describe("the README's pictures", { skip }, () => {
  let browser;
  stage({ look: { locale: "zh-CN", theme: "light", width: 1280, height: 900 }, offline: true }, (on) => ({ browser } = on));

  it("start.png: the first page offers the sample data and says who answers", async () => {
    await firstVisit(browser.page);
    assert.match(await browser.page.locator("[role=note]").innerText(), /离线分析器正在回答/);
    assert.ok((await browser.page.locator(".start button").count()) >= 1, "there is sample data to start with");
    await browser.shot("start");
  });

  it("answer.png: a question about the sample is answered with figures, a table and a chart", { timeout: 120_000 }, async () => {
    const { page } = browser;
    await page.locator(".start button").first().click();
    await fileReady(page);
    await page.locator(".questions button", { hasText: QUESTION }).first().click();
    await page.keyboard.press("Enter");
    await ended(page);
    await drawn(page);
    const text = await lastTurn(page).innerText();
    // examples/generate.py makes the same figures every time.
    for (const figure of ["华东", "2,923,382.55", "西南", "1,757,126.1"]) assert.ok(text.includes(figure), `${figure} is in the answer`);
    assert.ok((await partsOfLastAnswer(page)).includes("frame"), "there is a chart");
    await page.waitForTimeout(600);
    await browser.shot("answer");
    browser.quiet();
  });
});
