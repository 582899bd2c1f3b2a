/**
 * Cuts a report into prose and HTML regions. HTML regions go to the sandboxed frame (SPEC U9), prose to the markdown
 * renderer. Only cuts text; renders and runs nothing. A region that looks unfinished is still HTML: when in doubt, the sandbox.
 */

export interface Segment {
  kind: "prose" | "html";
  text: string;
  /** An HTML region whose closing tag has not arrived (yet). */
  open?: boolean;
}

const OPENERS = "!doctype|html|head|body|div|script|style|section|article|main|canvas|svg|iframe|object|embed|form|link|meta";
const OPENER = new RegExp(`<(${OPENERS})(?=[\\s>/])`, "i");
const VOID = new Set(["!doctype", "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]);
const RAW = new Set(["script", "style", "textarea", "title"]);

/** Spans of fenced and inline code: nothing inside them is a tag. */
function codeSpans(text: string): [number, number][] {
  const spans: [number, number][] = [];
  const pattern = /^ {0,3}(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^ {0,3}\1[`~]*[ \t]*$|$(?![\s\S]))|(`+)(?!`)[^\n]*?[^`\n]\2(?!`)/gm;
  for (const match of text.matchAll(pattern)) spans.push([match.index, match.index + match[0].length]);
  return spans;
}

function findOpener(text: string, from: number, spans: [number, number][]): number {
  for (let at = from; ; ) {
    const found = OPENER.exec(text.slice(at));
    if (!found) return -1;
    const index = at + found.index;
    const inside = spans.find(([start, end]) => index >= start && index < end);
    if (!inside) return index;
    at = inside[1];
  }
}

/** Where the element that starts at `start` ends, or -1 when it never closes. Attribute values may hold `>`. */
function elementEnd(text: string, start: number): number {
  const tag = /<!--[\s\S]*?(?:-->|$)|<(\/?)([a-z!][\w-]*)((?:"[^"]*"|'[^']*'|[^'">])*)>/gi;
  tag.lastIndex = start;
  let depth = 0;
  for (let match = tag.exec(text); match; match = tag.exec(text)) {
    const name = (match[2] ?? "").toLowerCase();
    if (!name) continue;
    if (match[1]) depth -= 1;
    else if (RAW.has(name)) {
      const close = new RegExp(`</${name}\\s*>`, "gi");
      close.lastIndex = tag.lastIndex;
      const end = close.exec(text);
      if (!end) return -1;
      tag.lastIndex = close.lastIndex;
    } else if (!VOID.has(name) && !match[3]?.endsWith("/")) depth += 1;
    if (depth <= 0) return tag.lastIndex;
  }
  return -1;
}

function split(text: string): Segment[] {
  const segments: Segment[] = [];
  const spans = codeSpans(text);
  let at = 0;
  while (at < text.length) {
    const start = findOpener(text, at, spans);
    if (start < 0) break;
    if (text.slice(at, start).trim()) segments.push({ kind: "prose", text: text.slice(at, start) });
    let end = elementEnd(text, start);
    // Neighbouring elements with only space or comments between them belong together.
    for (let next = end; end >= 0; end = next) {
      const gap = /^(?:\s|<!--(?! *CODE_SAVED)[\s\S]*?-->)*/.exec(text.slice(end))?.[0].length ?? 0;
      if (text.slice(end + gap).search(OPENER) !== 0) break;
      next = elementEnd(text, end + gap);
      if (next < 0) {
        end = -1;
        break;
      }
    }
    segments.push({ kind: "html", text: text.slice(start, end < 0 ? undefined : end), ...(end < 0 ? { open: true } : {}) });
    if (end < 0) return segments;
    at = end;
  }
  if (text.slice(at).trim()) segments.push({ kind: "prose", text: text.slice(at) });
  return segments;
}

const ids = (html: string) => [...html.matchAll(/\bid\s*=\s*["']?([\w-]+)/gi)].map((match) => match[1] ?? "");
const scripts = (html: string) => [...html.matchAll(/<script[^>]*>([\s\S]*?)(?:<\/script|$)/gi)].map((match) => match[1] ?? "").join("\n");
const withoutScripts = (html: string) => html.replace(/<script[^>]*>[\s\S]*?(?:<\/script\s*>|$)/gi, "");

/** The first earlier region a region's scripts reach into, if any: by id, or because it has nothing of its own to draw on. */
function reachesInto(segments: Segment[], index: number): number {
  const script = scripts(segments[index]?.text ?? "");
  if (!script) return index;
  const own = new Set(ids(withoutScripts(segments[index]?.text ?? "")));
  for (let earlier = 0; earlier < index; earlier += 1) {
    const segment = segments[earlier];
    if (segment?.kind !== "html") continue;
    if (ids(withoutScripts(segment.text)).some((id) => !own.has(id) && new RegExp(`["'#\`]${id}["'\`]`).test(script))) return earlier;
  }
  if (withoutScripts(segments[index]?.text ?? "").trim()) return index;
  for (let earlier = index - 1; earlier >= 0; earlier -= 1) if (segments[earlier]?.kind === "html") return earlier;
  return index;
}

/** Prose and HTML in order. A script that draws into an earlier region shares one frame with it, and with the prose between. */
export function segmentReport(text: string, renderProse: (markdown: string) => string): Segment[] {
  let segments = split(text);
  for (let index = 0; index < segments.length; index += 1) {
    if (segments[index]?.kind !== "html") continue;
    const first = reachesInto(segments, index);
    if (first === index) continue;
    const group = segments.slice(first, index + 1);
    const html = group.map((segment) => (segment.kind === "html" ? segment.text : renderProse(segment.text))).join("\n");
    const open = group.some((segment) => segment.open);
    segments = [...segments.slice(0, first), { kind: "html", text: html, ...(open ? { open } : {}) }, ...segments.slice(index + 1)];
    index = first;
  }
  return segments;
}
