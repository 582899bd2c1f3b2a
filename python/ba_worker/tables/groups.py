"""Labels that stand on a group's first row only: filled down where the layout proves that they mean the rows below."""

import re

from .cells import empty, is_value, label, number_of
from .notes import note

ORDINAL_NAME = re.compile(r"^(?:年|月|季|序)|号$|编码|代码|#|\b(?:no|year|month|quarter|id|code|number|order|week)\b", re.I)
DITTO = {"同上", "〃", '"', "”", "''", "ditto", "do.", "″", "同左", "``"}


def merged_down(rows, merged, names):
    """Fills cells merged downwards, where they hold labels. An amount merged over rows is one amount."""
    filled = set()
    for top, left, bottom, right in merged:
        if bottom <= top or top < 0 or top >= len(rows) or left >= len(rows[top]):
            continue
        value = rows[top][left]
        if empty(value) or (_is_amount(value) and not _ordinal(names, left, value)):
            continue
        for i in range(top + 1, min(bottom + 1, len(rows))):
            row = rows[i]
            if left < len(row) and empty(row[left]):
                row[left] = value
                filled.add(left)
    return sorted(filled)


def _ordinal(names, column, value):
    name = names[column] if names and column < len(names) else ""
    return bool(ORDINAL_NAME.search(name or ""))


def _is_amount(cell):
    return number_of(cell) is not None and is_value(cell) and not (hasattr(cell, "year") or (isinstance(cell, str) and re.search(r"[年月/:-]", cell)))


def ditto(rows):
    """`同上` and its like mean the cell above."""
    found = set()
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            if i and isinstance(cell, str) and cell.strip().lower() in DITTO and j < len(rows[i - 1]) and not empty(rows[i - 1][j]):
                row[j] = rows[i - 1][j]
                found.add(j)
    return sorted(found)


def first_row_only(rows, width, names, skip):
    """Fills leading label columns whose labels stand once, on the first row of their group.

    Proof asked for: the column leads the table (or only such columns are left of it), it begins with a label, no label is
    repeated within its parent, and another column tells the rows of a group apart. `skip`: rows of totals, which belong to no
    group. Returns the columns filled.
    """
    body = [i for i in range(len(rows)) if i not in skip]
    if len(body) < 3:
        return []
    filled, parent = [], None
    for j in range(min(width - 1, 6)):
        present = [i for i in body if j < len(rows[i]) and not empty(rows[i][j])]
        if len(present) == len(body):
            # A full column may stand left of a group column only when it is a parent that was full by itself.
            if parent is None and _constant_runs(rows, body, j):
                parent = j
                continue
            break
        if not present or present[0] != body[0] or not _labels(rows, present, j, names):
            break
        if not _proven(rows, body, present, j, parent, width, parent in filled):
            break
        _fill(rows, body, j, parent)
        filled.append(j)
        parent = j
    return filled


def _labels(rows, present, j, names):
    amounts = [i for i in present if _is_amount(rows[i][j]) and not _ordinal(names, j, rows[i][j])]
    return not amounts


def _key(rows, i, j):
    return None if j is None or j >= len(rows[i]) else label(rows[i][j])


def _constant_runs(rows, body, j):
    """The values come in unbroken runs: what a parent column looks like."""
    seen, last = set(), object()
    for i in body:
        value = _key(rows, i, j)
        if value != last:
            if value in seen:
                return False
            seen.add(value)
            last = value
    return len(seen) < len(body)


def _proven(rows, body, present, j, parent, width, nested):
    blanks = len(body) - len(present)
    seen, last = set(), None
    for i in present:
        value = (_key(rows, i, parent), label(rows[i][j]))
        if value in seen:
            return False
        seen.add(value)
        last = value
    if nested:
        return True
    if last is None or blanks * 5 < len(body):
        return False
    # A label for nearly every row with a gap here and there is a list with missing names, unless something tells the rows apart.
    later = [k for k in range(j + 1, width) if _tells_apart(rows, body, present, k)]
    return bool(later) or blanks * 2 >= len(body)


def _tells_apart(rows, body, present, k):
    """Column k is filled on the rows below the labels and differs within groups."""
    heads, group, seen = set(present), 0, set()
    for i in body:
        if i in heads:
            group += 1
        cell = rows[i][k] if k < len(rows[i]) else None
        if empty(cell) or (group, label(cell)) in seen:
            return False
        seen.add((group, label(cell)))
    return True


def _fill(rows, body, j, parent):
    current, above = None, None
    for i in body:
        row = rows[i]
        if j >= len(row):
            row += [None] * (j + 1 - len(row))
        if not empty(row[j]):
            current, above = row[j], _key(rows, i, parent)
        elif current is not None and _key(rows, i, parent) == above:
            row[j] = current


def section_note(name):
    return note("filled_down", f"names of groups that stood on rows of their own are in column {name}", columns=[name], case="groups")


def filled_note(names, columns, code="filled_down"):
    said = ", ".join(names[j] if names and j < len(names) and names[j] else f"column {j + 1}" for j in columns)
    how = "merged cells" if code == "merged_filled" else "labels that stand on a group's first row only"
    shown = [names[j] if names and j < len(names) else f"column {j + 1}" for j in columns]
    return note(code, f"{how} filled down: {said}", columns=shown)
