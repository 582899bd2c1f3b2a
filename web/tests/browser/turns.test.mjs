/** Versions of a turn, what a stopped answer keeps, feedback, the choice of a model, and figures that survive a restart. */
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { BINARY, skip, startBinary, startServer } from "./binary.mjs";
import { ask, assert, ended, firstVisit, input, lastTurn, openBrowser, SLOW } from "./harness.mjs";
import { stage } from "./stage.mjs";

const MODELS = (url) => `[models.second]\nmodel = "openai-compatible:other"\nbase_url = "${url}"\napi_key = "test"\n`;
const report = (page) => lastTurn(page).locator("[data-part=report]").innerText();
const versions = (page, shown) => page.locator("[data-part=versions]", { hasText: shown }).last().waitFor(SLOW);
const edit = async (page, text) => {
  await page.getByRole("button", { name: "修改后重新发送" }).last().click();
  await page.getByRole("textbox", { name: "修改后重新发送" }).fill(text);
  await page.getByRole("button", { name: "重新发送", exact: true }).click();
};

describe("a turn", { skip }, () => {
  let server, browser, page;
  stage({ pauseMs: 20, config: MODELS("http://127.0.0.1:9/v1") }, (on) => ({ server, browser, page } = on));

  it("has the versions of its question, also after a reload", async () => {
    await ask(page, "[text]第一版");
    await ended(page);
    await edit(page, "[text]第二版");
    await versions(page, "2/2");
    await ended(page);
    assert.equal(await page.locator("article[data-state]").count(), 1);
    assert.match(await report(page), /第二版/);
    await browser.shot("versions-zh-light");
    await page.getByRole("button", { name: "上一个版本" }).click();
    await versions(page, "1/2");
    assert.match(await report(page), /第一版/);
    await page.waitForTimeout(300);
    await page.reload();
    await versions(page, "1/2");
    assert.match(await report(page), /第一版/);
    await page.getByRole("button", { name: "重试" }).last().click();
    await versions(page, "3/3");
    await ended(page);
    assert.match(await report(page), /第一版/);
  });

  it("keeps what was written of an answer that is stopped", async () => {
    await ask(page, "[essay] 写长一点");
    await lastTurn(page).getByText("第 甲 段文字").first().waitFor(SLOW);
    await page.getByRole("button", { name: "停止" }).click();
    await ended(page, "cancelled");
    assert.match(await report(page), /第 甲 段文字/);
    await page.reload();
    await ended(page, "cancelled");
    assert.match(await report(page), /第 甲 段文字/);
  });

  it("takes praise and blame, shows it again, and exports it", async () => {
    await ask(page, "[text]多少？");
    await ended(page);
    await lastTurn(page).getByRole("button", { name: "回答得不好" }).click();
    await page.getByRole("textbox", { name: "哪里不对？" }).fill("是去年的数");
    await browser.shot("feedback-zh-light");
    await page.getByRole("button", { name: "提交" }).click();
    await page.waitForTimeout(500);
    await page.reload();
    await ended(page);
    assert.equal(await lastTurn(page).getByRole("button", { name: "回答得不好" }).getAttribute("aria-pressed"), "true");
    const told = spawnSync(BINARY, ["feedback", "--data-dir", server.dataDir], { encoding: "utf8" });
    const line = JSON.parse(told.stdout.trim().split("\n").at(-1));
    assert.deepEqual([line.rating, line.reason, line.question, line.answer], ["down", "是去年的数", "[text]多少？", "多少？"]);
  });

  it("asks the model that was chosen", async () => {
    const choice = page.getByRole("combobox", { name: "回答的模型" });
    await choice.selectOption("second");
    await browser.shot("models-zh-light");
    await ask(page, "[text]问另一个模型");
    await ended(page, "failed");
    await page.reload();
    await ended(page, "failed");
    assert.equal(await choice.inputValue(), "second", "the choice is remembered");
    await choice.selectOption("");
    await lastTurn(page).getByRole("button", { name: "重试" }).click();
    await ended(page);
    assert.match(await report(page), /问另一个模型/);
  });

  it("keeps a draft with its conversation, over a reload", async () => {
    await input(page).fill("还没写完");
    await page.reload();
    await ended(page);
    assert.equal(await input(page).inputValue(), "还没写完");
    await page.getByRole("link", { name: "新对话" }).first().click();
    await firstVisit(page);
    assert.equal(await input(page).inputValue(), "");
    await page.goBack();
    await ended(page);
    assert.equal(await input(page).inputValue(), "还没写完");
  });

  it("counts the same after a restart, and as the list does", async () => {
    const tile = async () => {
      await page.goto(`${server.url}/#/monitor`);
      await page.reload();
      await page.locator(".tiles dd").first().waitFor(SLOW);
      return page.locator(".tiles").innerText();
    };
    const before = await tile();
    assert.match(before, new RegExp(`运行次数\\s+${await page.locator("tbody tr").count()}\\b`));
    await server.stop();
    const again = await startBinary({ env: server.env, dataDir: server.dataDir, listen: new URL(server.url).host });
    try {
      assert.equal(await tile(), before);
    } finally {
      await again.stop();
    }
  });
});

describe("an expired sign-in", { skip }, () => {
  it("sends the question once somebody has signed in again", { timeout: 300_000 }, async () => {
    const server = await startServer({ listen: "0.0.0.0:0", users: { ana: "correct horse battery" } });
    const browser = await openBrowser();
    const { page } = browser;
    const signIn = async () => {
      await page.getByLabel("用户名").fill("ana");
      await page.getByLabel("密码").fill("correct horse battery");
      await page.keyboard.press("Enter");
    };
    try {
      await page.goto(server.url);
      await page.getByLabel("用户名").waitFor(SLOW);
      await signIn();
      await firstVisit(page);
      for (const question of ["[text]新对话的问题", "[text]又一个问题"]) {
        await browser.context.clearCookies();
        await input(page).fill(question);
        await page.keyboard.press("Enter");
        await page.getByLabel("用户名").waitFor(SLOW);
        await signIn();
        await lastTurn(page).getByText(question.slice(6)).first().waitFor(SLOW);
        await ended(page);
        assert.match(await report(page), new RegExp(question.slice(6)));
        assert.equal(await input(page).inputValue(), "");
      }
      assert.equal(await page.locator("article[data-state]").count(), 2, "each once");
    } finally {
      await browser.close();
      await server.close();
    }
  });
});
