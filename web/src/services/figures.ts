/**
 * Finds the figures of an answer's audit again in its rendered blocks. A figure is known by its text and by how often that
 * text stood before it: both are the same in the Markdown and in what is shown, whatever became of the marks between.
 */
import type { Figure } from "$lib/api/types";
import type { Block, Cell } from "./report";
import { segmentReport } from "./segments";

/** More are not looked for: a page with so many figures is read elsewhere. */
const MAX = 3000;
const HIDDEN = /```[\s\S]*?(?:```|$)|~~~[\s\S]*?(?:~~~|$)|<script\b[\s\S]*?(?:<\/script>|$)|<style\b[\s\S]*?(?:<\/style>|$)|<!--[\s\S]*?(?:-->|$)|`[^`\n]*`|<[a-z/][^>]*>|\]\([^)\n]*\)/gi;

/** Where a text stands alone, not inside a longer number. */
function places(text: string, needle: string): number[] {
  const found: number[] = [];
  const digit = (char: string | undefined) => char !== undefined && char >= "0" && char <= "9";
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) {
    const [before, after] = [text[at - 1], text[at + needle.length]];
    const open = !digit(needle[0]) || !(digit(before) || ((before === "," || before === ".") && digit(text[at - 2])));
    const closed = !digit(needle.at(-1)) || !(digit(after) || ((after === "," || after === ".") && digit(text[at + needle.length + 1])));
    if (open && closed) found.push(at);
  }
  return found;
}

const blank = (text: string) => " ".repeat(text.length);

/** The source with all that is not shown as prose or table blanked out, at the same places. */
function shownSource(text: string): string {
  let shown = text;
  let from = 0;
  for (const segment of segmentReport(text, (markdown) => markdown)) {
    if (segment.kind !== "html") continue;
    const at = text.indexOf(segment.text, from);
    if (at < 0) continue;
    shown = shown.slice(0, at) + blank(segment.text) + shown.slice(at + segment.text.length);
    from = at + segment.text.length;
  }
  return shown.replace(HIDDEN, blank);
}

/** By text: which of its occurrences, from 0, is which figure. */
type Wanted = Map<string, Map<number, number>>;

function wanted(text: string, figures: Figure[]): Wanted {
  const source = shownSource(text);
  // The audit counts characters; a string here counts UTF-16 units.
  const offsets: number[] = [];
  let unit = 0;
  for (const char of text) {
    offsets.push(unit);
    unit += char.length;
  }
  const all: Wanted = new Map();
  const known = new Map<string, number[]>();
  figures.slice(0, MAX).forEach((figure, index) => {
    const at = known.get(figure.text) ?? places(source, figure.text);
    known.set(figure.text, at);
    const ordinal = at.indexOf(offsets[figure.start] ?? -1);
    if (ordinal < 0) return;
    const of = all.get(figure.text) ?? new Map<number, number>();
    all.set(figure.text, of.set(ordinal, index));
  });
  return all;
}

interface Hit {
  start: number;
  end: number;
  figure: number;
}

/** The figures of one stretch of shown text; `seen` counts what came before it. */
function hits(text: string, all: Wanted, seen: Map<string, number>): Hit[] {
  const found: Hit[] = [];
  for (const [needle, of] of all) {
    let count = seen.get(needle) ?? 0;
    for (const start of places(text, needle)) {
      const figure = of.get(count);
      count += 1;
      if (figure !== undefined) found.push({ start, end: start + needle.length, figure });
    }
    seen.set(needle, count);
  }
  return found.sort((a, b) => a.start - b.start).filter((hit, index, list) => index === 0 || hit.start >= (list[index - 1]?.end ?? 0));
}

export const isDoubtful = (figure: Figure): boolean => figure.state === "unproven" || figure.state === "mismatch";

/** Attributes of a figure's element: all can be pointed at; only prose and doubtful ones are stops of the Tab key. */
export const figureClass = (figure: Figure | undefined): string => (figure && isDoubtful(figure) ? `figure doubtful ${figure.state}` : "figure");

function wrap(html: string, all: Wanted, seen: Map<string, number>, figures: Figure[]): string {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  const walker = document.createTreeWalker(holder.content, NodeFilter.SHOW_TEXT);
  const nodes: Text[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node instanceof Text && !node.parentElement?.closest("code, pre, .file-chip, .code-chip")) nodes.push(node);
  }
  for (const node of nodes) {
    for (const hit of hits(node.data, all, seen).reverse()) {
      const middle = node.splitText(hit.start);
      middle.splitText(hit.end - hit.start);
      const element = document.createElement("span");
      element.className = figureClass(figures[hit.figure]);
      element.dataset.figure = String(hit.figure);
      element.tabIndex = 0;
      middle.replaceWith(element);
      element.append(middle);
    }
  }
  return holder.innerHTML;
}

function cellOf(cell: Cell, all: Wanted, seen: Map<string, number>, figures: Figure[]): Cell {
  const before = new Map(seen);
  const found = hits(cell.text, all, seen);
  if (found.length === 0) return cell;
  const whole = found.length === 1 && found[0] && cell.text.trim() === cell.text.slice(found[0].start, found[0].end);
  return { ...cell, html: wrap(cell.html, all, before, figures), ...(whole ? { figure: found[0]?.figure } : {}) };
}

/** The blocks with every figure in an element of its own. Blocks without figures are the same objects. */
export function markFigures(blocks: Block[], text: string, figures: Figure[]): Block[] {
  const all = wanted(text, figures);
  if (all.size === 0) return blocks;
  const seen = new Map<string, number>();
  return blocks.map((block) => {
    if (block.kind === "rich") return { ...block, html: wrap(block.html, all, seen, figures) };
    if (block.kind !== "table") return block;
    const cells = (row: Cell[]) => row.map((cell) => cellOf(cell, all, seen, figures));
    return { ...block, header: cells(block.header), rows: block.rows.map(cells) };
  });
}
