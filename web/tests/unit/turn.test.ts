import { describe, expect, it } from "vitest";
import { applyEvent, connectionLost, fromHistory, newTurn, parsePlan, type Turn } from "../../src/services/turn";

const event = (type: string, data: Record<string, unknown>) => ({ id: "", type, data });
const play = (turn: Turn, ...events: ReturnType<typeof event>[]) => events.reduce((state, item) => applyEvent(state, item, 1000), turn);
const call = { tool_name: "run_python", tool_call_id: "c1", arguments: { code: "1+1" } };
const round = event("round", { metadata: { current_round: 1, task_analysis: "想", execution_plan: "R1: 算(当前)", tool_calls: [call] } });

describe("a turn", () => {
  it("shows a tool from its announcement to its outcome, once", () => {
    const turn = play(newTurn("q", [], 0), round, event("tool.started", { ...call, round: 1 }), event("tool.progress", { tool_call_id: "c1", fraction: 0.4, message: "m" }));
    expect(turn.steps).toHaveLength(1);
    expect(turn.steps[0]).toMatchObject({ state: "running", fraction: 0.4, message: "m", args: { code: "1+1" } });
    const done = play(turn, event("tool.finished", { tool_call_id: "c1", tool_name: "run_python", success: false, duration_ms: 12, cache_hit: true, error_code: "X", observation: "o" }));
    expect(done.steps[0]).toMatchObject({ state: "error", durationMs: 12, cacheHit: true, errorCode: "X", observation: "o", fraction: undefined });
  });

  it("grows a draft by deltas and replaces it by the report", () => {
    const draft = play(newTurn("q"), event("text.delta", { text: "半", round: 1 }), event("text.delta", { text: "句", round: 1 }));
    expect(draft.draft).toBe("半句");
    const done = play(draft, event("report", { response: "全文", metadata: { current_round: 1 } }));
    expect(done).toMatchObject({ draft: "", state: "complete", answer: { response: "全文" } });
  });

  it("does not splice a draft over a gap left by a reconnect", () => {
    const lost = connectionLost(play(newTurn("q"), event("text.delta", { text: "前", round: 1 })));
    expect(play(lost, event("text.delta", { text: "后", round: 1 })).draft).toBe("前");
    expect(play(lost, event("text.delta", { text: "新一轮", round: 2 })).draft).toBe("新一轮");
  });

  it("shows the whole text again after a reload or a lost connection", () => {
    const lost = connectionLost(play(newTurn("q"), event("text.delta", { text: "前", round: 1 })));
    expect(play(lost, event("text.delta", { text: "前中后", round: 1, whole: true }), event("text.delta", { text: "续", round: 1 })).draft).toBe("前中后续");
    expect(play(newTurn("q"), event("text.delta", { text: '{"action":{"type":"complete","content":"一\\n', round: 1, whole: true }), event("text.delta", { text: "二", round: 1 })).draft).toBe("一\n二");
  });

  it("keeps the steps of two rounds that use one id apart", () => {
    const again = event("round", { metadata: { current_round: 2, tool_calls: [{ ...call, arguments: { code: "2" } }] } });
    const finished = (summary: string) => event("tool.finished", { tool_call_id: "c1", tool_name: "run_python", success: true, duration_ms: 1, summary });
    const turn = play(newTurn("q"), round, finished("一"), again, finished("二"));
    expect(turn.steps.map((step) => [step.round, step.summary])).toEqual([[1, "一"], [2, "二"]]);
  });

  it("ends running tools when the run ends without them", () => {
    const turn = play(newTurn("q"), round, event("tool.started", { ...call, round: 1 }), event("run.cancelled", {}));
    expect(turn.state).toBe("cancelled");
    expect(turn.steps[0]?.state).toBe("stopped");
    expect(play(newTurn("q"), event("run.failed", { error: { code: "x", message: "y" } })).error?.message).toBe("y");
  });

  it("survives events it does not know and data it does not expect", () => {
    const turn = newTurn("q");
    expect(applyEvent(turn, event("future.event", {}))).toBe(turn);
    for (const type of ["round", "report", "tool.started", "tool.finished", "tool.progress", "text.delta", "run.failed"]) {
      expect(() => applyEvent(turn, event(type, {}))).not.toThrow();
    }
  });

  it("names every skill it worked under once, live and from history (SPEC S3)", () => {
    const chained = (...skill_chain: string[]) => ({ response: "", conversation_id: "c", duration_ms: 1, metadata: { skill_chain } });
    const live = play(newTurn("q"), event("round", chained("outer")), event("round", chained("outer", "inner")), event("report", chained("outer")));
    expect(live.skills).toEqual(["outer", "inner"]);
    const stored = fromHistory({ run_id: "r", user_message: "q", created_at: "", status: "complete", processing: [chained(), chained("outer", "inner")], answer: chained("last") });
    expect(stored.skills).toEqual(["outer", "inner", "last"]);
  });

  it("comes back from history, answered or not", () => {
    const step = { tool_call_id: "c1", tool_name: "run_python", arguments: {}, round: 1, success: true, duration_ms: 3, cache_hit: false, summary: "s", observation: "o", error_code: null, artifacts: [] };
    const base = { run_id: "r", user_message: "q", created_at: "2026-01-01T00:00:00Z" };
    const answered = fromHistory({ ...base, status: "complete", steps: [step], answer: { response: "a", conversation_id: "c", duration_ms: 1, metadata: { task_analysis: "t" } } });
    expect(answered).toMatchObject({ state: "complete", analysis: "t", steps: [{ id: "c1", name: "run_python", state: "ok", observation: "o" }] });
    const stopped = fromHistory({ ...base, status: "cancelled", steps: [{ ...step, success: null }], answer: null, processing: [{ response: "", conversation_id: "c", duration_ms: 1, metadata: { task_analysis: "想", execution_plan: "R1: x" } }] });
    expect(stopped).toMatchObject({ state: "cancelled", analysis: "想", plan: "R1: x", steps: [{ state: "stopped" }] });
  });
});

describe("the plan (SPEC P2, U2)", () => {
  it("marks the round the plan itself names", () => {
    expect(parsePlan("R1: 查询; R2: 图表（当前）; R3: 报告", 1, false).map((step) => step.state)).toEqual(["done", "current", "later"]);
  });

  it("falls back to the round number, and marks what ran as done at the end", () => {
    expect(parsePlan("R1: a；R2: b", 2, false).map((step) => step.state)).toEqual(["done", "current"]);
    expect(parsePlan("R1: a; R2: b(当前)", 2, true).map((step) => step.state)).toEqual(["done", "done"]);
    expect(parsePlan("R1: a(当前); R2: b; R3: c", 1, true).map((step) => step.state), "what never ran is not ticked").toEqual(["done", "later", "later"]);
  });

  it("keeps semicolons inside a step, and shows a plan of another shape whole", () => {
    expect(parsePlan("R1: a; b; c; R2: d", 1, false).map((step) => step.text)).toEqual(["a; b; c", "d"]);
    expect(parsePlan("先看数据再说", 1, false)).toEqual([{ label: "", text: "先看数据再说", state: "current" }]);
  });
});
