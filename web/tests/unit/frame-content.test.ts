import { describe, expect, it } from "vitest";
import { cleanOption, withoutTags } from "../../src/chart/option";
import { purified, takeScripts } from "../../src/frame/purify";
import { readOutcome } from "../../src/frame/script-protocol";
import { FakeDocument } from "../../src/frame/worker/dom";
import { plain } from "../../src/frame/worker/formatters";

const shown = (html: string) => {
  const holder = document.createElement("div");
  holder.append(purified(html));
  return holder.innerHTML;
};

describe("model-made HTML in the frame", () => {
  it.each([
    '<iframe srcdoc="<script>1</script>"></iframe>', '<object data="x"></object>', '<embed src="x">', '<link rel="preconnect" href="https://evil.test">', '<meta http-equiv="refresh" content="0;url=https://evil.test">',
    '<base href="https://evil.test">', '<form action="https://evil.test"></form>', '<script>1</script>', '<portal src="https://evil.test"></portal>', "<template><iframe></iframe></template>",
  ])("has no %s", (html) => expect(shown(`<div>${html}</div>`)).toBe("<div></div>"));

  it("keeps its looks, and links to nowhere outside", () => {
    expect(shown('<style>p{color:red}</style><p style="margin:0" class="a" onclick="x()">1</p>')).toBe('<style>p{color:red}</style><p style="margin:0" class="a">1</p>');
    expect(shown('<a href="https://evil.test" ping="https://evil.test">x</a><img src="https://evil.test/a.png"><a href="#top">y</a>')).toBe('<a>x</a><img><a href="#top">y</a>');
  });

  it("gives up its scripts as text, those from elsewhere not at all", () => {
    const { scripts, html } = takeScripts('<html><head><style>b{}</style><script src="https://cdn.test/x.js"></script></head><body><p>1</p><script>a()</script><script type="application/json">{}</script></body></html>');
    expect(scripts).toEqual(["a()"]);
    expect(html).toBe("<style>b{}</style><p>1</p>");
  });
});

describe("options are data", () => {
  it("without markup, functions and addresses", () => {
    const option = { title: { text: "<b>图</b> <18", link: "https://evil.test" }, tooltip: { formatter: '{b}<br/><link rel=preconnect href="https://evil.test">{c}' }, series: [{ symbol: "image://https://evil.test/a.png", data: [1, null] }], f: () => 1 };
    expect(cleanOption(option)).toEqual({ title: { text: "图 <18" }, tooltip: { formatter: "{b}<br/>{c}" }, series: [{ symbol: "circle", data: [1, null] }] });
    expect(withoutTags("a<img src=x")).toBe("a");
  });

  it("reads formatters as templates or scales", () => {
    const read = plain({
      yAxis: { axisLabel: { formatter: (v: number) => `${v}%` } }, xAxis: { axisLabel: { formatter: (v: number) => `${(v / 10000).toFixed(1)}万` } },
      series: [{ label: { formatter: (p: { name: string; value: number }) => `${p.name}: ${p.value}元` } }], tooltip: { formatter: (p: { value: number }) => (p.value * 2).toFixed(1) },
    }) as Record<string, never>;
    expect(JSON.parse(JSON.stringify(read))).toEqual({
      yAxis: { axisLabel: { formatter: "{value}%" } }, xAxis: { axisLabel: { formatter: { $scale: { factor: 0.0001, digits: 1, prefix: "", suffix: "万" } } } },
      series: [{ label: { formatter: "{b}: {c}元" } }], tooltip: {},
    });
    const drawn = cleanOption(JSON.parse(JSON.stringify(read))) as { xAxis: { axisLabel: { formatter: (v: number) => string } } };
    expect(drawn.xAxis.axisLabel.formatter(123456)).toBe("12.3万");
  });
});

describe("the document of a report's scripts", () => {
  it("keeps what was written where", () => {
    const page = new FakeDocument([{ tag: "body", id: "", classes: "" }, { tag: "p", id: "kpi", classes: "big" }]);
    page.getElementById("kpi")!.textContent = "<42>";
    const row = page.createElement("div");
    row.id = "made";
    row.innerHTML = '<span id="inner">x</span>';
    page.body.appendChild(row);
    page.querySelector(".big")!.style.color = "red";
    expect(page.changes()).toEqual([{ ref: 0, style: "", append: '<div id="made"><span id="inner">x</span></div>' }, { ref: 1, style: "color:red", html: "&lt;42&gt;" }]);
    expect(page.getElementById("inner")).not.toBeNull();
  });

  it("and nothing it says is believed unread", () => {
    expect(readOutcome("x")).toBeNull();
    expect(readOutcome({ drawings: [{ ref: "1", id: 5, option: {} }], changes: [null, { ref: 1e9, html: 4 }], errors: [{}, "e"] })).toEqual({ drawings: [{ ref: -1, id: "", option: "", notMerge: false }], changes: [{ ref: 1e9, style: "" }], errors: ["e"] });
  });
});
