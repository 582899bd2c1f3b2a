"""Finds the header of a grid of cells: titles above it, several header rows, a row of units below it, or none."""

import re
from dataclasses import dataclass, field

from .cells import BLANK_WORDS, empty, is_value, label, yearish
from .notes import note, warn
from .units import UNIT_CELL, unit_of_cell, unit_of_title

LOOK = 40
SEQUENCE = re.compile(r"[0-9]{1,3}")
FIELD_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.]{1,30}")
PIVOT_WORDS = {"column labels", "列标签", "值", "values"}
TITLE_WORDS = re.compile(r"单位|日期|期间|编制|制表|币种|来源|截至|报表|unit|currency|date|period|report|as of|source|company|公司", re.I)


@dataclass
class Header:
    """`names` is None where the table has no header. `units`: column index → unit."""

    data_at: int
    names: list | None
    notes: list = field(default_factory=list)
    units: dict = field(default_factory=dict)
    title: str = ""


def find(rows, merged=(), chosen=None):
    """The header of a list of rows of cells; `chosen` is a person's choice, counted from 1, 0 for none."""
    rows = rows[:LOOK]
    counts = [sum(not empty(c) for c in r) for r in rows]
    if not any(counts):
        return Header(0, None)
    if chosen is not None:
        return _chosen(rows, counts, chosen)
    start = _start(rows, counts)
    if start is None:
        first = _first_wide(counts)
        return Header(first, None, [note("no_header", "no header row found; columns are numbered")])
    top = start
    while top > 0 and _is_group_row(rows, top - 1, top, merged):
        top -= 1
    last = start
    while last + 1 < len(rows) and last - top < 3 and _is_second_header(rows, top, last + 1, merged):
        last += 1
    return _described(rows, counts, top, last, merged)


def _chosen(rows, counts, chosen):
    if chosen == 0:
        return Header(next(i for i, c in enumerate(counts) if c), None, [note("no_header", "no header row, as chosen; columns are numbered", case="chosen")])
    at = min(chosen - 1, len(rows) - 1)
    return _described(rows, counts, at, at, ())


def _described(rows, counts, top, last, merged):
    names = _join([_fill(rows[i], i, last, merged) for i in range(top, last + 1)])
    found = Header(last + 1, names)
    titles = [i for i in range(top) if counts[i]]
    found.title = " / ".join(label(c) for i in titles for c in rows[i] if not empty(c))[:300]
    if titles:
        shown = found.title[:60]
        found.notes.append(note("titles_left_out", f"header on row {top + 1}; {len(titles)} title row(s) above it left out (`{shown}`)",
                                count=len(titles), row=top + 1, text=shown))
    elif top:
        found.notes.append(note("header_row", f"header on row {top + 1}", row=top + 1))
    if last > top:
        found.notes.append(note("header_joined", f"header over {last - top + 1} rows joined", rows=last - top + 1))
    _codes_below(rows, found)
    _units_below(rows, found)
    unit = unit_of_title(found.title)
    if unit:
        found.units["*"] = unit
        found.notes.append(note("unit_from_title", f"unit {unit} from the title (`{found.title[:60]}`)", unit=unit, text=found.title[:60]))
    return found


def _codes_below(rows, found):
    """Field codes under the names, as templates of business systems have them: `matnr`, `menge`."""
    at = found.data_at
    if at >= len(rows) - 1:
        return
    cells = [(j, label(c)) for j, c in enumerate(rows[at]) if not empty(c)]
    codes = [t for _, t in cells if FIELD_CODE.fullmatch(t)]
    if len(cells) < 2 or len(codes) < len(cells) or len(set(codes)) < len(codes) or len(cells) < sum(bool(n) for n in found.names):
        return
    if sum(_values_below(j, rows[at + 1:]) for j, _ in cells) >= 1 and not all(UNIT_CELL.fullmatch(t) for t in codes):
        found.notes.append(note("header_joined", f"row {at + 1} holds field codes, not data; left out", row=at + 1, case="codes"))
        found.data_at += 1


def _units_below(rows, found):
    """A row of units between header and data: `元`, `件`, `%`."""
    at = found.data_at
    if at >= len(rows) - 1:
        return
    cells = [(j, c) for j, c in enumerate(rows[at]) if not empty(c)]
    words = [(j, label(c)) for j, c in cells]
    known = [(j, t) for j, t in words if UNIT_CELL.fullmatch(t)]
    dull = [t for _, t in words if t in BLANK_WORDS or t.strip("()（）-/—") in ("", "单位", "unit", "text", "文本")]
    if not known or len(known) + len(dull) < len(words) or any(is_value(c) for _, c in cells):
        return
    below = rows[at + 1]
    if not any(j < len(below) and not empty(below[j]) and is_value(below[j]) for j, _ in known):
        return
    found.units.update({j: unit_of_cell(t) for j, t in known})
    found.notes.append(note("units_row", f"row {at + 1} holds units, not data", row=at + 1))
    found.data_at += 1


def _first_wide(counts):
    typical = _typical(counts)
    return next((i for i, c in enumerate(counts) if c >= min(2, typical) and c * 2 >= typical), next(i for i, c in enumerate(counts) if c))


def _typical(counts):
    filled = sorted(c for c in counts if c)
    return filled[len(filled) // 2]


def _start(rows, counts):
    """The row the header begins on, or None."""
    skip = _parameter_lines(rows, counts)
    typical = _typical(counts[skip:])
    wide_enough = max(1, min(2, typical), round(typical * 0.6))
    first = next(i for i, c in enumerate(counts) if i >= skip and c >= wide_enough)
    if first and counts[first - 1] and is_header(rows, first - 1) and _fits_below(rows, counts, first - 1):
        return first - 1
    if is_header(rows, first):
        if _is_title(rows, counts, first):
            later = next((i for i in range(first + 1, min(first + 4, len(rows))) if counts[i] >= max(counts[first] + 1, wide_enough) and is_header(rows, i)), None)
            return first if later is None else later
        return first
    # A block of groups above the header is narrow: look a little further before giving up.
    later = next((i for i in range(first + 1, min(first + 6, len(rows))) if counts[i] >= wide_enough and is_header(rows, i)), None)
    if later is None or (later > first + 2 and counts[first] * 2 > typical):
        return None
    # Rows of values above a header are data of a table without one, unless they are narrow lines about the table.
    if any(is_value(c) for c in rows[first] if not empty(c)) and counts[first] * 2 > typical + 1:
        return None
    return later


def _parameter_lines(rows, counts):
    """How many rows at the top are names and values about the report, parted from the table by a blank row."""
    gap = next((i for i, c in enumerate(counts) if not c), None)
    if not gap or max(counts[:gap]) > 2:
        return 0
    after = next((i for i, c in enumerate(counts) if i > gap and c), None)
    return after if after is not None and counts[after] >= 3 and is_header(rows, after) else 0


def _fits_below(rows, counts, i):
    """A narrow header over a wide body: R leaves the name of its first column out."""
    return counts[i] + 1 == counts[i + 1] and counts[i] >= 2


def _is_title(rows, counts, i):
    """A line about the table that happens to have two or three cells: `单位：万元 | 2024年`."""
    cells = [label(c) for c in rows[i] if not empty(c)]
    later = max(counts[i + 1:i + 4], default=0)
    if len(cells) > 3 or later <= len(cells):
        return False
    return any(TITLE_WORDS.search(c) and (":" in c or "：" in c or len(c) > 8) for c in cells) or any(c.lower() in PIVOT_WORDS for c in cells)


def is_header(rows, i):
    cells = [(j, c) for j, c in enumerate(rows[i]) if not empty(c)]
    if not cells or any(label(c) in BLANK_WORDS for _, c in cells):
        return False
    values = [(j, c) for j, c in cells if is_value(c)]
    below = [r for r in rows[i + 1:] if any(not empty(c) for c in r)]
    if not values:
        return not _repeats_below(cells, below)
    texts = [label(c) for _, c in cells]
    distinct = len(set(texts)) == len(texts)
    if not distinct:
        return False
    if all(yearish(c) or _sequence(values) for _, c in values):
        worded = len(values) < len(cells) or _words_first(rows, i, below)
        if worded and (not _same_kind(values, below) or _consecutive(values) and not any(_consecutive([(j, r[j]) for j, _ in values if j < len(r)]) for r in below)):
            return True
    words = [(j, c) for j, c in cells if not is_value(c)]
    differs = sum(_values_below(j, below) for j, _ in words)
    return differs >= 1 and len(values) * 3 <= len(cells) and differs >= len(values)


def _repeats_below(cells, below):
    """Words that come again under themselves are data: a table of words without a header."""
    if len(below) < 3 or len(cells) < 2:
        return False
    # The whole header printed again on the next page is none of them.
    below = [r for r in below if not all(j < len(r) and not empty(r[j]) and label(r[j]) == label(c) for j, c in cells)]
    again = sum(sum(j < len(r) and not empty(r[j]) and label(r[j]) == label(c) for r in below) >= 2 for j, c in cells)
    return again >= 2 and again * 2 >= len(cells)


def _sequence(values):
    """1, 2, 3 … as of the days of a month."""
    texts = [label(c) for _, c in values]
    if len(texts) < 3 or not all(SEQUENCE.fullmatch(t) for t in texts):
        return False
    numbers = [int(t) for t in texts]
    return all(b == a + 1 for a, b in zip(numbers, numbers[1:]))


def _consecutive(values):
    """2021, 2022, 2023: the years of a header follow each other; figures that look like years do not."""
    texts = [label(c) for _, c in values if not empty(c)]
    numbers = [int(t) for t in texts if t.isdigit()]
    return len(numbers) == len(texts) >= 2 and len({b - a for a, b in zip(numbers, numbers[1:])} - {1, -1}) == 0


def _words_first(rows, i, below):
    first = rows[i][0] if rows[i] else None
    return empty(first) and any(r and not empty(r[0]) and not is_value(r[0]) for r in below)


def _same_kind(values, below):
    """Years over years are a column of years."""
    same = sum(sum(j < len(r) and not empty(r[j]) and yearish(r[j]) for r in below[:10]) * 2 > len(below[:10]) for j, _ in values)
    return same * 2 > len(values)


def _values_below(j, below):
    cells = [r[j] for r in below if j < len(r) and not empty(r[j])]
    return bool(cells) and sum(is_value(c) for c in cells) * 2 > len(cells)


def _is_group_row(rows, above, below, merged):
    """A row of merged group names right above the header."""
    cells = [c for c in rows[above] if not empty(c)]
    if len(cells) < 1 or any(is_value(c) and not yearish(c) for c in cells):
        return False
    if any(label(c).lower() in PIVOT_WORDS for c in cells):
        return False
    if any(m[0] == above and m[3] > m[1] and m[3] - m[1] + 1 < len(rows[above]) for m in merged):
        return True
    filled = [j for j, c in enumerate(rows[above]) if not empty(c)]
    if sum(TITLE_WORDS.search(label(c)) is not None for c in cells) and len(cells) <= 2:
        return False
    return len(cells) >= 2 and filled[-1] > 0 and all(not empty(rows[below][j]) for j in filled[1:] if j < len(rows[below]))


def _is_second_header(rows, top, i, merged):
    """The row completes the header above it: blank where that one stands alone, words under its groups."""
    above, here = rows[i - 1], rows[i]
    cells = [c for c in here if not empty(c)]
    if not cells or any(is_value(c) and not yearish(c) for c in cells):
        return False
    gaps = [j for j in range(len(here)) if j >= len(above) or empty(above[j])]
    # Without a gap in the row above, this row is data.
    if not gaps or any(empty(here[j]) for j in gaps if j < len(here) and _below_has_data(rows, i, j)):
        return False
    if all(UNIT_CELL.fullmatch(label(c)) for c in cells):
        return False
    spanning = any(m[0] <= i - 1 <= m[2] and m[3] > m[1] for m in merged)
    alone = [j for j, c in enumerate(here) if empty(c) and j < len(above) and not empty(above[j])]
    next_row = rows[i + 1] if i + 1 < len(rows) else []
    differs = any(is_value(c) for c in next_row if not empty(c))
    under = any(not empty(here[j]) for j in gaps if j < len(here))
    return differs and under and (spanning or bool(alone) or len(gaps) >= 1)


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


def index_column(names, body):
    """R and pandas write the numbers of rows without a name: the names are shifted, or the column is called `index`."""
    notes = []
    if not names or not body:
        return names, notes
    width = max(len(r) for r in body[:200])
    named = len(names)
    while named and not names[named - 1]:
        named -= 1
    shorter = len(names) == named == width - 1 and all(names) and sum(used(r) == width for r in body[:200]) * 10 >= 9 * len(body[:200])
    if shorter:
        names = ["", *names[:named]]
    if names and not names[0] and len(names) > 1:
        cells = [label(r[0]) for r in body if r and not empty(r[0])]
        numbered = len(cells) > 1 and all(c.isdigit() for c in cells) and [int(c) for c in cells] in (
            list(range(len(cells))), list(range(1, len(cells) + 1)))
        if numbered or shorter:
            names = ["index", *names[1:]]
            notes.append(note("index_column", "the first column numbers or names the rows and has no header; it is called `index`", column="index"))
    return names, notes


def used(row):
    n = len(row)
    while n and empty(row[n - 1]):
        n -= 1
    return n


def unique_names(names, width):
    """Names for every column: filled where empty, numbered where repeated. Returns (names, notes)."""
    names = list(names or []) + [""] * (width - len(names or []))
    out, seen, notes = [], set(), []
    repeated = 0
    for i, name in enumerate(names[:width]):
        name = re.sub(r"[\x00-\x1f]", " ", name).strip() or f"column_{i + 1}"
        base, n = name, 2
        while name.lower() in seen:
            name = f"{base}_{n}"
            n += 1
        repeated += name != base
        seen.add(name.lower())
        out.append(name)
    if repeated:
        notes.append(warn("names_numbered", f"{repeated} repeated column name(s) numbered: make sure which one is meant", count=repeated))
    return out, notes
