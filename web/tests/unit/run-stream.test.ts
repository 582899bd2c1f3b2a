import { afterEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "../../src/api/client";
import { isNewer, RunStream } from "../../src/services/run-stream";

const frame = (id: number | "", event: string, data: unknown) => `${id === "" ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** A response whose stream breaks after `chunks`, as a lost connection does, or ends cleanly. */
function response(chunks: string[], end: "close" | "break" = "close"): Response {
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = chunks[at++];
      if (chunk !== undefined) controller.enqueue(new TextEncoder().encode(chunk));
      else if (end === "close") controller.close();
      else controller.error(new TypeError("network lost"));
    },
  });
  return new Response(body, { status: 200 });
}

function setup(...answers: (Response | Error)[]) {
  const requests: { url: string; init: RequestInit }[] = [];
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    requests.push({ url, init });
    const answer = answers.shift();
    return answer instanceof Error || answer === undefined ? Promise.reject(answer ?? new Error("no more")) : Promise.resolve(answer);
  });
  const events: string[] = [];
  const states: string[] = [];
  const hooks = { onEvent: (event: { id: string; type: string }) => events.push(`${event.id}:${event.type}`), onState: (state: string) => states.push(state) };
  return { requests, events, states, hooks };
}

afterEach(() => vi.unstubAllGlobals());

describe("following a run (SPEC A2)", () => {
  it("reconnects with the last id, misses nothing and repeats nothing", async () => {
    const { requests, events, states, hooks } = setup(
      response([frame(1, "run.started", { run_id: "r1" }), frame(2, "round", {}), frame("", "text.delta", { text: "x" })], "break"),
      new TypeError("still offline"),
      response([frame(2, "round", {}), frame(3, "tool.started", {})], "close"),
      response([frame(4, "report", {})]),
    );
    await new RunStream(hooks).follow({ message: "q" });
    expect(events).toEqual(["1:run.started", "2:round", ":text.delta", "3:tool.started", "4:report"]);
    expect(requests.map((request) => request.url)).toEqual(["/api/v1/agent/query/stream", ...Array(3).fill("/api/v1/runs/r1/events")]);
    expect(requests.map((request) => (request.init.headers as Record<string, string>)["Last-Event-ID"])).toEqual([undefined, "2", "2", "3"]);
    expect(states).toContain("reconnecting");
  });

  it("never sends the question twice when the answer to it is lost", async () => {
    const { requests, hooks } = setup(response([], "break"));
    await expect(new RunStream(hooks).follow({ message: "q" })).rejects.toBeInstanceOf(ApiError);
    expect(requests).toHaveLength(1);
  });

  it("gives up on a refusal, with the server's reason", async () => {
    const body = JSON.stringify({ success: false, error: { code: "bad", message: "why" } });
    const { hooks } = setup(new Response(body, { status: 422 }));
    await expect(new RunStream(hooks).follow({ message: "q" })).rejects.toMatchObject({ status: 422, code: "bad", message: "why" });
  });

  it("follows a run from its start after a reload, and stops when told", async () => {
    const { requests, events, hooks } = setup(response([frame(1, "run.started", { run_id: "r9" }), frame(2, "run.cancelled", {})]));
    await new RunStream(hooks, { runId: "r9" }).follow();
    expect(requests[0]?.url).toBe("/api/v1/runs/r9/events");
    expect(events).toEqual(["1:run.started", "2:run.cancelled"]);
  });

  it("skips a frame that is not JSON", async () => {
    const { events, hooks } = setup(response(["event: round\nid: 1\ndata: {oops\n\n", frame(2, "report", {})]));
    await new RunStream(hooks, { runId: "r" }).follow();
    expect(events).toEqual(["2:report"]);
  });

  it("compares ids as numbers", () => {
    expect(isNewer("10", "9")).toBe(true);
    expect(isNewer("9", "10")).toBe(false);
    expect(isNewer("", "9")).toBe(true);
  });
});
