"""Tables inside text: pipe tables of Markdown, boxes that database clients print, aligned columns, and delimited text named .txt.

A text without a table gives nothing, and stays text.
"""

import csv
import re
import unicodedata

from . import aligned, captions
from .grid import Grid

MAX_LINES = 200_000
MIN_LINES = 3
SAMPLE = 1000
BAR = re.compile(r"[|│┃║]")
# A line of a box: dashes and corners only, with at least one dash.
RULE = re.compile(r"^(?=.*[-=─━═])[\s|+:\-=─━═│┃║┌┬┐├┼┤└┴┘╔╦╗╠╬╣╚╩╝┏┳┓┣╋┫┗┻┛╞╪╡]+$")
CORNER = re.compile(r"[+┬┼┴╦╬╩┳╋┻╪]")
PIPE_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
UNDERLINE = re.compile(r"^\s*[-=]{2,}(\s+[-=]{2,})+\s*$")
FENCE = re.compile(r"^\s*(```|~~~)")
HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.+?)\s*#*\s*$")
TYPE_NAME = re.compile(r"(?:u?(?:tiny|small|big|huge)?int(?:eger)?\d*|varchar|double|float|boolean|date|time|timestamp.*|decimal\(.*\)|blob|uuid|json)", re.I)
ASCII_CELL = re.compile(r"\S+(?: \S+)*")
# What a client prints under a result.
COUNT = re.compile(r"^\s*\(?\d[\d,]* rows?\b.*$|^\s*Time: .*$", re.I)


def grids(text, kind):
    """Grids of a text; `kind` is `md` or `txt`."""
    lines = [line.replace("\u00a0", " ").rstrip() for line in text.split("\n")[:MAX_LINES]]
    taken = [False] * len(lines)
    found = _pipes(lines, taken, fences=kind == "md") + _boxes(lines, taken)
    if kind == "txt":
        found += _aligned(lines, taken)
    return [g for _, g in sorted(found, key=lambda f: f[0])]


def delimiter(text):
    """The delimiter of a text that is a delimited table from end to end; None when it is not surely one."""
    lines = [line for line in text.split("\n")[:2000] if line.strip()]
    if len(lines) < MIN_LINES:
        return None
    if RULE.match(lines[1]):
        return None
    for mark in ("\t", ";", ",", "|"):
        rows = [r for r in csv.reader(lines, delimiter=mark) if r]
        counts = [len(r) for r in rows]
        usual = max(set(counts), key=counts.count)
        if usual < 2 or counts.count(usual) < 0.95 * len(counts):
            continue
        rows = [[c.strip() for c in r] for r in rows if len(r) == usual]
        columns = list(zip(*rows[1:]))
        values = sum(_of_values(cells) for cells in columns)
        # Prose may have a comma in each line; only short cells, with values under each other, make it a table.
        short = max(len(c) for r in rows for c in r) <= 60
        if (values and (mark == "\t" or usual >= 3 or short)) or (mark == "\t" and usual >= 3):
            return mark
    return None


def _of_values(cells):
    cells = cells[:SAMPLE]
    filled = [c for c in cells if c]
    return len(filled) >= 0.5 * len(cells) and sum(aligned.is_value(c) for c in filled) >= 0.8 * len(filled) > 0


def _pipes(lines, taken, fences):
    found, inside, name = [], False, None
    for i, line in enumerate(lines):
        if fences and FENCE.match(line):
            inside = not inside
        if inside:
            continue
        heading = HEADING.match(line) if fences else None
        if heading:
            name = _unmarked(heading[1])[:60]
        if i == 0 or taken[i] or "-" not in line or not PIPE_RULE.match(line) or "|" not in lines[i - 1]:
            continue
        names = _split(lines[i - 1])
        if len(names) != len(_split(line)) or (len(names) < 2 and not lines[i - 1].lstrip().startswith("|")):
            continue
        end = i + 1
        rows = [names]
        while end < len(lines) and lines[end].strip() and "|" in lines[end] and not FENCE.match(lines[end]):
            rows.append(_split(lines[end])[:len(names)])
            end += 1
        if len(rows) > 1:
            taken[i - 1:end] = [True] * (end - i + 1)
            found.append((i, _named(rows, lines, i - 1, name)))
    return found


def _split(line):
    """The cells of a pipe row; `\\|` and bars in code are part of a cell."""
    text = line.strip()
    text = text[1:] if text.startswith("|") else text
    text = text[:-1] if text.endswith("|") and not text.endswith("\\|") else text
    text = re.sub(r"`[^`]*`", lambda m: m[0].replace("|", "\x00"), text)
    return [_unmarked(c.replace("\x00", "|").replace("\\|", "|")) or None for c in re.split(r"(?<!\\)\|", text)]


def _unmarked(cell):
    """A cell without the marks of Markdown that only say how it looks."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", cell.strip())
    text = re.sub(r"<br\s*/?>", " ", text)
    for mark in (r"\*\*\*", r"\*\*", r"__", r"~~", r"`", r"\*"):
        text = re.sub(rf"^{mark}(.+){mark}$", r"\1", text)
    return text.strip()


def _named(rows, lines, first, name=None):
    titles = captions.above(lines[max(0, first - 4):first])
    return Grid([[t] for t in titles] + rows, sheet=captions.title(titles) or name)


def _boxes(lines, taken):
    found, start = [], None
    for i in range(len(lines) + 1):
        inside = i < len(lines) and not taken[i] and bool(lines[i].strip()) and bool(BAR.search(lines[i]) or RULE.match(lines[i]) or "+-" in lines[i])
        if inside and start is None:
            start = i
        elif not inside and start is not None:
            rows = _box(lines[start:i])
            if rows:
                taken[start:i] = [True] * (i - start)
                found.append((start, _named(rows, lines, start)))
            start = None
    return found


def _box(part):
    """Rows of a box, or None when the lines are none. A rule between all rows means that a cell may take several lines."""
    rules = [i for i, line in enumerate(part) if RULE.match(line)]
    texts = [i for i in range(len(part)) if i not in rules]
    if not any(CORNER.search(part[i]) for i in rules) or len(texts) < 2 or not any(BAR.search(part[i]) for i in texts):
        return None
    width = max(len(re.findall(r"[+┬┼┴╦╬╩┳╋┻╪|│]", part[i].strip().strip("+|│├┤┌┐└┘╔╗╠╣╚╝╞╡┏┓┣┫┗┛"))) for i in rules) + 1
    groups, last_rule = [], True
    for i, line in enumerate(part):
        if i in rules:
            last_rule = True
            continue
        cells = [c.strip() or None for c in BAR.split(re.sub(r"^\s*[|│┃║]|[|│┃║]\s*$", "", line))]
        if len(cells) != width:
            return None
        if last_rule:
            groups.append([])
        groups[-1].append(cells)
        last_rule = False
    if width < 2:
        return None
    if len(groups) > 1 and len(groups[0]) == 2 and all(c and TYPE_NAME.fullmatch(c) for c in groups[0][1]):
        groups[0].pop()  # DuckDB prints the types under the names
    if len(groups) > 2 and any(len(g) > 1 for g in groups) and any(len(g) == 1 for g in groups[1:]):
        return [[" ".join(c for c in cells if c) or None for cells in zip(*g)] for g in groups]
    return [row for g in groups for row in g]


def _wide(char):
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cells_of(line):
    """The pieces of a line that stand two blanks apart, placed by the width the characters have on a screen."""
    line = line.expandtabs(8)
    if line.isascii():
        return [aligned.Cell(m.start(), m.end(), m[0]) for m in ASCII_CELL.finditer(line)]
    if "  " not in line.strip():
        return [aligned.Cell(0, len(line), line.strip())]
    out, at, start, blanks, text = [], 0, None, 0, []
    for char in line:
        if char.isspace():
            blanks += _wide(char)
        else:
            if start is not None and blanks >= 2:
                out.append(aligned.Cell(start, at - blanks, "".join(text)))
                start, text = None, []
            if start is None:
                start = at
            elif blanks:
                text.append(" ")
            text.append(char)
            blanks = 0
        at += _wide(char)
    if start is not None:
        out.append(aligned.Cell(start, at - blanks, "".join(text)))
    return out


def _aligned(lines, taken):
    found = _underlined(lines, taken)
    # A rule between header and rows does not end a table, a blank line does.
    kept = [i for i, line in enumerate(lines) if taken[i] or not line.strip() or not RULE.match(line)]
    placed = [[] if taken[i] or not lines[i].strip() or COUNT.match(lines[i]) else cells_of(lines[i]) for i in kept]
    for block in aligned.find(placed):
        first, last = kept[block.first], kept[block.last - 1] + 1
        taken[first:last] = [True] * (last - first)
        grid = _named(block.rows, lines, first)
        shift = len(grid.rows) - len(block.rows)
        grid.merged = [(a + shift, b, c + shift, d) for a, b, c, d in block.merged]
        found.append((first, grid))
    return found + _spaced(lines, taken)


def _spaced(lines, taken):
    """Rows of numbers with single blanks between them: the same number of words in each line, most of them values."""
    found, start = [], None
    words = [[] if taken[i] else line.split() for i, line in enumerate(lines)]
    for i in range(len(lines) + 1):
        if start is not None and (i == len(lines) or len(words[i]) != len(words[start])):
            rows = words[start:i]
            values = [_of_values(cells) for cells in zip(*rows[1:])]
            if len(rows) >= MIN_LINES and len(values) >= 2 and sum(values) * 2 >= len(values):
                found.append((start, _named(rows, lines, start)))
            start = None
        if start is None and i < len(lines) and len(words[i]) >= 2:
            start = i
    return found


def _underlined(lines, taken):
    """Tables whose columns are drawn by a line of dashes: `----  -----`."""
    found = []
    for i in range(1, len(lines) - 1):
        if taken[i] or not UNDERLINE.match(lines[i]) or not lines[i - 1].strip():
            continue
        edges = [(m.start(), m.end()) for m in re.finditer(r"[-=]+", lines[i])]
        end = i + 1
        while end < len(lines) and lines[end].strip() and not UNDERLINE.match(lines[end]) and not COUNT.match(lines[end]):
            end += 1
        rows = [_cut(lines[n], edges) for n in [i - 1, *range(i + 1, end)]]
        if len(rows) >= 2 and sum(c is not None for r in rows for c in r) >= 0.5 * len(rows) * len(edges):
            taken[i - 1:end] = [True] * (end - i + 1)
            found.append((i, _named(rows, lines, i - 1)))
    return found


def _cut(line, edges):
    """A line cut at the columns, by width on a screen; the last column takes the rest."""
    starts = [a for a, _ in edges[1:]] + [10**9]
    out, at, column = [""] * len(edges), 0, 0
    for char in line.expandtabs(8):
        while at >= starts[column]:
            column += 1
        out[column] += char
        at += _wide(char)
    return [c.strip() or None for c in out]
