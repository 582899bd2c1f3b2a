/** The first minutes with a model of one's own, and an answer that comes while nobody looks. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startModel } from "../scripted-model.mjs";
import { skip, startBinary, startServer } from "./binary.mjs";
import { ask, assert, drawn, drop, ended, fileReady, firstVisit, lastTurn, openBrowser, SALES, SLOW } from "./harness.mjs";
import { stage } from "./stage.mjs";

describe("setting up a model", { skip }, () => {
  it("is refused with a reason, tried, saved to the configuration file, and used after the next start", { timeout: 300_000 }, async () => {
    const model = await startModel();
    let server = await startBinary();
    const browser = await openBrowser();
    const { page } = browser;
    try {
      await page.goto(server.url);
      await firstVisit(page);
      await page.getByRole("button", { name: "设置模型" }).click();
      const wizard = page.locator("[data-part=wizard]");
      const save = wizard.getByRole("button", { name: "保存" });
      await wizard.getByLabel("模型（服务商:模型）").fill("openai-compatible:scripted");
      await wizard.getByLabel("API 密钥").fill("test");
      await wizard.getByLabel(/接口地址/).fill("http://127.0.0.1:9/v1");
      await wizard.getByRole("button", { name: "测试" }).click();
      await wizard.getByText("连不上模型服务").waitFor(SLOW);
      assert.ok(await save.isDisabled(), "what does not work is not saved");
      await wizard.getByLabel(/接口地址/).fill(model.url);
      await wizard.getByRole("button", { name: "测试" }).click();
      await wizard.getByText("模型有回答，可以保存。").waitFor(SLOW);
      await browser.shot("wizard-zh-light");
      await save.click();
      await wizard.getByText(/已保存到/).waitFor(SLOW);
      const written = readFileSync(join(server.dataDir, "ba-agent.toml"), "utf8");
      assert.match(written, /model = "openai-compatible:scripted"/);
      await server.stop();
      server = await startBinary({ dataDir: server.dataDir, config: written });
      await page.goto(server.url);
      await firstVisit(page);
      await ask(page, "[text]多少？");
      await ended(page);
      assert.equal(await page.locator("[role=note]", { hasText: "离线分析器" }).count(), 0, "the model answers now");
    } finally {
      await browser.close();
      await server.close();
      model.close();
    }
  });
});

describe("while nobody looks", { skip }, () => {
  let browser, page;
  stage({ pauseMs: 5 }, async (on) => {
    ({ browser, page } = on);
    // Notifications of the system cannot be seen from here: what the page asks for is.
    await page.addInitScript(() => {
      window.told = [];
      window.Notification = class {
        static permission = "granted";
        constructor(title, options) {
          window.told.push([title, options.body]);
        }
      };
    });
    await page.reload();
    await firstVisit(page);
  });

  /** The page as a browser shows it in a tab behind others. */
  const hide = (hidden) => page.evaluate((value) => {
    Object.defineProperty(document, "hidden", { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);

  it("the title says that an answer is being made and that it has come; a notification tells it once", async () => {
    await ask(page, "[wait] 等一等");
    await page.waitForFunction(() => document.title.startsWith("● "), undefined, SLOW);
    await hide(true);
    await ended(page);
    await page.waitForFunction(() => document.title.startsWith("✓ "), undefined, SLOW);
    assert.equal(await page.evaluate(() => window.told.length), 1);
    assert.match((await page.evaluate(() => window.told[0]))[1], /完成/);
    await hide(false);
    await page.waitForFunction(() => !/^[●✓]/.test(document.title), undefined, SLOW);
  });

  it("nothing is told to somebody who looks", async () => {
    await page.evaluate(() => (window.told = []));
    await ask(page, "[text] 再问");
    await ended(page);
    assert.deepEqual(await page.evaluate(() => window.told), []);
  });

  it("Esc stops the answer", async () => {
    await ask(page, "[wait] 停下来");
    await page.waitForFunction(() => document.title.startsWith("● "), undefined, SLOW);
    await page.keyboard.press("Escape");
    await ended(page, "cancelled");
  });
});

describe("an answer on a phone", { skip }, () => {
  it("begins in the first third of the screen", { timeout: 180_000 }, async () => {
    const server = await startServer({ pauseMs: 2 });
    const browser = await openBrowser({ width: 360, height: 740 });
    const { page } = browser;
    try {
      await page.goto(server.url);
      await firstVisit(page);
      await drop(page, [["sales.csv", SALES]]);
      await fileReady(page);
      await ask(page, "[full] 各地区 2024 年销售额，同比如何？");
      await ended(page);
      await drawn(page);
      const start = await lastTurn(page).evaluate((turn) => {
        const at = (part) => turn.querySelector(`[data-part=${part}]`)?.getBoundingClientRect();
        return at("report").top - turn.getBoundingClientRect().top;
      });
      const how = await lastTurn(page).locator(".how").evaluate((line) => line.getBoundingClientRect().height);
      assert.ok(how < 40, `reasoning, plan and basis are one line, not ${Math.round(how)} px`);
      assert.ok(start <= 740 / 3, `the report begins ${Math.round(start)} px below its question`);
    } finally {
      await browser.close();
      await server.close();
    }
  });
});
