import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { DeltaJoiner } from "../../src/services/coalesce";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());
const delta = (text: string, round = 1) => ({ id: "", type: "text.delta", data: { text, round } });

it("joins deltas, keeps their order with other events, and loses none", () => {
  const seen: string[] = [];
  const joiner = new DeltaJoiner((event) => seen.push(event.type === "text.delta" ? `${event.data.round}:${event.data.text}` : event.type));
  joiner.push(delta("a"));
  joiner.push(delta("b"));
  expect(seen).toEqual([]);
  vi.advanceTimersByTime(100);
  expect(seen).toEqual(["1:ab"]);
  joiner.push(delta("c"));
  joiner.push(delta("d", 2));
  joiner.push({ id: "9", type: "report", data: {} });
  expect(seen).toEqual(["1:ab", "1:c", "2:d", "report"]);
});
