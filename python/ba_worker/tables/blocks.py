"""Several tables on one sheet are several tables (SPEC B5): cut apart at blank rows and columns where a new header begins.

A blank row alone proves nothing: people leave gaps inside a table. A new table needs a header of its own.
"""

from dataclasses import dataclass

from . import footers, header
from .cells import empty, is_value, label, number_of

MOST_ROWS = 60_000
MOST_TABLES = 60


@dataclass
class Block:
    """A rectangle of the sheet: rows from `top`, columns from `left`."""

    top: int
    bottom: int
    left: int
    right: int

    def cut(self, rows):
        return [list(r[self.left:self.right]) for r in rows[self.top:self.bottom]]


def split(rows):
    """The blocks of a sheet in reading order; one block when it is one table."""
    width = max((len(r) for r in rows), default=0)
    whole = Block(0, len(rows), 0, width)
    if len(rows) < 4 or len(rows) > MOST_ROWS or width < 1:
        return [whole]
    found = []
    for block in _stacked(rows, whole):
        beside = _beside(rows, block)
        for part in beside:
            # Tables beside each other may be stacked in their own columns.
            found += _stacked(rows, part) if len(beside) > 1 else [part]
    found.sort(key=lambda b: (b.top, b.left))
    return found if 1 < len(found) <= MOST_TABLES else [whole]


def _bands(rows):
    """(start, end) of runs of rows that hold something."""
    bands, start = [], None
    for i, row in enumerate([*rows, []]):
        blank = all(empty(c) for c in row) or footers.paper_line(row)
        if not blank and start is None:
            start = i
        elif blank and start is not None:
            bands.append((start, i))
            start = None
    return bands


def _stacked(rows, block):
    area = block.cut(rows)
    starts = _starts(area)
    if len(starts) < 2:
        return [block]
    ends = [*starts[1:], len(area)]
    return [Block(block.top + a, block.top + b, block.left, block.right) for a, b in zip(starts, ends)]


def _starts(area):
    """Rows where tables begin."""
    starts, current, waiting = [0], None, None
    for a, b in _bands(area):
        band = area[a:b]
        first = next((i for i, r in enumerate(band) if sum(not empty(c) for c in r) >= 2), None)
        if first is None:
            # Lines of one cell: the title of what follows, or remarks on what was.
            waiting = a if waiting is None else waiting
            continue
        begin = a if waiting is None or _remarks(area[waiting:a]) else waiting
        waiting = None
        if current is None:
            current = _Seen(band, first)
            if _parameters(band, area[b:]):
                current = None
        elif current.is_new(band, first):
            starts.append(begin)
            current = _Seen(band, first)
        else:
            current.extend(band[first:])
        for at in current.inner(band, a, first + 2) if current else []:
            starts.append(at)
            current = _Seen(area[at:b], next((i for i, r in enumerate(area[at:b]) if sum(not empty(c) for c in r) >= 2), 0))
    return starts


def _remarks(rows):
    cells = [c for r in rows for c in r if not empty(c)]
    return bool(cells) and all(isinstance(c, str) and footers.REMARK.match(label(c)) for c in cells)


def _parameters(band, rest):
    """Lines of name and value above the table: `门店 | 上海`."""
    widths = [sum(not empty(c) for c in r) for r in band]
    later = max((sum(not empty(c) for c in r) for r in rest[:20]), default=0)
    if max(widths) > 2 or later <= 2 or len(band) > 12:
        return False
    second = [[c for c in r if not empty(c)][1] for r in band if sum(not empty(c) for c in r) == 2]
    # A table of two columns has a kind of thing in its second; lines about a report have all kinds.
    figures = sum(number_of(c) is not None and is_value(c) for c in second[1:])
    return figures * 2 <= len(second) or not header.is_header(band, next(i for i, w in enumerate(widths) if w == 2))


class _Seen:
    """What is known of the table being read: its header and which columns hold values."""

    def __init__(self, band, first):
        self.header = [label(c) for c in band[first] if not empty(c)]
        self.places = [j for j, c in enumerate(band[first]) if not empty(c)]
        self.title = _texts(band[:first])
        self.body = [r for r in band[first + 1:]]

    def extend(self, rows):
        self.body += rows[:200]

    def value_columns(self):
        width = max((len(r) for r in self.body), default=0)
        columns = set()
        for j in range(width):
            cells = [r[j] for r in self.body if j < len(r) and not empty(r[j])]
            if cells and sum(is_value(c) for c in cells) * 2 > len(cells):
                columns.add(j)
        return columns

    def is_new(self, band, first):
        """Whether the band begins another table."""
        row = band[first]
        names = [label(c) for c in row if not empty(c)]
        if names == self.header:
            # The same header again: another table where it has a title of its own, else a page of this one.
            return any(_title(r) for r in band[:first]) and _texts(band[:first]) != self.title
        if len(band) - first < 2 or not self.body or any(footers.SIGNED.match(n) for n in names):
            return False
        if any(is_value(c) for c in row if not empty(c)) and not header.is_header(band, first):
            return self._elsewhere(row)
        words = {j for j, c in enumerate(row) if not empty(c) and not is_value(c)}
        values = self.value_columns()
        # Words where this table holds values cannot be its next row.
        if values & words and (len(names) != len(self.header) or values <= words | set(range(len(row), 999)) or len(values & words) * 2 >= len(values)):
            return _has_values(band[first + 1:]) or len(names) >= 2
        if not values or self._elsewhere(row):
            return header.is_header(band, first) and (len(names) != len(self.header) or first > 0)
        return False

    def _elsewhere(self, row):
        """The row stands in other columns than the table so far."""
        here = {j for j, c in enumerate(row) if not empty(c)}
        return bool(here) and not here & set(self.places)

    def inner(self, band, offset, begin):
        """Tables that begin inside a band without a blank row before them: a title of one cell, then another header."""
        found, values = [], self.value_columns()
        if not values:
            return []
        for i in range(begin, len(band) - 2):
            lonely = sum(not empty(c) for c in band[i]) == 1 and _title(band[i])
            names = [label(c) for c in band[i + 1] if not empty(c)]
            if not lonely or len(names) < 2 or any(is_value(c) for c in band[i + 1] if not empty(c)):
                continue
            words = {j for j, c in enumerate(band[i + 1]) if not empty(c)}
            if values & words and _has_values(band[i + 2:i + 4]) and not footers.paper_line(band[i]):
                if names != self.header or _title_differs(band, i):
                    found.append(offset + i)
        return found


def _texts(rows):
    return [label(c) for r in rows for c in r if not empty(c)]


def _title(row):
    cells = [c for c in row if not empty(c)]
    return len(cells) == 1 and isinstance(cells[0], str) and not is_value(cells[0]) and not footers.PAGE.match(label(cells[0]))


def _title_differs(band, i):
    """The title of a printed page is the same on every page; that of another table is not."""
    first = next((r for r in band if not all(empty(c) for c in r)), [])
    return label(next(c for c in band[i] if not empty(c))) != label(next((c for c in first if not empty(c)), ""))


def _has_values(rows):
    return any(not empty(c) and is_value(c) for r in rows for c in r)


def _beside(rows, block):
    """Blocks beside each other, cut at blank columns where both sides are tables of their own."""
    area = block.cut(rows)
    width = max((len(r) for r in area), default=0)
    used = [any(j < len(r) and not empty(r[j]) for r in area) for j in range(width)]
    groups, start = [], None
    for j, u in enumerate([*used, False]):
        if u and start is None:
            start = j
        elif not u and start is not None:
            groups.append((start, j))
            start = None
    if len(groups) < 2:
        return [block]
    parts = [groups[0]]
    for group in groups[1:]:
        if _separate(area, parts[-1], group):
            parts.append(group)
        else:
            parts[-1] = (parts[-1][0], group[1])
    if len(parts) < 2:
        return [block]
    return [Block(block.top, block.bottom, block.left + a, block.left + b) for a, b in parts]


def _separate(area, left, right):
    if right[1] - right[0] < 2 or left[1] - left[0] < 2:
        return False
    heights = [_last(area, *side) for side in (left, right)]
    tops = [_first(area, *side) for side in (left, right)]
    heads = [_head(area, *side) for side in (left, right)]
    if None in heads:
        return False
    named = [[label(c) for c in area[h][a:b] if not empty(c)] for h, (a, b) in zip(heads, (left, right))]
    own_header = header.is_header([r[right[0]:right[1]] for r in area], heads[1])
    if not own_header:
        return False
    shared = set(named[0]) & set(named[1])
    titled = heads[1] > tops[1]
    labelled = any(not empty(c) and not is_value(c) for r in area[heads[1] + 1:] for c in r[right[0]:right[0] + 1])
    return bool(shared) or heights[0] != heights[1] or heads[0] != heads[1] or (titled and labelled)


def _last(area, a, b):
    return max((i for i, r in enumerate(area) if any(not empty(c) for c in r[a:b])), default=0)


def _first(area, a, b):
    return next((i for i, r in enumerate(area) if any(not empty(c) for c in r[a:b])), 0)


def _head(area, a, b):
    return next((i for i, r in enumerate(area) if sum(not empty(c) for c in r[a:b]) >= 2), None)
