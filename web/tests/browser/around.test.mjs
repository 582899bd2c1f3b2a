/** What stands around the answers: files that were made, marks in the sidebar, the board, keys, administration. */
import { describe, it } from "node:test";
import { skip, startServer } from "./binary.mjs";
import { ask, assert, drop, ended, fileReady, firstVisit, input, lastTurn, openBrowser, SALES, SLOW } from "./harness.mjs";
import { stage } from "./stage.mjs";

const menu = async (page, item) => {
  await page.locator("nav li").first().hover();
  await page.locator("nav li").first().getByRole("button", { name: /更多操作/ }).click();
  await page.locator(".menu:popover-open").getByText(item, { exact: true }).click();
};

describe("around the answers", { skip }, () => {
  let browser, page;
  stage({ pauseMs: 2 }, async (on) => {
    ({ browser, page } = on);
    await drop(page, [["sales.csv", SALES]]);
    await fileReady(page);
    await ask(page, "[full] 各地区 2024 年销售额，同比如何？");
    await ended(page);
  });

  it("lists what was made with its size, shows it, and deletes it", async () => {
    await page.getByRole("button", { name: "打开右栏" }).click();
    const made = page.locator("aside [data-part=made]", { hasText: "growth.csv" });
    await made.waitFor(SLOW);
    assert.match(await made.innerText(), /\d+ B/);
    await made.getByRole("button", { name: /预览/ }).click();
    await page.locator("[data-part=preview]", { hasText: "region,growth" }).waitFor();
    await browser.shot("made-zh-light");
    await page.keyboard.press("Escape");
    await page.locator("aside [data-part=made]", { hasText: "trend.png" }).getByRole("button", { name: /预览/ }).click();
    await page.locator("dialog img").waitFor();
    await page.keyboard.press("Escape");
    await made.getByRole("button", { name: /删除文件/ }).click();
    await page.locator("dialog").getByRole("button", { name: "删除", exact: true }).click();
    await made.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "收起右栏" }).click();
  });

  it("pins and tags a conversation, and finds it by its tag", async () => {
    await menu(page, "置顶");
    await page.locator("nav h2", { hasText: "置顶" }).waitFor(SLOW);
    await menu(page, "标签");
    await page.getByRole("textbox", { name: "标签" }).fill("销售，2024");
    await page.keyboard.press("Enter");
    await page.locator("nav .tag", { hasText: "销售" }).waitFor(SLOW);
    await browser.shot("marks-zh-light");
    await page.reload();
    await page.locator("nav .tag", { hasText: "2024" }).click();
    assert.equal(await page.getByRole("searchbox").inputValue(), "2024");
    assert.equal(await page.locator("nav li").count(), 1);
    await page.getByRole("searchbox").fill("");
    await ended(page);
  });

  it("keeps pieces of answers on a board and computes them again", { timeout: 120_000 }, async () => {
    for (const piece of [/地区 \/ 2024 销售额/, "图 1"]) {
      await lastTurn(page).getByRole("button", { name: "放到看板" }).click();
      await page.locator("[data-part=pin-menu] button", { hasText: piece }).click();
      await page.getByText("已放到看板").last().waitFor();
    }
    await page.getByRole("link", { name: "看板" }).click();
    await page.locator("[data-part=piece]").nth(1).waitFor(SLOW);
    await page.locator("[data-part=piece] table").first().waitFor(SLOW);
    await page.locator("[data-part=piece] [data-part=frame][data-phase=ready]").waitFor(SLOW);
    await browser.shot("board-zh-light");
    assert.match(await page.locator("[data-part=piece] h2").first().innerText(), /各地区 2024 年销售额/);
    assert.match(await page.locator("[data-part=piece] footer").first().innerText(), /地区 \/ 2024 销售额.*\d:\d\d/);
    await page.getByRole("button", { name: /^重新计算/ }).first().click();
    await page.locator("[data-part=piece][aria-busy=true]").waitFor();
    await page.locator("[data-part=piece][aria-busy=true]").waitFor({ state: "detached", ...SLOW });
    await page.getByRole("button", { name: /从看板取下/ }).first().click();
    await page.locator("[data-part=piece]").nth(1).waitFor({ state: "detached" });
    await page.reload();
    await page.locator("[data-part=piece]").first().waitFor(SLOW);
    assert.equal(await page.locator("[data-part=piece]").count(), 1);
  });

  it("marks a conversation that is being answered, and tells when it has ended", { timeout: 120_000 }, async () => {
    await page.getByRole("link", { name: "新对话" }).first().click();
    await firstVisit(page);
    await ask(page, "[wait] 等一等");
    await page.locator("nav li").getByRole("img", { name: "正在回答" }).waitFor(SLOW);
    await page.getByRole("link", { name: "新对话" }).first().click();
    await page.getByText(/已有回答/).waitFor(SLOW);
    assert.equal(await page.locator("nav li").getByRole("img", { name: "正在回答" }).count(), 0);
  });

  it("lists its keys at ?, and gives the focus back afterwards", async () => {
    const settings = page.getByRole("button", { name: "设置", exact: true });
    await settings.focus();
    await page.keyboard.press("?");
    await page.locator("[data-part=shortcuts]").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("[data-part=shortcuts]").waitFor({ state: "detached" });
    assert.equal(await settings.evaluate((node) => node === document.activeElement), true);
    await input(page).fill("");
    await input(page).press("?");
    assert.equal(await input(page).inputValue(), "?", "in the input it is a character");
    await input(page).fill("");
    browser.quiet();
  });
});

describe("administration", { skip }, () => {
  it("manages users, keys and passwords, shows usage and what was done", { timeout: 300_000 }, async () => {
    const config = '[connections.shop]\nurl = "postgresql://reader@127.0.0.1:9/shop"\n';
    const server = await startServer({ listen: "0.0.0.0:0", config, users: { bob: "staple battery horse" }, admins: { ana: "correct horse battery" } });
    const browser = await openBrowser();
    const { page } = browser;
    const signIn = async (name, password) => {
      await page.getByLabel("用户名").fill(name);
      await page.getByLabel("密码").fill(password);
      await page.keyboard.press("Enter");
    };
    const tab = (name) => page.getByRole("tab", { name }).click();
    try {
      await page.goto(server.url);
      await page.getByLabel("用户名").waitFor(SLOW);
      await signIn("ana", "correct horse battery");
      await firstVisit(page);
      await ask(page, "[text]多少？");
      await ended(page);
      await page.getByRole("link", { name: "管理" }).click();
      await page.locator("tr", { hasText: "bob" }).waitFor(SLOW);
      await page.getByRole("textbox", { name: "用户名" }).fill("cleo");
      await page.getByLabel("密码（至少 8 个字符）").fill("another long one");
      await page.getByRole("button", { name: "添加" }).click();
      await page.locator("tr", { hasText: "cleo" }).waitFor(SLOW);
      await page.getByRole("button", { name: "停用: bob" }).click();
      await page.getByRole("button", { name: "启用: bob" }).waitFor(SLOW);
      await browser.shot("admin-zh-light");
      await tab("我的 API 密钥");
      await page.getByRole("textbox", { name: "用途" }).fill("夜间报告");
      await page.getByRole("button", { name: "新密钥" }).click();
      const secret = await page.locator("[data-part=secret] code").innerText();
      const me = await fetch(`${server.url}/api/v1/auth/me`, { headers: { Authorization: `Bearer ${secret}` } });
      assert.equal((await me.json()).data.user, "ana");
      await tab("用量与费用");
      assert.match(await page.locator("tr", { hasText: "ana" }).innerText(), /1\s+1,200\s+240/);
      await tab("技能");
      await page.getByRole("button", { name: "停用 trend-growth" }).click();
      await page.getByRole("button", { name: "启用 trend-growth" }).click();
      await page.getByRole("button", { name: "停用 trend-growth" }).waitFor(SLOW);
      await tab("数据库连接");
      await page.getByRole("button", { name: "测试 shop" }).click();
      await page.locator("[data-part=trial]", { hasText: "数据库没有回答" }).waitFor(SLOW);
      await tab("限制");
      await page.getByText("512").first().waitFor(SLOW);
      await tab("操作记录");
      for (const action of ["user.add", "user.disable", "key.create"]) await page.getByText(action).waitFor(SLOW);
      await browser.shot("audit-zh-light");
      await page.getByRole("button", { name: "设置", exact: true }).click();
      await page.getByText("修改密码").click();
      await page.getByLabel("当前密码").fill("wrong");
      await page.getByLabel("新密码（至少 8 个字符）").fill("a brand new one");
      await page.getByRole("button", { name: "保存" }).click();
      await page.getByText("当前密码不对").waitFor(SLOW);
      await page.getByLabel("当前密码").fill("correct horse battery");
      await page.getByRole("button", { name: "保存" }).click();
      await page.getByText("密码已修改").waitFor(SLOW);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: /退出登录/ }).click();
      await signIn("cleo", "another long one");
      await page.getByRole("link", { name: "看板" }).waitFor(SLOW);
      assert.equal(await page.getByRole("link", { name: "管理" }).count(), 0, "only administrators see it");
    } finally {
      await browser.close();
      await server.close();
    }
  });
});
