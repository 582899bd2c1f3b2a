/** Size, first paint, a long conversation, and accessibility: measured in the browser. Figures are printed; only axe and counts are asserted. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, describe, it } from "node:test";
import { ask, assert, openBrowser, settled, startFake } from "./harness.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let server;
let browser;
let page;

async function fresh(options = {}, fake = {}) {
  await browser?.close();
  server?.close();
  server = await startFake(fake);
  browser = await openBrowser(options);
  page = browser.page;
}
after(async () => {
  await browser?.close();
  server?.close();
});

/** axe is given to the page through the debugger: the page's own policy would refuse it. */
async function serious() {
  await page.evaluate(axe);
  const result = await page.evaluate(() => window.axe.run(document, { iframes: false, resultTypes: ["violations"] }));
  return result.violations.filter((item) => ["serious", "critical"].includes(item.impact)).map((item) => `${item.id}: ${item.nodes.map((node) => node.html.slice(0, 140)).join(" | ")}`);
}

describe("accessibility", () => {
  for (const theme of ["light", "dark"]) {
    it(`axe finds nothing serious in the ${theme} theme`, async () => {
      await fresh({ theme }, { offline: true });
      await page.goto(server.url);
      await page.locator("[data-part=empty]").waitFor();
      assert.deepEqual(await serious(), [], "first visit");
      await page.getByText("载入示例").click();
      await page.locator("[data-part=file][data-status=ready]").waitFor();
      assert.deepEqual(await serious(), [], "profile");
      await ask(page, "各地区销售额");
      await settled(page);
      await page.locator("[data-part=frame][data-phase=ready]").waitFor();
      await page.locator("[data-part=tools] > summary").click();
      await page.locator("[data-part=tools] .card summary").first().click();
      await page.getByRole("button", { name: "查看代码" }).first().click();
      await page.getByRole("button", { name: "打开右栏" }).click();
      await page.waitForTimeout(300);
      assert.deepEqual(await serious(), [], "answer");
      await ask(page, "会失败");
      await page.locator("article[data-state=failed]").waitFor();
      assert.deepEqual(await serious(), [], "failure");
      await page.getByRole("button", { name: "设置", exact: true }).click();
      assert.deepEqual(await serious(), [], "settings");
      await page.keyboard.press("Escape");
      await page.getByRole("link", { name: "监控" }).click();
      await page.locator("figure canvas").first().waitFor();
      assert.deepEqual(await serious(), [], "monitoring");
    });
  }

  it("can be used without a mouse: the first Tab stops lead to the content and the question", async () => {
    await fresh();
    await page.goto(server.url);
    await page.locator("[data-part=empty]").waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "跳到内容");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    await page.keyboard.press("Control+k");
    await page.waitForFunction(() => document.activeElement?.id === "conversation-search");
  });
});

describe("speed", () => {
  it("paints soon, and loads no chart library before there is a chart", async () => {
    await fresh();
    const requests = [];
    page.on("request", (request) => requests.push(request.url()));
    const paints = [];
    for (let visit = 0; visit < 5; visit += 1) {
      await page.goto(`${server.url}/?visit=${visit}`);
      await page.locator("[data-part=empty]").waitFor();
      paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN));
    }
    console.log(`first contentful paint, ms: ${paints.map((value) => value.toFixed(0)).join(", ")} (target 300)`);
    assert.ok(!requests.some((url) => /echarts|katex|highlight/.test(url)), "nothing heavy on the first visit");
  });

  it("keeps a conversation of 500 messages light", async () => {
    const lazy = await longConversation(false);
    const eager = await longConversation(true);
    const ratio = (name) => `${lazy[name].toFixed(1)} against ${eager[name].toFixed(1)} (${(eager[name] / lazy[name]).toFixed(1)}x)`;
    console.log(`500 messages, drawn when near against all at once: opened in ms ${ratio("opened")}; DOM nodes ${ratio("nodes")}; frame while scrolling p50 ms ${ratio("p50")}, p95 ms ${ratio("p95")}`);
    assert.ok(lazy.drawn < 40, `only what is near is drawn, not ${lazy.drawn}`);
    assert.equal(eager.drawn, 250, "the baseline draws everything");
    await page.locator("[data-scroller]").evaluate((node) => (node.scrollTop = 0));
    await page.getByText("第 0 个回答").waitFor();
  });
});

const META = { content_type: "markdown", task_analysis: "想", execution_plan: "R1: 查询(当前)", recommended_questions: ["再问"], usage: { input_tokens: 1, output_tokens: 1 } };
const TEXT = (index) => `## 第 ${index} 个回答\n\n${"一段说明文字。".repeat(20)}\n\n| 地区 | 额 |\n|---|--:|\n${Array.from({ length: 8 }, (_, row) => `| 区${row} | ${row * 1000} |`).join("\n")}`;

/** Opens and scrolls 250 turns. `eager` is the baseline: every turn is near, as if nothing were put off. */
async function longConversation(eager) {
  await fresh();
  if (eager) {
    await page.addInitScript(() => {
      window.IntersectionObserver = class {
        constructor(callback) {
          this.callback = callback;
        }
        observe() {
          this.callback([{ isIntersecting: true }]);
        }
        disconnect() {}
      };
    });
  }
  await page.goto(server.url);
  const conversation = server.state.conversation();
  conversation.title = "很长的对话";
  conversation.rounds = Array.from({ length: 250 }, (_, index) => ({ run_id: `r${index}`, user_message: `问题 ${index}`, created_at: new Date().toISOString(), status: "complete", steps: [], answer: { response: TEXT(index), conversation_id: conversation.conversation_id, duration_ms: 1, metadata: META } }));
  const started = Date.now();
  await page.goto(`${server.url}/#/c/${conversation.conversation_id}`);
  await page.getByText("第 249 个回答").waitFor();
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  const opened = Date.now() - started;
  const drawn = await page.locator("[data-part=report]").count();
  const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  const frames = await page.evaluate(async () => {
    const scroller = document.querySelector("[data-scroller]");
    const times = [];
    let last = performance.now();
    for (let step = 0; step < 240; step += 1) {
      scroller.scrollTop -= 400;
      await new Promise(requestAnimationFrame);
      times.push(performance.now() - last);
      last = performance.now();
    }
    return times.sort((a, b) => a - b);
  });
  return { opened, drawn, nodes, p50: frames[120], p95: frames[228] };
}
