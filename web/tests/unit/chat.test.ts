/** The conversation's store against a scripted `fetch`. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Chat } from "../../src/stores/chat.svelte";
import { session } from "../../src/stores/session.svelte";

type Handler = (url: string, init: RequestInit) => Response | Promise<Response>;
const ok = (data: unknown) => new Response(JSON.stringify({ success: true, data }));
const error = (status: number, code: string) => new Response(JSON.stringify({ success: false, error: { code, message: code } }), { status });
const sse = (...events: [string, unknown][]) =>
  new Response(events.map(([event, data], index) => `id: ${index + 1}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join(""));
const report = (text: string, usage = { input_tokens: 10, output_tokens: 5, cost: 0.5 }) =>
  ["report", { response: text, conversation_id: "conv_1", duration_ms: 1, artifacts: [{ name: "a.png", size: 1, file_type: "png" }], metadata: { usage, download_links: ["b.xlsx"] } }] as [string, unknown];

let requests: { url: string; init: RequestInit }[];
function serve(routes: Record<string, Handler>) {
  requests = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit = {}) => {
    requests.push({ url, init });
    const key = Object.keys(routes).find((prefix) => url.startsWith(`/api/v1${prefix}`));
    return key ? routes[key]?.(url, init) : ok([]);
  });
}
const started: [string, unknown] = ["run.started", { run_id: "run_1", conversation_id: "conv_1" }];

beforeEach(() => void (location.hash = ""));
afterEach(() => vi.unstubAllGlobals());

describe("sending", () => {
  it("adopts the conversation the server made, and keeps the answer", async () => {
    serve({ "/agent/query/stream": () => sse(started, report("答")) });
    const chat = new Chat();
    await chat.send("  问  ", ["upload_001"]);
    expect(JSON.parse(String(requests[0]?.init.body))).toEqual({ message: "问", file_ids: ["upload_001"] });
    expect(chat.id).toBe("conv_1");
    expect(location.hash).toBe("#/c/conv_1");
    expect(chat.turns[0]).toMatchObject({ state: "complete", runId: "run_1", answer: { response: "答" } });
    expect([...chat.fileNames]).toEqual(["a.png", "b.xlsx"]);
  });

  it("names the conversation from then on, and sums usage", async () => {
    serve({ "/agent/query/stream": () => sse(started, report("答")) });
    const chat = new Chat();
    await chat.send("一");
    await chat.send("二");
    const streams = requests.filter((request) => request.url.endsWith("/stream"));
    expect(JSON.parse(String(streams[1]?.init.body)).conversation_id).toBe("conv_1");
    expect(chat.usage).toEqual({ input: 20, output: 10, cost: 1 });
  });

  it("ignores blanks, and lets a second question wait while one runs", async () => {
    let release = () => {};
    let asked = 0;
    serve({
      "/agent/query/stream": () => {
        asked += 1;
        return asked > 1 ? sse(["run.started", { run_id: "run_2", conversation_id: "conv_1" }], report("答二")) : new Promise<Response>((resolve) => (release = () => resolve(sse(started, report("答一")))));
      },
    });
    const chat = new Chat();
    await chat.send("   ");
    expect(requests).toHaveLength(0);
    const first = chat.send("一");
    await chat.send("二");
    expect(chat.turns.map((turn) => turn.question)).toEqual(["一"]);
    expect(chat.queued?.text).toBe("二");
    expect(asked).toBe(1);
    release();
    await first;
    expect(chat.turns.map((turn) => [turn.question, turn.answer?.response])).toEqual([["一", "答一"], ["二", "答二"]]);
    expect(chat.queued).toBeNull();
  });

  it("turns a refusal into a failed turn with words, and an expired session into sign-in", async () => {
    serve({ "/agent/query/stream": () => error(429, "busy") });
    const chat = new Chat();
    await chat.send("问");
    expect(chat.turns[0]).toMatchObject({ state: "failed", error: { code: "busy" } });
    expect(chat.turns[0]?.error?.message).toMatch(/Too many requests/);
    serve({ "/agent/query/stream": () => error(401, "unauthorized") });
    session.phase = "ready";
    await chat.send("问");
    expect(session.phase).toBe("signin");
  });

  it("cancels on the server, not only here", async () => {
    let release = () => {};
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const send = (text: string) => controller.enqueue(new TextEncoder().encode(text));
        send(`id: 1\nevent: run.started\ndata: ${JSON.stringify(started[1])}\n\n`);
        release = () => (send("id: 2\nevent: run.cancelled\ndata: {}\n\n"), controller.close());
      },
    });
    serve({ "/agent/query/stream": () => new Response(body), "/runs/run_1/cancel": () => (release(), ok(null)) });
    const chat = new Chat();
    const done = chat.send("问");
    await vi.waitFor(() => expect(chat.turns[0]?.runId).toBe("run_1"));
    await chat.stop();
    await done;
    expect(requests.some((request) => request.url === "/api/v1/runs/run_1/cancel" && request.init.method === "POST")).toBe(true);
    expect(chat.turns[0]?.state).toBe("cancelled");
  });
});

describe("opening", () => {
  const detail = { conversation_id: "conv_1", title: "旧", updated_at: "2026-01-01T00:00:02Z", rounds: [{ run_id: "run_0", user_message: "早", created_at: "2026-01-01T00:00:00Z", status: "complete", answer: { response: "好", conversation_id: "conv_1", duration_ms: 1, metadata: {} } }] };

  const running = { run_id: "run_2", user_message: "还在算", file_ids: ["upload_001"], created_at: "2026-01-01T00:01:00Z", status: "running" };

  it("brings back the rounds, and follows a run that is still going", async () => {
    serve({
      "/conversations/conv_1": () => ok({ ...detail, rounds: [...detail.rounds, running] }),
      "/runs/run_2/events": () => sse(["run.started", { run_id: "run_2", conversation_id: "conv_1" }], report("新")),
    });
    const chat = new Chat();
    await chat.open("conv_1");
    expect(chat.turns.map((turn) => [turn.question, turn.fileIds, turn.state, turn.answer?.response])).toEqual([["早", [], "complete", "好"], ["还在算", ["upload_001"], "complete", "新"]]);
  });

  it("takes over what another tab asked, and keeps what is already drawn", async () => {
    let rounds: unknown[] = detail.rounds;
    serve({
      "/conversations/conv_1": () => ok({ ...detail, rounds }),
      "/runs/run_2/events": () => sse(["run.started", { run_id: "run_2", conversation_id: "conv_1" }], report("新")),
    });
    const chat = new Chat();
    await chat.open("conv_1");
    const drawn = chat.turns[0];
    await chat.sync();
    expect(chat.turns).toEqual([drawn]);
    const before = requests.length;
    await chat.sync("2026-01-01T00:00:02Z");
    expect(requests.length).toBe(before);
    rounds = [...detail.rounds, running];
    await chat.sync();
    expect(chat.turns[0]).toBe(drawn);
    expect(chat.turns.map((turn) => turn.answer?.response)).toEqual(["好", "新"]);
    rounds = [];
    serve({ "/conversations/conv_1": () => error(404, "not_found") });
    await chat.sync();
    expect(chat.phase).toBe("missing");
  });

  it("says when there is no such conversation, and when there is no server", async () => {
    serve({ "/conversations/conv_x": () => error(404, "not_found") });
    const chat = new Chat();
    await chat.open("conv_x");
    expect(chat.phase).toBe("missing");
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("offline")));
    await chat.open("conv_y");
    expect(chat.phase).toBe("error");
  });

  it("never shows one conversation's rounds in another that was opened meanwhile", async () => {
    let slow = () => {};
    serve({
      "/conversations/conv_1": () => new Promise<Response>((resolve) => (slow = () => resolve(ok(detail)))),
      "/conversations/conv_2": () => ok({ ...detail, title: "二", rounds: [] }),
    });
    const chat = new Chat();
    const first = chat.open("conv_1");
    await chat.open("conv_2");
    slow();
    await first;
    expect([chat.id, chat.title, chat.turns.length]).toEqual(["conv_2", "二", 0]);
  });
});
