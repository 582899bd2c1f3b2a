/** What can happen to a run: stopped, failed, cut off, reloaded, seen from another tab, its server killed. */
import { after, before, describe, it } from "node:test";
import { skip, startBinary, startServer, startWire } from "./binary.mjs";
import { ask, assert, doing, drawn, ended, firstVisit, input, lastTurn, openBrowser, partsOfLastAnswer, questionTop, SLOW, STARTING } from "./harness.mjs";

describe("a run", { skip }, () => {
  let server;
  let wire;
  let browser;
  let page;
  before(async () => {
    server = await startServer({ pauseMs: 20 });
    wire = await startWire(server.url);
    browser = await openBrowser();
    page = browser.page;
    await page.goto(wire.url);
  }, STARTING);
  after(async () => {
    await browser?.close();
    wire?.close();
    await server?.close();
  });

  it("can be stopped, while the page stays usable", async () => {
    await ask(page, "[slow] 慢慢算");
    await doing(page, "run_python");
    await input(page).fill("可以先写下一个问题");
    await page.getByRole("button", { name: "停止" }).click();
    await ended(page, "cancelled");
    await page.getByText("这次分析已停止").waitFor();
    assert.equal(await input(page).inputValue(), "可以先写下一个问题");
    await browser.shot("stopped-zh-light");
    browser.quiet();
  });

  it("says what failed and what to do, and can be tried again", async () => {
    await ask(page, "[unpaid] 会失败");
    await ended(page, "failed");
    assert.match(await lastTurn(page).innerText(), /这次分析没有完成\s+模型服务拒绝了密钥/);
    await browser.shot("failed-zh-light");
    await lastTurn(page).getByRole("button", { name: "重试" }).first().click();
    // Tried again, it is another version of the same turn.
    await page.locator("[data-part=versions]", { hasText: "2/2" }).waitFor(SLOW);
    await ended(page, "failed");
    assert.equal(await page.locator("[data-part=question]").count(), 2);
  });

  it("shows a tool's failure with what the model saw of it", async () => {
    await ask(page, "[wrong] 查一张不存在的表");
    await ended(page);
    await lastTurn(page).locator("[data-part=tools] > summary").click();
    await lastTurn(page).locator(".card[data-state=error] summary").click();
    await lastTurn(page).locator(".observation", { hasText: "no_such_table" }).waitFor();
  });

  it("goes on after the connection is lost, and misses no event", async () => {
    await ask(page, "[wait] 断线");
    await doing(page, "run_python");
    wire.cut();
    await page.getByText("连接中断，正在重新连接").waitFor();
    await ended(page);
    assert.equal(await page.getByText("连接中断").count(), 0);
    assert.deepEqual(await lastTurn(page).locator("[data-part=tools] .card .name").allTextContents(), ["run_python"]);
    assert.match(await lastTurn(page).innerText(), /等到了/);
    browser.errors.length = 0;
  });

  it("is found again by a reload in the middle of it", async () => {
    await ask(page, "[wait] 重新打开");
    await doing(page, "run_python");
    const turns = await page.locator("[data-part=question]").count();
    await page.reload();
    await lastTurn(page).and(page.locator("[data-state=running]")).waitFor();
    await ended(page);
    assert.equal(await page.locator("article[data-state]").count(), turns);
    assert.deepEqual((await partsOfLastAnswer(page)).slice(0, 5), ["question", "analysis", "plan", "tools", "report"]);
    browser.quiet();
  });

  it("appears in another tab without a reload: in its list, and in the conversation itself", async () => {
    const other = await browser.context.newPage();
    await other.goto(`${wire.url}/#/`);
    await firstVisit(other);
    await page.goto(`${wire.url}/#/`);
    await firstVisit(page);
    await ask(page, "[text]给另一个标签页");
    await other.getByRole("link", { name: /给另一个标签页/ }).waitFor();
    await other.getByRole("link", { name: /给另一个标签页/ }).click();
    await ended(other);
    await ask(page, "[wait] 第二问");
    await other.locator("article[data-state=running]").waitFor();
    await doing(other, "run_python");
    await ended(other);
    assert.match(await lastTurn(other).innerText(), /等到了/);
    await ended(page);
    await other.close();
  });

  it("is not sent while an input method composes", async () => {
    const turns = await page.locator("[data-part=question]").count();
    await input(page).fill("zhong");
    await input(page).dispatchEvent("keydown", { key: "Enter", isComposing: true, keyCode: 229 });
    await page.waitForTimeout(100);
    assert.equal(await page.locator("[data-part=question]").count(), turns);
    await page.keyboard.press("Shift+Enter");
    assert.match(await input(page).inputValue(), /\n/);
  });

  it("does not move what the reader reads while text streams in", async () => {
    await page.setViewportSize({ width: 1280, height: 500 });
    await ask(page, `[text]${"一段很长的文字。\n\n".repeat(60)}`);
    await ended(page);
    await ask(page, "[full] 各地区销售额");
    await lastTurn(page).locator("[data-part=tools] .status").waitFor();
    const scroller = page.locator("[data-scroller]");
    await scroller.evaluate((node) => (node.scrollTop = 200));
    await page.getByRole("button", { name: "回到底部" }).waitFor();
    await ended(page);
    assert.equal(await scroller.evaluate((node) => node.scrollTop), 200);
    await page.getByRole("button", { name: "回到底部" }).click();
    await drawn(page);
    // The frame grows a moment after it is ready; the view follows to the end.
    await page.waitForFunction((node) => node.scrollHeight - node.scrollTop - node.clientHeight < 90, await scroller.elementHandle(), { timeout: 5000 });
    // The next answer is followed until its question is at the top, and no further.
    await ask(page, "[full] 再来一次");
    await ended(page);
    await lastTurn(page).locator("[data-part=frame][data-phase=ready]").waitFor(SLOW);
    await page.waitForTimeout(500);
    assert.ok(Math.abs((await questionTop(page)) - 14) < 3);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  it("is named when its conversation or its server is not there", async () => {
    await page.goto(`${wire.url}/#/c/conv_ffffffffffff`);
    await page.getByText("这个对话不存在，或已被删除。").waitFor();
    await page.route("**/api/**", (route) => route.abort());
    await page.goto(`${wire.url}/?again`);
    await page.getByText("连不上服务器").waitFor();
    await browser.shot("unreachable-zh-light");
    await page.unroute("**/api/**");
    await page.getByRole("button", { name: "重试" }).click();
    await firstVisit(page);
    browser.errors.length = 0;
  });

  it("goes on after the server was killed and started again", async () => {
    await page.goto(`${server.url}/#/`);
    await ask(page, "[slow] 再慢慢算");
    await doing(page, "run_python");
    await server.stop("SIGKILL");
    await page.getByText("连接中断，正在重新连接").waitFor(SLOW);
    await browser.shot("reconnecting-zh-light");
    const again = await startBinary({ env: server.env, listen: new URL(server.url).host, dataDir: server.dataDir });
    try {
      await page.getByText("连接中断，正在重新连接").waitFor({ ...SLOW, state: "detached" });
      // The interrupted call is reported to the model, which may have answered already.
      await page.getByRole("button", { name: "停止" }).click({ timeout: 2000 }).catch(() => {});
      await page.locator("article[data-state=cancelled], article[data-state=complete]").last().waitFor(SLOW);
    } finally {
      await again.stop();
    }
  });
});
