/** Reading a file again, describing it, and what must be known about the data under an answer (SPEC B1, B8, F1). */
import { describe, it } from "node:test";
import { skip } from "./binary.mjs";
import { ask, assert, drop, ended, lastTurn, SLOW } from "./harness.mjs";
import { stage } from "./stage.mjs";

/** `Город,Сумма` and two rows, as Windows writes Cyrillic. */
const CYRILLIC = Buffer.from("c3eef0eee42cd1f3ecece00acceef1eae2e02c31300acfe5f0ecfc2c32300a", "hex").toString("base64");

describe("reading again", { skip }, () => {
  let browser, page;
  stage({}, (on) => ({ browser, page } = on));
  const card = (name) => page.locator("main [data-part=file]", { hasText: name });
  const ready = (name) => card(name).and(page.locator("[data-status=ready]")).waitFor(SLOW);
  const choose = async (name, choices) => {
    await card(name).getByRole("button", { name: `重新读取… ${name}` }).press("Enter");
    const form = page.getByRole("dialog", { name: `重新读取 ${name}` });
    for (const [label, value] of choices) await form.getByLabel(label, { exact: true }).selectOption(value);
    await form.getByRole("button", { name: "读取", exact: true }).press("Enter");
    await form.waitFor({ state: "detached" });
    await ready(name);
  };
  const open = async (name) => {
    const details = card(name).locator("details").first();
    if (!(await details.evaluate((node) => node.open))) await details.locator("summary").first().click();
  };

  it("with another encoding changes the preview, and keeps the choice", async () => {
    await drop(page, [["city.csv", "", CYRILLIC]]);
    await ready("city.csv");
    for (const [encoding, name] of [["cp1252", "Ãîðîä"], ["cp1251", "Город"]]) {
      await choose("city.csv", [["编码", encoding]]);
      await open("city.csv");
      await card("city.csv").getByRole("cell", { name, exact: true }).first().waitFor(SLOW);
    }
    await card("city.csv").getByRole("button", { name: "重新读取… city.csv" }).click();
    const form = page.getByRole("dialog");
    assert.equal(await form.getByLabel("编码", { exact: true }).inputValue(), "cp1251");
    await browser.shot("read-again-zh-light");
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "detached" });
  });

  it("takes a type for a column and a row for the header", async () => {
    await choose("city.csv", [["表头所在行", "2"]]);
    await open("city.csv");
    await card("city.csv").getByRole("cell", { name: "Москва", exact: true }).first().waitFor(SLOW);
    await choose("city.csv", [["表头所在行", ""]]);
    await choose("city.csv", [["Сумма", "text"]]);
    await open("city.csv");
    await card("city.csv").getByRole("row", { name: /Сумма 文本/ }).waitFor(SLOW);
  });

  it("a description is written in place and kept", async () => {
    await card("city.csv").getByRole("button", { name: "city.csv 的说明" }).click();
    const field = card("city.csv").getByRole("textbox", { name: "city.csv 的说明" });
    await field.fill("两座城市的金额");
    await field.press("Enter");
    await card("city.csv").getByText("两座城市的金额").waitFor();
    const kept = await page.evaluate(async () => {
      const id = (await (await fetch("/api/v1/conversations")).json()).data.conversations[0].conversation_id;
      return (await (await fetch(`/api/v1/files/upload_001?conversation_id=${id}`)).json()).data.description;
    });
    assert.equal(kept, "两座城市的金额");
  });

  it("notes on the data stand under the answer in one line that unfolds", async () => {
    await drop(page, [["totals.csv", "地区,销售额\n华东,10\n华北,20\n华南,5\n合计,35\n"]]);
    await ready("totals.csv");
    await ask(page, "[total]共多少？");
    await ended(page);
    const line = lastTurn(page).locator("[data-part=data-notes]");
    await line.waitFor(SLOW);
    assert.match(await line.locator("summary").innerText(), /^数据说明：.*合计/);
    assert.equal(await line.evaluate((node) => node.open), false);
    await line.locator("summary").press("Enter");
    await line.getByRole("listitem").filter({ hasText: /totals · .*合计/ }).waitFor();
    await browser.shot("data-notes-zh-light");
    await page.reload();
    await page.locator("[data-part=data-notes] summary").waitFor(SLOW);
    browser.quiet();
  });
});
