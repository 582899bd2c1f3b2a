"""Tables made of nothing but position: cells that stand under each other, in a text or on a page of a PDF.

A line is a list of `Cell`; whether lines form a table is decided by their columns and by the values in them, so that prose
in columns is not taken for one.
"""

import re
from dataclasses import dataclass

from . import header

MIN_LINES = 3
# How many lines of one cell may stand between the rows of a table: a wrapped cell, or a group's name.
INSIDE = 1
MAX_COLUMNS = 300
SAMPLE = 1000
DIGIT = re.compile(r"\d")


@dataclass
class Cell:
    left: float
    right: float
    text: str


@dataclass
class Block:
    """A table found: its rows, the merged cells of wide headers, and the lines it was made of (first, past the last)."""
    rows: list
    merged: list
    first: int
    last: int
    edges: list


def is_value(text):
    """A number or a date; words are told apart by having no digit, which is quicker than every pattern."""
    return bool(DIGIT.search(text)) and header.is_value(text)


def find(lines, breaks=()):
    """The tables among `lines`; `breaks` are indexes of lines that follow a gap too tall to lie inside a table."""
    found, start, quiet = [], None, 0
    for i in range(len(lines) + 1):
        count = len(lines[i]) if i < len(lines) else 0
        quiet = quiet + 1 if count == 1 else 0
        if start is not None and (count == 0 or quiet > INSIDE or i in breaks):
            block = _block(lines, start, i)
            found += [block] if block else []
            start = None
        if start is None and count >= 2:
            start = i
    return found


def _block(lines, first, last):
    while last > first and len(lines[last - 1]) < 2:
        last -= 1
    part = lines[first:last]
    if len(part) < MIN_LINES:
        return None
    edges = _columns(part)
    if not 2 <= len(edges) <= MAX_COLUMNS:
        return None
    rows, merged = [], []
    for n, line in enumerate(part):
        row = [None] * len(edges)
        for cell in line:
            a, b = _reach(cell, edges)
            row[a] = cell.text if row[a] is None else f"{row[a]} {cell.text}"
            if b > a:
                merged.append((n, a, n, b))
        rows.append(row)
    rows, merged = _joined(rows, merged)
    return Block(rows, merged, first, last, edges) if _is_table(rows) else None


def _columns(part):
    """Intervals of the columns: what the cells of the fullest common lines cover together."""
    counts = [len(line) for line in part if len(line) > 1]
    usual = max(set(counts), key=lambda c: (counts.count(c) * c, c))
    edges = _union(cell for line in part if len(line) >= usual for cell in line)
    if len(edges) < usual:  # one line too wide glued columns together
        exact = [line for line in part if len(line) == usual]
        edges = _union(cell for line in exact[len(exact) > 2:] for cell in line)
    return edges


def _union(cells):
    edges = []
    for left, right in sorted((c.left, c.right) for c in cells):
        if edges and left < edges[-1][1]:
            edges[-1][1] = max(edges[-1][1], right)
        else:
            edges.append([left, right])
    return edges


def _reach(cell, edges):
    """The first and last column a cell lies over; the nearest one when it lies over none."""
    over = [i for i, (a, b) in enumerate(edges) if min(b, cell.right) - max(a, cell.left) > 0]
    if over:
        return over[0], over[-1]
    middle = (cell.left + cell.right) / 2
    near = min(range(len(edges)), key=lambda i: abs((edges[i][0] + edges[i][1]) / 2 - middle))
    return near, near


def _joined(rows, merged):
    """A line that only goes on with words of the row above is part of it."""
    out, places = [], {}
    for n, row in enumerate(rows):
        filled = [i for i, c in enumerate(row) if c is not None]
        goes_on = (len(out) > 1 and row[0] is None and len(filled) * 2 <= len(row) and out[-1][0] is not None
                   and not any(is_value(row[i]) for i in filled) and all(out[-1][i] and not is_value(out[-1][i]) for i in filled))
        if goes_on:
            out[-1] = [f"{a} {b}" if b else a for a, b in zip(out[-1], row)]
        else:
            out.append(row)
        places[n] = len(out) - 1
    return out, [(places[a], b, places[c], d) for a, b, c, d in merged]


def _is_table(rows):
    """Most rows fill most columns, and some column but the first holds values."""
    if len(rows) < MIN_LINES:
        return False
    width = len(rows[0])
    filled = sum(c is not None for r in rows for c in r)
    if filled < 0.5 * width * len(rows):
        return False
    body = rows[1:]
    for i in range(width):
        cells = [r[i] for r in body if r[i] is not None][:SAMPLE]
        if len(cells) >= max(2, 0.5 * min(len(body), SAMPLE)) and sum(is_value(c) for c in cells) >= 0.7 * len(cells):
            return True
    return False
