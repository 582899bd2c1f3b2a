"""How tables fit a page: type size, turned pages, columns cut into several tables of like width with the first one repeated."""

import re
import unicodedata

from .runs import plain

UPRIGHT, TURNED = 92, 150
MAX_COLUMNS = 14
_NUMBER = re.compile(r"[\s¥$€£]*[-+−]?[\d,.]+\s*(?:%|‰|万|亿|万元|亿元|元|个|件|[kKmMbB])?\s*\Z")


def width(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def is_number(text):
    return bool(_NUMBER.match(text)) and any(c.isdigit() for c in text)


def aligns(table):
    """Columns of numbers stand to the right unless the report says otherwise."""
    found = []
    for index in range(len(table["header"])):
        given = table["align"][index] if index < len(table["align"]) else None
        texts = [plain(row[index]).strip() for row in table["rows"][:200] if index < len(row)]
        texts = [t for t in texts if t not in ("", "-", "—", "N/A")]
        numeric = bool(texts) and sum(map(is_number, texts)) >= 0.8 * len(texts)
        found.append(given or ("right" if numeric else None))
    return found


def wanted(table):
    """Characters that each column would like, at most 40."""
    found = []
    for index, head in enumerate(table["header"]):
        texts = [plain(head), *(plain(row[index]) for row in table["rows"][:400] if index < len(row))]
        lengths = sorted(width(t) for t in texts)
        found.append(min(max(lengths[int(len(lengths) * 0.95)], width(plain(head)) // 2, 3), 40) + 2)
    return found


def pieces(table):
    """[{"columns": [index], "size", "wide", "first", "last"}]: one for most tables."""
    chars = wanted(table)
    count = len(chars)
    if count <= 9 and sum(chars) <= UPRIGHT * 2:
        return [_piece(range(count), chars, False)]
    if count <= MAX_COLUMNS and sum(chars) <= TURNED * 2:
        return [_piece(range(count), chars, True)]
    # As many as are needed, then all alike: two columns alone on a page look lost.
    needed, columns, room = 1, 0, 0
    for index in range(1, count):
        if columns and (columns >= MAX_COLUMNS - 1 or room + chars[index] > TURNED * 1.4 - chars[0]):
            needed, columns, room = needed + 1, 0, 0
        columns += 1
        room += chars[index]
    cuts = [1 + (count - 1) * n // needed for n in range(needed + 1)]
    return [_piece([0, *range(first, last)], chars, True) for first, last in zip(cuts, cuts[1:])]


def _piece(columns, wanted, wide):
    columns = list(columns)
    need = sum(wanted[c] for c in columns)
    # Capitals are wider than the digits that a page's width is counted in.
    size = 9.5 * min(1, (TURNED if wide else UPRIGHT) / max(need * 1.06, 1))
    return {"columns": columns, "size": round(max(size, 6.5), 1), "wide": wide}
