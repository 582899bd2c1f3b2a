import { describe, expect, it } from "vitest";
import { readPartial } from "../../src/services/partial";

const TURN = { task_analysis: "想\n一想 \"引\" \\ 😀", execution_plan: "R1: 做(当前)", current_round: 1, action: { type: "complete", content: "# 报告\n\n| a |\n|---|\n| \"1\" |", recommended_questions: ["x"] } };

describe("a turn being written", () => {
  it("is whole at its end", () => {
    const whole = { analysis: TURN.task_analysis, plan: TURN.execution_plan, report: TURN.action.content };
    for (const raw of [JSON.stringify(TURN), `好的：\n\`\`\`json\n${JSON.stringify(TURN, null, 2)}\n\`\`\`\n完`]) expect(readPartial(raw)).toEqual(whole);
    expect(readPartial(JSON.stringify(TURN).replace(/[^\x00-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`))).toEqual(whole);
  });

  it("only ever grows, and never shows JSON", () => {
    const raw = JSON.stringify(TURN);
    let [analysis, report] = ["", ""];
    for (let cut = 1; cut <= raw.length; cut += 1) {
      const seen = readPartial(raw.slice(0, cut));
      expect(seen.analysis.startsWith(analysis), `cut ${cut}`).toBe(true);
      expect(seen.report.startsWith(report), `cut ${cut}`).toBe(true);
      expect(seen.report).not.toContain("task_analysis");
      [analysis, report] = [seen.analysis, seen.report];
    }
    expect(report).toBe(TURN.action.content);
  });

  it("shows no report while tools are called", () => {
    const raw = JSON.stringify({ ...TURN, action: { type: "tool_call", content: [{ tool_name: "a", tool_call_id: "1", arguments: { code: "print(\"{\\\"action\\\"\")" } }] } });
    for (let cut = 1; cut <= raw.length; cut += 1) expect(readPartial(raw.slice(0, cut)).report).toBe("");
  });

  it("shows plain text as the answer it is", () => {
    expect(readPartial("这是答案，{不是对象}").report).toBe("这是答案，{不是对象}");
    expect(readPartial("```json").report).toBe("");
  });

  it("ends on anything", () => {
    for (const raw of ["", "{", '{"', '{"a', '{"a":', '{"a":[', "{{{{", '{"action":null}', '{"action":{"content":5}}', `{"a":${"[".repeat(5000)}`, '{"__proto__":{"x":1}}', '{"a" "b" }}}}']) expect(() => readPartial(raw)).not.toThrow();
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});
