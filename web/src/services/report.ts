/** A report's text and metadata to the blocks the page draws, in order (SPEC U4, U5). Pure apart from the sanitiser's DOM. */
import type { Token, Tokens } from "marked";
import type { CodeRef, FileRef, Metadata } from "$lib/api/types";
import { urls } from "$lib/api/client";
import { escapeHtml, lex, render, renderInline, renderMarkdown } from "./markdown";
import { sanitize, sanitizeFragment, type LinkScope } from "./sanitize";
import { segmentReport } from "./segments";

export interface Cell {
  html: string;
  text: string;
}

export type Block =
  | { kind: "rich"; html: string }
  | { kind: "table"; header: Cell[]; rows: Cell[][]; align: (string | null)[] }
  | { kind: "code"; language: string; code: string }
  | { kind: "codeRef"; ref: CodeRef; saved: boolean }
  | { kind: "frame"; html: string }
  | { kind: "pending" };

export interface ReportInput {
  text: string;
  metadata: Metadata;
  scope: LinkScope;
  /** While the model still writes, HTML is not run: its place is held. */
  streaming?: boolean;
}

const CODE_MARK = /\{\{CODE:(\d+)\}\}|<!--\s*CODE_SAVED:\s*(code_[a-z0-9_]{1,64})\s*(?:\||-->)(?:[\s\S]*?-->)?/g;
const FILE_MARK = /\{\{FILE:(\d+)\}\}/g;

const byIndex = <T extends { index?: number }>(refs: T[], index: number): T | undefined =>
  refs.find((ref) => ref.index === index) ?? (refs.every((ref) => ref.index === undefined) ? refs[index - 1] ?? refs[index] : undefined);

/** Splits prose at its code marks, so that each code card stands where the model put it. */
function cutAtCode(text: string, metadata: Metadata): { text: string; ref?: CodeRef; saved?: boolean }[] {
  const pieces: { text: string; ref?: CodeRef; saved?: boolean }[] = [];
  let at = 0;
  for (const match of text.matchAll(CODE_MARK)) {
    const saved = match[2] !== undefined;
    const ref = saved
      ? metadata.saved_codes?.find((code) => code.code_id === match[2]) ?? { code_id: match[2] ?? "", language: "", description: "" }
      : byIndex(metadata.code_refs ?? [], Number(match[1]));
    pieces.push({ text: text.slice(at, match.index), ref, saved });
    at = match.index + match[0].length;
  }
  pieces.push({ text: text.slice(at) });
  return pieces;
}

function withFileChips(text: string, refs: FileRef[], scope: LinkScope): string {
  return text.replace(FILE_MARK, (mark, index: string) => {
    const ref = byIndex(refs, Number(index));
    if (!ref) return mark;
    return `<a class="file-chip" href="${escapeHtml(urls.download(ref.filename, scope.conversation))}">📄 ${escapeHtml(ref.filename)}</a>`;
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
  if (token.type === "code") return { kind: "code", language: (token as Tokens.Code).lang ?? "", code: (token as Tokens.Code).text };
  return { kind: "rich", html: sanitize(render([token]), scope) };
}

/** The tags of SPEC P10 are resolved by the server; a draft still has them. */
const draftRefs = (text: string): string =>
  text.replace(/<(code|file)_ref>\s*([\w-]+)\s*<\/\1_ref>/g, (_tag, _kind, id: string) => `\`${id}\``).replace(/<(?:code|file)_ref>[^<]*$/, "");

function proseBlocks(text: string, input: ReportInput, placed: Set<string>): Block[] {
  const blocks: Block[] = [];
  for (const piece of cutAtCode(text, input.metadata)) {
    const markdown = withFileChips(piece.text, input.metadata.file_refs ?? [], input.scope);
    // References (`[x]: url`) live on the token list as a whole, so it is lexed at once and drawn block by block.
    for (const token of lex(markdown)) if (token.type !== "space" && token.type !== "def") blocks.push(blockOf(token, input.scope));
    if (piece.ref) {
      placed.add(piece.ref.code_id);
      blocks.push({ kind: "codeRef", ref: piece.ref, saved: piece.saved ?? false });
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
    else {
      const marks = [...segment.text.matchAll(CODE_MARK)];
      blocks.push({ kind: "frame", html: segment.text.replace(CODE_MARK, "").replace(FILE_MARK, (mark, index: string) =>
        escapeHtml(byIndex(input.metadata.file_refs ?? [], Number(index))?.filename ?? mark)) });
      for (const mark of marks) {
        const ref = mark[1] ? byIndex(input.metadata.code_refs ?? [], Number(mark[1])) : undefined;
        if (ref && !placed.has(ref.code_id)) {
          placed.add(ref.code_id);
          blocks.push({ kind: "codeRef", ref, saved: false });
        }
      }
    }
  }
  return input.streaming ? blocks : [...blocks, ...unplaced(input.metadata, placed)];
}

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
