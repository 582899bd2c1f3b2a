/** The order of an answer's parts, and that each shows only when its data is there (SPEC U1–U7). */
import { flushSync, mount, unmount } from "svelte";
import { afterEach, expect, it } from "vitest";
import TurnView from "../../src/components/turn/TurnView.svelte";
import type { Metadata } from "../../src/api/types";
import { newTurn, type Turn } from "../../src/services/turn";
import { prefs } from "../../src/stores/prefs.svelte";

let shown: Record<string, unknown> | null = null;
afterEach(() => {
  if (shown) void unmount(shown);
  document.body.replaceChildren();
});

function draw(turn: Turn, onpick: (question: string) => void = () => {}): HTMLElement {
  shown = mount(TurnView, { target: document.body, props: { turn, onpick } });
  flushSync();
  return document.body;
}
const parts = (root: HTMLElement) => [...root.querySelectorAll<HTMLElement>("[data-part]")].map((node) => node.dataset.part);
const complete = (metadata: Metadata, response = "报告"): Turn => ({
  ...newTurn("问"), state: "complete", analysis: metadata.task_analysis ?? "", plan: metadata.execution_plan ?? "",
  answer: { response, conversation_id: "c", duration_ms: 5, metadata },
});

it("shows all parts in their order", () => {
  const turn = complete({ task_analysis: "想", execution_plan: "R1: 做(当前)", recommended_questions: ["再问"], download_links: ["a.xlsx"], code_refs: [{ code_id: "code_a", language: "sql", description: "d", index: 1 }] });
  turn.steps = [{ id: "1", name: "run_python", args: {}, round: 1, state: "ok", startedAt: 0, durationMs: 3 }];
  expect(parts(draw(turn))).toEqual(["question", "analysis", "plan", "tools", "report", "code", "questions", "downloads"]);
});

it("shows nothing that has no data", () => {
  expect(parts(draw(complete({})))).toEqual(["question", "report"]);
});

it("says when an answer rests on no data", () => {
  prefs.language = "zh";
  const turn = complete({});
  expect(draw(turn).textContent).toContain("此回答没有读取数据");
  void unmount(shown ?? {});
  document.body.replaceChildren();
  turn.steps = [{ id: "1", name: "run_python", args: {}, round: 1, state: "ok", startedAt: 0, durationMs: 3 }];
  expect(draw(turn).textContent).not.toContain("此回答没有读取数据");
});

it("labels the parts as SPEC U writes them", () => {
  prefs.language = "zh";
  const body = draw(complete({ task_analysis: "想", execution_plan: "R1: 做", recommended_questions: ["再问"], download_links: ["a.xlsx"] })).textContent ?? "";
  for (const label of ["💡 思维链分析", "📋 执行计划", "🤔 推荐问题", "📦 可下载文件"]) expect(body).toContain(label);
});

it("says which tools run, and marks the current round", () => {
  prefs.language = "zh";
  const turn = { ...newTurn("问"), analysis: "想", plan: "R1: 查(当前); R2: 写" };
  turn.steps = ["run_python", "file_reader"].map((name, index) => ({ id: String(index), name, args: {}, round: 1, state: "running" as const, startedAt: 0 }));
  const root = draw(turn);
  expect(root.textContent).toContain("⏳ 正在执行: run_python, file_reader");
  expect(root.querySelector("[aria-current=step]")?.textContent).toContain("R1");
  expect(root.querySelector<HTMLDetailsElement>("[data-part=analysis]")?.open).toBe(true);
});

it("gives a recommended question to the input", () => {
  const picked: string[] = [];
  const root = draw(complete({ recommended_questions: ["按月看"] }), (question) => picked.push(question));
  root.querySelector<HTMLButtonElement>("[data-part=questions] button")?.click();
  expect(picked).toEqual(["按月看"]);
});

it("links downloads to their files, whatever their name", () => {
  const root = draw(complete({ download_links: ["报告 a/b.xlsx"] }));
  expect(root.querySelector("[data-part=downloads] a")?.getAttribute("href")).toBe(`/api/v1/files/download/${encodeURIComponent("报告 a/b.xlsx")}`);
});

it("shows hostile names, thoughts and warnings as text", () => {
  const evil = "<img src=x onerror=alert(1)>";
  const turn = complete({ task_analysis: evil, execution_plan: evil, recommended_questions: [evil], download_links: [evil], warnings: [evil], model: evil });
  turn.question = evil;
  turn.steps = [{ id: "1", name: evil, args: { [evil]: evil }, round: 1, state: "ok", startedAt: 0, summary: evil, observation: evil }];
  expect(draw(turn).querySelector("img")).toBeNull();
});
