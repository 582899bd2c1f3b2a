/** Chromium for one test file: collects what the console says, takes screenshots, and knows how to ask and to wait. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const EXECUTABLE = process.env.CHROMIUM ?? "/usr/bin/chromium";
const FLAGS = "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync --no-first-run".split(" ");
const SHOTS = process.env.SCREENSHOTS ?? join(tmpdir(), "ba-agent-screenshots");
mkdirSync(SHOTS, { recursive: true });

export { assert };
export const SLOW = { timeout: 60_000 };
export const STARTING = { timeout: 240_000 };

/** One browser context with a fresh profile. `errors` gathers console errors and uncaught exceptions of the page and its frames. */
export async function openBrowser({ locale = "zh-CN", theme = "light", width = 1280, height = 900 } = {}) {
  const profile = mkdtempSync(join(tmpdir(), "ba-agent-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: EXECUTABLE, headless: true, args: FLAGS, locale, colorScheme: theme, viewport: { width, height }, acceptDownloads: true,
  });
  const page = context.pages()[0] ?? (await context.newPage());
  page.setDefaultTimeout(20_000);
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(`uncaught: ${error.message}`));
  return {
    context, page, errors,
    quiet: () => assert.deepEqual(errors, [], "the console is free of errors"),
    shot: (name) => page.screenshot({ path: join(SHOTS, `${name}.png`) }),
    close: async () => {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

export const input = (page) => page.getByRole("textbox", { name: /你的问题|Your question/ });

/** Asks, and waits until the question stands on the page. */
export async function ask(page, question) {
  const before = await page.locator("article[data-state]").count();
  await input(page).fill(question);
  await page.keyboard.press("Enter");
  await page.locator("article[data-state]").nth(before).waitFor();
}

export const lastTurn = (page) => page.locator("article[data-state]").last();
/** Waits until the last turn has ended in this state. */
export const ended = (page, state = "complete") => lastTurn(page).and(page.locator(`[data-state=${state}]`)).waitFor(SLOW);
export const drawn = (page, nth = 0) => page.locator("[data-part=frame][data-phase=ready]").nth(nth).waitFor(SLOW);
export const doing = (page, tool) => page.locator(".doing", { hasText: tool }).last().waitFor(SLOW);

/** The parts of the last answer, in the order they stand on the page. */
export const partsOfLastAnswer = (page) => lastTurn(page).evaluate((article) => [...article.querySelectorAll("[data-part]")].map((node) => node.dataset.part));

export const firstVisit = (page) => page.locator("[data-part=empty]").waitFor(SLOW);
export const fileReady = (page, nth = 0) => page.locator("main [data-part=file][data-status=ready]").nth(nth).waitFor(SLOW);

/** Drops files (name and text, or base64) anywhere on the page. */
export const drop = (page, files) => page.evaluate((list) => {
  const data = new DataTransfer();
  for (const [name, text, base64] of list) data.items.add(new File([base64 ? Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)) : text], name));
  for (const type of ["dragenter", "dragover", "drop"]) window.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
}, files);

export const SALES = `date,region,category,amount\n${Array.from({ length: 200 }, (_, row) => `2024-${String((row % 12) + 1).padStart(2, "0")}-01,${["华东", "华北", "华南"][row % 3]},家电,${row * 10 + 5}`).join("\n")}\n`;

/** Notes whether a draft of the report was shown, and whether the model's raw JSON ever was. */
export const watchDraft = (page) => page.evaluate(() => {
  window.seen = { draft: false, json: false };
  new MutationObserver(() => {
    const article = [...document.querySelectorAll("article[data-state]")].at(-1);
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

export const toEnd = async (page) => {
  await page.getByRole("button", { name: /回到底部|Back to the end/ }).click();
  await page.waitForTimeout(300);
};

/** How far the last question stands below the top of what is seen. */
export const questionTop = (page) => page.evaluate(() => [...document.querySelectorAll("article[data-state]")].at(-1).getBoundingClientRect().top - document.querySelector("[data-scroller]").getBoundingClientRect().top);

export const toTop = async (page) => {
  await page.locator("[data-scroller]").evaluate((node) => (node.scrollTop = 0));
  await page.waitForTimeout(150);
};
