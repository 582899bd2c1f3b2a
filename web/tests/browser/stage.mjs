/** A server and a browser for one `describe`: there before its tests, gone after them. Knows no test. */
import { after, before } from "node:test";
import { startServer } from "./binary.mjs";
import { firstVisit, openBrowser, STARTING } from "./harness.mjs";

/** `begin` gets the three once the first page stands; `look` is the browser's language, theme and size, the rest the server's. */
export function stage({ look, ...options }, begin) {
  let server;
  let browser;
  before(async () => {
    server = await startServer(options);
    browser = await openBrowser(look);
    await browser.page.goto(server.url);
    await firstVisit(browser.page);
    await begin({ server, browser, page: browser.page });
  }, STARTING);
  after(async () => {
    await browser?.close();
    await server?.close();
  });
}
