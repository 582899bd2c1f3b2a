/** Accessibility, first paint and a long conversation, on the real pages. Figures are printed beside a baseline; only axe and counts are asserted. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, describe, it } from "node:test";
import { skip, startServer } from "./binary.mjs";
import { ask, assert, drawn, drop, ended, fileReady, firstVisit, openBrowser, SALES, SLOW, STARTING } from "./harness.mjs";
import { longConversation } from "./long-conversation.mjs";

const axe = skip ? "" : readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TURNS = 250;
let server;
let browser;
let page;

before(async () => {
  if (!skip) server = await startServer({ pauseMs: 0 });
}, STARTING);
after(async () => {
  await browser?.close();
  await server?.close();
});

async function fresh(options = {}) {
  await browser?.close();
  browser = await openBrowser(options);
  page = browser.page;
}

/** axe is given to the page through the debugger: the page's own policy would refuse it. */
async function findings() {
  await page.evaluate(axe);
  const result = await page.evaluate(() => window.axe.run(document, { iframes: false, resultTypes: ["violations"] }));
  return result.violations.filter((item) => ["moderate", "serious", "critical"].includes(item.impact)).map((item) => `${item.id}: ${item.nodes.map((node) => node.html.slice(0, 140)).join(" | ")}`);
}

describe("accessibility", { skip }, () => {
  for (const [theme, width] of [["light", 1280], ["dark", 1280], ["light", 360]]) {
    it(`axe finds nothing moderate or worse in the ${theme} theme at ${width} px`, { timeout: 120_000 }, async () => {
      await fresh({ theme, width });
      await page.goto(server.url);
      await firstVisit(page);
      assert.deepEqual(await findings(), [], "first visit");
      await drop(page, [["sales.csv", SALES], ["broken.xlsx", "x"]]);
      await fileReady(page);
      assert.deepEqual(await findings(), [], "profile");
      await ask(page, "[full] 各地区销售额");
      await ended(page);
      await drawn(page);
      await page.locator("[data-part=tools] > summary").click();
      await page.locator("[data-part=tools] .card summary").first().click();
      await page.getByRole("button", { name: "查看代码" }).first().click();
      await page.waitForTimeout(300);
      assert.deepEqual(await findings(), [], "answer");
      await ask(page, "[unpaid] 会失败");
      await ended(page, "failed");
      assert.deepEqual(await findings(), [], "failure");
      await page.getByRole("button", { name: "打开右栏" }).click();
      await page.getByRole("tab", { name: "上下文" }).click();
      // A failed turn keeps its context too (SPEC X9).
      await page.locator("aside").getByText("系统提示").waitFor(SLOW);
      await page.locator("aside select").selectOption("1");
      await page.locator("aside").getByText("系统提示").waitFor(SLOW);
      assert.deepEqual(await findings(), [], "context");
      await page.keyboard.press("Escape");
      if (width < 900) await page.getByRole("button", { name: "打开侧栏" }).click();
      await page.getByRole("button", { name: "设置", exact: true }).click();
      assert.deepEqual(await findings(), [], "settings");
      await page.keyboard.press("Escape");
      await page.goto(`${server.url}/#/monitor`);
      await page.locator("figure canvas").first().waitFor(SLOW);
      await page.getByRole("link", { name: /\[full\]/ }).last().click();
      await page.getByRole("list", { name: "运行时间线" }).waitFor(SLOW);
      assert.deepEqual(await findings(), [], "monitoring");
      await page.goto(`${server.url}/#/board`);
      await page.getByRole("heading", { name: "看板" }).waitFor(SLOW);
      assert.deepEqual(await findings(), [], "board");
      await page.goto(`${server.url}/#/admin`);
      for (const name of ["技能", "限制", "用量与费用"]) {
        await page.getByRole("tab", { name }).click();
        await page.locator("[data-part=admin] table").waitFor(SLOW);
        assert.deepEqual(await findings(), [], name);
      }
    });
  }

  it("can be used without a mouse: the question has the focus, and the first stop of all leads to the content", async () => {
    await fresh();
    await page.goto(server.url);
    await firstVisit(page);
    await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
    // Backwards from the question to the very first stop.
    const stop = () => page.evaluate(() => document.activeElement.textContent);
    for (let stops = 0; stops < 60 && (await stop()) !== "跳到内容"; stops += 1) await page.keyboard.press("Shift+Tab");
    assert.equal(await stop(), "跳到内容");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    await page.keyboard.press("Control+k");
    await page.waitForFunction(() => document.activeElement?.id === "conversation-search");
  });
});

const middle = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const whole = (values) => values.map((value) => value.toFixed(0)).join(", ");

describe("speed", { skip }, () => {
  it("paints soon, and loads nothing heavy before it is needed", { timeout: 120_000 }, async () => {
    const paint = async () => (await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime)).jsonValue();
    const figures = { text: [], first: [], again: [], usable: [] };
    for (let visit = 0; visit < 3; visit += 1) {
      // The baseline: one line of text from the same server, as the first thing a newly started browser opens.
      await fresh();
      await page.goto(`${server.url}/api/v1/health`);
      figures.text.push(await paint());
      await fresh();
      const requests = [];
      page.on("request", (request) => requests.push(request.url()));
      await page.goto(server.url);
      await firstVisit(page);
      figures.usable.push(await page.evaluate(() => performance.now()));
      figures.first.push(await paint());
      assert.ok(!requests.some((url) => /echarts|katex|highlight|\.css/.test(url)), requests.join("\n"));
      // The page, its icon, two calls, and the four files of the first load, fetched together.
      assert.ok(requests.length <= 8, `few requests before the page is usable:\n${requests.join("\n")}`);
      await page.reload();
      await firstVisit(page);
      figures.again.push(await paint());
    }
    console.log(`first contentful paint, ms: first visit of a new browser ${whole(figures.first)} (target 300), a line of text from the same server then ${whole(figures.text)} (${(middle(figures.first) / middle(figures.text)).toFixed(1)}x); again ${whole(figures.again)}; usable on the first visit after ${whole(figures.usable)}`);
    browser.quiet();
  });

  it(`keeps a conversation of ${2 * TURNS} messages light`, { timeout: 120_000 }, async () => {
    const conversation = await longConversation(server.url, TURNS);
    const eager = await scrolled(conversation, true);
    const lazy = await scrolled(conversation, false);
    const ratio = (name) => `${lazy[name].toFixed(1)} against ${eager[name].toFixed(1)} (${(eager[name] / lazy[name]).toFixed(1)}x)`;
    console.log(`${2 * TURNS} messages, drawn when near against all at once: opened in ms ${ratio("opened")}; DOM nodes ${ratio("nodes")}; frame while scrolling p50 ms ${ratio("p50")}, p95 ms ${ratio("p95")}`);
    assert.ok(lazy.drawn < 40, `only what is near is drawn, not ${lazy.drawn}`);
    assert.equal(eager.drawn, TURNS, "the baseline draws everything");
    await page.locator("[data-scroller]").evaluate((node) => (node.scrollTop = 0));
    await page.locator("[data-part=report]").getByText("第 0 个回答").waitFor();
  });
});

/** Opens and scrolls the conversation. `eager` is the baseline: every turn is near, as if nothing were put off. */
async function scrolled(conversation, eager) {
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
  await firstVisit(page);
  const started = Date.now();
  await page.goto(`${server.url}/#/c/${conversation}`);
  await page.locator("[data-part=report]").getByText(`第 ${TURNS - 1} 个回答`).waitFor();
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  const opened = Date.now() - started;
  const reports = await page.locator("[data-part=report]").count();
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
  return { opened, drawn: reports, nodes, p50: frames[120], p95: frames[228] };
}
