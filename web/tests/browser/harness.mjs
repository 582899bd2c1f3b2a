/** Starts Chromium and a server for one test file; collects what the console says; takes screenshots. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { startFake } from "../fake-server.mjs";

const EXECUTABLE = process.env.CHROMIUM ?? "/usr/bin/chromium";
const FLAGS = "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync --no-first-run".split(" ");
const SHOTS = process.env.SCREENSHOTS ?? join(tmpdir(), "ba-agent-screenshots");
mkdirSync(SHOTS, { recursive: true });

export { assert, startFake };

/** One browser context with a fresh profile. `errors` gathers console errors and uncaught exceptions of the page and its frames. */
export async function openBrowser({ locale = "zh-CN", theme = "light", width = 1280, height = 900 } = {}) {
  const profile = mkdtempSync(join(tmpdir(), "ba-agent-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: EXECUTABLE, headless: true, args: FLAGS, locale, colorScheme: theme, viewport: { width, height }, acceptDownloads: true,
  });
  const page = context.pages()[0] ?? (await context.newPage());
  page.setDefaultTimeout(15_000);
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(`uncaught: ${error.message}`));
  return {
    context, page, errors,
    shot: (name) => page.screenshot({ path: join(SHOTS, `${name}.png`) }),
    close: async () => {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

export async function ask(page, question) {
  await page.getByRole("textbox", { name: /你的问题|Your question/ }).fill(question);
  await page.keyboard.press("Enter");
}

/** The parts of the last answer, in the order they stand on the page. */
export const partsOfLastAnswer = (page) =>
  page.locator("article").last().evaluate((article) => [...article.querySelectorAll("[data-part]")].map((node) => node.dataset.part));

export const settled = (page) => page.locator("article[data-state=complete]").last().waitFor();

/** Notes whether a draft of the report was shown, and whether the model's raw JSON ever was. */
export const watchDraft = (page) => page.evaluate(() => {
  window.seen = { draft: false, json: false };
  new MutationObserver(() => {
    const article = [...document.querySelectorAll("article")].at(-1);
    if (article?.dataset.state !== "running") return;
    if (article.querySelector("[data-part=report]")) window.seen.draft = true;
    if (article.innerText.includes('"task_analysis"') || article.innerText.includes('"action"')) window.seen.json = true;
  }).observe(document.body, { childList: true, subtree: true, characterData: true });
});

/** The document inside the last sandboxed frame. */
export async function lastFrame(page) {
  await page.locator("[data-part=frame] iframe").last().waitFor();
  const handle = await page.locator("[data-part=frame] iframe").last().elementHandle();
  return handle.contentFrame();
}
