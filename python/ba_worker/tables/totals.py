"""Rows that sum other rows of the same table, found by arithmetic and by words (SPEC B2).

Words make a row suspect, arithmetic convicts it: `Total Care` is a product, `East Total` is a total when it equals the rows
above it. Levels nest: a subtotal that was found stands for its rows when the next level is tried.
"""

import re
from dataclasses import dataclass

from . import patterns as p
from .cells import decimals, empty, is_value, label, number_of
from .notes import note, warn

# The whole cell says so.
STRONG = re.compile(
    r"(?:本?[日月年季页期]?\s*)?(?:合\s*计|总\s*计|小\s*计|共\s*计|总\s*合\s*计|总\s*和|总\s*数|汇\s*总|累\s*计|合\s*計|総\s*計|小\s*計|総合計|計)(?:[（(].{0,12}[)）])?"
    r"|(?:grand|sub|overall|page|running|net|gross|report|final)?[\s-]*totals?|sum|subsum|sum total|all together"
    r"|summe|gesamt|gesamtsumme|zwischensumme|endsumme|insgesamt|totaux|total g[ée]n[ée]ral|total general|sous[\s-]?total|suma|soma|totale"
    r"|합\s*계|소\s*계|총\s*계|총\s*합\s*계|итого|всего|общий итог", re.I)
STARS = re.compile(r"\*{1,4}")
# Part of the cell says so.
WEAK = re.compile(
    r".{1,24}(?:合\s*计|总\s*计|小\s*计|汇\s*总|累\s*计|合\s*計|小\s*計|総計|합계|소계|총계)|(?:合计|总计|小计|汇总)[\s:：(（-].{0,30}"
    r"|.{1,40}[\s\-–:]+(?:sub[\s-]?)?totals?|(?:sub[\s-]?|grand )?totals?[\s:\-–(]+.{1,40}|sum of .{1,40}"
    r"|.{1,30} (?:gesamt|summe)|(?:summe|zwischensumme|gesamt|sous[\s-]total|итого|всего)[\s:]+.{1,40}", re.I)
# Names of the whole: totals only where the arithmetic says so.
WHOLE = re.compile(
    r"全国|全省|全市|全公司|全集团|全部|全体|全年|整体|all(?: .{1,24})?|overall|nationwide|national|(?:whole|entire) .{1,20}|full year", re.I)
MEANS = {"mean": re.compile(r"平\s*均(?:值|数|分|価格|値)?|均值|averages?|avg\.?|mean|durchschnitt|mittelwert|moyenne|평균|среднее", re.I),
         "max": re.compile(r"最大(?:值)?|最高(?:值|分)?|max(?:imum)?\.?", re.I),
         "min": re.compile(r"最小(?:值)?|最低(?:值|分)?|min(?:imum)?\.?", re.I),
         "median": re.compile(r"中位数|median", re.I),
         "spread": re.compile(r"标准差|方差|变异系数|%? ?rsd|sd|s\.d\.|std(?:\.? ?dev(?:iation)?)?|standard deviation|variance|cv ?%?|n|count|计数|样本数", re.I)}
# Some of these letters are in every wording above.
HINT = re.compile(r"[计計계총和数汇累]|tota|sum|gesamt|soma|итог|всего|平\s*均|均值|avera|avg|mean|mittel|moyenne|평균|средн|max|min|最[大小高低]|中位|median", re.I)
COLUMN = re.compile(r"^(?:合\s*计|总\s*计|小\s*计|共计|汇总|年?累计|全年|全年合计|(?:grand |row )?totals?|sum|summe|gesamt|합계|итого)$", re.I)
MOST_ROWS = 60_000
MOST_SPAN = 5_000


@dataclass
class Numbers:
    """The figures of the columns that hold mostly figures."""

    columns: list
    values: dict
    unit: dict

    def vector(self, i):
        return [self.values[j][i] for j in self.columns]


def numbers_of(rows, width):
    columns, values, unit = [], {}, {}
    for j in range(width):
        cells = [r[j] if j < len(r) else None for r in rows]
        style = _style(cells)
        cache, found = {}, []
        for c in cells:
            key = c if isinstance(c, (str, int, float)) else None
            if key not in cache:
                cache[key] = number_of(c, style) if key is not None and (not isinstance(c, str) or is_value(c)) else None
            found.append(cache[key])
        filled = sum(not empty(c) for c in cells)
        numeric = sum(v is not None for v in found)
        if filled and numeric * 2 >= filled and numeric >= 1 and not _dates(cells):
            columns.append(j)
            values[j] = found
            unit[j] = 10.0 ** -max((decimals(c, style) for c in cells[:2000] if c is not None and not empty(c) and is_value(c)), default=0)
    return Numbers(columns, values, unit)


def _style(cells):
    texts = [c for c in cells[:500] if isinstance(c, str) and any(ch.isdigit() for ch in c)]
    comma = sum(bool(re.search(r",[0-9]{1,2}(?![0-9])", t)) for t in texts)
    dot = sum(bool(re.search(r"\.[0-9]{1,2}(?![0-9])", t)) for t in texts)
    grouped = sum(bool(re.search(r"[0-9]\.[0-9]{3}(?![0-9])", t)) for t in texts)
    return "eu" if comma > dot and (comma or grouped) else "us"


def _dates(cells):
    texts = [c for c in cells[:200] if isinstance(c, str) and not empty(c)]
    return bool(texts) and sum(any(re.fullmatch(q, p.clean(t)) for _, q, _ in p.DATE_PARTS[:7]) for t in texts) * 2 > len(texts)


def find(rows, width, names):
    """(flags, notes): which rows are totals of others."""
    flags = [False] * len(rows)
    if len(rows) < 2 or len(rows) > MOST_ROWS:
        return flags, []
    numbers = numbers_of(rows, width)
    if not numbers.columns:
        return flags, []
    suspects = _suspects(rows, width, numbers)
    notes = []
    if suspects:
        _averages(suspects, numbers, flags)
        _walk(range(len(rows)), suspects, numbers, flags)
        _walk(range(len(rows) - 1, -1, -1), suspects, numbers, flags)
        _under_totals(rows, width, numbers, flags)
        notes += _doubtful(rows, suspects, numbers, flags)
    _by_codes(rows, width, numbers, flags)
    notes += _unnamed(rows, numbers, flags, suspects)
    if any(flags):
        shown = list(dict.fromkeys(_shown(rows[i]) for i, f in enumerate(flags) if f))
        said = ", ".join(f"`{s}`" for s in shown[:4]) + (" …" if len(shown) > 4 else "")
        notes.insert(0, note("totals_left_out", f"{sum(flags)} total row(s) left out ({said}); they are in the table with `_is_total`",
                             count=sum(flags), labels=shown[:8]))
    return flags, notes


def _shown(row):
    words = [label(c) for c in row if not empty(c) and not is_value(c)]
    return next((w for w in words if STRONG.fullmatch(w) or WEAK.fullmatch(w)), words[0] if words else "no label")


def _suspects(rows, width, numbers):
    """Row → `strong`, `weak`, `bare` or the kind of mean its words name."""
    figures = set(numbers.columns)
    labels = [j for j in range(width) if j not in figures]
    filled = {j: sum(j < len(r) and not empty(r[j]) for r in rows) for j in labels}
    needed = [j for j in labels if filled[j] * 2 >= len(rows)]
    found = {}
    for i, row in enumerate(rows):
        if all(v is None for v in numbers.vector(i)):
            continue
        kind = None
        for c in row:
            if not isinstance(c, str) or empty(c):
                continue
            text = label(c).strip(" :：*") or label(c)
            if kind in (None, "weak") and len(text) <= 60:
                kind = _kind(text) or kind
        if kind is None and labels and all(j >= len(row) or empty(row[j]) for j in labels) and needed:
            kind = "bare"
        if kind:
            found[i] = kind
    return found


def _kind(text):
    if STRONG.fullmatch(text):
        return "strong"
    for kind, pattern in MEANS.items():
        if pattern.fullmatch(text):
            return kind
    return "weak" if WEAK.fullmatch(text) or WHOLE.fullmatch(text) or STARS.fullmatch(text) else None


def mentioned(cells):
    """Whether any of these cells is worded like a total: a quick look before a table goes the short way."""
    words = [c for c in cells if c and len(c) <= 60 and not c[0].isdigit()]
    if not HINT.search("\n".join(words)):
        return False
    texts = (label(c).strip(" :：*") for c in words if HINT.search(c))
    return any(STRONG.fullmatch(t) or WEAK.fullmatch(t) or any(m.fullmatch(t) for m in MEANS.values()) for t in texts)


def _walk(order, suspects, numbers, flags):
    """One pass over the rows: what is not a total piles up, and a total takes the end of the pile it sums."""
    pile = []
    for i in order:
        row = numbers.vector(i)
        if flags[i]:
            continue
        kind = suspects.get(i)
        if kind in ("strong", "weak", "bare"):
            taken = _sums(pile, row, numbers, kind)
            if taken:
                flags[i] = True
                del pile[-taken:]
                pile.append((row, True))
                continue
            if kind == "strong":
                continue
        pile.append((row, False))


def _sums(pile, row, numbers, kind):
    """How many of the last rows of the pile the row sums; 0 when it sums none."""
    totals = [0.0] * len(row)
    least = 2 if kind == "bare" else 1
    best = 0
    for n, (item, _) in enumerate(reversed(pile[-MOST_SPAN:]), 1):
        totals = [t + (v or 0.0) for t, v in zip(totals, item)]
        if n < least:
            continue
        if _matches(totals, row, n, numbers, kind):
            # Zeros may be added without end: the first fit counts, but a whole pile of plain rows beats one row.
            if n > 1 or kind != "weak" or len(pile) == 1 or pile[-1][1]:
                return n
            best = best or n
    return best


def _matches(totals, row, n, numbers, kind):
    fits = misses = 0
    for j, total, value in zip(numbers.columns, totals, row):
        if value is None or (value == 0 and total == 0):
            continue
        if abs(total - value) <= _slack(value, n, numbers.unit[j]):
            fits += 1
        else:
            misses += 1
    if not fits:
        return False
    if kind == "strong":
        return fits >= misses or (fits >= 1 and misses <= 2)
    if kind == "weak":
        return fits > misses or (fits == misses and n > 1)
    return misses == 0 or fits >= 3 * misses


def _slack(value, n, unit):
    """What rounding of the parts may have cost: half a unit each, where units are small beside the figure."""
    exact = max(abs(value) * 1e-9, 1e-6)
    rounded = 0.5 * unit * min(n, 20) if unit < 1 or abs(value) >= 1e4 else 0.0
    return max(exact, min(rounded, abs(value) * 0.002))


def _under_totals(rows, width, numbers, flags):
    """Lines at the end without any of the labels that rows have go with the total among them: tax, the amount due."""
    first = next((i for i, f in enumerate(flags) if f), None)
    if not first:
        return
    labels = [j for j in range(width) if j not in set(numbers.columns)]
    needed = [j for j in labels if sum(j < len(r) and not empty(r[j]) for r in rows[:first]) * 10 >= first * 9]
    at = len(rows)
    while at and needed and all(j >= len(rows[at - 1]) or empty(rows[at - 1][j]) for j in needed):
        at -= 1
    if any(flags[at:]):
        flags[at:] = [True] * (len(rows) - at)


def _averages(suspects, numbers, flags):
    """`Max` may be a person: a row of means is one only when its figures are the mean of the others."""
    body = [i for i in range(len(flags)) if not flags[i] and suspects.get(i) not in MEANS and suspects.get(i) != "strong"]
    for i, kind in suspects.items():
        if kind not in MEANS:
            continue
        fits = misses = 0
        for j in numbers.columns:
            value = numbers.values[j][i]
            column = [numbers.values[j][k] for k in body if numbers.values[j][k] is not None]
            if value is None or not column:
                continue
            column.sort()
            middle = column[len(column) // 2] if len(column) % 2 else (column[len(column) // 2 - 1] + column[len(column) // 2]) / 2
            wanted = {"mean": sum(column) / len(column), "max": column[-1], "min": column[0], "median": middle}.get(kind)
            if wanted is None:
                continue
            if abs(wanted - value) <= max(abs(wanted) * 5e-3, 0.5 * numbers.unit[j]):
                fits += 1
            else:
                misses += 1
        flags[i] = fits > misses or (bool(fits) and kind == "mean")
    # Spread and count stand under a mean that was found; alone they may be anything.
    for i in sorted(suspects):
        if suspects[i] == "spread" and i and flags[i - 1]:
            flags[i] = True


def _doubtful(rows, suspects, numbers, flags):
    """A row that is called a total and sums nothing here is left out, and said to be doubtful."""
    left = [i for i, kind in suspects.items() if kind == "strong" and not flags[i]]
    if not left or len(left) * 3 > len(rows):
        return [warn("totals_doubtful", f"{len(left)} row(s) are called totals but do not equal other rows; they are kept", label=_shown(rows[left[0]]), count=len(left), case="kept")] if left else []
    for i in left:
        flags[i] = True
    shown = _shown(rows[left[0]])
    return [warn("totals_doubtful", f"the total row `{shown}` does not equal the sum of the rows it seems to sum; it is left out", label=shown, case="left_out")]


def _by_codes(rows, width, numbers, flags):
    """Codes that contain each other (205, 20502, 2050201): a row whose longer codes add up to it sums them."""
    for j in range(min(width, 6)):
        codes = [label(r[j]) if j < len(r) and not empty(r[j]) else "" for r in rows]
        given = [(i, c) for i, c in enumerate(codes) if c and not flags[i]]
        if len(given) < 4 or not all(c.isdigit() for _, c in given) or len({len(c) for _, c in given}) < 2 or len(given) > 5000:
            continue
        parents = [i for i, c in given if any(o.startswith(c) and len(o) > len(c) for _, o in given)]
        leaves = [(i, c) for i, c in given if i not in set(parents)]
        figures = Numbers([k for k in numbers.columns if k != j], numbers.values, numbers.unit)
        found = []
        for i in parents:
            below = [figures.vector(k) for k, c in leaves if c.startswith(codes[i])]
            sums = [sum(v or 0.0 for v in column) for column in zip(*below)]
            if below and _matches(sums, figures.vector(i), len(below), figures, "weak"):
                found.append(i)
        if found and len(found) * 10 >= 8 * len(parents):
            for i in found:
                flags[i] = True
            return


def _unnamed(rows, numbers, flags, suspects):
    """A first or last row with an ordinary name that equals the sum of all others."""
    body = [i for i in range(len(rows)) if not flags[i]]
    if len(body) < 4:
        return []
    for i in (body[-1], body[0]):
        if suspects.get(i) in MEANS:
            continue
        others = [numbers.vector(k) for k in body if k != i]
        totals = [sum(v or 0.0 for v in column) for column in zip(*others)]
        row = numbers.vector(i)
        sure = [j for j, v, t in zip(numbers.columns, row, totals) if v and abs(v - t) <= max(1e-9 * abs(v), 1e-6)]
        given = sum(v is not None and v != 0 for v in row)
        digits = max((len(re.sub(r"\D", "", f"{abs(numbers.values[j][i]):g}").strip("0")) for j in sure), default=0)
        if sure and len(sure) == given and (len(sure) >= 2 or digits >= 4):
            flags[i] = True
            return [warn("totals_doubtful", f"the row `{_shown(rows[i])}` equals the sum of all other rows and is left out as a total", label=_shown(rows[i]), case="equal")]
    return []


def columns(rows, names, flags):
    """Columns called totals that equal the sum of columns before them: said, because adding them again doubles a sum."""
    notes = []
    marked = [j for j, n in enumerate(names or []) if n and COLUMN.match(n.split("_")[-1].strip())]
    if not marked or len(rows) < 1 or len(rows) > MOST_ROWS:
        return notes
    numbers = numbers_of([r for r, f in zip(rows, flags) if not f], len(names))
    for j in marked:
        if j not in numbers.columns:
            continue
        parts = []
        for k in reversed([k for k in numbers.columns if k < j]):
            parts.insert(0, k)
            rows_seen = range(len(numbers.values[j]))
            fits = [abs(sum(numbers.values[q][i] or 0.0 for q in parts) - (numbers.values[j][i] or 0.0)) <= max(numbers.unit[j], 1e-6) for i in rows_seen]
            if len(parts) >= 2 and fits and sum(fits) * 10 >= 9 * len(fits):
                shown = [names[q] for q in parts]
                notes.append(note("total_column", f"{names[j]} is the sum of {', '.join(shown[:6])}{' …' if len(shown) > 6 else ''}", column=names[j], parts=shown[:40]))
                break
    return notes
