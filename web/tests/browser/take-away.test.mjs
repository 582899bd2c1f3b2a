/** What leaves the page (SPEC D): paper, documents in every format, and an address for others. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { skip } from "./binary.mjs";
import { ask, assert, drawn, ended, fileReady, lastTurn, openBrowser, SLOW } from "./harness.mjs";
import { stage } from "./stage.mjs";

const run = (program, ...args) => execFileSync(program, args, { encoding: "latin1", maxBuffer: 1 << 28 });
const text = (file) => execFileSync("pdftotext", ["-layout", file, "-"], { encoding: "utf8" });

/** Mean and darkest grey of each page, small. */
function greys(file, folder) {
  run("pdftoppm", "-r", "24", "-gray", file, join(folder, "page"));
  const names = run("ls", folder).split("\n").filter((name) => name.startsWith("page"));
  return names.map((name) => {
    const data = readFileSync(join(folder, name));
    const pixels = data.subarray(data.length - Number(/^P5\s+(\d+)\s+(\d+)/.exec(data.toString("latin1", 0, 40)).slice(1).reduce((a, b) => a * b)));
    return pixels.reduce((sum, value) => sum + value, 0) / pixels.length;
  });
}

describe("print", { skip }, () => {
  let browser;
  let folder;
  stage({ look: { theme: "dark" } }, (on) => ({ browser } = on));
  before(() => (folder = mkdtempSync(join(tmpdir(), "ba-print-"))));
  after(() => rmSync(folder, { recursive: true, force: true }));

  // SPEC D2
  it("gives whole pages in light colours, every row of a long table, and the charts", { timeout: 180_000 }, async () => {
    const { page } = browser;
    const rows = Array.from({ length: 140 }, (_, row) => `| 门店${1000 + row} | ${row * 7}.50 | 备注 ${row} |`).join("\n");
    await ask(page, `[text]# 各门店\n\n| 门店 | 销售额 | 备注 |\n|---|---|---|\n${rows}\n\n末尾的话。`);
    await ended(page);
    await ask(page, "[charts] 两张图");
    await ended(page);
    await drawn(page, 1);
    await page.waitForTimeout(500);
    const file = join(folder, "out.pdf");
    await page.pdf({ path: file, format: "A4", printBackground: true });
    const said = text(file);
    const lost = Array.from({ length: 140 }, (_, row) => `门店${1000 + row}`).filter((name) => !said.replaceAll(/\s/g, "").includes(name));
    assert.deepEqual(lost, [], "every row is on paper");
    assert.match(said.replaceAll(/\s/g, ""), /末尾的话。/);
    const pages = greys(file, folder);
    assert.ok(pages.length >= 3, `${pages.length} pages`);
    assert.ok(pages.every((grey) => grey > 200), `light paper: ${pages.map(Math.round)}`);
    const pictures = run("pdfimages", "-list", file).split("\n").slice(2).map((line) => line.trim().split(/\s+/)).filter((line) => Number(line[3]) > 400);
    assert.ok(pictures.length >= 2, "both charts are on paper");
  });
});

describe("documents and share links", { skip }, () => {
  let browser, page;
  stage({ offline: true, config: "[server]\nshare_links = true\nshare_days = 14\n" }, async (on) => {
    ({ browser, page } = on);
    await page.locator(".start button").first().click();
    await fileReady(page);
    await ask(page, "各地区的销售额是多少？用图表展示");
    await ended(page);
    await drawn(page);
  });
  const menu = () => lastTurn(browser.page).getByRole("button", { name: "导出这个回答" }).click();

  it("come in every format from the answer's menu", { timeout: 240_000 }, async () => {
    for (const [name, ending] of [["PDF", ".pdf"], ["Word", ".docx"], ["PowerPoint", ".pptx"], ["Excel", ".xlsx"], ["HTML", ".html"], ["Markdown", ".zip"], ["Notebook", ".zip"]]) {
      await menu();
      const [download] = await Promise.all([page.waitForEvent("download", SLOW), page.getByRole("menuitem", { name }).click()]);
      assert.ok(download.suggestedFilename().endsWith(ending), download.suggestedFilename());
      const path = await download.path();
      assert.ok(statSync(path).size > 2000, name);
      if (ending === ".pdf") assert.match(text(path), /2,923,382\.55/);
    }
    browser.quiet();
  });

  // SPEC D4
  it("open for a stranger until the link is revoked", { timeout: 120_000 }, async () => {
    await menu();
    await page.getByRole("menuitem", { name: "分享链接…" }).click();
    await page.getByRole("button", { name: "生成链接" }).click();
    const address = await page.getByRole("textbox", { name: "分享这个回答" }).inputValue(SLOW);
    await browser.shot("share-zh-light");
    const stranger = await openBrowser({ locale: "en" });
    try {
      const seen = stranger.page;
      await seen.goto(address);
      assert.match(await seen.locator("body").innerText(), /2,923,382\.55/);
      assert.doesNotMatch(await seen.locator("body").innerText(), /SELECT|conv_/, "the answer, not how it was found");
      await seen.locator("figure.drawn svg").first().waitFor();
      assert.equal(await seen.evaluate(() => globalThis.origin), "null", "an origin of its own");
      assert.equal(await seen.evaluate(() => fetch("/api/v1/status").then(() => "reached", () => "refused")), "refused");
      await stranger.shot("shared-page");
      stranger.errors.length = 0;
      await page.locator("[data-part=share] .link", { hasText: "看过" }).getByRole("button", { name: "撤销" }).click();
      await page.getByText("还没有链接。").waitFor();
      assert.equal((await seen.goto(address)).status(), 404);
      assert.match(await seen.locator("body").innerText(), /no longer/);
    } finally {
      await stranger.close();
    }
    browser.quiet();
  });
});
