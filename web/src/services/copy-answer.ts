/** An answer for the clipboard: HTML with tables as tables and charts as pictures, and Markdown without scripts. Loaded when one copies. */
import { api } from "$lib/api/client";
import type { ChartRef, CodeRef, Figure, Metadata } from "$lib/api/types";
import { gridOf } from "./chart-option";
import { full } from "$lib/chart/numbers";
import { isDoubtful, markFigures } from "./figures";
import { inlineImages } from "./inline-images";
import { escapeHtml } from "./markdown";
import { buildReport, type Block, type Cell } from "./report";
import { sanitize, type LinkScope } from "./sanitize";
import { segmentReport } from "./segments";
import { shownColumns } from "./table";

export interface Copied {
  html: string;
  markdown: string;
}

export interface CopyInput {
  text: string;
  metadata: Metadata;
  scope: LinkScope;
  language: string;
  /** One line on where the figures come from; empty for none. */
  proof: string;
  /** PNG pictures of each chart and frame, in the order of the report. */
  pictures: string[][];
}

const MAX_ROWS = 200;
const withoutScripts = (html: string) => html.replace(/<(script|style)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, "");
const titleOf = (html: string) => /title\s*:\s*(?:\[\s*)?\{\s*["']?text["']?\s*:\s*["'`]([^"'`]{1,200})/.exec(html)?.[1] ?? "";

async function codes(refs: CodeRef[], conversation: string): Promise<Map<string, string>> {
  const found = await Promise.all(refs.map(async (ref): Promise<[string, string]> => [ref.code_id, (await api.code(ref.code_id, conversation).catch(() => ({ code: "" }))).code ?? ""]));
  return new Map(found);
}

const figureText = (value: string | number | null, language: string) => (typeof value === "number" ? full(value, language) : value ?? "");

const row = (cells: string[], tag: string) => `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`;
const table = (head: string[], body: string[][]) => `<table border="1" cellspacing="0" cellpadding="4"><thead>${row(head, "th")}</thead><tbody>${body.map((cells) => row(cells, "td")).join("")}</tbody></table>`;

function tableHtml(header: Cell[], rows: Cell[][], figures: Figure[]): string {
  const shown = shownColumns(header, rows);
  const cell = (one: Cell | undefined, line: number, column: number) => {
    if (!shown[column]?.numeric) return one?.html ?? "";
    const doubtful = one?.figure !== undefined && figures[one.figure] && isDoubtful(figures[one.figure] as Figure);
    return escapeHtml(shown[column]?.shown[line] ?? "") + (doubtful ? "<sup>?</sup>" : "");
  };
  return table(header.map((one) => one.html), rows.map((cells, line) => header.map((_, column) => cell(cells[column], line, column))));
}

function chartTable(chart: ChartRef, language: string): { head: string[]; body: string[][] } {
  const grid = gridOf(chart);
  return { head: grid.header, body: grid.rows.slice(0, MAX_ROWS).map((cells) => cells.map((value) => figureText(value, language))) };
}

const images = (pictures: string[], alt: string) => pictures.map((picture) => `<p><img src="${picture}" alt="${escapeHtml(alt)}" width="720"></p>`).join("");

/** Marks of the page become what any program shows: a doubtful figure has its question mark, links lead back here. */
function settled(html: string): string {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  for (const node of holder.content.querySelectorAll<HTMLElement>("[data-figure]")) {
    if (node.classList.contains("doubtful")) node.append(Object.assign(document.createElement("sup"), { textContent: "?" }));
    node.replaceWith(...node.childNodes);
  }
  for (const link of holder.content.querySelectorAll("a[href^='/']")) link.setAttribute("href", new URL(link.getAttribute("href") ?? "", location.origin).href);
  for (const chip of holder.content.querySelectorAll("a[href^='#']")) chip.replaceWith(...chip.childNodes);
  return holder.innerHTML;
}

function htmlOf(block: Block, input: CopyInput, figures: Figure[], code: Map<string, string>, picture: () => string[]): string {
  const pre = (text: string) => `<pre><code>${escapeHtml(text)}</code></pre>`;
  switch (block.kind) {
    case "rich":
      return block.html;
    case "table":
      return tableHtml(block.header, block.rows, figures);
    case "code":
      return pre(block.code);
    case "codeRef":
      return `<p>${escapeHtml(block.ref.description || block.ref.code_id)}</p>${pre(code.get(block.ref.code_id) ?? "")}`;
    case "frame":
      return sanitize(withoutScripts(block.html), input.scope) + images(picture(), titleOf(block.html));
    case "chart": {
      const drawn = picture();
      const { head, body } = chartTable(block.chart, input.language);
      const title = `<p><b>${escapeHtml(block.chart.title)}</b>${block.chart.unit ? ` (${escapeHtml(block.chart.unit)})` : ""}</p>`;
      return title + (drawn.length ? images(drawn, block.chart.title) : table(head.map(escapeHtml), body.map((cells) => cells.map(escapeHtml))));
    }
    default:
      return "";
  }
}

const line = (cells: string[]) => `| ${cells.map((cell) => cell.replace(/\|/g, "\\|").replace(/\s*\n\s*/g, " ").trim()).join(" | ")} |`;
const markdownTable = (head: string[], body: string[][]) => [line(head), line(head.map(() => "---")), ...body.map(line)].join("\n");

/** HTML of a report as Markdown: its tables and texts; of a chart's script only the title. */
function plainHtml(html: string): string {
  const parsed = new DOMParser().parseFromString(withoutScripts(html), "text/html");
  for (const one of parsed.querySelectorAll("table")) {
    const rows = [...one.rows].map((cells) => [...cells.cells].map((cell) => cell.textContent ?? ""));
    one.replaceWith(`\n\n${markdownTable(rows[0] ?? [], rows.slice(1))}\n\n`);
  }
  for (const head of parsed.querySelectorAll("h1,h2,h3,h4,h5,h6")) head.replaceWith(`\n\n${"#".repeat(Number(head.tagName[1]))} ${head.textContent?.trim() ?? ""}\n\n`);
  for (const part of parsed.querySelectorAll("p,div,li,br,section")) part.append("\n");
  const title = titleOf(html);
  return [title ? `**${title}**` : "", parsed.body.textContent?.replace(/[ \t]+\n/g, "\n").replace(/\n{3,}/g, "\n\n").trim() ?? ""].filter(Boolean).join("\n\n");
}

function withMarks(text: string, figures: Figure[]): string {
  const chars = [...text];
  for (const figure of [...figures].filter(isDoubtful).sort((a, b) => b.start - a.start)) chars.splice(figure.end, 0, "[?]");
  return chars.join("");
}

function markdownOf(input: CopyInput, refs: CodeRef[], code: Map<string, string>): string {
  const { metadata } = input;
  const used = new Set<string>();
  const fenced = (ref: CodeRef | undefined) => {
    if (!ref) return "";
    used.add(ref.code_id);
    return `\n\n\`\`\`${ref.language}\n${(code.get(ref.code_id) ?? "").trimEnd()}\n\`\`\`\n\n`;
  };
  const chart = (index: number) => {
    const found = (metadata.charts ?? []).find((one) => one.index === index);
    if (!found) return "";
    const { head, body } = chartTable(found, input.language);
    return `\n\n**${found.title}**${found.unit ? ` (${found.unit})` : ""}\n\n${markdownTable(head, body)}\n\n`;
  };
  const prose = (text: string) =>
    text
      .replace(/\{\{CODE:(\d+)\}\}/g, (_mark, index: string) => fenced((metadata.code_refs ?? []).find((ref) => ref.index === Number(index))))
      .replace(/<!--\s*CODE_SAVED:\s*(code_[a-z0-9_]{1,64})[\s\S]*?-->/g, (_mark, id: string) => fenced(refs.find((ref) => ref.code_id === id)))
      .replace(/\{\{CHART:(\d+)\}\}/g, (_mark, index: string) => chart(Number(index)))
      .replace(/\{\{FILE:(\d+)\}\}/g, (mark, index: string) => (metadata.file_refs ?? []).find((ref) => ref.index === Number(index))?.filename ?? mark);
  const body = segmentReport(withMarks(input.text, metadata.audit?.figures ?? []), (text) => text).map((part) => (part.kind === "prose" ? prose(part.text) : plainHtml(part.text)));
  const rest = refs.filter((ref) => !used.has(ref.code_id)).map(fenced);
  return [...body, ...rest, input.proof && `*${input.proof}*`].filter(Boolean).map((part) => part.trim()).join("\n\n").replace(/\n{3,}/g, "\n\n");
}

export async function answerForClipboard(input: CopyInput): Promise<Copied> {
  const figures = input.metadata.audit?.figures ?? [];
  const plain = buildReport(input);
  const blocks = figures.length ? markFigures(plain, input.text, figures) : plain;
  const refs = blocks.flatMap((block) => (block.kind === "codeRef" ? [block.ref] : []));
  const code = await codes(refs, input.scope.conversation);
  let at = 0;
  const picture = () => input.pictures[at++] ?? [];
  const html = blocks.map((block) => htmlOf(block, input, figures, code, picture)).join("\n") + (input.proof ? `<p><small>${escapeHtml(input.proof)}</small></p>` : "");
  return { html: settled(await inlineImages(html, input.scope)), markdown: markdownOf(input, refs, code) };
}
