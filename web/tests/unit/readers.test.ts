/** The lenient readers: context, metrics, timeline, formats, routes, dictionaries. */
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/en";
import { zh, type Key } from "../../src/i18n/zh";
import { readContext } from "../../src/services/context-view";
import { bytes, dayGroup, duration } from "../../src/services/format";
import { readMetrics } from "../../src/services/metrics";
import { timeline } from "../../src/services/timeline";
import { parseRoute } from "../../src/stores/router.svelte";

describe("context", () => {
  it("reads the parts of a turn, with what was shortened", () => {
    const view = readContext({ window: 1000, tokens: 30, saved_tokens: 70, over_budget: false, cost: 0.02, parts: [{ kind: "history", role: "user", round: 1, tokens: 30, original_tokens: 100, synopses: 1, shortened: false, preview: "p" }] });
    expect(view).toEqual({ window: 1000, tokens: 30, saved: 70, overBudget: false, cost: 0.02, parts: [{ kind: "history", role: "user", round: 1, tokens: 30, original: 100, synopses: 1, shortened: false, preview: "p" }] });
  });
  it("shows something for anything", () => {
    for (const data of [null, [], {}, { parts: [null, 3, { kind: 1 }] }]) expect(() => readContext(data)).not.toThrow();
  });
});

describe("metrics", () => {
  it("reads what the server sends: totals, tools and models by name", () => {
    const metrics = readMetrics({ agent: { total: { calls: 4, error_rate: 0.25, p95_ms: 9 }, tools: [["a", { calls: 4, errors: 1, p50_ms: 3 }]], models: [["m", { calls: 2, input_tokens: 10, output_tokens: 5 }]], runs: 7, cost: 0.5 }, live_runs: 1, uptime: 60 });
    expect(metrics).toMatchObject({ calls: 4, errorRate: 0.25, p95: 9, runs: 7, cost: 0.5, live: 1, uptime: 60, tools: [{ name: "a", calls: 4, errors: 1, p50: 3 }], models: [{ name: "m", input: 10, output: 5 }] });
  });
  it("reads lists and maps of tools", () => {
    const list = readMetrics({ calls: 4, error_rate: 0.25, tools: [{ tool_name: "a", calls: 4, errors: 1, p50_ms: 3 }] });
    const map = readMetrics({ total_calls: 4, errors: 1, tools: { a: { count: 4, error_count: 1, latency_ms: { p50: 3 } } } });
    for (const metrics of [list, map]) expect(metrics).toMatchObject({ calls: 4, errorRate: 0.25, tools: [{ name: "a", calls: 4, errors: 1, p50: 3 }] });
  });
  it("says what is missing instead of inventing zeros", () => expect(readMetrics({})).toMatchObject({ calls: null, errorRate: null, p95: null, tools: [] }));
});

describe("timeline", () => {
  it("shows the model between tools, and parallel tools side by side", () => {
    const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
    const { bars, totalMs } = timeline([
      { event: "run.started", at: at(0) }, { event: "round", at: at(2) },
      { event: "tool.started", at: at(2), tool_call_id: "a", tool_name: "x" }, { event: "tool.started", at: at(2), tool_call_id: "b", tool_name: "y" },
      { event: "tool.finished", at: at(3), tool_call_id: "a", success: false }, { event: "tool.finished", at: at(4), tool_call_id: "b", success: true },
      { event: "report", at: at(9) },
    ]);
    expect(totalMs).toBe(9000);
    expect(bars.map((bar) => [bar.label, bar.startMs, bar.endMs, bar.ok])).toEqual([["R1", 0, 2000, true], ["x", 2000, 3000, false], ["y", 2000, 4000, true], ["R2", 4000, 9000, true]]);
  });
  it("is empty without events", () => expect(timeline([]).bars).toEqual([]));
});

describe("small things", () => {
  it("writes sizes, times and days", () => {
    expect([bytes(12), bytes(15300), bytes(5 * 1024 ** 3)]).toEqual(["12 B", "14.9 KB", "5.0 GB"]);
    expect([duration(212.4), duration(1840), duration(61_000)]).toEqual(["212 ms", "1.84 s", "1 min 1 s"]);
    const now = new Date(2026, 4, 10, 12);
    expect([0, 1, 3, 30].map((days) => dayGroup(new Date(2026, 4, 10 - days, 9).toISOString(), now))).toEqual(["today", "yesterday", "week", "older"]);
  });
  it("reads routes", () => {
    expect(parseRoute("#/c/conv_1")).toEqual({ name: "chat", conversation: "conv_1" });
    expect(parseRoute("")).toEqual({ name: "chat", conversation: null });
    expect(parseRoute("#/monitor/run_2")).toEqual({ name: "monitor", run: "run_2" });
  });
  it("has the same placeholders in both languages", () => {
    const holes = (text: string) => [...text.matchAll(/\{\w+\}/g)].map((match) => match[0]).sort();
    for (const key of Object.keys(zh) as Key[]) expect(holes(en[key]), key).toEqual(holes(zh[key]));
  });
});
