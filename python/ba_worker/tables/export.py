"""Tables out: CSV and xlsx in which no cell is a formula, whatever the text says."""

import csv
import os

import xlsxwriter

from .engine import connect
from .errors import TableError
from .patterns import quote, sql_text
from .values import plain

FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
MAX_SHEET_ROWS = 1_048_575
BATCH = 5000


def neutral(text):
    """Text that a spreadsheet shows instead of running: `=cmd|…` gets an apostrophe in front."""
    return "'" + text if text.startswith(FORMULA) else text


def export(args, progress):
    """args: path (Parquet), out (file name), format (csv | xlsx). Returns {"rows", "bytes"}."""
    try:
        con = connect(1)
        schema = con.execute(f"DESCRIBE SELECT * FROM read_parquet({sql_text(args['path'])})").fetchall()
        picks = ", ".join(f"{quote(r[0])}::VARCHAR" if "TIME ZONE" in r[1] else quote(r[0]) for r in schema)
        names = [r[0] for r in schema]
        con.execute(f"SELECT {picks} FROM read_parquet({sql_text(args['path'])})")
        write = {"csv": _csv, "xlsx": _xlsx}.get(args["format"])
        if write is None:
            raise TableError("UNSUPPORTED_FORMAT", f"cannot export as {args['format']}")
        rows = write(con, names, args["out"], progress)
        return {"rows": rows, "bytes": os.path.getsize(args["out"])}
    except TableError as e:
        return e.as_dict()


def _batches(con):
    while True:
        rows = con.fetchmany(BATCH)
        if not rows:
            return
        yield rows


def _cell(value):
    if isinstance(value, str):
        return neutral(value)
    value = plain(value)
    return neutral(str(value)) if isinstance(value, (list, dict)) else value


def _csv(con, names, out, progress):
    count = 0
    # The byte-order mark is what makes Excel read Chinese text right.
    with open(out, "w", encoding="utf-8-sig", newline="") as f:
        writer = csv.writer(f)
        writer.writerow([neutral(n) for n in names])
        for rows in _batches(con):
            writer.writerows([[_cell(v) for v in r] for r in rows])
            count += len(rows)
            progress(None, f"{count} rows written")
    return count


def _xlsx(con, names, out, progress):
    count = 0
    options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "nan_inf_to_errors": True,
               "default_date_format": "yyyy-mm-dd"}
    with xlsxwriter.Workbook(out, options) as book:
        sheet = book.add_worksheet("data")
        sheet.write_row(0, 0, [neutral(n) for n in names])
        for rows in _batches(con):
            for row in rows:
                if count >= MAX_SHEET_ROWS:
                    raise TableError("TOO_MANY_ROWS", f"an xlsx sheet holds at most {MAX_SHEET_ROWS} rows; export as csv")
                count += 1
                for j, value in enumerate(row):
                    _write(sheet, count, j, value)
            progress(None, f"{count} rows written")
    return count


def _write(sheet, row, column, value):
    if value is None:
        return
    if isinstance(value, str):
        sheet.write_string(row, column, neutral(value)[:32767])
    elif isinstance(value, (bool, int, float)) or hasattr(value, "year"):
        sheet.write(row, column, value)
    else:
        sheet.write_string(row, column, str(_cell(value))[:32767])
