/** Asks the server for a document of an answer and follows its progress. Knows the wire, not the page. */
import { failure, urls } from "$lib/api/client";
import { SseParser } from "./sse";

export type ReportFormat = "pdf" | "docx" | "pptx" | "xlsx" | "ipynb" | "html" | "md";

export interface ReportChoice {
  format: ReportFormat;
  run_id?: string;
  lang?: string;
}

export interface ReportFile {
  name: string;
  size: number;
}

/** Resolves with the kept file; rejects with the server's reason, or when the stream ends early. */
export async function makeReport(conversation: string, choice: ReportChoice, onProgress: (fraction: number) => void): Promise<ReportFile> {
  const response = await fetch(urls.report(conversation), {
    method: "POST", credentials: "same-origin", headers: { "Content-Type": "application/json" }, body: JSON.stringify(choice),
  });
  if (!response.ok || !response.body) throw await failure(response);
  const parser = new SseParser();
  const reader = response.body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error("…");
    for (const event of parser.push(value)) {
      if (event.event === "report.progress") onProgress((JSON.parse(event.data) as { fraction: number }).fraction);
      else if (event.event === "report.done") return JSON.parse(event.data) as ReportFile;
      else if (event.event === "report.failed") throw new Error((JSON.parse(event.data) as { message: string }).message);
    }
  }
}
