/** Figures of the audit in what is shown (SPEC V): found in prose and tables, not in code and charts, and marked when doubtful. */
import { flushSync, mount, unmount } from "svelte";
import { afterEach, expect, it } from "vitest";
import Report from "../../src/components/report/Report.svelte";
import TurnView from "../../src/components/turn/TurnView.svelte";
import type { Audit, Figure } from "../../src/api/types";
import { newTurn } from "../../src/services/turn";
import { prefs } from "../../src/stores/prefs.svelte";

let shown: Record<string, unknown> | null = null;
afterEach(() => {
  if (shown) void unmount(shown);
  document.body.replaceChildren();
});

/** An audit of these figures, in order; each is searched behind the one before. */
function audit(text: string, figures: [string, Figure["state"], Figure["proof"]?][]): Audit {
  const chars = [...text];
  let from = 0;
  const found = figures.map(([figure, state, proof]) => {
    const size = [...figure].length;
    while (chars.slice(from, from + size).join("") !== figure) from += 1;
    from += size;
    return { text: figure, start: from - size, end: from, state, proof } as Figure;
  });
  const count = (state: string) => found.filter((figure) => figure.state === state).length;
  return { proven: count("proven"), derived: count("derived"), given: count("given"), unproven: count("unproven"), mismatch: count("mismatch"), figures: found };
}

const cell = { tool_call_id: "call_1", row: 1, column: "销售额" };

function draw(text: string, of: Audit): HTMLElement {
  shown = mount(Report, {
    target: document.body,
    props: { text, metadata: { audit: of }, steps: [{ id: "call_1", name: "query_database", args: { query: "SELECT 1" }, round: 1, state: "ok", startedAt: 0 }] },
  });
  flushSync();
  return document.body;
}
const marks = (root: HTMLElement) => [...root.querySelectorAll<HTMLElement>("[data-figure]")].map((node) => `${node.dataset.figure}:${node.textContent}${node.classList.contains("doubtful") ? "!" : ""}`);

it("finds each figure by its text and turn, beyond emoji, marks and charts", () => {
  const text = "📊 600 与 1,600：华东 **600** 元，共 `600`。\n\n```js\nlet a = 600\n```\n\n<div id=\"c\"></div><script>draw('c', 600)</script>\n\n末尾 600 元。";
  const of = audit(text, [["600", "proven"], ["1,600", "proven"], ["600", "unproven"], ["600", "proven"], ["600", "proven"], ["600", "proven"], ["600", "mismatch"]]);
  expect(marks(draw(text, of))).toEqual(["0:600", "1:1,600", "2:600!", "6:600!"]);
});

it("marks cells, also after the table is sorted", () => {
  const text = "| 地区 | 额 |\n|---|---|\n| 华东 | 150600 |\n| 华南 | 99999 |\n";
  const root = draw(text, audit(text, [["150600", "proven", cell], ["99999", "unproven"]]));
  expect(marks(root)).toEqual(["0:150,600", "1:99,999!"]);
  root.querySelectorAll<HTMLButtonElement>("th button")[1]?.click();
  root.querySelectorAll<HTMLButtonElement>("th button")[1]?.click();
  flushSync();
  expect(marks(root)).toEqual(["1:99,999!", "0:150,600"]);
});

it("says where a figure comes from when it has the focus, and hides it again", () => {
  prefs.language = "zh";
  const text = "华南 87,300 元。";
  const root = draw(text, audit(text, [["87,300", "proven", cell]]));
  root.querySelector<HTMLElement>("[data-figure]")?.focus();
  flushSync();
  const card = root.querySelector("[data-part=figure-card]")?.textContent ?? "";
  for (const part of ["来自结果", "query_database (call_1)", "第 2 行", "销售额", "SELECT 1"]) expect(card).toContain(part);
  root.querySelector<HTMLElement>("[data-figure]")?.blur();
  flushSync();
  expect(root.querySelector("[data-part=figure-card]")).toBeNull();
});

it("sums up under the answer in one line, and lists what is doubtful", () => {
  prefs.language = "zh";
  const response = "合计 999,999 元，华南 87,300 元。";
  const of = audit(response, [["999,999", "unproven"], ["87,300", "proven", cell]]);
  const turn = { ...newTurn("问"), state: "complete" as const, answer: { response, conversation_id: "c", duration_ms: 5, metadata: { audit: of } } };
  shown = mount(TurnView, { target: document.body, props: { turn, onpick: () => {} } });
  flushSync();
  const line = document.querySelector("[data-part=proof]")?.textContent ?? "";
  expect(line).toContain("2 个数字：1 个来自结果，0 个由结果算得，1 个未证实");
  expect(line).toContain("999,999 · 没有结果能证实");
});

it("shows hostile proofs as text", () => {
  const evil = "<img src=x onerror=alert(1)>";
  const root = draw("共 5,000。", audit("共 5,000。", [["5,000", "proven", { tool_call_id: evil, row: 0, column: evil }]]));
  root.querySelector<HTMLElement>("[data-figure]")?.focus();
  flushSync();
  expect(root.querySelector("img")).toBeNull();
  expect(root.querySelector("[data-part=figure-card]")?.textContent).toContain(evil);
});
