/** One run as bars on a clock, from its durable events. */
import type { TimelineEntry } from "$lib/api/types";

export interface Bar {
  label: string;
  kind: "model" | "tool";
  startMs: number;
  endMs: number;
  ok: boolean;
  detail: string;
}

/** Between two tool phases the model is at work; a tool without an end was still running when the run stopped. */
export function timeline(events: TimelineEntry[]): { bars: Bar[]; totalMs: number } {
  const timed = events.filter((event) => !Number.isNaN(Date.parse(event.at)));
  const zero = Date.parse(timed[0]?.at ?? "");
  const bars: Bar[] = [];
  const running = new Map<string, Bar>();
  let modelSince: number | null = 0;
  let [now, round] = [0, 0];
  for (const event of timed) {
    now = Date.parse(event.at) - zero;
    const name = event.event;
    const call = event.tool_call_id ?? "";
    if (name === "round" || name === "report" || name === "run.failed" || name === "run.cancelled") {
      if (modelSince !== null) bars.push({ label: `R${(round += 1)}`, kind: "model", startMs: modelSince, endMs: now, ok: name !== "run.failed", detail: name });
      modelSince = null;
    } else if (name === "tool.started") {
      const bar: Bar = { label: event.tool_name ?? "?", kind: "tool", startMs: now, endMs: now, ok: true, detail: "" };
      running.set(call, bar);
      bars.push(bar);
    } else if (name === "tool.finished") {
      const bar = running.get(call);
      if (bar) Object.assign(bar, { endMs: now, ok: event.success !== false, detail: event.summary ?? "" });
      running.delete(call);
      if (running.size === 0) modelSince = now;
    }
  }
  for (const bar of running.values()) bar.endMs = now;
  return { bars, totalMs: Math.max(1, now) };
}
