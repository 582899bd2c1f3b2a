"""Cells of a report's tables as values: numbers with their format, dates, text. What looks like a formula stays text (SPEC D5)."""

import datetime
import re

from ..tables.export import FORMULA
from .layout import width
from .runs import plain

_NUMBER = re.compile(r"(?P<sign>[-+−])?(?P<money>[¥￥$€£])?\s*(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)\s*(?P<unit>%|万元|亿元|元|万|亿)?\Z")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})\Z")
_NOT_SUMMED = re.compile(
    r"率|比|占|均|单价|价格|年|月份?$|日期|季|编号|编码|序号|排名|名次|名$|同|环|增长|差|中位|最[大小高低]|指数|分数|评分|"
    r"rate|ratio|share|percent|%|avg|average|mean|median|price|year|month|date|quarter|\bid\b|_id|code|rank|\bno\b|growth|change|yoy|mom|index|score|max|min",
    re.I,
)
TOTALS = {"合计", "总计", "总和", "小计", "total", "grand total", "sum", "all"}


class Cell:
    """`value` is a number, a date, text or None; `format` the number format that shows it as the report does."""

    __slots__ = ("value", "format", "text", "doubt")

    def __init__(self, value, text, number_format=None):
        self.value, self.text, self.format, self.doubt = value, text, number_format, None

    @property
    def is_number(self):
        return isinstance(self.value, (int, float)) and not isinstance(self.value, bool)


def of_text(text):
    """A cell as the report shows it, typed."""
    text = text.strip()
    found = _NUMBER.match(text)
    if found and not (found["digits"].startswith("0") and found["digits"].isdigit() and len(found["digits"]) > 1) and len(found["digits"].replace(",", "").replace(".", "")) <= 15:
        digits = found["digits"]
        places = len(digits.partition(".")[2])
        value = float(digits.replace(",", ""))
        value = -value if found["sign"] in ("-", "−") else value
        base = ("#,##0" if "," in digits else "0") + ("." + "0" * places if places else "")
        unit = found["unit"]
        if unit == "%":
            return Cell(round(value / 100, places + 4), text, base + "%")
        if found["money"]:
            base = f'"{found["money"]}"{base}'
        if unit:
            base = f'{base}"{unit}"'
        return Cell(int(value) if value.is_integer() and not places and abs(value) < 1e15 else value, text, base)
    date = _DATE.match(text)
    if date:
        try:
            return Cell(datetime.date(*map(int, date.groups())), text, "yyyy-mm-dd")
        except ValueError:
            pass
    return Cell(text or None, text)


def of_value(value):
    """A cell of a tool's result."""
    if value is None or isinstance(value, bool):
        return Cell(value, "" if value is None else str(value))
    if isinstance(value, int):
        # A spreadsheet keeps fifteen digits: a longer number is an identifier.
        return Cell(value, str(value), "0") if abs(value) < 10**15 else Cell(str(value), str(value))
    if isinstance(value, float):
        return Cell(value, f"{value:g}", "#,##0.00" if abs(value) >= 1000 else "0.####") if value == value and abs(value) != float("inf") else Cell(None, "")
    if isinstance(value, str):
        date = _DATE.match(value)
        return of_text(value) if date else Cell(value, value)
    return Cell(str(value), str(value))


class Grid:
    """A table to be written: name, header, typed rows, and where it came from."""

    def __init__(self, title, header, rows, source=""):
        self.title, self.header, self.rows, self.source = title, header, rows, source

    def column(self, index):
        return [row[index] for row in self.rows if index < len(row)]

    def is_numeric(self, index):
        cells = [c for c in self.column(index) if c.value is not None]
        return bool(cells) and sum(c.is_number for c in cells) >= 0.8 * len(cells)

    def can_be_summed(self, index):
        cells = [c for c in self.column(index) if c.is_number]
        percent = any((c.format or "").endswith("%") for c in cells)
        return len(cells) >= 2 and self.is_numeric(index) and not percent and not _NOT_SUMMED.search(self.header[index])

    def total_row(self):
        """The index of the last row where it is a total of those above."""
        if len(self.rows) < 3:
            return None
        words = {c.text.strip().strip("*").lower() for c in self.rows[-1] if not c.is_number}
        return len(self.rows) - 1 if words & TOTALS else None

    def widths(self):
        found = []
        for index, head in enumerate(self.header):
            lengths = [width(head) + 4, *(width(c.text) + 2 for c in self.column(index)[:500])]
            found.append(min(max(lengths), 60))
        return found


def grid_of_block(title, block, doubts=None):
    """`doubts`: number of a figure → why nothing proves it."""
    header = [plain(cell).strip() or f"{index + 1}" for index, cell in enumerate(block["header"])]
    rows = [[of_text(plain(cell)) for cell in row] for row in block["rows"]]
    for row, runs in zip(rows, block["rows"]) if doubts else ():
        for cell, given in zip(row, runs):
            cell.doubt = next((doubts[run["fig"]] for run in given if run.get("fig") in doubts), None)
    return Grid(title, header, rows)


def grid_of_evidence(title, table, source):
    return Grid(title, list(table["columns"]), [[of_value(v) for v in row] for row in table["rows"]], source)


def same(one, other):
    """Whether two grids show the same table, one perhaps rounded."""
    if len(one.rows) != len(other.rows) or len(one.header) != len(other.header):
        return False
    for a, b in zip(one.rows, other.rows):
        for x, y in zip(a, b):
            if x.is_number and y.is_number:
                if abs(x.value - y.value) > 0.006 * max(1, abs(y.value)):
                    return False
            elif str(x.text).strip() != str(y.text).strip() and not (x.is_number or y.is_number):
                return False
    return True


def is_formula_like(text):
    return isinstance(text, str) and text.startswith(FORMULA)
