/** The page in a real browser against the stand-in server: every part, every state. */
import { after, before, describe, it } from "node:test";
import { ask, assert, openBrowser, partsOfLastAnswer, settled, startFake, watchDraft } from "./harness.mjs";

let server;
let browser;
let page;

async function fresh(options = {}, fake = {}) {
  await browser?.close();
  server?.close();
  server = await startFake(fake);
  browser = await openBrowser(options);
  page = browser.page;
  await page.goto(server.url);
}
const quiet = () => assert.deepEqual(browser.errors, [], "the console is free of errors");
const doing = (tool) => page.locator(".doing", { hasText: `正在执行: ${tool}` }).last();
const input = () => page.getByRole("textbox", { name: /你的问题|Your question/ });

after(async () => {
  await browser?.close();
  server?.close();
});

describe("a conversation", () => {
  before(() => fresh());

  it("offers sample data and three questions on the first visit", async () => {
    await page.getByRole("heading", { name: "想分析什么？" }).waitFor();
    assert.equal(await page.locator(".questions button").count(), 3);
    await browser.shot("empty-zh-light");
    await page.getByText("各地区的销售额是多少？用图表展示").click();
    await page.locator("[data-part=file][data-status=ready]").waitFor();
    assert.equal(await input().inputValue(), "各地区的销售额是多少？用图表展示");
    assert.match(await page.locator("[data-part=file]").innerText(), /48,210 行 × 5 列[\s\S]*3 条质量提示/);
    await browser.shot("profile-zh-light");
    assert.match(page.url(), /#\/c\/conv_/);
  });

  it("shows the run while it goes on", async () => {
    await watchDraft(page);
    await page.keyboard.press("Enter");
    await page.locator("[data-part=tools] .status").waitFor();
    await doing("").waitFor();
    assert.ok(await page.locator("li[aria-current=step]").count(), "the current round is marked");
    assert.ok(await page.locator("[data-part=analysis]").getAttribute("open") !== null, "the thought is open while it runs");
    await page.getByRole("button", { name: "停止" }).waitFor();
    await browser.shot("live-zh-light");
  });

  it("shows every part of the answer in the order of SPEC U", async () => {
    await settled(page);
    assert.deepEqual(await page.evaluate(() => window.seen), { draft: true, json: false }, "the report was seen growing, the JSON it came in never");
    await page.locator("[data-part=frame][data-phase=ready]").waitFor();
    const parts = await partsOfLastAnswer(page);
    assert.deepEqual(parts, ["question", "analysis", "plan", "tools", "report", "table", "frame", "code", "code", "questions", "downloads"]);
    assert.equal(await page.locator("[data-part=analysis]").getAttribute("open"), null, "the thought folds once the report is in");
    const colour = (part, property) => page.locator(`[data-part=${part}]`).evaluate((node, name) => getComputedStyle(node)[name], property);
    assert.equal(await colour("analysis", "backgroundColor"), "rgb(240, 247, 255)");
    assert.equal(await colour("analysis", "borderLeftColor"), "rgb(33, 150, 243)");
    assert.equal(await colour("plan", "backgroundColor"), "rgb(255, 243, 224)");
    assert.equal(await colour("plan", "borderLeftColor"), "rgb(255, 152, 0)");
    await page.locator(".katex").first().waitFor();
    await browser.shot("answer-end-zh-light");
    await page.locator(".scroll").first().evaluate((node) => (node.scrollTop = 0));
    await browser.shot("answer-top-zh-light");
    quiet();
  });

  it("sorts a table by value, and writes figures as figures", async () => {
    const table = page.locator("[data-part=table]").first();
    const column = () => table.locator("tbody tr td:nth-child(4)").allInnerTexts();
    await table.getByRole("button", { name: "同比" }).click();
    assert.deepEqual((await column()).map((text) => text.replace(/[▲▼\s]/g, "")), ["+18.2%", "+8.5%", "+7.1%", "+4.6%", "-3.8%"]);
    assert.match((await column())[4], /▼/);
    assert.equal(await table.locator("tbody tr:first-child td:nth-child(2)").innerText(), "18,203,400");
    const [download] = await Promise.all([page.waitForEvent("download"), table.getByRole("button", { name: "下载 CSV" }).click()]);
    assert.equal(download.suggestedFilename(), "table-3.csv");
  });

  it("opens the code at its place, and the tools behind the answer", async () => {
    const card = page.locator("[data-part=code]").first();
    await card.getByRole("button", { name: "查看代码" }).click();
    await card.locator(".hljs-keyword").first().waitFor();
    await page.locator("[data-part=tools] > summary").click();
    const tool = page.locator("[data-part=tools] .card").first();
    await tool.locator("summary").click();
    await tool.locator(".observation", { hasText: "华东 | 1820340" }).waitFor();
    assert.match(await tool.innerText(), /SELECT region/);
    await browser.shot("code-and-tools-zh-light");
  });

  it("exports the chart as PNG", async () => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "导出 PNG" }).click()]);
    assert.equal(download.suggestedFilename(), "chart-1.png");
    const stream = await download.createReadStream();
    const first = await new Promise((resolve) => stream.once("data", resolve));
    assert.deepEqual([...first.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
    assert.ok(first.length > 2000, "not an empty picture");
  });

  it("downloads what the answer offers", async () => {
    const link = page.getByRole("link", { name: /growth\.xlsx/ });
    assert.match(await link.getAttribute("href"), /^\/api\/v1\/files\/download\/growth\.xlsx\?conversation_id=conv_/);
    const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
    assert.equal(download.suggestedFilename(), "growth.xlsx");
  });

  it("fills the input with a recommended question and focuses it", async () => {
    await page.getByRole("button", { name: "按月看趋势" }).click();
    assert.equal(await input().inputValue(), "按月看趋势");
    assert.ok(await input().evaluate((node) => node === document.activeElement));
  });

  it("enlarges an image", async () => {
    await page.locator(".prose img").first().click();
    await page.getByRole("dialog").locator("img").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  it("draws everything again after a reload", async () => {
    const before = await partsOfLastAnswer(page);
    await page.reload();
    await settled(page);
    await page.locator("[data-part=frame][data-phase=ready]").waitFor();
    assert.deepEqual(await partsOfLastAnswer(page), before);
    quiet();
  });

  it("edits and resends a question", async () => {
    await page.getByRole("button", { name: "修改后重新发送" }).click();
    await page.getByRole("textbox", { name: "修改后重新发送" }).fill("MD:改过的问题");
    await page.getByRole("button", { name: "重新发送", exact: true }).click();
    await page.locator("article").nth(1).getByText("改过的问题").last().waitFor();
    assert.equal(await page.locator("article").count(), 2);
  });

  it("renames, finds and deletes the conversation", async () => {
    await page.getByRole("button", { name: /更多操作/ }).click();
    await page.getByRole("button", { name: "重命名" }).click();
    await page.getByRole("textbox", { name: "重命名" }).fill("零售 2024");
    await page.keyboard.press("Enter");
    await page.locator("header .title", { hasText: "零售 2024" }).waitFor();
    await page.getByRole("searchbox").fill("没有这个");
    await page.getByText("没有找到“没有这个”").waitFor();
    await page.getByRole("searchbox").fill("");
    await page.getByRole("link", { name: "零售 2024" }).waitFor();
    await page.getByRole("button", { name: /更多操作/ }).click();
    await page.getByRole("button", { name: "删除" }).click();
    await browser.shot("delete-zh-light");
    await page.getByRole("dialog").getByRole("button", { name: "删除" }).click();
    await page.getByText("还没有对话").waitFor();
    await page.getByRole("heading", { name: "想分析什么？" }).waitFor();
    quiet();
  });
});

describe("a run", () => {
  before(() => fresh());

  it("can be stopped, while the page stays usable", async () => {
    await ask(page, "慢慢算");
    await doing("run_python").waitFor();
    await input().fill("可以先写下一个问题");
    await page.getByRole("button", { name: "停止" }).click();
    await page.locator("article[data-state=cancelled]").waitFor();
    await page.getByText("这次分析已停止").waitFor();
    assert.equal(await input().inputValue(), "可以先写下一个问题");
    await browser.shot("stopped-zh-light");
  });

  it("says what failed and what to do, and can be tried again", async () => {
    await ask(page, "会失败");
    await page.locator("article[data-state=failed]").waitFor();
    const text = await page.locator("article").last().innerText();
    assert.match(text, /模型服务 503/);
    assert.match(text, /可以重试/);
    await browser.shot("failed-zh-light");
    await page.locator("article").last().getByRole("button", { name: "重试" }).first().click();
    await page.locator("article").nth(2).waitFor();
  });

  it("goes on after the connection is lost, and misses no event", async () => {
    await fresh({}, { pause: 250 });
    await ask(page, "各地区销售额");
    await doing("query_database").waitFor();
    server.cut();
    await page.getByText("连接中断，正在重新连接").waitFor();
    await settled(page);
    assert.deepEqual(await page.locator("[data-part=tools] .card .name").allTextContents(), ["query_database", "run_python"]);
    assert.equal(await page.getByText("连接中断").count(), 0);
  });

  it("is found again by a reload in the middle of it", async () => {
    await fresh({}, { pause: 250 });
    await ask(page, "各地区销售额");
    await doing("query_database").waitFor();
    await page.reload();
    await page.locator("article[data-state=running]").waitFor();
    await settled(page);
    assert.equal(await page.locator("article").count(), 1);
    assert.deepEqual((await partsOfLastAnswer(page)).slice(0, 5), ["question", "analysis", "plan", "tools", "report"]);
  });

  it("does not send while an input method composes", async () => {
    await fresh();
    await input().fill("zhong");
    await input().dispatchEvent("keydown", { key: "Enter", isComposing: true, keyCode: 229 });
    await page.waitForTimeout(100);
    assert.equal(await page.locator("article").count(), 0);
    await page.keyboard.press("Shift+Enter");
    assert.match(await input().inputValue(), /\n/);
  });
});

describe("scrolling", () => {
  it("does not move what the reader reads while text streams in", async () => {
    await fresh({ height: 500 }, { pause: 120 });
    await ask(page, `MD:${"一段很长的文字。\n\n".repeat(60)}`);
    await settled(page);
    await ask(page, "各地区销售额");
    await page.locator("[data-part=tools] .status").last().waitFor();
    const scroller = page.locator(".scroll").first();
    await scroller.evaluate((node) => (node.scrollTop = 200));
    await page.getByRole("button", { name: "回到底部" }).waitFor();
    await settled(page);
    assert.equal(await scroller.evaluate((node) => node.scrollTop), 200);
    await page.getByRole("button", { name: "回到底部" }).click();
    await page.locator("[data-part=frame][data-phase=ready]").waitFor();
    // The frame grows a moment after it is ready; the view follows to the end.
    const atEnd = (node) => node.scrollHeight - node.scrollTop - node.clientHeight < 90;
    await page.waitForFunction(atEnd, await scroller.elementHandle(), { timeout: 5000 });
  });
});

describe("uploads", () => {
  before(() => fresh());
  const drop = (files) => page.evaluate((list) => {
    const data = new DataTransfer();
    for (const [name, text] of list) data.items.add(new File([text], name));
    for (const type of ["dragenter", "dragover", "drop"]) window.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
  }, files);

  it("takes several files by drop, and shows their profiles", async () => {
    await page.getByRole("heading", { name: "想分析什么？" }).waitFor();
    await drop([["销售.csv", "a,b\n1,2"], ["book.xlsx", "x"]]);
    await page.getByText(/读取表头/).first().waitFor();
    await page.locator("[data-part=file][data-status=ready]").nth(1).waitFor();
    const book = page.locator("[data-part=file]", { hasText: "book.xlsx" });
    await book.getByText("详情").click();
    await book.getByRole("tab", { name: "二月" }).click();
    assert.match(await book.innerText(), /120 行/);
    await browser.shot("upload-two-zh-light");
  });

  it("takes a file by button and by paste", async () => {
    await page.locator("form input[type=file]").setInputFiles({ name: "button.csv", mimeType: "text/csv", buffer: Buffer.from("a\n1") });
    await page.getByText("button.csv").first().waitFor();
    await input().evaluate((node) => {
      const data = new DataTransfer();
      data.items.add(new File(["a"], "pasted.csv"));
      node.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await page.getByText("pasted.csv").first().waitFor();
  });

  it("says why a file is refused or cannot be read, and keeps the others", async () => {
    await drop([["virus.exe", "x"], ["broken.csv", "x"]]);
    await page.getByText(/virus\.exe.*不支持这种文件/).waitFor();
    await page.locator("[data-part=file][data-status=failed]").waitFor();
    assert.match(await page.locator("[data-part=file][data-status=failed]").innerText(), /表头无法识别/);
    await browser.shot("upload-failed-zh-light");
  });

  it("sends the attached files with the question, and lists them in the panel", async () => {
    await ask(page, "MD:看看");
    await settled(page);
    assert.match(await page.locator("[data-part=question]").innerText(), /销售\.csv/);
    await page.getByRole("button", { name: "打开右栏" }).click();
    await page.locator("aside [data-part=file]").first().waitFor();
    await page.getByRole("tab", { name: /上下文/ }).click();
    await page.getByText("共 1,212 tokens").waitFor();
    await browser.shot("panel-context-zh-light");
  });
});

describe("charts", () => {
  before(() => fresh());

  it("draws several in one answer, each in its own frame, with the text between them", async () => {
    await ask(page, "两张图");
    await page.locator("[data-part=frame][data-phase=ready]").nth(1).waitFor();
    assert.equal(await page.locator("[data-part=frame]").count(), 2);
    await page.getByText("两图之间的文字。").waitFor();
    await browser.shot("two-charts-zh-light");
    quiet();
  });

  it("follows the theme and the width", async () => {
    const frame = await (await page.locator("iframe").first().elementHandle()).contentFrame();
    const width = () => frame.locator("canvas").first().evaluate((node) => node.getBoundingClientRect().width);
    const wide = await width();
    await page.setViewportSize({ width: 700, height: 900 });
    await page.waitForTimeout(300);
    assert.ok((await width()) < wide, "narrower page, narrower chart");
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole("button", { name: "主题: 深色" }).click();
    await frame.locator("html[data-theme=dark]").waitFor();
    await page.waitForTimeout(300);
    await browser.shot("two-charts-zh-dark");
  });

  it("shows the error and the source of a chart that throws", async () => {
    await ask(page, "坏图");
    await page.locator("[data-part=frame][data-phase=failed]").waitFor();
    const text = await page.locator("[data-part=frame]").last().innerText();
    assert.match(text, /undefinedVariable is not defined/);
    assert.match(text, /echarts\.init/);
    await browser.shot("chart-error-zh-dark");
    browser.errors.length = 0;
  });

  it("shows one that draws nothing as such", async () => {
    await ask(page, 'HOSTILE:看：\n\n<div id="e" style="height:0"></div>');
    await page.getByText("这段内容没有画出任何东西").waitFor();
  });
});

describe("languages, themes and sizes", () => {
  for (const [locale, theme] of [["en-US", "light"], ["en-US", "dark"], ["zh-CN", "dark"]]) {
    it(`is whole in ${locale}, ${theme}`, async () => {
      await fresh({ locale, theme }, { offline: true });
      const [lang] = locale.split("-");
      await page.locator("[data-part=empty]").waitFor();
      assert.equal(await page.locator("html").getAttribute("data-theme"), theme);
      assert.match(await page.locator("[role=note]").innerText(), lang === "en" ? /offline analyst is answering/ : /离线分析器正在回答/);
      await browser.shot(`empty-${lang}-${theme}`);
      await page.getByRole("button", { name: lang === "en" ? "Set up a model" : "如何设置模型" }).click();
      await page.getByText("BA_MODEL=deepseek").waitFor();
      await page.keyboard.press("Escape");
      await ask(page, "各地区销售额");
      await settled(page);
      await page.locator("[data-part=frame][data-phase=ready]").waitFor();
      await page.waitForTimeout(300);
      await browser.shot(`answer-end-${lang}-${theme}`);
      await page.locator(".scroll").first().evaluate((node) => (node.scrollTop = 0));
      await page.waitForTimeout(100);
      await browser.shot(`answer-top-${lang}-${theme}`);
      const body = await page.locator("body").innerText();
      if (lang === "en") for (const leftover of ["推荐问题", "可下载文件", "执行计划"]) assert.ok(!body.includes(leftover), `${leftover} is not translated`);
      await page.getByRole("button", { name: lang === "en" ? "Settings" : "设置", exact: true }).click();
      await page.waitForTimeout(100);
      await browser.shot(`settings-${lang}-${theme}`);
      quiet();
    });
  }

  it("remembers language and theme without a flash", async () => {
    await fresh();
    await page.getByRole("button", { name: "Switch to English" }).click();
    await page.getByRole("button", { name: "Theme: Dark" }).click();
    await page.reload({ waitUntil: "commit" });
    await page.locator("#app").waitFor({ state: "attached" });
    assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
    await page.getByText("What would you like to analyse?").waitFor();
  });

  it("works at 360 px: nothing wider than the page, panels as drawers", async () => {
    await fresh({ width: 360, height: 740 });
    await page.locator("[data-part=empty]").waitFor();
    await browser.shot("phone-empty");
    await page.getByText("载入示例").click();
    await page.locator("[data-part=file][data-status=ready]").waitFor();
    await browser.shot("phone-profile");
    assert.equal(await page.locator("main .scroll").first().evaluate((node) => node.scrollWidth - node.clientWidth), 0);
    await ask(page, "各地区销售额");
    await page.locator("[data-part=tools] .status").waitFor();
    await browser.shot("phone-live");
    await settled(page);
    await page.locator("[data-part=frame][data-phase=ready]").waitFor();
    await page.waitForTimeout(300);
    await browser.shot("phone-answer-end");
    await page.locator(".scroll").first().evaluate((node) => (node.scrollTop = 0));
    await page.waitForTimeout(100);
    await browser.shot("phone-answer-top");
    const overflow = await page.evaluate(() => [document.documentElement.scrollWidth, document.querySelector("main .scroll").scrollWidth - document.querySelector("main .scroll").clientWidth]);
    assert.deepEqual(overflow, [360, 0]);
    await page.getByRole("button", { name: "打开侧栏" }).click();
    await page.getByRole("searchbox").waitFor();
    await page.waitForFunction(() => document.activeElement?.closest(".drawer"), null, { timeout: 5000 });
    await browser.shot("phone-drawer");
    await page.keyboard.press("Escape");
    await page.getByRole("searchbox").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "打开右栏" }).click();
    await page.locator("aside").waitFor();
    await browser.shot("phone-panel");
    quiet();
  });
});

describe("sign-in", () => {
  it("asks, refuses, lets in, and out again", async () => {
    await fresh({}, { auth: true });
    await page.getByLabel("用户名").fill("ana");
    await page.getByLabel("密码").fill("wrong");
    await browser.shot("signin-zh-light");
    await page.getByRole("button", { name: "登录" }).click();
    await page.getByText("用户名或密码不对").waitFor();
    assert.equal(await page.getByLabel("密码").inputValue(), "");
    await page.getByLabel("密码").fill("secret");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "想分析什么？" }).waitFor();
    assert.equal(await page.evaluate(() => document.cookie), "", "the page cannot read the session");
    await page.getByRole("button", { name: /退出登录/ }).click();
    await page.getByLabel("用户名").waitFor();
  });
});

describe("monitoring", () => {
  it("shows runs, tools and the timeline of one run", async () => {
    await fresh();
    await ask(page, "各地区销售额");
    await settled(page);
    await page.getByRole("link", { name: "监控" }).click();
    await page.locator("figure canvas").nth(1).waitFor();
    await page.getByRole("link", { name: "各地区销售额" }).last().click();
    await page.getByRole("list", { name: "运行时间线" }).waitFor();
    const labels = await page.locator("ol[aria-label=运行时间线] .label").allInnerTexts();
    assert.deepEqual(labels, ["🧠 R1", "query_database", "🧠 R2", "run_python", "🧠 R3"]);
    await page.waitForTimeout(300);
    await browser.shot("monitor-zh-light");
    await page.getByRole("button", { name: "主题: 深色" }).click();
    await page.waitForTimeout(400);
    await browser.shot("monitor-zh-dark");
    quiet();
  });
});

describe("when things are missing", () => {
  it("says so for an unknown conversation and an unreachable server", async () => {
    await fresh();
    await page.goto(`${server.url}/#/c/conv_ffffffffffff`);
    await page.getByText("这个对话不存在，或已被删除。").waitFor();
    const dead = server.url;
    await page.route("**/api/**", (route) => route.abort());
    await page.goto(`${dead}/?again`);
    await page.getByText("连不上服务器").waitFor();
    await browser.shot("unreachable-zh-light");
    await page.unroute("**/api/**");
    await page.getByRole("button", { name: "重试" }).click();
    await page.getByRole("heading", { name: "想分析什么？" }).waitFor();
  });
});
