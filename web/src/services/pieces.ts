/** The tables and charts of an answer, numbered within their kind, as they can be pinned to the board. */
import type { AgentResponse } from "$lib/api/types";
import { buildReport, type Block } from "./report";

export interface AnswerPiece {
  kind: "chart" | "table";
  item: number;
  title: string;
  block: Block;
}

export function piecesOf(answer: AgentResponse, files: ReadonlySet<string> = new Set()): AnswerPiece[] {
  const counts = { chart: 0, table: 0 };
  const blocks = buildReport({ text: answer.response, metadata: answer.metadata, scope: { conversation: answer.conversation_id, files: new Set(files) } });
  return blocks.flatMap((block) => {
    const kind = block.kind === "table" ? "table" : block.kind === "chart" || block.kind === "frame" ? "chart" : null;
    if (!kind) return [];
    const item = counts[kind]++;
    const title = block.kind === "chart" ? block.chart.title : block.kind === "table" ? block.header.map((cell) => cell.text).join(" / ") : "";
    return [{ kind, item, title: title.slice(0, 120), block }];
  });
}
