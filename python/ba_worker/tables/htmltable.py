"""The tables of an HTML page: what many systems save under the name .xls. Reads text only, runs nothing."""

from html.parser import HTMLParser

from .grid import Grid

MAX_CELLS = 5_000_000


class _Tables(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tables, self.row, self.cell, self.depth, self.span, self.cells = [], None, None, 0, 1, 0

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.depth += 1
            if self.depth == 1:
                self.tables.append([])
        elif tag == "tr" and self.depth:
            self._end_row()
            self.row = []
        elif tag in ("td", "th") and self.row is not None:
            self._end_cell()
            self.cell = []
            span = dict(attrs).get("colspan") or "1"
            self.span = min(int(span), 1000) if span.isdigit() else 1
        elif tag == "br" and self.cell is not None:
            self.cell.append(" ")

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self._end_cell()
        elif tag == "tr":
            self._end_row()
        elif tag == "table" and self.depth:
            self._end_row()
            self.depth -= 1

    def handle_data(self, data):
        if self.cell is not None:
            self.cell.append(data)

    def _end_cell(self):
        if self.cell is not None and self.row is not None and self.cells < MAX_CELLS:
            text = "".join(self.cell).strip()
            self.row += [text or None] + [None] * (self.span - 1)
            self.cells += self.span
        self.cell = None

    def _end_row(self):
        self._end_cell()
        if self.row and self.tables:
            self.tables[-1].append(self.row)
        self.row = None


def grids(text):
    parser = _Tables()
    parser.feed(text)
    parser.close()
    parser._end_row()
    return [Grid(rows, notes=["the file is an HTML page, not a workbook"]) for rows in parser.tables if rows]
