/** One conversation from the first visit to its deletion: every part of an answer, and everything one can do with it. */
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { skip } from "./binary.mjs";
import { ask, assert, drawn, drop, ended, fileReady, firstVisit, input, lastTurn, partsOfLastAnswer, questionTop, SALES, toEnd, toTop, watchDraft } from "./harness.mjs";
import { stage } from "./stage.mjs";

const PARTS = ["question", "analysis", "plan", "tools", "report", "table", "frame", "code", "code", "proof", "questions", "downloads"];

describe("a conversation", { skip }, () => {
  let server, browser, page;
  stage({ config: "prices = { input = 1.0, output = 4.0 }" }, (on) => ({ server, browser, page } = on));
  const menu = async (item) => {
    await page.getByRole("button", { name: /更多操作/ }).first().click();
    await page.locator(".menu:popover-open").getByText(item).click();
  };

  it("is served with its policies, cached, and compressed ahead of time", async () => {
    const headers = async (path, accept = "gzip") => (await fetch(server.url + path, { headers: { "Accept-Encoding": accept } })).headers;
    const root = await headers("/", "br");
    assert.match(root.get("content-security-policy"), /default-src 'none'; script-src 'self' 'sha256-[^']+'; style-src 'self' 'sha256-[^']+';.*frame-src 'self'.*frame-ancestors 'none'/);
    assert.equal(root.get("content-encoding"), "br");
    assert.match((await headers("/frame")).get("content-security-policy"), /^sandbox allow-scripts; default-src 'none'; script-src blob: 'sha256-/);
    const html = await (await fetch(server.url)).text();
    const asset = await headers(/src="(\/assets\/[^"]+\.js)"/.exec(html)[1]);
    assert.match(asset.get("cache-control"), /immutable/);
    assert.equal(asset.get("content-encoding"), "gzip");
    assert.equal((await fetch(server.url, { headers: { "If-None-Match": root.get("etag"), "Accept-Encoding": "br" } })).status, 304);
  });

  it("takes a table by drop and shows its profile", async () => {
    await firstVisit(page);
    assert.equal(await page.locator(".questions button").count(), 3);
    await browser.shot("empty-zh-light");
    await drop(page, [["sales.csv", SALES]]);
    await fileReady(page);
    assert.match(await page.locator("[data-part=file]").innerText(), /200 行 × 4 列/);
    assert.match(page.url(), /#\/c\/conv_/);
    await browser.shot("profile-zh-light");
  });

  it("shows the run while it goes on", async () => {
    await watchDraft(page);
    await ask(page, "[full] 各地区销售额，同比如何？");
    // All awaited at once: on a busy machine the run may end while one after the other is looked for. That it folds then is tested below.
    await Promise.all([
      page.locator("[data-part=analysis][open]").waitFor(),
      page.locator("[data-part=tools] .status").waitFor(),
      page.locator("li[aria-current=step]").first().waitFor(),
      page.getByRole("button", { name: "停止" }).waitFor(),
    ]);
    await browser.shot("live-zh-light");
  });

  it("shows every part of the answer in the order of SPEC U1–U7", async () => {
    await ended(page);
    assert.deepEqual(await page.evaluate(() => window.seen), { draft: true, json: false }, "the report was seen growing, the JSON it came in never");
    await drawn(page);
    assert.deepEqual(await partsOfLastAnswer(page), PARTS);
    assert.equal(await page.locator("[data-part=analysis]").getAttribute("open"), null, "the thought folds once the report is in");
    const colour = (part, property) => page.locator(`[data-part=${part}]`).evaluate((node, name) => getComputedStyle(node)[name], property);
    assert.equal(await colour("analysis", "backgroundColor"), "rgb(240, 247, 255)");
    assert.equal(await colour("analysis", "borderLeftColor"), "rgb(33, 150, 243)");
    assert.equal(await colour("plan", "backgroundColor"), "rgb(255, 243, 224)");
    assert.equal(await colour("plan", "borderLeftColor"), "rgb(255, 152, 0)");
    await page.locator(".katex").first().waitFor();
    assert.match(await page.locator(".warnings").innerText(), /提示/, "the file that does not exist");
    // 3 × 1,200 tokens in at 1.0 and 3 × 240 out at 4.0 per million.
    assert.match(await page.locator("footer .facts").innerText(), /3,600 入 \/ 720 出 tokens · 费用 0\.0065/);
    await page.waitForTimeout(400);
    assert.ok(Math.abs((await questionTop(page)) - 14) < 3, "the answer is read from its beginning");
    await browser.shot("answer-top-zh-light");
    await toEnd(page);
    await browser.shot("answer-end-zh-light");
    await toTop(page);
    browser.quiet();
  });

  it("sorts a table by value, writes figures as figures, and saves it as CSV", async () => {
    const table = page.locator("[data-part=table]").first();
    const column = () => table.locator("tbody tr td:nth-child(4)").allInnerTexts();
    await table.getByRole("button", { name: "同比" }).click();
    assert.deepEqual((await column()).map((text) => text.replace(/[▲▼\s]/g, "")), ["+18.2%", "+8.5%", "+7.1%", "+4.6%", "-3.8%"]);
    assert.match((await column())[4], /▼/);
    assert.equal(await table.locator("tbody tr:first-child td:nth-child(2)").innerText(), "18,203,400");
    const [download] = await Promise.all([page.waitForEvent("download"), table.getByRole("button", { name: "下载 CSV" }).click()]);
    assert.equal(download.suggestedFilename(), "table-3.csv");
    assert.match(readFileSync(await download.path(), "utf8"), /地区,2024 销售额.*\r?\n华东,18203400/);
  });

  it("exports the chart as PNG", async () => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "导出 PNG" }).click()]);
    assert.equal(download.suggestedFilename(), "chart-1.png");
    const bytes = readFileSync(await download.path());
    assert.deepEqual([...bytes.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
    assert.ok(bytes.length > 2000, "not an empty picture");
  });

  it("opens the code at its place, and the tools behind the answer", async () => {
    const card = page.locator("[data-part=code]").first();
    await card.getByRole("button", { name: "查看代码" }).click();
    await card.locator(".hljs-keyword").first().waitFor();
    await page.locator("[data-part=tools] > summary").click();
    assert.deepEqual(await page.locator("[data-part=tools] .card .name").allTextContents(), ["query_database", "file_reader", "run_python"]);
    assert.equal(await page.locator("[data-part=tools] .card[data-state=ok]").count(), 3, await page.locator("[data-part=tools]").innerText());
    const tool = page.locator("[data-part=tools] .card").first();
    await tool.locator("summary").click();
    await tool.locator(".observation", { hasText: "华东" }).waitFor();
    assert.match(await tool.innerText(), /SELECT region/);
    await browser.shot("code-and-tools-zh-light");
  });

  it("downloads the file that Python wrote, and enlarges its picture", async () => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: /growth\.csv/ }).click()]);
    assert.equal(download.suggestedFilename(), "growth.csv");
    assert.match(readFileSync(await download.path(), "utf8"), /华东,0\.182/);
    const image = page.locator(".prose img").first();
    assert.ok(await image.evaluate((node) => node.decode().then(() => node.naturalWidth === 120)));
    await image.click();
    await page.getByRole("dialog").locator("img").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  it("fills the input with a recommended question and focuses it", async () => {
    await page.getByRole("button", { name: "按月看趋势" }).click();
    assert.equal(await input(page).inputValue(), "按月看趋势");
    assert.ok(await input(page).evaluate((node) => node === document.activeElement));
  });

  it("draws everything again after a reload, with the files of the question", async () => {
    await page.reload();
    await ended(page);
    await drawn(page);
    assert.deepEqual(await partsOfLastAnswer(page), PARTS);
    assert.match(await page.locator("[data-part=question]").innerText(), /sales\.csv/);
    browser.quiet();
  });

  it("edits and resends a question, its files with it", async () => {
    await page.getByRole("button", { name: "修改后重新发送" }).click();
    await page.getByRole("textbox", { name: "修改后重新发送" }).fill("[text]改过的问题");
    await page.getByRole("button", { name: "重新发送", exact: true }).click();
    await page.locator("[data-part=versions]", { hasText: "2/2" }).waitFor();
    await ended(page);
    assert.equal(await page.locator("article[data-state]").count(), 1, "another version of the same turn");
    assert.match(await lastTurn(page).locator("[data-part=report]").innerText(), /改过的问题/);
    assert.match(await lastTurn(page).locator("[data-part=question]").innerText(), /sales\.csv/);
  });

  it("names the skills an answer was made under, live, afterwards and in the context", async () => {
    await ask(page, "[skill] 增长如何？");
    await ended(page);
    assert.match(await lastTurn(page).locator("[data-part=tools] > summary").innerText(), /trend-growth → echarts-design/);
    await page.getByRole("button", { name: "打开右栏" }).click();
    await page.locator("aside [data-part=file]").first().waitFor();
    await browser.shot("panel-files-zh-light");
    await page.getByRole("tab", { name: "代码" }).click();
    await page.locator("aside [data-part=code]").first().waitFor();
    await page.getByRole("tab", { name: "上下文" }).click();
    await page.locator("aside").getByText("系统提示").waitFor();
    await page.locator("aside").getByText("技能：trend-growth → echarts-design").waitFor();
    await page.locator("aside", { hasText: /费用 0\.\d{4}/ }).waitFor();
    await page.locator("aside details").first().click();
    await browser.shot("panel-context-zh-light");
    await page.getByRole("button", { name: "收起右栏" }).click();
    await page.reload();
    await lastTurn(page).locator("[data-part=tools] > summary", { hasText: "trend-growth → echarts-design" }).waitFor();
  });

  it("shows runs, tools and the timeline of one run in monitoring", async () => {
    await page.getByRole("link", { name: "监控" }).click();
    await page.locator("figure canvas").nth(1).waitFor();
    await page.locator(".tiles", { hasText: /费用\s*0\.\d{4}/ }).waitFor();
    await page.getByRole("link", { name: /\[full\]/ }).last().click();
    await page.getByRole("list", { name: "运行时间线" }).waitFor();
    const labels = await page.locator("ol[aria-label=运行时间线] .label").allInnerTexts();
    assert.deepEqual([labels.length, labels[0], ...labels.filter((label) => !label.startsWith("模型")).sort()], [6, "模型 R1", "file_reader", "query_database", "run_python"]);
    await page.waitForTimeout(600);
    await browser.shot("monitor-zh-light");
    await page.getByRole("button", { name: "主题: 深色" }).click();
    await page.waitForTimeout(600);
    await browser.shot("monitor-zh-dark");
    await page.getByRole("button", { name: "主题: 浅色" }).click();
    await page.goBack();
    await page.goBack();
    await ended(page);
    browser.quiet();
  });

  it("renames, finds and exports the conversation", async () => {
    await menu("重命名");
    await page.getByRole("textbox", { name: "重命名" }).fill("零售 2024");
    await page.keyboard.press("Enter");
    await page.locator("header .title", { hasText: "零售 2024" }).waitFor();
    await page.getByRole("searchbox").fill("没有这个");
    await page.getByText("没有找到“没有这个”").waitFor();
    await page.getByRole("searchbox").fill("零售");
    await page.getByRole("link", { name: "零售 2024" }).waitFor();
    await page.getByRole("searchbox").fill("");
    const [download] = await Promise.all([page.waitForEvent("download"), menu("导出")]);
    assert.match(download.suggestedFilename(), /零售 2024.*\.tar$/);
    assert.match(readFileSync(await download.path(), "latin1"), /manifest\.json/);
  });

  it("keeps what was deleted elsewhere readable, and says that a file is gone", async () => {
    const conversation = page.url().split("/c/")[1];
    assert.equal((await fetch(`${server.url}/api/v1/files/upload_001?conversation_id=${conversation}`, { method: "DELETE" })).status, 200);
    await page.reload();
    await page.locator("[data-part=question]", { hasText: "upload_001 (已删除)" }).first().waitFor();
  });

  it("deletes the conversation after asking", async () => {
    await menu("删除");
    await browser.shot("delete-zh-light");
    await page.getByRole("dialog").getByRole("button", { name: "删除" }).click();
    await page.getByText("还没有对话").waitFor();
    await firstVisit(page);
    browser.quiet();
  });
});
