"""Cuts a report into prose and regions of HTML, as the page does (`web/src/services/segments.ts`). Runs nothing."""

import re

_OPENERS = "!doctype|html|head|body|div|script|style|section|article|main|canvas|svg|iframe|object|embed|form|link|meta"
_OPENER = re.compile(rf"<({_OPENERS})(?=[\s>/])", re.I)
_VOID = {"!doctype", "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_RAW = {"script", "style", "textarea", "title"}
_CODE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)|(`+)(?!`)[^\n]*?[^`\n]\2(?!`)", re.M)
_TAG = re.compile(r"""<!--[\s\S]*?(?:-->|$)|<(/?)([a-z!][\w-]*)((?:"[^"]*"|'[^']*'|[^'">])*)>""", re.I)
_GAP = re.compile(r"(?:\s|<!--(?! *CODE_SAVED)[\s\S]*?-->)*")


def code_spans(text):
    return [match.span() for match in _CODE.finditer(text)]


def _opener(text, start, spans):
    at = start
    while True:
        found = _OPENER.search(text, at)
        if not found:
            return -1
        inside = next((span for span in spans if span[0] <= found.start() < span[1]), None)
        if inside is None:
            return found.start()
        at = inside[1]


def _element_end(text, start):
    """Where the element that starts here ends; -1 when it never closes."""
    depth, at = 0, start
    while match := _TAG.search(text, at):
        at = match.end()
        name = (match[2] or "").lower()
        if not name:
            continue
        if match[1]:
            depth -= 1
        elif name in _RAW:
            end = re.compile(rf"</{name}\s*>", re.I).search(text, at)
            if not end:
                return -1
            at = end.end()
        elif name not in _VOID and not match[3].endswith("/"):
            depth += 1
        if depth <= 0:
            return at
    return -1


def split(text):
    """[("prose" | "html", start, end)] in order."""
    spans, found, at = code_spans(text), [], 0
    while at < len(text):
        start = _opener(text, at, spans)
        if start < 0:
            break
        if text[at:start].strip():
            found.append(("prose", at, start))
        end = _element_end(text, start)
        while end >= 0:
            # Neighbours with nothing between them belong together: a script and the box it draws into.
            gap = _GAP.match(text, end).end()
            if not _OPENER.match(text, gap):
                break
            end = _element_end(text, gap)
        found.append(("html", start, len(text) if end < 0 else end))
        if end < 0:
            return found
        at = end
    if text[at:].strip():
        found.append(("prose", at, len(text)))
    return found
