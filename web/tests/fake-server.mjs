/**
 * A stand-in for the server: serves dist/ with the headers of SERVING.md and the API with scripted runs.
 * For the page's own tests only; keeps everything in memory and checks nothing it does not need to.
 */
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { scenario } from "./fake-scenarios.mjs";

const DIST = fileURLToPath(new URL("../dist/", import.meta.url));
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css", ".svg": "image/svg+xml", ".woff2": "font/woff2" };
const serving = readFileSync(new URL("../SERVING.md", import.meta.url), "utf8");
const policies = [...serving.matchAll(/^Content-Security-Policy: (.*)$/gm)].map((match) => match[1]);
export const [PAGE_CSP, FRAME_CSP] = policies;
const PNG = readFileSync(new URL("./fixtures/chart.png", import.meta.url));

const PROFILE = {
  tables: [
    {
      name: "retail", rows: 48210,
      columns: [
        { name: "order_id", type: "VARCHAR", nulls: 0, distinct: 48207, examples: ["SO-10001", "SO-10002"] },
        { name: "date", type: "DATE", nulls: 0, distinct: 731, min: "2023-01-01", max: "2024-12-31" },
        { name: "region", type: "VARCHAR", nulls: 12, distinct: 5, top: [{ value: "华东", count: 16200 }, { value: "华北", count: 11020 }] },
        { name: "category", type: "VARCHAR", nulls: 0, distinct: 8, top: [{ value: "家电", count: 9001 }] },
        { name: "amount", type: "DOUBLE", nulls: 3, distinct: 20111, min: -120, max: 98211.5, mean: 1124.4 },
      ],
      notes: ["3 行重复", "region 有 12 个空值", "amount 有 2 个负值"], guesses: ["编码 GB18030", "表头在第 1 行"],
      preview: [["SO-10001", "2023-01-01", "华东", "家电", 1299], ["SO-10002", "2023-01-01", "华北", "数码", 4599.5], ["SO-10003", "2023-01-02", "华东", "食品", 88]],
    },
  ],
};

class State {
  conversations = new Map();
  runs = new Map();
  counter = 0;

  conversation(id) {
    if (id) return this.conversations.get(id);
    const created = { conversation_id: `conv_${String((this.counter += 1)).padStart(12, "0")}`, title: "", created_at: new Date().toISOString(), updated_at: new Date().toISOString(), rounds: [], files: [], codes: [] };
    this.conversations.set(created.conversation_id, created);
    return created;
  }
}

class Run {
  events = [];
  listeners = new Set();
  status = "running";
  seq = 0;

  constructor(id, conversation, body, pause) {
    Object.assign(this, { id, conversation, body, created_at: new Date().toISOString() });
    this.emit("run.started", { run_id: id, conversation_id: conversation.conversation_id, message: body.message });
    void this.play(scenario(body.message, pause));
  }

  emit(event, data) {
    const passing = event === "text.delta" || event === "tool.progress";
    const item = { id: passing ? "" : String((this.seq += 1)), event, data, at: new Date().toISOString() };
    if (!passing) this.events.push(item);
    for (const listener of this.listeners) listener(item);
  }

  async play(script) {
    for (const [pause, event, data] of script) {
      if (pause) await new Promise((resolve) => { this.wake = resolve; setTimeout(resolve, pause); });
      if (this.status !== "running") return;
      const full = data.metadata ? { ...data, run_id: this.id, conversation_id: this.conversation.conversation_id } : data;
      if (event === "report") this.finish("complete", full);
      if (event === "run.failed") this.finish("failed", null, data.error);
      this.emit(event, full);
    }
  }

  finish(status, answer = null, error = null) {
    this.status = status;
    const steps = this.events.filter((item) => item.event === "tool.finished").map((item) => ({ ...item.data, arguments: this.events.find((other) => other.event === "tool.started" && other.data.tool_call_id === item.data.tool_call_id)?.data.arguments }));
    this.conversation.rounds.push({ run_id: this.id, user_message: this.body.message, created_at: this.created_at, status, answer, error, steps, file_ids: this.body.file_ids ?? [] });
    this.conversation.updated_at = new Date().toISOString();
    for (const code of [...(answer?.metadata.code_refs ?? []), ...(answer?.metadata.saved_codes ?? [])]) {
      if (!this.conversation.codes.some((item) => item.code_id === code.code_id)) this.conversation.codes.push({ ...code, version: 1, line_count: 12 });
    }
  }

  cancel() {
    if (this.status !== "running") return;
    this.finish("cancelled");
    this.wake?.();
    this.emit("run.cancelled", {});
  }

  info() {
    return { run_id: this.id, conversation_id: this.conversation.conversation_id, status: this.status, created_at: this.created_at, user_message: this.body.message, duration_ms: 1840, model: "fake:model", usage: { input_tokens: 2310, output_tokens: 640 } };
  }
}

const readBody = (request) => new Promise((resolve) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk)).on("end", () => resolve(Buffer.concat(chunks)));
});

function sse(request, response, run, after) {
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform" });
  const send = (item) => {
    response.write(`${item.id ? `id: ${item.id}\n` : ""}event: ${item.event}\ndata: ${JSON.stringify(item.data)}\n\n`);
    if (["report", "run.failed", "run.cancelled"].includes(item.event)) response.end();
  };
  for (const item of run.events) if (Number(item.id) > after) send(item);
  run.listeners.add(send);
  request.on("close", () => run.listeners.delete(send));
}

export function startFake({ port = 0, auth = false, offline = false, pause = 20 } = {}) {
  const state = new State();
  const open = new Set();
  const ok = (response, data) => response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ success: true, data }));
  const fail = (response, status, code, message) => response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify({ success: false, error: { code, message } }));

  function file(request, response, path) {
    const name = path === "/" ? "index.html" : path === "/frame" ? "frame.html" : path.slice(1);
    if (name.includes("..") || !existsSync(DIST + name)) return response.writeHead(404).end();
    const headers = { "Content-Type": TYPES[extname(name)] ?? "application/octet-stream", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin" };
    if (name === "index.html") headers["Content-Security-Policy"] = PAGE_CSP;
    if (name === "frame.html") headers["Content-Security-Policy"] = FRAME_CSP;
    response.writeHead(200, headers).end(readFileSync(DIST + name));
  }

  const addFile = (conversation, filename, size) => {
    const item = { file_id: `upload_${String(conversation.files.length + 1).padStart(3, "0")}`, filename, file_type: extname(filename).slice(1), size, created_at: new Date().toISOString(), description: "", status: "processing" };
    conversation.files.push(item);
    setTimeout(() => Object.assign(item, filename.includes("broken") ? { status: "failed", error: "表头无法识别：第 1 行有 3 列，第 2 行有 7 列" } : { status: "ready", profile: profileFor(filename) }), pause * 10);
    return item;
  };
  const profileFor = (filename) => filename.endsWith(".xlsx")
    ? { tables: ["一月", "二月"].map((sheet) => ({ ...PROFILE.tables[0], sheet, rows: 120 })) }
    : PROFILE;

  const routes = [
    ["GET", /^\/status$/, (_q, r) => ok(r, { version: "0.1.0", model: offline ? "offline" : "fake:model", offline, auth_required: auth, samples: [{ name: "retail", title: "零售", description: "", questions: [] }], file_types: ["csv", "xlsx", "json", "parquet"], upload_limit: 1e9 })],
    ["GET", /^\/auth\/me$/, (_q, r) => ok(r, { user: "ana", role: "user" })],
    ["POST", /^\/auth\/logout$/, (_q, r) => r.writeHead(200, { "Set-Cookie": "ba=; Max-Age=0; Path=/" }).end('{"success":true,"data":null}')],
    ["GET", /^\/conversations$/, (q, r) => ok(r, { conversations: [...state.conversations.values()].filter((item) => item.title.includes(q.searchParams.get("search") ?? "")).reverse().map(({ rounds, files, codes, ...item }) => item) })],
    ["GET", /^\/conversations\/([^/]+)$/, (_q, r, id) => (state.conversation(id) ? ok(r, state.conversation(id)) : fail(r, 404, "not_found", "no such conversation"))],
    ["PATCH", /^\/conversations\/([^/]+)$/, (_q, r, id, body) => (Object.assign(state.conversation(id), JSON.parse(body)), ok(r, state.conversation(id)))],
    ["DELETE", /^\/conversations\/([^/]+)$/, (_q, r, id) => (state.conversations.delete(id), ok(r, null))],
    ["GET", /^\/conversations\/([^/]+)\/export$/, (_q, r, id) => r.writeHead(200, { "Content-Disposition": `attachment; filename="${id}.json"` }).end("{}")],
    ["GET", /^\/conversations\/([^/]+)\/context$/, (_q, r) => ok(r, { window: 128000, tokens: 1212, original_tokens: 4212, saved_tokens: 3000, over_budget: false, parts: [{ kind: "system", role: "system", round: null, tokens: 1100, original_tokens: 1100, synopses: 0, shortened: false, preview: "你是业务分析助手。" }, { kind: "history", role: "user", round: 1, tokens: 100, original_tokens: 3100, synopses: 1, shortened: false, preview: "[文件已读取] data.csv (CSV, 5000行, 列: date, product, amount, region)" }, { kind: "user", role: "user", round: null, tokens: 12, original_tokens: 12, synopses: 0, shortened: false, preview: "各地区销售额？" }] })],
    ["GET", /^\/files$/, (q, r) => ok(r, { files: state.conversation(q.searchParams.get("conversation_id"))?.files ?? [] })],
    ["GET", /^\/files\/download\/(.+)$/, (_q, r, name) => r.writeHead(200, { "Content-Type": name.endsWith(".png") ? "image/png" : "application/octet-stream", "Content-Disposition": `attachment; filename="${name}"`, "Content-Security-Policy": "sandbox; default-src 'none'" }).end(PNG)],
    ["GET", /^\/files\/events$/, (q, r) => {
      r.writeHead(200, { "Content-Type": "text/event-stream" });
      for (const item of state.conversation(q.searchParams.get("conversation_id"))?.files ?? []) if (item.status === "processing") r.write(`event: file.progress\ndata: ${JSON.stringify({ file_id: item.file_id, fraction: 0.4, message: "读取表头" })}\n\n`);
      setTimeout(() => r.end(), pause * 10);
    }],
    ["GET", /^\/files\/([^/]+)$/, (q, r, id) => ok(r, state.conversation(q.searchParams.get("conversation_id")).files.find((item) => item.file_id === id))],
    ["DELETE", /^\/files\/([^/]+)$/, (q, r, id) => { const c = state.conversation(q.searchParams.get("conversation_id")); c.files = c.files.filter((item) => item.file_id !== id); ok(r, null); }],
    ["POST", /^\/files\/upload$/, (_q, r, _id, body) => {
      const text = body.toString("latin1");
      const named = /name="conversation_id"\r\n\r\n([^\r]+)/.exec(text)?.[1];
      const names = [...text.matchAll(/filename="([^"]+)"/g)].map((match) => Buffer.from(match[1], "latin1").toString("utf8"));
      if (names.some((name) => name.endsWith(".exe"))) return fail(r, 415, "unsupported", "unsupported file type");
      const conversation = state.conversation(named);
      ok(r, { conversation_id: conversation.conversation_id, files: names.map((name) => addFile(conversation, name, body.length)) });
    }],
    ["POST", /^\/samples\/load$/, (_q, r) => { const c = state.conversation(); ok(r, { conversation_id: c.conversation_id, files: [addFile(c, "retail.csv", 15300)] }); }],
    ["GET", /^\/code$/, (q, r) => ok(r, { code: state.conversation(q.searchParams.get("conversation_id"))?.codes ?? [] })],
    ["GET", /^\/code\/([^/]+)\/download$/, (_q, r, id) => r.writeHead(200, { "Content-Disposition": `attachment; filename="${id}.py"` }).end("print(1)")],
    ["GET", /^\/code\/([^/]+)$/, (_q, r, id) => ok(r, { code_id: id, language: "python", code: "import pandas as pd\n\ndef growth(df):\n    # 同比 = 今年 / 去年 - 1\n    return df['2024'] / df['2023'] - 1\n" })],
    ["GET", /^\/runs$/, (q, r) => ok(r, { runs: [...state.runs.values()].filter((run) => !q.searchParams.get("conversation_id") || run.conversation.conversation_id === q.searchParams.get("conversation_id")).map((run) => run.info()) })],
    ["GET", /^\/runs\/([^/]+)$/, (_q, r, id) => ok(r, { ...state.runs.get(id).info(), timeline: state.runs.get(id).events.map(({ at, event, data }) => ({ at, event, tool_call_id: data.tool_call_id, tool_name: data.tool_name, success: data.success, summary: data.summary })) })],
    ["POST", /^\/runs\/([^/]+)\/cancel$/, (_q, r, id) => (state.runs.get(id).cancel(), ok(r, null))],
    ["GET", /^\/metrics$/, (_q, r) => ok(r, { agent: { total: { calls: 42, errors: 3, error_rate: 3 / 42, cache_hit_rate: 0.21, mean_ms: 184, p50_ms: 120, p95_ms: 800, p99_ms: 1500 }, tools: [["query_database", { calls: 25, errors: 2, mean_ms: 120, p50_ms: 90, p95_ms: 400 }], ["run_python", { calls: 17, errors: 1, mean_ms: 280, p50_ms: 200, p95_ms: 1200 }]], models: [["fake:model", { calls: 40, input_tokens: 92000, output_tokens: 21000 }]], runs: 12, cost: 0.5 }, live_runs: 0, uptime: 60 })],
  ];

  async function api(request, response, url) {
    const path = url.pathname.slice("/api/v1".length);
    const body = await readBody(request);
    if (path === "/auth/login") {
      const { username, password } = JSON.parse(body);
      if (username !== "ana" || password !== "secret") return fail(response, 401, "unauthorized", "wrong");
      return response.writeHead(200, { "Set-Cookie": "ba=1; HttpOnly; SameSite=Strict; Path=/", "Content-Type": "application/json" }).end('{"success":true,"data":null}');
    }
    if (auth && path !== "/status" && !/ba=1/.test(request.headers.cookie ?? "")) return fail(response, 401, "unauthorized", "sign in");
    if (path === "/agent/query/stream") {
      const query = JSON.parse(body);
      const conversation = state.conversation(query.conversation_id);
      if (!conversation.title) conversation.title = query.message.slice(0, 40);
      const run = new Run(`run_${state.runs.size + 1}`, conversation, query, pause);
      state.runs.set(run.id, run);
      return sse(request, response, run, 0);
    }
    const events = /^\/runs\/([^/]+)\/events$/.exec(path);
    if (events) return sse(request, response, state.runs.get(events[1]), Number(request.headers["last-event-id"] ?? url.searchParams.get("after") ?? 0));
    for (const [method, pattern, handler] of routes) {
      const match = pattern.exec(path);
      if (match && method === request.method) return handler(url, response, match[1] && decodeURIComponent(match[1]), body);
    }
    fail(response, 404, "not_found", path);
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://x");
    if (url.pathname.startsWith("/api/v1/")) api(request, response, url).catch((error) => fail(response, 500, "internal", String(error)));
    else file(request, response, url.pathname);
  });
  server.on("connection", (socket) => open.add(socket.on("close", () => open.delete(socket))));
  return new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve({
    url: `http://127.0.0.1:${server.address().port}`, state,
    /** Cuts every connection, as a sleeping laptop does. */
    cut: () => open.forEach((socket) => socket.destroy()),
    close: () => { open.forEach((socket) => socket.destroy()); server.close(); },
  })));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = await startFake({ port: Number(process.argv[2] ?? 8010), offline: process.argv.includes("offline"), auth: process.argv.includes("auth"), pause: 300 });
  console.log(server.url);
}
