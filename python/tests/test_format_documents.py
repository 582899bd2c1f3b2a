"""Word, web pages, tables in text and PDF, further workbooks, and refusals: a good, a broken and a hostile file of each."""

import os

import pandas as pd
import pytest
from format_files import (cells, codes, docx, held, kind, ods, pdf, placed, put, quiet, refused, wc, wp, wtable, xlsb, zipped)

from ba_worker.tables import marktable, pdftable, readers, webpage, workbook


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


class TestWord:
    def test_good(self):
        docx(wp("An introduction.") + wp("表1 销售") + wp("单位：万元") + wtable(
            [wc("地区", '<w:vMerge w:val="restart"/>'), wc("2024", '<w:gridSpan w:val="2"/>')],
            [wc("", "<w:vMerge/>"), wc("一月"), wc("二月")],
            [wc("华北"), wc("1,200"), wc("3")]) + wp("The end."))
        assert kind("x.docx") == "docx"
        found = readers.read("x.docx", "docx")
        [grid] = found.grids
        assert grid.rows == [["表1 销售"], ["单位：万元"], ["地区", "2024", None], [None, "一月", "二月"], ["华北", "1,200", "3"]]
        assert sorted(grid.merged) == [(2, 0, 3, 0), (2, 1, 2, 2)] and grid.sheet == "表1 销售"
        assert found.text.splitlines()[0] == "An introduction." and "华北\t1,200\t3" in found.text

    def test_tables_inside_tables_and_layout(self):
        inner = wtable([wc("a"), wc("b")], [wc("1"), wc("2")])
        docx(wtable([f"<w:tc>{wp('left')}{inner}{wp('')}</w:tc>"]) + wtable([wc("one box")]))
        assert [g.rows for g in readers.read("x.docx", "docx").grids] == [[["a", "b"], ["1", "2"]]]

    def test_what_was_deleted_or_is_there_twice_is_not_read(self):
        cell = f"<w:tc><w:p><w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:ins><w:r><w:t>12</w:t></w:r></w:ins></w:p></w:tc>"
        twice = ('<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice>' + wp("once")
                 + "</mc:Choice><mc:Fallback>" + wp("once") + "</mc:Fallback></mc:AlternateContent>")
        docx(twice + wtable([wc("a"), wc("b")], [wc("x"), cell]))
        found = readers.read("x.docx", "docx")
        assert found.grids[0].rows[1] == ["x", "12"] and found.text.count("once") == 1

    def test_broken(self):
        docx(wtable([wc("a"), wc("b")], [wc("1"), wc("2")]))
        put("cut.docx", held("x.docx")[:-40])
        assert refused(kind, "cut.docx").code == "BAD_FILE"
        docx("<w:tbl><w:tr>", name="odd.docx")
        e = refused(readers.read, "odd.docx", "docx")
        assert e.code == "BAD_DOCUMENT" and "docx" in e.hint

    def test_hostile(self):
        laughs = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'
        docx(wp("&b;"), before=laughs)
        assert "entities" in refused(readers.read, "x.docx", "docx").message
        docx(wp(" " * (60 << 20)))
        assert refused(readers.read, "x.docx", "docx").code == "ZIP_BOMB"
        docx("<w:tbl><w:tr><w:tc>" * 30 + "</w:tc></w:tr></w:tbl>" * 30)
        assert refused(readers.read, "x.docx", "docx").code == "BAD_DOCUMENT"
        docx(wtable([wc("a", '<w:gridSpan w:val="999999999"/>'), wc("b")], [wc("1"), wc("2")]))
        assert len(readers.read("x.docx", "docx").grids[0].rows[0]) <= 201


    def test_a_password(self):
        put("x.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le") + bytes(2000))
        e = refused(kind, "x.docx")
        assert e.code == "PASSWORD_PROTECTED" and "remove the password in Word" in e.hint

    def test_nothing_in_it(self):
        docx("")
        assert refused(readers.read, "x.docx", "docx").code == "EMPTY_FILE"


class TestWebPage:
    def test_good(self):
        page = """<!DOCTYPE html><html><head><style>td{}</style></head><body><h1>x</h1><table><tr><td>menu<table><caption>Sales</caption>
        <tr><th rowspan=2>Region</th><th colspan=2>2024</th></tr><tr><th>Q1</th><th>Q2<script>no()</script></th></tr>
        <tr><td>North<td>1<br>000<td>2</table></td></tr></table></body></html>"""
        put("x.html", page)
        put("x.csv", page)
        put("noname", page)
        assert kind("x.html") == "html" and kind("x.csv") == "html_table" and kind("noname") == "html"
        [grid] = webpage.grids(page)
        assert grid.rows == [["Sales"], ["Region", "2024", None], [None, "Q1", "Q2"], ["North", "1 000", "2"]]
        assert sorted(grid.merged) == [(1, 0, 2, 0), (1, 1, 1, 2)] and grid.sheet == "Sales" and grid.notes == []
        assert codes(webpage.grids(page, workbook=True)[0].notes) == ["html_page"]

    def test_broken_and_hostile(self):
        assert [g.rows for g in webpage.grids("<table><tr><td>a<td>b<tr><td>1<td>2")] == [[["a", "b"], ["1", "2"]]]
        assert webpage.grids("<table>" * 5000 + "</td></tr>") == []
        [grid] = webpage.grids("<table><tr><td rowspan=99999999 colspan=9999999999>a<td>b<tr><td>1</table>")
        assert max(len(r) for r in grid.rows) <= 1002 and all(m[2] <= 1 for m in grid.merged)


class TestTextTables:
    def test_pipes(self):
        text = ("# Report\n\n## Sales\n| Region | Amount |\n|:--|--:|\n| **North** | 1\\|2 |\n| [South](http://x) | `a|b` |\n\n"
                "```\n| not | this |\n|---|---|\n| 1 | 2 |\n```\n")
        [grid] = marktable.grids(text, "md")
        assert grid.rows == [["Region", "Amount"], ["North", "1|2"], ["South", "a|b"]] and grid.sheet == "Sales"

    def test_boxes(self):
        text = ("+----+------+\n| id | 名   |\n+----+------+\n|  1 | 张   |\n|  2 | NULL |\n+----+------+\n2 rows in set\n\n"
                " a | b\n---+---\n 1 | x\n 2 | y\n(2 rows)\n\n"
                "┌───────┬─────────┐\n│   a   │    b    │\n│ int64 │ varchar │\n├───────┼─────────┤\n│     1 │ x       │\n└───────┴─────────┘\n\n"
                "+---+---+\n| A | B |\n+===+===+\n| o | 1 |\n| n |   |\n+---+---+\n| t | 2 |\n+---+---+\n")
        assert [g.rows for g in marktable.grids(text, "txt")] == [
            [["id", "名"], ["1", "张"], ["2", "NULL"]], [["a", "b"], ["1", "x"], ["2", "y"]], [["a", "b"], ["1", "x"]],
            [["A", "B"], ["o n", "1"], ["t", "2"]]]

    def test_aligned(self):
        text = ("Table 1: Sales\nUnit: USD\nRegion       Units    Revenue\n-----------------------------\nNorth          100   1,200.50\n"
                "South west              300.00\nEast             7      12.00\n\n地区      数量\n华北       100\n华东地区    20\n西南         7\n\n"
                "Name       Qty\n---------- ---\nWidget A   12\nThing      7\n\n1 2.5 3\n4 5.5 6\n7 8.5 9\n")
        assert [g.rows for g in marktable.grids(text, "txt")] == [
            [["Table 1: Sales"], ["Unit: USD"], ["Region", "Units", "Revenue"], ["North", "100", "1,200.50"], ["South west", None, "300.00"],
             ["East", "7", "12.00"]],
            [["地区", "数量"], ["华北", "100"], ["华东地区", "20"], ["西南", "7"]],
            [["Name", "Qty"], ["Widget A", "12"], ["Thing", "7"]], [["1", "2.5", "3"], ["4", "5.5", "6"], ["7", "8.5", "9"]]]

    def test_delimited(self):
        assert marktable.delimiter("a\tb\n1\t2\n3\t4\n") == "\t"
        assert marktable.delimiter('a,b,c\nx,1,"2,3"\ny,2,3\n') == ","
        assert marktable.delimiter("Dear John, hello\nI write, today\nyours, Bob\n") is None

    @pytest.mark.parametrize("text", [
        "This is prose, with lines\nthat mean nothing,  and   odd  blanks\nin it.\n\n- one\n- two\n",
        "Name:   John\nCity:   Rome\nJob:    none\n",
        "a | b\nc | d\n", "---\ntitle: x\n---\n\ntext\n", "if (a || b) {\n  c |= d;\n}\n", "", "|", "|---|", "| a |\n|---|\n",
    ])
    def test_a_text_without_a_table_stays_text(self, text):
        assert marktable.grids(text, "txt") == [] and marktable.grids(text, "md") == [] and marktable.delimiter(text) is None

    def test_hostile_lines_take_no_time_to_speak_of(self):
        for line in ("|" * 200_000, "- " * 200_000, "+-" * 200_000, "a  " * 100_000, "`|" * 100_000, "[" * 100_000, "*" * 100_000):
            marktable.grids("\n".join([line] * 4), "md")
            marktable.grids("\n".join([line] * 4), "txt")


class TestPdf:
    head = ["Region", "Product name", "Units", "Revenue"]

    def test_good_over_two_pages(self):
        rows = [["North", "Widget one", "12", "1,234.50"], ["South west", "Widget", "", "99.00"], ["East", "Thing", "7", "0.25"]]
        put("x.pdf", pdf([placed([self.head] + rows, above=["A sentence that says something before it.", "Table 1: Sales"]), placed([self.head] + rows)]))
        [grid] = pdftable.grids("x.pdf", quiet)
        want = [[c or None for c in r] for r in rows]
        assert grid.rows == [["Table 1: Sales"], self.head] + want + want
        assert codes(grid.notes) == ["placed_by_position", "repeated_header"] and grid.notes[0]["level"] == "warn"

    def test_a_table_that_goes_on_without_its_header(self):
        rows = [["North", "Widget", "12", "1.50"], ["South", "Thing", "3", "2.50"], ["East", "Gear", "4", "3.50"]]
        put("x.pdf", pdf([placed([self.head] + rows), placed(rows)]))
        [grid] = pdftable.grids("x.pdf", quiet)
        assert grid.rows == [self.head] + rows + rows

    def test_a_wrapped_cell_is_one_cell(self):
        rows = [self.head, ["North", "Widget", "12", "1.50"], ["South", "A long", "3", "2.50"], ["", "name", "", ""], ["East", "Gear", "4", "3.50"]]
        put("x.pdf", pdf([placed(rows)]))
        assert pdftable.grids("x.pdf", quiet)[0].rows[2] == ["South", "A long name", "3", "2.50"]

    def test_prose_in_two_columns_is_no_table(self):
        put("x.pdf", pdf([[(72, 700 - 14 * i, "words on the left side") for i in range(8)] + [(320, 700 - 14 * i, "words on the right") for i in range(8)]]))
        assert pdftable.grids("x.pdf", quiet) == []

    def test_broken_and_hostile(self):
        put("x.pdf", pdf([placed([self.head] * 4)])[:300])
        assert pdftable.grids("x.pdf", quiet) == []
        bad = pdf([[(72, 700, "x) Tj " + "q " * 5000 + "(y")]])
        put("x.pdf", bad)
        assert pdftable.grids("x.pdf", quiet) == []
        put("x.pdf", pdf([[(72, 700, "a) Tj /No 5 Tf [(b) (c] TJ 1 Td T* Tm (d")]]))
        assert pdftable.grids("x.pdf", quiet) == []


class TestWorkbooks:
    def read(self, name):
        return [g.rows for g in workbook.grids(name, kind(name), ".", quiet)]

    def test_xlsb(self):
        zipped(xlsb(), "x.xlsb")
        assert kind("x.xlsb") == "xlsx" and self.read("x.xlsb") == [[["city", "n"], ["Bonn", 12.5]]]
        parts = xlsb()
        parts["xl/workbook.bin"] = b"\xff" * 40
        zipped(parts, "broken.xlsb")
        assert refused(self.read, "broken.xlsb").code == "BAD_WORKBOOK"
        zipped({**xlsb(), "xl/worksheets/sheet2.bin": bytes(130 << 20)}, "bomb.xlsb")
        assert refused(self.read, "bomb.xlsb").code == "ZIP_BOMB"

    def test_xlsm(self):
        pd.DataFrame({"city": ["Bonn"], "n": [12.5]}).to_excel("x.xlsx", index=False)
        os.rename("x.xlsx", "x.xlsm")
        assert kind("x.xlsm") == "xlsx" and self.read("x.xlsm") == [[["city", "n"], ["Bonn", 12.5]]]

    def test_ods(self):
        zipped(ods(cells("city", "n") + cells("Bonn", 12.5)), "x.ods")
        assert kind("x.ods") == "xlsx" and self.read("x.ods") == [[["city", "n"], ["Bonn", 12.5]]]
        zipped(ods("<table:table-row><table:table-cell"), "broken.ods")
        assert refused(self.read, "broken.ods").code == "BAD_WORKBOOK"
        zipped(ods(cells("x" * (130 << 20))), "bomb.ods")
        assert refused(self.read, "bomb.ods").code == "ZIP_BOMB"


class TestRefusals:
    @pytest.mark.parametrize("name, data, says", [
        ("x.mdb", b"\x00\x01\x00\x00Standard Jet DB\x00" + bytes(100), "in Access, export"),
        ("x.accdb", b"\x00\x01\x00\x00Standard ACE DB\x00" + bytes(100), "in Access, export"),
        ("x.rtf", b"{\\rtf1 hello}", "save it as .docx"),
        ("x.rds", b"X\n\x00\x00\x00\x03" + bytes(100), "write.csv"),
        ("x.pkl", b"\x80\x04\x95" + bytes(100), "CSV"),
        ("x.7z", b"7z\xbc\xaf\x27\x1c" + bytes(50), "unpack it"),
        ("x.xls", b"MIME-Version: 1.0\nContent-Type: multipart/related; x\n", "save it as .xlsx"),
    ])
    def test_says_what_to_do(self, name, data, says):
        put(name, data)
        e = refused(kind, name)
        assert says in f"{e.message} {e.hint}"

    @pytest.mark.parametrize("name, inside, says", [
        ("x.numbers", "Index/Document.iwa", "Export To"), ("x.pptx", "ppt/presentation.xml", "PDF"), ("x.odt", "word/other.xml", "docx"),
    ])
    def test_packages(self, name, inside, says):
        zipped({inside: "x"}, name)
        e = refused(lambda: list(workbook.grids(name, kind(name), ".", quiet)))
        assert says in e.hint

    def test_old_word(self):
        put("x.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "WordDocument".encode("utf-16-le") + bytes(2000))
        e = refused(lambda: list(workbook.grids("x.doc", kind("x.doc"), ".", quiet)))
        assert "save it as .docx" in e.hint
