/** SPEC U8. Files on their way in: by drop, button and paste; workbooks, bad files, refused ones. */
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { skip } from "./binary.mjs";
import { ask, assert, drop, ended, fileReady, input, SALES, SLOW } from "./harness.mjs";
import { stage } from "./stage.mjs";

const corpus = (name) => readFileSync(new URL(`../../../crates/data/tests/corpus/files/${name}`, import.meta.url)).toString("base64");

describe("uploads", { skip }, () => {
  let browser, page;
  stage({}, (on) => ({ browser, page } = on));
  const card = (name) => page.locator("main [data-part=file]", { hasText: name });

  it("are taken by drop, several at once, and profiled; a workbook shows its sheets", async () => {
    await drop(page, [["销售.csv", SALES], ["book.xlsx", "", corpus("two_sheets.xlsx")]]);
    await fileReady(page, 1);
    assert.match(await card("销售.csv").innerText(), /200 行 × 4 列/);
    const book = card("book.xlsx");
    assert.match(await book.innerText(), /2 × 工作表/);
    if (!(await book.locator("details").evaluate((node) => node.open))) await book.getByText("详情").click();
    const sheets = book.getByRole("tab");
    const [first, second] = await sheets.allInnerTexts();
    assert.notEqual(first, second);
    const shape = () => book.locator("details .line").innerText();
    const before = await shape();
    await sheets.nth(1).click();
    await page.waitForFunction(([node, old]) => node.innerText !== old, [await book.locator("details .line").elementHandle(), before]);
    assert.match(await shape(), /\d+ 行 × \d+ 列/);
    await browser.shot("upload-two-zh-light");
  });

  it("are taken by button and by paste", async () => {
    await page.locator("form input[type=file]").setInputFiles({ name: "button.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n1,2\n") });
    await card("button.csv").and(page.locator("[data-status=ready]")).waitFor(SLOW);
    await input(page).evaluate((node) => {
      const data = new DataTransfer();
      data.items.add(new File(["a,b\n3,4\n"], "pasted.csv"));
      node.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await card("pasted.csv").and(page.locator("[data-status=ready]")).waitFor(SLOW);
  });

  it("say why one is refused or cannot be read, and keep the others", async () => {
    await drop(page, [["virus.exe", "x"], ["broken.xlsx", "", corpus("truncated.xlsx")], ["locked.xlsx", "", corpus("encrypted.xlsx")]]);
    await page.getByText(/virus\.exe.*不支持这种文件/).waitFor();
    const failed = (name) => card(name).and(page.locator("[data-status=failed]"));
    for (const [name, why] of [["broken.xlsx", /工作簿打不开[\s\S]*重新保存/], ["locked.xlsx", /文件有密码保护[\s\S]*去掉密码/]]) {
      // The words come a moment after the state: they are fetched when first needed.
      await failed(name).filter({ hasText: why }).waitFor(SLOW);
    }
    await failed("locked.xlsx").scrollIntoViewIfNeeded();
    await browser.shot("upload-failed-zh-light");
    assert.equal(await page.locator("main [data-part=file][data-status=ready]").count(), 4);
    browser.errors.length = 0;
  });

  it("show their first rows, and go with the question", async () => {
    const sales = card("销售.csv");
    if (!(await sales.locator("details").first().evaluate((node) => node.open))) await sales.getByText("详情").first().click();
    await sales.getByRole("cell", { name: "2024-01-01" }).first().waitFor();
    await ask(page, "[text]看看");
    await ended(page);
    const sent = await page.locator("[data-part=question]").innerText();
    assert.match(sent, /销售\.csv[\s\S]*pasted\.csv/);
    assert.doesNotMatch(sent, /broken|locked/, "what could not be read does not go along");
    browser.quiet();
  });

  it("are waited for by a question that was sent while they were on their way", async () => {
    let release;
    const held = new Promise((resolve) => (release = resolve));
    await page.route("**/files/upload", async (route) => (await held, route.continue()));
    await drop(page, [["late.csv", "a,b\n5,6\n"]]);
    await input(page).fill("[text]等文件");
    await page.keyboard.press("Enter");
    await page.getByText("文件传完就发送").waitFor();
    assert.equal(await page.locator("[data-part=question]").count(), 1);
    release();
    await page.locator("[data-part=question]", { hasText: "late.csv" }).waitFor();
    await ended(page);
    await page.unroute("**/files/upload");
  });

  it("can be deleted after asking", async () => {
    await page.getByRole("button", { name: "打开右栏" }).click();
    const before = await page.locator("aside [data-part=file]").count();
    await page.getByRole("button", { name: "删除文件 pasted.csv" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "删除" }).click();
    await page.locator("aside [data-part=file]").nth(before - 1).waitFor({ state: "detached" });
    await page.locator("[data-part=question]", { hasText: "(已删除)" }).first().waitFor();
  });
});
