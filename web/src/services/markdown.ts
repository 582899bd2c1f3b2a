/** Markdown (GFM and math) to tokens and HTML text. Its output is not safe to show: `sanitize` comes after, always. */
import { Marked, type Token, type Tokens, type TokenizerAndRendererExtension } from "marked";

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[char] ?? char);

const mathRenderer = (name: string) => (token: Tokens.Generic) => `<code class="${name}">${escapeHtml(String(token.text))}</code>`;

const inlineMath: TokenizerAndRendererExtension = {
  name: "inlineMath",
  level: "inline",
  start: (source) => source.search(/\$|\\\(/),
  tokenizer(source) {
    const dollar = /^\$(?!\s|\$)((?:\\.|[^\\$\n])+?)(?<!\s)\$(?!\d|\$)/.exec(source);
    const paren = /^\\\(([\s\S]+?)\\\)/.exec(source);
    const text = paren?.[1] ?? dollar?.[1];
    // "$5 to $7" is money: a formula has an operator, a command, or is a single letter.
    if (text === undefined || (!paren && !/[\\^_={}]|^[a-z]$/i.test(text))) return undefined;
    return { type: "inlineMath", raw: (paren ?? dollar)?.[0] ?? "", text: text.trim() };
  },
  renderer: mathRenderer("ba-math"),
};

const blockMath: TokenizerAndRendererExtension = {
  name: "blockMath",
  level: "block",
  start: (source) => source.search(/(?:^|\n) {0,3}(?:\$\$|\\\[)/),
  tokenizer(source) {
    const found = /^ {0,3}(?:\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\])[ \t]*(?:\n|$)/.exec(source);
    if (!found) return undefined;
    return { type: "blockMath", raw: found[0], text: (found[1] ?? found[2] ?? "").trim() };
  },
  renderer: (token) => `<p><code class="ba-math-block">${escapeHtml(String(token.text))}</code></p>`,
};

/** A mention of saved code; `report.ts` writes it. */
const codeChip: TokenizerAndRendererExtension = {
  name: "codeChip",
  level: "inline",
  start: (source) => source.indexOf("\uE000"),
  tokenizer(source) {
    const found = /^\uE000([\w-]+)\uE001/.exec(source);
    return found ? { type: "codeChip", raw: found[0], text: found[1] ?? "" } : undefined;
  },
  renderer: (token) => `<a class="code-chip" href="#code-${escapeHtml(String(token.text))}">${escapeHtml(String(token.text))}</a>`,
};

const marked = new Marked({
  gfm: true,
  breaks: false,
  extensions: [inlineMath, blockMath, codeChip],
  renderer: {
    // The page's own headings come first: a report's headings sit below the question's.
    heading(token) {
      const level = Math.min(6, token.depth + 2);
      return `<h${level}>${this.parser.parseInline(token.tokens)}</h${level}>`;
    },
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

export const lex = (markdown: string): Token[] => marked.lexer(markdown);
export const render = (tokens: Token[]): string => marked.parser(tokens);
export const renderInline = (tokens: Token[]): string => new marked.Parser(marked.defaults).parseInline(tokens);
export const renderMarkdown = (markdown: string): string => render(lex(markdown));
