"""Finds the header of a grid of cells: titles above it, several header rows, or none. Works on the first rows only."""

import datetime
import re

from . import patterns as p

LOOK = 40
VALUE = p.python_pattern(p.number_pattern("us", currency=True, percent=True))
DATES = [p.python_pattern(pattern) for _, pattern, _ in p.DATE_PARTS]
YEARISH = re.compile(r"(?:19|20)[0-9]{2}(?:年|年度|Q[1-4]|-[0-9]{1,2}|年[0-9]{1,2}月)?(?:\.0)?")
FOOTNOTE = re.compile(r"^(?:注|备注|说明|数据来源|来源|制表|审核|单位|填表|source|note|remark|\*)", re.I)


def empty(cell):
    return cell is None or (isinstance(cell, str) and not cell.strip(p.SPACES))


def is_value(cell):
    """A number, a date or a truth value: something a header rarely is."""
    if isinstance(cell, bool) or isinstance(cell, (int, float, datetime.date, datetime.time, datetime.timedelta)):
        return True
    text = p.clean(str(cell))
    return bool(VALUE.fullmatch(text)) or any(d.fullmatch(text) for d in DATES)


def yearish(cell):
    if isinstance(cell, (datetime.date, datetime.datetime)):
        return True
    return bool(YEARISH.fullmatch(p.clean(str(cell))))


def find(rows, merged=()):
    """(first data row, names or None, guesses) for a list of rows of cells."""
    rows = rows[:LOOK]
    counts = [sum(not empty(c) for c in r) for r in rows]
    if not any(counts):
        return 0, None, []
    typical = sorted(c for c in counts if c)[sum(1 for c in counts if c) // 2]
    wide_enough = max(1, min(2, typical), round(typical * 0.6))
    start = next(i for i, c in enumerate(counts) if c >= wide_enough)
    if not _is_header(rows, start):
        # A block of groups above the header is narrow: look one row further before giving up.
        later = next((i for i in range(start + 1, len(rows)) if counts[i] >= wide_enough and _is_header(rows, i)), None)
        if later is None or later > start + 2 or any(is_value(c) for c in rows[start] if not empty(c)):
            first = next(i for i, c in enumerate(counts) if c)
            return first, None, ["no header row found; columns are numbered"]
        start = later
    top = start
    while top > 0 and _is_group_row(rows, top - 1, top, merged):
        top -= 1
    last = start
    while last + 1 < len(rows) and last - top < 3 and _is_second_header(rows, top, last + 1, merged):
        last += 1
    names = _join([_fill(rows[i], i, last, merged) for i in range(top, last + 1)])
    guesses = []
    titles = [i for i in range(top) if counts[i]]
    if titles:
        shown = " / ".join(str(c).strip() for c in rows[titles[0]] if not empty(c))[:60]
        guesses.append(f"header on row {top + 1}; {len(titles)} title row(s) above it left out (`{shown}`)")
    elif top:
        guesses.append(f"header on row {top + 1}")
    if last > top:
        guesses.append(f"header over {last - top + 1} rows joined")
    return last + 1, names, guesses


def _is_header(rows, i):
    cells = [c for c in rows[i] if not empty(c)]
    if not cells:
        return False
    values = [c for c in cells if is_value(c)]
    if not values:
        return True
    # Years and months head pivot tables; they are a header when some other cell is a word.
    return len(values) < len(cells) and all(yearish(c) for c in values) and (
        len(set(map(str, values))) == len(values) and not empty(rows[i][0]) and not is_value(rows[i][0]))


def _is_group_row(rows, above, below, merged):
    """A row of merged group names right above the header."""
    cells = [c for c in rows[above] if not empty(c)]
    if len(cells) < 1 or any(is_value(c) and not yearish(c) for c in cells):
        return False
    if any(m[0] == above and m[3] > m[1] and m[3] - m[1] + 1 < len(rows[above]) for m in merged):
        return True
    filled = [j for j, c in enumerate(rows[above]) if not empty(c)]
    return len(cells) >= 2 and filled[-1] > 0 and all(not empty(rows[below][j]) for j in filled[1:] if j < len(rows[below]))


def _is_second_header(rows, top, i, merged):
    """The row completes the header above it: blank where that one stands alone, words under its groups."""
    above, here = rows[i - 1], rows[i]
    cells = [c for c in here if not empty(c)]
    if not cells or any(is_value(c) for c in cells):
        return False
    gaps = [j for j in range(len(here)) if j >= len(above) or empty(above[j])]
    # Without a gap in the row above, this row is data.
    if not gaps or any(empty(here[j]) for j in gaps if j < len(here) and _below_has_data(rows, i, j)):
        return False
    spanning = any(m[0] <= i - 1 <= m[2] and m[3] > m[1] for m in merged)
    alone = [j for j, c in enumerate(here) if empty(c) and j < len(above) and not empty(above[j])]
    next_row = rows[i + 1] if i + 1 < len(rows) else []
    differs = any(is_value(c) for c in next_row if not empty(c))
    return differs and (spanning or bool(alone) or len(gaps) >= 1)


def _below_has_data(rows, i, j):
    return any(j < len(r) and not empty(r[j]) for r in rows[i + 1:])


def _fill(row, index, last, merged):
    """A header row with its merged cells repeated over what they span."""
    cells = list(row)
    for top, left, bottom, right in merged:
        if top <= index <= bottom and left < len(cells):
            for j in range(left, min(right + 1, len(cells))):
                if empty(cells[j]) and index == top:
                    cells[j] = cells[left]
    if index < last and not merged:
        current = None
        for j, c in enumerate(cells):
            if not empty(c):
                current = c
            elif current is not None:
                cells[j] = current
    return cells


def _join(rows):
    width = max(len(r) for r in rows)
    names = []
    for j in range(width):
        parts = []
        for r in rows:
            cell = r[j] if j < len(r) else None
            text = "" if empty(cell) else label(cell)
            if text and text not in parts:
                parts.append(text)
        names.append("_".join(parts))
    return names


def label(cell):
    if isinstance(cell, float) and cell == int(cell):
        cell = int(cell)
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        cell = cell.date()
    return re.sub(r"\s+", " ", str(cell)).strip(p.SPACES)[:200]


def unique_names(names, width):
    """Names for every column: filled where empty, numbered where repeated. Returns (names, notes)."""
    names = list(names or []) + [""] * (width - len(names or []))
    out, seen, notes = [], set(), []
    repeated = unnamed = 0
    for i, name in enumerate(names[:width]):
        name = re.sub(r"[\x00-\x1f]", " ", name).strip()
        if not name:
            name = f"column_{i + 1}"
            unnamed += 1
        base, n = name, 2
        while name.lower() in seen:
            name = f"{base}_{n}"
            n += 1
        repeated += name != base
        seen.add(name.lower())
        out.append(name)
    if repeated:
        notes.append(f"{repeated} repeated column name(s) numbered")
    return out, notes, unnamed
