import { afterEach, expect, it, vi } from "vitest";
import { inlineImages } from "../../src/services/inline-images";

const scope = { conversation: "conv_1", files: new Set(["a.png", "b.svg", "c.png"]) };
afterEach(() => vi.unstubAllGlobals());

it("puts this conversation's raster images into the HTML, and asks for nothing else", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", (url: string) => {
    asked.push(url);
    const type = url.includes("c.png") ? "text/html" : "image/png";
    return Promise.resolve({ ok: true, blob: () => Promise.resolve(new Blob(["hi"], { type })) });
  });
  const html = '<img src="a.png"><img src="b.svg"><img src="https://evil.test/a.png"><img src="c.png"><img src="/api/v1/conversations">';
  expect(await inlineImages(html, scope)).toBe(html.replace('"a.png"', '"data:image/png;base64,aGk="'));
  expect(asked).toEqual(["/api/v1/files/download/a.png?conversation_id=conv_1", "/api/v1/files/download/c.png?conversation_id=conv_1"]);
});
