"""Figures of the audit travel through the parsers as private characters, one before and one after each figure."""

import re

from . import segments

# Private planes: no report may hold them by itself.
FIRST, LAST, END = 0xF0000, 0xFFFF0, 0xFFFFD
PRIVATE = re.compile("[\ue000\ue001\U000f0000-\U0010fffd]")
_END = chr(END)
_SPLIT = re.compile("([\U000f0000-\U000ffff0\U000ffffd])")
_HIDDEN = re.compile(
    r"<script\b[\s\S]*?(?:</script>|$)|<style\b[\s\S]*?(?:</style>|$)|<!--[\s\S]*?(?:-->|$)|<[a-z/][^>]*>|\]\([^)\n]*\)|\{\{[A-Z]+:\d+\}\}", re.I
)


def clean(text):
    return PRIVATE.sub("", text)


def insert(text, figures):
    """`text` with the marks of `figures` (start, end in characters). Those in code, scripts, tags and links are left out;
    where `text` is not what the audit saw, nothing is marked."""
    if PRIVATE.search(text):
        return clean(text)
    hidden = sorted([*segments.code_spans(text), *(match.span() for match in _HIDDEN.finditer(text))])
    wanted = []
    for index, figure in enumerate(figures[: LAST - FIRST]):
        start, end = figure.get("start"), figure.get("end")
        if not isinstance(start, int) or not isinstance(end, int) or text[start:end] != figure.get("text") or start >= end:
            continue
        wanted.append((start, end, index))
    wanted.sort()
    out, at, last, cut = [], 0, 0, 0
    for start, end, index in wanted:
        while cut < len(hidden) and hidden[cut][1] <= start:
            cut += 1
        covered = any(a < end and start < b for a, b in hidden[cut : cut + 8])
        if start < last or covered:
            continue
        out += [text[at:start], chr(FIRST + index), text[start:end], _END]
        at = last = end
    return "".join(out) + text[at:]


def pieces(text, current=None):
    """[(piece, figure index or None)], and the figure still open at the end."""
    found = []
    for part in _SPLIT.split(text):
        if len(part) == 1 and FIRST <= ord(part) <= LAST:
            current = ord(part) - FIRST
        elif part == _END:
            current = None
        elif part:
            found.append((part, current))
    return found, current
