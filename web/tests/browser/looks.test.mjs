/** Languages, themes, sizes and sign-in, with the offline analyst: what a newcomer sees. */
import { after, before, describe, it } from "node:test";
import { skip, startServer } from "./binary.mjs";
import { ask, assert, drawn, ended, fileReady, firstVisit, openBrowser, SLOW, STARTING, toEnd } from "./harness.mjs";

const TEXTS = {
  en: { offline: /offline analyst is answering/, answered: /offline analyst/, model: "Set up a model", settings: "Settings", monitor: "Monitoring" },
  zh: { offline: /离线分析器正在回答/, answered: /离线分析器/, model: "设置模型", settings: "设置", monitor: "监控" },
};

describe("a newcomer", { skip }, () => {
  let server;
  let browser;
  before(async () => (server = await startServer({ offline: true })), STARTING);
  after(async () => {
    await browser?.close();
    await server?.close();
  });
  const open = async (options) => {
    await browser?.close();
    browser = await openBrowser(options);
    await browser.page.goto(server.url);
    await firstVisit(browser.page);
    return browser.page;
  };

  for (const [locale, theme, width] of [["zh-CN", "light", 1280], ["zh-CN", "dark", 1280], ["en-US", "light", 1280], ["en-US", "dark", 360]]) {
    const name = `${locale.slice(0, 2)}-${theme}-${width}`;
    it(`loads the sample and gets an answer in ${locale}, ${theme}, ${width} px`, { timeout: 120_000 }, async () => {
      const texts = TEXTS[locale.slice(0, 2)];
      const page = await open({ locale, theme, width, height: width < 600 ? 740 : 900 });
      assert.equal(await page.locator("html").getAttribute("data-theme"), theme);
      assert.match(await page.locator("[role=note]").innerText(), texts.offline);
      await browser.shot(`start-${name}`);
      assert.doesNotMatch(await page.locator("[data-part=empty]").innerText(), /\p{Extended_Pictographic}/u);
      assert.equal(await page.locator(".start .sample small").count(), 3, "each sample says what it is");
      await page.getByRole("button", { name: texts.model }).click();
      await page.getByText("BA_MODEL=deepseek").waitFor();
      await browser.shot(`model-help-${name}`);
      await page.keyboard.press("Escape");
      await page.locator(".start button").first().click();
      await fileReady(page);
      await browser.shot(`sample-${name}`);
      if (locale === "en-US") assert.doesNotMatch(await page.locator("[data-part=empty]").innerText(), /[一-鿿]/, "an English visit sees English data");
      await page.locator(".questions button").first().click();
      await page.keyboard.press("Enter");
      await ended(page);
      await drawn(page);
      await page.waitForTimeout(600);
      await browser.shot(`offline-top-${name}`);
      await toEnd(page);
      await browser.shot(`offline-end-${name}`);
      assert.match(await page.locator("footer .facts").last().innerText(), texts.answered);
      assert.equal(await page.locator("[data-part=frame][data-phase=failed]").count(), 0);
      const overflow = () => page.evaluate(() => [document.documentElement.scrollWidth - innerWidth, document.querySelector("[data-scroller]").scrollWidth - document.querySelector("[data-scroller]").clientWidth]);
      assert.deepEqual(await overflow(), [0, 0], "nothing is wider than the page");
      if (locale === "en-US") {
        const body = await page.locator("body").innerText();
        for (const leftover of ["推荐问题", "可下载文件", "执行计划", "依据"]) assert.ok(!body.includes(leftover), `${leftover} is not translated`);
      }
      if (width < 600) await drawers(page);
      else {
        await page.getByRole("button", { name: texts.settings, exact: true }).click();
        await page.getByRole("dialog").waitFor();
        await page.waitForTimeout(200);
        await browser.shot(`settings-${name}`);
        await page.keyboard.press("Escape");
        await page.getByRole("link", { name: texts.monitor }).click();
        await page.locator("figure canvas").first().waitFor(SLOW);
        await page.waitForTimeout(500);
        await browser.shot(`monitor-${name}`);
      }
      browser.quiet();
    });
  }

  /** Below 900 px the panels are drawers that take and give back the focus. */
  async function drawers(page) {
    await page.getByRole("button", { name: "Open sidebar" }).click();
    await page.getByRole("searchbox").waitFor();
    await page.waitForFunction(() => document.activeElement?.closest(".drawer"));
    await browser.shot("phone-drawer");
    await page.keyboard.press("Escape");
    await page.getByRole("searchbox").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Open right panel" }).click();
    await page.locator("aside").waitFor();
    await browser.shot("phone-panel");
    await page.keyboard.press("Escape");
  }

  it("gets figures for every question the page suggests", { timeout: 120_000 }, async () => {
    const api = async (path, body) => (await fetch(`${server.url}/api/v1${path}`, body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) })).json();
    const { samples } = (await api("/status")).data;
    assert.equal(samples.length, 6, "three in each language");
    for (const { name, questions } of samples) {
      const { conversation_id } = (await api("/samples/load", { name })).data;
      for (const message of questions) {
        const { data } = await api("/agent/query", { message, conversation_id });
        assert.match(data.response, /\*\*|\|\s*-/, `${message}\n${data.response}`);
        assert.ok(data.tool_calls.some((call) => call.tool_name === "query_database" && call.success), message);
        assert.doesNotMatch(data.response, /无法计算|cannot be answered|no column/, `${message}\n${data.response}`);
      }
    }
  });

  it("finds language and theme remembered, without a flash", async () => {
    const page = await open();
    await page.getByRole("button", { name: "Switch to English" }).click();
    await page.getByRole("button", { name: "Theme: Dark" }).click();
    // Every colour the page's ground had since the document began.
    await page.addInitScript(() => {
      window.grounds = new Set();
      const look = () => (document.body && window.grounds.add(getComputedStyle(document.body).backgroundColor), requestAnimationFrame(look));
      look();
    });
    await page.reload();
    await page.getByText("What would you like to analyse?").waitFor();
    assert.deepEqual(await page.evaluate(() => [...window.grounds]), ["rgb(21, 23, 27)"]);
  });

  it("follows a dark system without a flash, too", async () => {
    const page = await open({ theme: "dark" });
    await page.addInitScript(() => {
      window.grounds = new Set();
      const look = () => (document.body && window.grounds.add(getComputedStyle(document.body).backgroundColor), requestAnimationFrame(look));
      look();
    });
    await page.reload();
    await firstVisit(page);
    assert.deepEqual(await page.evaluate(() => [...window.grounds]), ["rgb(21, 23, 27)"]);
  });
});

describe("sign-in", { skip }, () => {
  it("asks, refuses, lets in, and shows only one's own conversations", { timeout: 300_000 }, async () => {
    const server = await startServer({ listen: "0.0.0.0:0", users: { ana: "correct horse battery", bob: "staple battery horse" } });
    const browser = await openBrowser();
    const { page } = browser;
    const signIn = async (name, password) => {
      await page.getByLabel("用户名").fill(name);
      await page.getByLabel("密码").fill(password);
      await page.keyboard.press("Enter");
    };
    try {
      await page.goto(server.url);
      await page.getByLabel("用户名").waitFor(SLOW);
      await browser.shot("signin-zh-light");
      await signIn("ana", "wrong");
      await page.getByText("用户名或密码不对").waitFor(SLOW);
      assert.equal(await page.getByLabel("密码").inputValue(), "");
      await signIn("ana", "correct horse battery");
      await firstVisit(page);
      assert.equal(await page.evaluate(() => document.cookie), "", "the page cannot read the session");
      await ask(page, "[text]只有我能看");
      await ended(page);
      await page.locator("nav li").first().waitFor(SLOW);
      const hers = page.url();
      await page.getByRole("button", { name: /退出登录/ }).click();
      await signIn("bob", "staple battery horse");
      await page.getByText("这个对话不存在").waitFor(SLOW);
      assert.equal(page.url(), hers);
      assert.equal(await page.locator("nav li").count(), 0);
    } finally {
      await browser.close();
      await server.close();
    }
  });
});
