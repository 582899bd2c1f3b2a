/** A report's text and metadata to the blocks the page draws, in order (SPEC U4, U5). Pure apart from the sanitiser's DOM. */
import type { Token, Tokens } from "marked";
import type { ChartRef, CodeRef, FileRef, Metadata } from "$lib/api/types";
import { urls } from "$lib/api/client";
import { escapeHtml, lex, render, renderInline, renderMarkdown } from "./markdown";
import { sanitize, sanitizeFragment, type LinkScope } from "./sanitize";
import { segmentReport } from "./segments";

export interface Cell {
  html: string;
  text: string;
  /** The figure of the answer's audit that the cell is. */
  figure?: number;
}

export type Block =
  | { kind: "rich"; html: string }
  | { kind: "table"; header: Cell[]; rows: Cell[][]; align: (string | null)[] }
  | { kind: "code"; language: string; code: string }
  | { kind: "codeRef"; ref: CodeRef; saved: boolean }
  | { kind: "frame"; html: string }
  | { kind: "chart"; chart: ChartRef }
  | { kind: "pending" };

export interface ReportInput {
  text: string;
  metadata: Metadata;
  scope: LinkScope;
  /** While the model still writes, HTML is not run: its place is held. */
  streaming?: boolean;
}

const CODE_MARK = /\{\{CODE:(\d+)\}\}|<!--\s*CODE_SAVED:\s*(code_[a-z0-9_]{1,64})\s*(?:\||-->)(?:[\s\S]*?-->)?/g;
const CHART_MARK = /\{\{CHART:(\d+)\}\}/g;
const CHART_ALONE = /^\s*\{\{CHART:(\d+)\}\}\s*$/;
const FILE_MARK = /\{\{FILE:(\d+)\}\}/g;

const byIndex = <T extends { index?: number }>(refs: T[], index: number): T | undefined =>
  refs.find((ref) => ref.index === index) ?? (refs.every((ref) => ref.index === undefined) ? refs[index - 1] ?? refs[index] : undefined);

/** Marks travel through the markdown lexer as private characters, which no report may hold by itself. */
const mark = (id: string) => `\uE000${id}\uE001`;
const MARKED = /\uE000([\w-]+)\uE001/g;

function withCodeMarks(text: string, metadata: Metadata, refs: Map<string, { ref: CodeRef; saved: boolean }>): string {
  return text.replace(/[\uE000\uE001]/g, "").replace(CODE_MARK, (raw, index: string | undefined, savedId: string | undefined) => {
    const ref = savedId
      ? metadata.saved_codes?.find((code) => code.code_id === savedId) ?? { code_id: savedId, language: "", description: "" }
      : byIndex(metadata.code_refs ?? [], Number(index));
    if (!ref) return raw;
    refs.set(ref.code_id, { ref, saved: savedId !== undefined });
    return mark(ref.code_id);
  });
}

function withFileChips(text: string, refs: FileRef[], scope: LinkScope): string {
  return text.replace(FILE_MARK, (raw, index: string) => {
    const ref = byIndex(refs, Number(index));
    if (!ref) return raw;
    return `<a class="file-chip" href="${escapeHtml(urls.download(ref.filename, scope.conversation))}">${escapeHtml(ref.filename)}</a>`;
  });
}

function cell(tokens: Token[], scope: LinkScope): Cell {
  const holder = document.createElement("div");
  holder.append(sanitizeFragment(renderInline(tokens), scope));
  return { html: holder.innerHTML, text: holder.textContent ?? "" };
}

/** Unchanged paragraphs of a growing draft are not rendered again. */
const cache = new Map<string, Block>();
const CACHE_LIMIT = 2000;

function blockOf(token: Token, scope: LinkScope): Block {
  const key = `${scope.conversation}\0${[...scope.files].join("\0")}\0${token.type}\0${token.raw}`;
  const hit = cache.get(key);
  if (hit) return hit;
  const block = makeBlock(token, scope);
  if (cache.size >= CACHE_LIMIT) cache.clear();
  cache.set(key, block);
  return block;
}

function makeBlock(token: Token, scope: LinkScope): Block {
  if (token.type === "table") {
    const table = token as Tokens.Table;
    return {
      kind: "table", align: table.align,
      header: table.header.map((head) => cell(head.tokens, scope)),
      rows: table.rows.map((row) => row.map((item) => cell(item.tokens, scope))),
    };
  }
  if (token.type === "code") return { kind: "code", language: (token as Tokens.Code).lang ?? "", code: (token as Tokens.Code).text.replace(MARKED, "$1") };
  return { kind: "rich", html: sanitize(render([token]), scope) };
}

/** The tags of SPEC P10 are resolved by the server; a draft still has them. The place of a chart is held like that of any HTML. */
const draftRefs = (text: string): string =>
  text.replace(/<(code|file)_ref>\s*([\w-]+)\s*<\/\1_ref>/g, (_tag, _kind, id: string) => `\`${id}\``)
    .replace(/<(?:code|file)_ref>[^<]*$/, "").replace(/<chart\b[^>]*?(?:\/>|>[\s\S]*?<\/chart>|>|$)/g, "\n\n<div></div>\n\n");

/** A code mark alone in its paragraph is its card; within a sentence it is a chip, and the card follows the paragraph. */
function proseBlocks(text: string, input: ReportInput, placed: Set<string>): Block[] {
  const blocks: Block[] = [];
  const refs = new Map<string, { ref: CodeRef; saved: boolean }>();
  const markdown = withFileChips(withCodeMarks(text, input.metadata, refs), input.metadata.file_refs ?? [], input.scope);
  for (const token of lex(markdown)) {
    if (token.type === "space" || token.type === "def") continue;
    const chart = byIndex(input.metadata.charts ?? [], Number(CHART_ALONE.exec(token.raw)?.[1]));
    if (chart) {
      blocks.push({ kind: "chart", chart });
      continue;
    }
    const mentioned = [...new Set([...token.raw.matchAll(MARKED)].map((match) => match[1] ?? ""))].filter((id) => !placed.has(id));
    const alone = mentioned.length > 0 && token.raw.replace(MARKED, "").trim() === "";
    if (!alone) blocks.push(blockOf(token, input.scope));
    for (const id of mentioned) {
      const found = refs.get(id);
      if (!found) continue;
      placed.add(id);
      blocks.push({ kind: "codeRef", ...found });
    }
  }
  return blocks.filter((block) => block.kind !== "rich" || block.html.trim() !== "");
}

export function buildReport(input: ReportInput): Block[] {
  const text = input.streaming ? draftRefs(input.text) : input.text;
  const placed = new Set<string>();
  const blocks: Block[] = [];
  const prose = (markdown: string) => sanitize(renderMarkdown(markdown), input.scope);
  for (const segment of segmentReport(text, prose)) {
    if (segment.kind === "prose") blocks.push(...proseBlocks(segment.text, input, placed));
    else if (input.streaming) blocks.push({ kind: "pending" });
    else blocks.push({ kind: "frame", html: plainMarks(segment.text, input.metadata) });
  }
  const even = evenHeadings(blocks);
  return input.streaming ? even : [...even, ...unplaced(input.metadata, placed)];
}

/** A report may begin at any level and leave some out: here its headings follow the question's (h2) one by one. */
function evenHeadings(blocks: Block[]): Block[] {
  const open: number[] = [];
  const level = (written: number) => {
    while ((open.at(-1) ?? 0) >= written) open.pop();
    return Math.min(6, 2 + open.push(written));
  };
  return blocks.map((block) => {
    if (block.kind !== "rich" || !/<h[1-6]>/.test(block.html)) return block;
    return { ...block, html: block.html.replace(/<h([1-6])>([\s\S]*?)<\/h\1>/g, (_all, written: string, inner: string) => {
      const shown = level(Number(written));
      return `<h${shown}>${inner}</h${shown}>`;
    }) };
  });
}

/** Inside HTML a mark becomes its name; the card of the code follows the report. */
const plainMarks = (html: string, metadata: Metadata): string =>
  html
    .replace(CHART_MARK, "")
    .replace(CODE_MARK, (_raw, index: string | undefined, saved: string | undefined) => saved ?? byIndex(metadata.code_refs ?? [], Number(index))?.code_id ?? "")
    .replace(FILE_MARK, (raw, index: string) => escapeHtml(byIndex(metadata.file_refs ?? [], Number(index))?.filename ?? raw));

/** Code that the text never mentions is listed after it, so that nothing saved goes unseen. */
function unplaced(metadata: Metadata, placed: Set<string>): Block[] {
  const rest: Block[] = [];
  for (const [refs, saved] of [[metadata.code_refs ?? [], false], [metadata.saved_codes ?? [], true]] as const) {
    for (const ref of refs) {
      if (placed.has(ref.code_id)) continue;
      placed.add(ref.code_id);
      rest.push({ kind: "codeRef", ref, saved });
    }
  }
  return rest;
}
