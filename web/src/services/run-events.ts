/** All durable events of a finished or running run, for its timeline. Stops at the end, or after a short silence. */
import { failure, urls } from "$lib/api/client";
import { TERMINAL } from "./run-stream";
import { SseParser } from "./sse";

export interface TimedEvent {
  at?: string;
  event: string;
  data: Record<string, unknown>;
}

const SILENCE_MS = 1500;

/** Events carry their time as `at`, in the envelope or in their data. */
export async function runEvents(runId: string): Promise<TimedEvent[]> {
  const abort = new AbortController();
  let timer = setTimeout(() => abort.abort(), SILENCE_MS * 4);
  const events: TimedEvent[] = [];
  try {
    const response = await fetch(urls.events(runId), { signal: abort.signal, credentials: "same-origin" });
    if (!response.ok || !response.body) throw await failure(response);
    const reader = response.body.pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>).getReader();
    const parser = new SseParser();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      clearTimeout(timer);
      timer = setTimeout(() => abort.abort(), SILENCE_MS);
      for (const raw of parser.push(value)) {
        const data = JSON.parse(raw.data) as Record<string, unknown>;
        events.push({ event: raw.event, data, at: typeof data.at === "string" ? data.at : undefined });
        if (TERMINAL.has(raw.event)) return events;
      }
    }
  } catch (error) {
    if (!abort.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
  return events;
}
