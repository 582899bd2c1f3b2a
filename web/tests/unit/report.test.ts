import { describe, expect, it } from "vitest";
import type { Metadata } from "../../src/api/types";
import { buildReport } from "../../src/services/report";
import { segmentReport } from "../../src/services/segments";

const scope = { conversation: "conv_1", files: new Set(["a.png"]) };
const build = (text: string, metadata: Metadata = {}, streaming = false) => buildReport({ text, metadata, scope, streaming });
const kinds = (text: string, metadata: Metadata = {}, streaming = false) => build(text, metadata, streaming).map((block) => block.kind);
const cut = (text: string) => segmentReport(text, (markdown) => `<p>${markdown.trim()}</p>`).map((segment) => `${segment.kind}:${segment.text.trim()}`);
const codes: Metadata = { code_refs: [{ code_id: "code_a", language: "python", description: "d", index: 1 }, { code_id: "code_b", language: "sql", description: "e", index: 2 }] };

describe("cutting prose from HTML", () => {
  it("keeps order, and joins neighbouring elements", () => {
    expect(cut("前\n\n<div id='a'></div>\n<script>f('a')</script>\n\n后")).toEqual(["prose:前", "html:<div id='a'></div>\n<script>f('a')</script>", "prose:后"]);
  });

  it("leaves code spans and fences alone", () => {
    expect(cut("写 `<div>` 或\n\n```html\n<div>x</div>\n```\n完")).toHaveLength(1);
  });

  it("is not fooled by tags inside scripts, comments or attributes", () => {
    const html = `<div title="</div>"><!-- </div> --><script>var s = "</div><div>";</script></div>`;
    expect(cut(`${html}\n\n后`)).toEqual([`html:${html}`, "prose:后"]);
  });

  it("gives two charts two regions, and one when a script reaches across", () => {
    const chart = (id: string) => `<div id="${id}"></div><script>echarts.init(document.getElementById('${id}'))</script>`;
    expect(cut(`${chart("a")}\n\n文字\n\n${chart("b")}`).map((piece) => piece.split(":")[0])).toEqual(["html", "prose", "html"]);
    expect(cut(`<div id="a"></div>\n\n文字\n\n<script>draw(document.getElementById("a"))</script>`)).toEqual([
      'html:<div id="a"></div>\n<p>文字</p>\n<script>draw(document.getElementById("a"))</script>',
    ]);
    expect(cut("<div class='c'></div>\n\n文字\n\n<script>document.querySelectorAll('.c')</script>")).toHaveLength(1);
  });

  it("sends an element that never closes to the sandbox, whole", () => {
    expect(cut("前 <div>没有结尾 **粗**")).toEqual(["prose:前", "html:<div>没有结尾 **粗**"]);
    expect(cut("<script>while(1){")).toEqual(["html:<script>while(1){"]);
  });
});

describe("a report's blocks (SPEC U4, U5)", () => {
  it("draws tables as tables, with plain text for sorting", () => {
    const table = build("| 地区 | 额 |\n|---|--:|\n| **华东** | 1 |")[0];
    expect(table).toMatchObject({ kind: "table", align: [null, "right"] });
    expect(table?.kind === "table" && table.rows[0]?.[0]).toEqual({ html: "<strong>华东</strong>", text: "华东" });
  });

  it("puts code where its placeholder stands, once, and lists the rest at the end", () => {
    expect(kinds("前\n\n{{CODE:1}}\n\n后", codes)).toEqual(["rich", "codeRef", "rich", "codeRef"]);
    const inline = build("见 {{CODE:1}}，再看 {{CODE:1}}。\n\n完", codes);
    expect(inline.map((block) => block.kind)).toEqual(["rich", "codeRef", "rich", "codeRef"]);
    expect(inline[0]?.kind === "rich" && inline[0].html).toContain('href="#code-code_a"');
  });

  it("shows a notice for code saved from the text (SPEC R9)", () => {
    const [before, card] = build("用这段：\n\n<!-- CODE_SAVED: code_20260101_00ff00ff | print(1) -->", { saved_codes: [{ code_id: "code_20260101_00ff00ff", language: "python", description: "print(1)" }] });
    expect(before?.kind).toBe("rich");
    expect(card).toMatchObject({ kind: "codeRef", saved: true, ref: { language: "python" } });
  });

  it("makes file chips, and leaves an unknown mark readable", () => {
    const blocks = build("来自 {{FILE:1}} 与 {{FILE:9}}", { file_refs: [{ file_id: "upload_001", filename: '<b>".csv', file_type: "csv", size: 1, index: 1 }] });
    const html = blocks[0]?.kind === "rich" ? blocks[0].html : "";
    expect(html).toContain("&lt;b&gt;");
    expect(html).toContain("/api/v1/files/download/%3Cb%3E");
    expect(html).toContain("{{FILE:9}}");
  });

  it("never runs HTML of a draft, and hides half-written tags", () => {
    expect(kinds("前\n\n<div id='a'></div><script>x", {}, true)).toEqual(["rich", "pending"]);
    const [draft] = build("见 <code_ref>code_x</code_ref> 与 <file_ref>up", {}, true);
    expect(draft?.kind === "rich" && draft.html).toBe("<p>见 <code>code_x</code> 与 </p>\n");
  });

  it("shows formulas as formulas and money as money", () => {
    const [block] = build("同比 $g = \\frac{a}{b}$，价格 $5 到 $7，共 $1,200$");
    const html = block?.kind === "rich" ? block.html : "";
    expect(html.match(/ba-math/g)).toHaveLength(1);
    expect(html).toContain("$5 到 $7");
    const [display] = build("$$\nx^2\n$$");
    expect(display?.kind === "rich" && display.html).toContain("ba-math-block");
  });

  it("keeps every word of odd input", () => {
    for (const text of ["", "   ", "{{CODE:1}}", "{{CODE:99}}", "<", "<div", "| a |\n|---|", "\uE000x\uE001", "```\n未完", "$$", "&lt;div&gt;"]) {
      expect(() => build(text, codes)).not.toThrow();
      expect(() => build(text, codes, true)).not.toThrow();
    }
  });

  it("renders an unchanged paragraph only once", () => {
    const text = Array.from({ length: 40 }, (_, index) => `段落 ${index} 有 **粗体**。`).join("\n\n");
    expect(kinds(text)).toHaveLength(40);
    expect(build(text)[7]).toBe(build(`${text}\n\n新的一段`)[7]);
  });
});

it("lets a report's headings follow the question's one by one, whatever levels it was written in", () => {
  const levels = (text: string) => buildReport({ text, metadata: {}, scope: { conversation: "c", files: new Set() } }).flatMap((block) => (block.kind === "rich" ? [...block.html.matchAll(/<h(\d)>(\w+)/g)].map((match) => `${match[1]}${match[2]}`) : []));
  expect(levels("## a\n\n#### b\n\n#### c\n\n### d\n\n## e")).toEqual(["3a", "4b", "4c", "4d", "3e"]);
  expect(levels("#### a\n\n# b\n\n## c")).toEqual(["3a", "3b", "4c"]);
});
