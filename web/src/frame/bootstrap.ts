/**
 * The frame's own script: waits for the page to send HTML, then writes it as this document. It runs under
 * `sandbox allow-scripts` and a policy without any URL; what it removes below only closes what those leave open.
 */
import { Charts } from "./charts";
import { withoutRemoteScripts, type FromFrame, type ToFrame } from "./protocol";
import { STYLE } from "./style";

const host = window.parent;
const send = (message: FromFrame) => host.postMessage(message, "*");

/** WebRTC reaches the network past `connect-src`, and a nested frame would bring a fresh copy of it. */
function harden(): void {
  const names = ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "WebTransport", "RTCIceTransport"];
  for (const name of names) {
    try {
      Object.defineProperty(window, name, { value: undefined, configurable: false, writable: false });
    } catch {
      // Not present here.
    }
  }
  Object.defineProperty(Element.prototype, "attachShadow", { value: undefined, configurable: false, writable: false });
}

const FORBIDDEN = "iframe,frame,object,embed,portal,fencedframe,link,base,meta[http-equiv]";

function watchForFrames(): void {
  const observer = new MutationObserver((records) => {
    for (const record of records) {
      for (const node of record.addedNodes) {
        if (!(node instanceof Element)) continue;
        if (node.matches(FORBIDDEN)) node.remove();
        else for (const inner of node.querySelectorAll(FORBIDDEN)) inner.remove();
      }
    }
  });
  observer.observe(document, { childList: true, subtree: true });
}

function describe(event: ErrorEvent): string {
  return event.error instanceof Error ? `${event.error.name}: ${event.error.message}` : event.message;
}

/** Some drawings show nothing and raise nothing; an empty box is never an answer. */
function looksEmpty(): boolean {
  if (document.body.innerText.trim() !== "") return false;
  return ![...document.querySelectorAll("canvas,svg,img,table,video")].some((node) => node.getBoundingClientRect().height > 4);
}

function listen(charts: Charts): void {
  window.addEventListener("error", (event) => send({ type: "ba:error", message: describe(event) }));
  window.addEventListener("unhandledrejection", (event) => send({ type: "ba:error", message: String(event.reason) }));
  window.addEventListener("message", (event: MessageEvent<ToFrame>) => {
    if (event.source !== host) return;
    if (event.data.type === "ba:theme") {
      document.documentElement.dataset.theme = event.data.theme;
      charts.setTheme(event.data.theme);
    } else if (event.data.type === "ba:png") {
      const dark = document.documentElement.dataset.theme === "dark" && !("paper" in document.documentElement.dataset);
      send({ type: "ba:png", request: event.data.request, images: charts.images(dark ? "#1c1f24" : "#ffffff") });
    }
  });
  // A link would replace this document by a blocked page.
  document.addEventListener("click", (event) => {
    const link = (event.target as Element | null)?.closest?.("a[href]");
    if (link && !link.getAttribute("href")?.startsWith("#")) event.preventDefault();
  }, true);
}

function reportSize(): void {
  const measure = () => send({ type: "ba:height", height: document.body.scrollHeight });
  new ResizeObserver(measure).observe(document.body);
  measure();
}

function addScript(code: string): void {
  const script = document.createElement("script");
  script.textContent = code;
  document.head.append(script);
}

function renderHtml(message: Extract<ToFrame, { type: "ba:render" }>): void {
  const charts = new Charts(message.paper ? "light" : message.theme);
  document.open();
  listen(charts);
  const paper = message.paper ? " data-paper" : "";
  document.write(`<!doctype html><html lang="${message.lang === "en" ? "en" : "zh-CN"}" data-theme="${message.theme === "dark" ? "dark" : "light"}"${paper}>` +
    `<head><meta charset="utf-8"><title>report</title><style>${STYLE}</style></head><body>`);
  watchForFrames();
  if (message.echarts) {
    addScript(message.echarts);
    const library = (window as unknown as { echarts?: Parameters<Charts["install"]>[0] }).echarts;
    if (library) charts.install(library);
  }
  window.addEventListener("load", () => {
    reportSize();
    setTimeout(() => send({ type: "ba:ready", charts: charts.count, empty: looksEmpty() }), 60);
  });
  document.write(withoutRemoteScripts(message.html));
  document.close();
}

function onFirstMessage(event: MessageEvent<ToFrame>): void {
  if (event.source !== host || event.data?.type !== "ba:render") return;
  window.removeEventListener("message", onFirstMessage);
  harden();
  renderHtml(event.data);
}

window.addEventListener("message", onFirstMessage);
send({ type: "ba:hello" });
