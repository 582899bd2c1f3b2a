"""Workbook: one sheet per table with typed cells, native charts beside it, totals as live formulas, and the sources. No text is ever a formula."""

import datetime
import re

import xlsxwriter
from xlsxwriter.utility import xl_col_to_name

from . import cells, document
from .runs import plain

MAX_ROWS = 1_048_000
DOUBT = "#B45309"
_BAD = re.compile(r"[\[\]:*?/\\\x00-\x1f']")


class Book:
    def __init__(self, doc, book):
        self.doc, self.book, self.names, self.formats = doc, book, set(), {}
        self.doubts = doubts(doc)
        self.written = []

    def format(self, **wanted):
        key = tuple(sorted(wanted.items()))
        if key not in self.formats:
            self.formats[key] = self.book.add_format({"font_name": "Microsoft YaHei" if self.doc.lang == "zh" else "Calibri", "font_size": 10, "valign": "top", **wanted})
        return self.formats[key]

    def sheet(self, name):
        stem = _BAD.sub(" ", name).strip()[:28] or "sheet"
        free, number = stem, 2
        while free.lower() in self.names or free.lower() == "history":
            free, number = f"{stem[:25]} {number}", number + 1
        self.names.add(free.lower())
        return self.book.add_worksheet(free), free

    def text(self, sheet, row, column, text, style=None):
        text = str(text)[:32_000]
        if style is None:
            # The prefix keeps it text even when somebody edits the cell.
            style = self.format(quote_prefix=True) if cells.is_formula_like(text) else self.format()
        sheet.write_string(row, column, text, style)

    def summary(self):
        sheet, _ = self.sheet(self.doc.say("summary"))
        sheet.set_column(0, 0, 16)
        sheet.set_column(1, 1, 110)
        bold, wrap = self.format(bold=True), self.format(text_wrap=True)
        row = 0
        for label, value in ((self.doc.say("report"), self.doc.title), (self.doc.say("made"), self.doc.made), (self.doc.say("conversation"), self.doc.given.get("conversation_id", ""))):
            self.text(sheet, row, 0, label, bold)
            self.text(sheet, row, 1, value, wrap)
            row += 1
        for part in self.doc.parts:
            row += 1
            for label, value in ((self.doc.say("question"), part["question"]), (self.doc.say("asked"), part["asked"])):
                self.text(sheet, row, 0, label, bold)
                self.text(sheet, row, 1, value, wrap)
                row += 1
            for line in lines(part["blocks"], self.doc, self.doubts):
                self.text(sheet, row, 1, line, wrap)
                row += 1
            for line in filter(None, (self.doc.say("marked") if part["marked"] else "", part["summary"], *part["notes"])):
                self.text(sheet, row, 1, line, self.format(text_wrap=True, font_color="#667080"))
                row += 1

    def grid(self, grid):
        sheet, name = self.sheet(grid.title)
        head = self.format(bold=True, bg_color="#EEF2F8", bottom=1, text_wrap=True)
        for column, title in enumerate(grid.header):
            self.text(sheet, 0, column, title, head)
        for column, wide in enumerate(grid.widths()):
            sheet.set_column(column, column, wide)
        rows = grid.rows[:MAX_ROWS]
        total = grid.total_row()
        for index, row in enumerate(rows):
            for column, cell in enumerate(row):
                self.cell(sheet, grid, index, column, cell, total)
        last = len(rows)
        data_rows = last - (1 if total is not None else 0)
        if total is None:
            self.add_total(sheet, grid, last)
        sheet.freeze_panes(1, 1 if len(grid.header) > 6 else 0)
        if grid.header and data_rows:
            sheet.autofilter(0, 0, data_rows, len(grid.header) - 1)
        self.written.append((name, grid, data_rows))
        return sheet, name

    def cell(self, sheet, grid, index, column, cell, total):
        row = index + 1
        if cell.value is None:
            return
        if index == total and cell.is_number and self.adds_up(grid, column, cell):
            letter = xl_col_to_name(column)
            sheet.write_formula(row, column, f"=SUM({letter}2:{letter}{index + 1})", self.format(num_format=cell.format or "General", bold=True, top=1), cell.value)
        elif cell.is_number:
            sheet.write_number(row, column, cell.value, self.format(num_format=cell.format or "General", **({"font_color": DOUBT} if cell.doubt else {})))
        elif isinstance(cell.value, bool):
            sheet.write_boolean(row, column, cell.value)
        elif isinstance(cell.value, datetime.date):
            sheet.write_datetime(row, column, cell.value, self.format(num_format="yyyy-mm-dd", align="left"))
        else:
            self.text(sheet, row, column, cell.value)
        if cell.doubt:
            sheet.write_comment(row, column, f"? {cell.doubt}"[:1000])

    @staticmethod
    def adds_up(grid, column, cell):
        parts = [c.value for c in grid.column(column)[:-1] if c.is_number]
        return bool(parts) and abs(sum(parts) - cell.value) <= max(0.006 * len(parts), 1e-9 * abs(cell.value), 0.01)

    def add_total(self, sheet, grid, last):
        """A row under the table that follows the filter."""
        summed = [c for c in range(len(grid.header)) if grid.can_be_summed(c)]
        if len(grid.rows) < 2 or not summed or summed == list(range(len(grid.header))) and len(grid.header) > 1:
            return
        if 0 not in summed:
            self.text(sheet, last + 1, 0, self.doc.say("total"), self.format(bold=True, top=1))
        for column in summed:
            letter = xl_col_to_name(column)
            value = sum(c.value for c in grid.column(column) if c.is_number)
            style = next((c.format for c in grid.column(column) if c.is_number), "General")
            sheet.write_formula(last + 1, column, f"=SUBTOTAL(109,{letter}2:{letter}{last + 1})", self.format(num_format=style or "General", bold=True, top=1), value)

    def chart(self, block):
        """A chart on a sheet of its own, drawn from cells beside it."""
        data = block["data"]
        title = block["title"] or self.doc.say("chart_n", n=block["n"])
        sheet, name = self.sheet(f"{self.doc.say('chart_n', n=block['n'])} {title}"[:28])
        head = self.format(bold=True, bg_color="#EEF2F8", bottom=1)
        points = data["kind"] == "scatter"
        for index, item in enumerate(data["series"]):
            column = index * 2 if points else index + 1
            self.text(sheet, 0, column + (1 if points else 0), item["name"] or title, head)
            for row, value in enumerate(item["points"] if points else item["values"]):
                if points:
                    sheet.write_number(row + 1, column, value[0])
                    sheet.write_number(row + 1, column + 1, value[1])
                elif value is not None:
                    sheet.write_number(row + 1, column, value, self.format(num_format="#,##0.##"))
        if not points:
            for row, label in enumerate(data["categories"]):
                self.text(sheet, row + 1, 0, label)
        sheet.set_column(0, len(data["series"]) * (2 if points else 1), 16)
        sheet.freeze_panes(1, 0)
        chart = self.native(data, name)
        # A title that begins like a formula would be read as one.
        chart.set_title({"name": (" " + title if title.startswith("=") else title)[:250], "name_font": {"size": 12}})
        chart.set_size({"width": 760, "height": 420})
        sheet.insert_chart(1, len(data["series"]) * (2 if points else 1) + 2, chart)

    def native(self, data, name):
        kind = {"pie": "doughnut" if data.get("ring") else "pie", "scatter": "scatter", "line": "area" if data["area"] else "line", "bar": "bar" if data["horizontal"] else "column"}[data["kind"]]
        subtype = {"subtype": "stacked"} if data["stacked"] and kind in ("bar", "column", "area") else {}
        chart = self.book.add_chart({"type": kind, **subtype})
        other = None
        rows = len(data["categories"])
        for index, item in enumerate(data["series"]):
            if kind == "scatter":
                last, column = len(item["points"]), index * 2
                chart.add_series({"name": [name, 0, column + 1], "categories": [name, 1, column, last, column], "values": [name, 1, column + 1, last, column + 1]})
                continue
            series = {"name": [name, 0, index + 1], "categories": [name, 1, 0, rows, 0], "values": [name, 1, index + 1, rows, index + 1]}
            if item["kind"] == "line" and kind == "column":
                other = other or self.book.add_chart({"type": "line"})
                other.add_series({**series, "y2_axis": bool(item["axis"])})
            else:
                chart.add_series(series)
        if other:
            chart.combine(other)
        if kind == "bar":
            chart.set_y_axis({"reverse": False})
        if len(data["series"]) == 1 and kind not in ("pie", "doughnut"):
            chart.set_legend({"none": True})
        return chart

    def sources(self):
        sheet, _ = self.sheet(self.doc.say("sources"))
        head, wrap = self.format(bold=True, bg_color="#EEF2F8", bottom=1), self.format(text_wrap=True)
        for column, (key, wide) in enumerate((("source", 10), ("tool", 18), ("rows", 9), ("statement", 100))):
            self.text(sheet, 0, column, self.doc.say(key), head)
            sheet.set_column(column, column, wide)
        row = 1
        for part in self.doc.parts:
            for s in part["sources"]:
                self.text(sheet, row, 0, s["name"])
                self.text(sheet, row, 1, " ".join(filter(None, (s["tool"], s["connection"]))))
                if s["rows"] is not None:
                    sheet.write_number(row, 2, s["rows"])
                self.text(sheet, row, 3, s["what"], wrap)
                row += 1
        for upload in self.doc.given.get("uploads") or []:
            self.text(sheet, row, 0, upload.get("file_id", ""))
            self.text(sheet, row, 1, self.doc.say("files"))
            self.text(sheet, row, 3, upload.get("filename", ""))
            row += 1
        row += 1
        for column, key in enumerate(("figure", "state", None, "origin")):
            if key:
                self.text(sheet, row, column, self.doc.say(key), head)
        for part in self.doc.parts:
            for proof in part["proofs"]:
                row += 1
                style = self.format(font_color=DOUBT) if proof["marked"] else self.format()
                self.text(sheet, row, 0, proof["text"], style)
                self.text(sheet, row, 1, proof["said"], style)
                self.text(sheet, row, 3, proof["origin"], wrap)
        sheet.freeze_panes(1, 0)


def doubts(doc):
    """Number of a figure → why nothing proves it."""
    return {p["n"]: p["origin"] for part in doc.parts for p in part["proofs"] if p["marked"]}


def lines(blocks, doc, doubtful):
    """The answer's prose, a line each; tables and charts have sheets of their own."""
    for block in document.walk(blocks):
        if block["k"] in ("para", "heading"):
            yield "".join(plain([run]) + (" (?)" if run.get("fig") in doubtful else "") for run in block["runs"])
        elif block["k"] == "code":
            yield block["text"]
        elif block["k"] == "math":
            yield block["tex"]
        elif block["k"] == "note":
            yield f"⚠ {block['text']}"
        elif block["k"] == "chart" and not block["data"]:
            yield f"⚠ {doc.chart_note(block)}" if block["error"] else (block["title"] or doc.say("chart_n", n=block["n"]))


def grids(doc):
    """The tables of the answers, then what the tools returned beyond them."""
    found, doubtful = [], doubts(doc)
    for part in doc.parts:
        heading, number, shown = "", 0, []
        for block in document.walk(part["blocks"]):
            if block["k"] == "heading":
                heading = plain(block["runs"])
            elif block["k"] == "table" and block["rows"]:
                number += 1
                shown.append(cells.grid_of_block(heading or doc.say("table_n", n=len(found) + number), block, doubtful))
        names = {s["call"]: s["name"] for s in part["sources"]}
        more = []
        for table in part["tables"]:
            source = names.get(table["call"], str(table["call"]))
            grid = cells.grid_of_evidence(source, table, source)
            if table["rows"] and not any(cells.same(s, grid) for s in (*shown, *more)):
                more.append(grid)
        found += [*shown, *more]
    return found[:200]


def write(doc, out, progress):
    options = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False, "nan_inf_to_errors": True}
    with xlsxwriter.Workbook(out, options) as file:
        file.set_properties({"title": doc.title[:200], "comments": str(doc.given.get("conversation_id", ""))})
        book = Book(doc, file)
        book.summary()
        tables = grids(doc)
        for index, grid in enumerate(tables):
            progress(0.4 + 0.4 * index / max(len(tables), 1), grid.title)
            book.grid(grid)
        for _, block in doc.charts:
            if block["data"]:
                book.chart(block)
        book.sources()
