/**
 * One run's events, from the first byte to its last: starts it, reconnects after sleep or loss with `Last-Event-ID`,
 * drops what was seen. Never interprets an event beyond its id and whether it ends the run.
 */
import { ApiError, failure, streamInit, urls } from "$lib/api/client";
import type { QueryBody } from "$lib/api/types";
import { SseParser, type SseEvent } from "./sse";

export interface RunEvent {
  id: string;
  type: string;
  data: Record<string, unknown>;
}

export interface StreamHooks {
  onEvent(event: RunEvent): void;
  onState(state: "connected" | "reconnecting"): void;
}

export const TERMINAL = new Set(["report", "run.failed", "run.cancelled"]);
const SILENCE_MS = 45_000;
const MAX_DELAY_MS = 10_000;

/** Events carry increasing numeric ids; whatever is not newer than the last one was seen before the reconnect. */
export function isNewer(id: string, last: string): boolean {
  if (id === "" || last === "") return true;
  const [a, b] = [Number(id), Number(last)];
  return Number.isFinite(a) && Number.isFinite(b) ? a > b : id !== last;
}

export class RunStream {
  #abort = new AbortController();
  #attempt: AbortController | null = null;
  #wake: (() => void) | null = null;
  #last = "";
  #runId: string | null;
  #ended = false;
  #hooks: StreamHooks;

  constructor(hooks: StreamHooks, resume?: { runId: string; after?: string }) {
    this.#hooks = hooks;
    this.#runId = resume?.runId ?? null;
    this.#last = resume?.after ?? "";
  }

  /** Resolves when the run has ended; rejects only when it cannot be started or followed at all. */
  async follow(body?: QueryBody): Promise<void> {
    const retryNow = () => this.#retryNow();
    addEventListener("online", retryNow);
    document.addEventListener("visibilitychange", retryNow);
    try {
      for (let failures = 0; !this.#ended && !this.#abort.signal.aborted; ) {
        const before = this.#last;
        await this.#connectOnce(body);
        if (this.#ended || this.#abort.signal.aborted) return;
        if (!this.#runId) throw new ApiError(0, "network", "");
        failures = this.#last === before ? failures + 1 : 0;
        this.#hooks.onState("reconnecting");
        await this.#pause(Math.min(MAX_DELAY_MS, 300 * 2 ** failures));
      }
    } finally {
      removeEventListener("online", retryNow);
      document.removeEventListener("visibilitychange", retryNow);
    }
  }

  /** Stops listening. The run itself goes on; cancelling it is the server's business. */
  close(): void {
    this.#abort.abort();
    this.#attempt?.abort();
    this.#wake?.();
  }

  /** Back from sleep: a dead socket may look alive, so one that has been silent is replaced at once. */
  #retryNow(): void {
    if (document.visibilityState !== "visible") return;
    this.#wake?.();
    if (Date.now() - this.#heard > 20_000) this.#attempt?.abort();
  }

  #heard = Date.now();

  async #connectOnce(body?: QueryBody): Promise<void> {
    const attempt = new AbortController();
    this.#attempt = attempt;
    this.#heard = Date.now();
    const watchdog = setInterval(() => {
      if (Date.now() - this.#heard > SILENCE_MS) attempt.abort();
    }, 5_000);
    try {
      const response = await this.#open(attempt.signal, body);
      if (!response.ok || !response.body) throw await failure(response);
      this.#hooks.onState("connected");
      await this.#read(response.body);
    } catch (error) {
      if (error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429) throw error;
      if (error instanceof ApiError && !this.#runId) throw error;
    } finally {
      clearInterval(watchdog);
      attempt.abort();
    }
  }

  #open(signal: AbortSignal, body?: QueryBody): Promise<Response> {
    if (!this.#runId && body) return fetch(urls.stream(), streamInit(body, signal));
    const headers: Record<string, string> = this.#last ? { "Last-Event-ID": this.#last } : {};
    return fetch(urls.events(this.#runId ?? ""), { headers, signal, credentials: "same-origin" });
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const reader = stream.pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>).getReader();
    const parser = new SseParser();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      this.#heard = Date.now();
      for (const event of parser.push(value)) this.#deliver(event);
      if (this.#ended) return void reader.cancel().catch(() => {});
    }
  }

  #deliver(raw: SseEvent): void {
    if (this.#ended || !isNewer(raw.id, this.#last)) return;
    let data: Record<string, unknown>;
    try {
      data = JSON.parse(raw.data) as Record<string, unknown>;
    } catch {
      return;
    }
    if (raw.id) this.#last = raw.id;
    if (raw.event === "run.started" && typeof data.run_id === "string") this.#runId = data.run_id;
    this.#hooks.onEvent({ id: raw.id, type: raw.event, data });
    if (TERMINAL.has(raw.event)) this.#ended = true;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
