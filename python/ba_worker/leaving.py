"""Files that user code leaves for people: cells that a spreadsheet would run are told of (SPEC D5). Looks, never changes a file."""

import csv
import os
import re
import zipfile

from ba_worker.tables.notes import note, warn

MAX_BYTES, MAX_ROWS, MAX_FILES = 32 << 20, 300_000, 12
# A sign before a plain number is a number; before anything else a spreadsheet computes.
_LIVE = re.compile(r"[=@\t\r＝＠]|[-+－＋](?![\d.,\s%]*\Z|[-—]+\Z)")
# What a formula can reach outside its own workbook.
_REACHING = re.compile(r"\b(?:HYPERLINK|WEBSERVICE|IMPORTXML|IMPORTDATA|IMPORTRANGE|IMAGE|CALL|REGISTER\.ID|EXEC|RTD|DDE)\s*\(|\|\s*['A-Z]", re.I)
_REFERENCE = re.compile(r"\$?[A-Z]{1,3}\$?[0-9]{1,7}(?![\w(])")
_FORMULA = re.compile(rb"<f\b[^>]*>([^<]{1,4000})</f>")


def state(folder="."):
    """What is there now, to know later what is new."""
    with os.scandir(folder) as entries:
        return {e.name: _stamp(e) for e in entries if e.name.lower().endswith((".csv", ".tsv", ".xlsx", ".xlsm")) and e.is_file(follow_symlinks=False)}


def _stamp(entry):
    found = entry.stat(follow_symlinks=False)
    return found.st_mtime_ns, found.st_size


def notes(before, folder="."):
    """Notes about files that were written since `before`."""
    found = []
    for name, stamp in sorted(state(folder).items()):
        if before.get(name) == stamp or len(found) >= MAX_FILES or stamp[1] > MAX_BYTES:
            continue
        path, inside = os.path.join(folder, name), (0, "")
        try:
            if name.lower().endswith(("x", "m")):
                (count, first), inside = _in_workbook(path)
            else:
                count, first = _in_text(path)
        except (OSError, ValueError, csv.Error, zipfile.BadZipFile, NotImplementedError, RuntimeError):
            continue
        if count:
            found.append(warn("formula_cells", f"{name}: {count} cells begin like a formula (e.g. {first[:40]!r}); a spreadsheet program would run them. "
                              "Open the file as text, or write it with to_excel, which keeps text as text", file=name, count=count, example=first[:40]))
        if inside[0]:
            found.append(note("formulas_inside", f"{name}: {inside[0]} cells are formulas over other cells (e.g. {inside[1][:40]!r}); what they show is computed when the file is opened",
                              file=name, count=inside[0], example=inside[1][:40]))
    return found


def _in_text(path):
    count, first = 0, ""
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        for number, row in enumerate(csv.reader(file, delimiter="\t" if path.lower().endswith(".tsv") else ",")):
            for cell in row:
                if _LIVE.match(cell):
                    count, first = count + 1, first or cell
            if number >= MAX_ROWS:
                break
    return count, first


def _in_workbook(path):
    """Live cells, and formulas over cells of the workbook. One that reaches out, or over no cell at all, is data that was taken for a formula."""
    live, inside = (0, ""), (0, "")
    with zipfile.ZipFile(path) as archive:
        for part in archive.infolist():
            if not re.fullmatch(r"xl/worksheets/[^/]+\.xml", part.filename) or part.file_size > 4 * MAX_BYTES:
                continue
            for raw in _FORMULA.findall(archive.read(part)):
                text = raw.decode("utf-8", "replace")
                if _REACHING.search(text) or not _REFERENCE.search(text):
                    live = live[0] + 1, live[1] or "=" + text
                else:
                    inside = inside[0] + 1, inside[1] or "=" + text
    return live, inside
