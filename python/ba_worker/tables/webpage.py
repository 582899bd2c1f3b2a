"""The tables of an HTML page, with merged cells and captions. Reads text only, runs nothing."""

from html.parser import HTMLParser

from . import captions
from .grid import Grid
from .notes import note

MAX_CELLS = 5_000_000
MAX_SPAN = 1000
SILENT = {"script", "style", "noscript", "template"}


class _Table:
    def __init__(self, before):
        self.rows, self.merged, self.row, self.cell, self.caption = [], [], None, None, None
        self.span = self.down = 1
        # Columns that a cell above reaches into: for this row, and for those after it, with how many rows are left.
        self.covered, self.reaching = {}, {}
        self.has_inner, self.before = False, before


class _Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tables, self.stack, self.cells, self.silent = [], [], 0, 0
        self.caption, self.lines = None, []

    def handle_starttag(self, tag, attrs):
        if tag in SILENT:
            self.silent += 1
        elif tag == "table":
            if self.stack:
                self.stack[-1].has_inner = True
            table = _Table(self.lines[-4:])
            self.tables.append(table)
            self.stack.append(table)
        elif not self.stack:
            return
        elif tag == "caption":
            self.caption = []
        elif tag == "tr":
            self._end_row()
            self.stack[-1].row = []
        elif tag in ("td", "th"):
            self._start_cell(dict(attrs))
        elif tag in ("br", "p", "div", "li") and self.stack[-1].cell is not None:
            self.stack[-1].cell.append(" ")

    def _start_cell(self, attrs):
        table = self.stack[-1]
        self._end_cell()
        if table.row is None:
            table.row = []
        table.cell = []
        table.span, table.down = _span(attrs.get("colspan")), _span(attrs.get("rowspan"))

    def handle_endtag(self, tag):
        if tag in SILENT:
            self.silent = max(0, self.silent - 1)
        elif not self.stack:
            return
        elif tag == "caption" and self.caption is not None:
            self.stack[-1].caption, self.caption = "".join(self.caption).strip(), None
        elif tag in ("td", "th"):
            self._end_cell()
        elif tag in ("tr", "thead", "tbody", "tfoot"):
            self._end_row()
        elif tag == "table":
            self._end_row()
            self.stack.pop()

    def handle_data(self, data):
        if self.silent:
            return
        if self.caption is not None:
            self.caption.append(data)
        elif self.stack and self.stack[-1].cell is not None:
            self.stack[-1].cell.append(data)
        elif not self.stack and data.strip():
            self.lines.append(data.strip())
            del self.lines[:-4]

    def _end_cell(self):
        table = self.stack[-1]
        if table.cell is None or table.row is None:
            return
        text, table.cell = " ".join("".join(table.cell).split()), None
        self.cells += table.span
        if self.cells > MAX_CELLS:
            return
        while len(table.row) in table.covered:
            table.row.append(None)
        at, index = len(table.row), len(table.rows)
        table.row += [text or None] + [None] * (table.span - 1)
        if table.span > 1 or table.down > 1:
            table.merged.append((index, at, index + table.down - 1, at + table.span - 1))
        if table.down > 1:
            table.reaching.update(dict.fromkeys(range(at, at + table.span), table.down - 1))

    def _end_row(self):
        table = self.stack[-1]
        self._end_cell()
        if table.row:
            table.rows.append(table.row)
            left = {j: n - 1 for j, n in table.covered.items() if n > 1}
            table.covered, table.reaching = {**left, **table.reaching}, {}
        table.row = None


def _span(value):
    value = (value or "1").strip()
    return max(1, min(int(value), MAX_SPAN)) if value.isascii() and value.isdigit() else 1


def grids(text, workbook=False):
    """A Grid for each table of data. `workbook`: the page goes by the name of a workbook, which is worth a note."""
    page = _Page()
    page.feed(text)
    page.close()
    while page.stack:
        page._end_row()
        page.stack.pop()
    return [_grid(t, workbook) for t in page.tables if _holds_data(t, workbook)]


def _holds_data(table, workbook):
    """Tables around tables, and those of one row or column, only place things on a page."""
    if table.has_inner or not table.rows:
        return False
    return workbook or (len(table.rows) >= 2 and max(len(r) for r in table.rows) >= 2)


def _grid(table, workbook):
    titles = [table.caption] if table.caption else captions.above(table.before)
    shift, last = len(titles), len(table.rows) - 1
    merged = [(a + shift, b, min(c, last) + shift, d) for a, b, c, d in table.merged if (min(c, last), d) != (a, b)]
    notes = [note("html_page", "the file is an HTML page, not a workbook")] if workbook else []
    name = table.caption[:60] if table.caption else captions.title(titles)
    return Grid([[t] for t in titles] + table.rows, sheet=name, merged=merged, notes=notes)
