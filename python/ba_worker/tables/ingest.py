"""Upload → typed Parquet tables and a profile. The original file is only read."""

import os
import re
import shutil
import tempfile
from dataclasses import dataclass

import duckdb

from . import convert, csvfile, detect, grid, htmltable, jsonfile, profile, textfile, wide, workbook
from .engine import connect, cores, run_with_progress
from .errors import TableError
from .patterns import quote, sql_text

BIG = 4 << 20


def ingest(args, progress):
    """args: path, filename, out (folder, default `.`). Returns the FileProfile, or `{"error": …}`."""
    return _guarded(args, progress, Options())


def read(args, progress):
    """Like `ingest`, for one look: args may name format, encoding, sheet, nrows and preview (rows shown).

    Returns `{"kind", "profile", "text"}`; text is there for PDF and plain text.
    """
    options = Options(args.get("format"), args.get("encoding"), args.get("sheet"), args.get("nrows"), args.get("preview") or 20)
    result = _guarded(args, progress, options)
    if "error" in result:
        return result
    return {"kind": options.kind, "profile": result, "text": options.text}


@dataclass
class Options:
    wanted: str | None = None
    encoding: str | None = None
    sheet: object = None
    nrows: int | None = None
    preview: int = 20
    # Filled while reading.
    kind: str = ""
    text: str | None = None


def _guarded(args, progress, options):
    path, filename = args["path"], args["filename"]
    threads = cores() if os.path.getsize(path) > BIG else 1
    try:
        if os.path.getsize(path) == 0:
            raise TableError("EMPTY_FILE", "the file is empty")
        with tempfile.TemporaryDirectory(prefix=".ingest_", dir=".") as work:
            maker = _Tables(connect(threads), args.get("out") or ".", base_name(filename), progress, options)
            return _ingest(maker, path, filename, work, progress, options)
    except TableError as e:
        return e.as_dict()
    except duckdb.Error as e:
        return TableError("UNREADABLE", f"the file cannot be read: {str(e).splitlines()[0][:200]}").as_dict()


def _ingest(maker, path, filename, work, progress, options):
    kind = options.kind = detect.kind_of(path, filename, options.wanted)
    result = {"encoding": None, "tables": maker.done, "lines": None, "keys": []}
    if kind == "binary":
        raise TableError("UNSUPPORTED_FORMAT", f"{filename} is of no kind that can be read")
    if kind in ("xlsx", "xls"):
        for g in workbook.grids(path, kind, work, progress, options.sheet):
            maker.grid(g)
    elif kind == "parquet":
        maker.parquet(path)
    elif kind == "pdf":
        pages, total = textfile.pdf(path, progress)
        options.text = "\f".join(pages)
        result["lines"] = sum(len(p.splitlines()) for p in pages)
        result["keys"] = [f"{total} page(s)"]
    else:
        codec, result["encoding"], notes = detect.encoding_of(path, options.encoding)
        _textual(maker, path, kind, codec, notes, work, result, options)
    if kind == "html_table" and not maker.done:
        raise TableError("NOT_A_WORKBOOK", "the file is a web page without a table; was it saved from a page that asks to sign in?")
    if kind in ("xlsx", "xls") and not maker.done:
        raise TableError("EMPTY_FILE", "the workbook holds no cells")
    progress(1.0, "ready")
    return result


def _textual(maker, path, kind, codec, notes, work, result, options):
    if kind in ("csv", "tsv"):
        maker.csv(path, codec, work, notes, "\t" if kind == "tsv" else None)
    elif kind == "html_table":
        for g in htmltable.grids(textfile.read(path, codec)):
            maker.grid(g)
    elif kind in ("json", "jsonl"):
        result["keys"] = _json(maker, path, kind, codec, work)
        if not maker.done:
            options.text = textfile.read(path, codec)
    else:
        text = options.text = textfile.read(path, codec)
        result["lines"] = text.count("\n") + (not text.endswith("\n") and bool(text))
        if kind == "py":
            functions, classes = textfile.python_names(text)
            result["keys"] = functions + classes


def _json(maker, path, kind, codec, work):
    if kind == "jsonl" and os.path.getsize(path) > jsonfile.STREAM_FROM and codec in ("utf-8", "utf-8-sig"):
        maker.records(path, work)
        return []
    if kind == "jsonl":
        keys, grids = [], jsonfile.lines_of(jsonfile.load_text(path, codec).splitlines())
    else:
        keys, grids = jsonfile.document(path, codec)
    for g in grids:
        maker.grid(g)
    return keys


def base_name(filename):
    """`2024 销售-数据.csv` → `2024_销售_数据`: letters of any script, digits and `_`."""
    stem = os.path.basename(filename.replace("\\", "/"))
    stem = stem.rsplit(".", 1)[0] if "." in stem else stem
    cleaned = re.sub(r"\W+", "_", stem).strip("_")
    return cleaned[:80] or "table"


class _Tables:
    """Writes each table found to Parquet and describes it."""

    def __init__(self, con, out, base, progress, options):
        self.con, self.out, self.base, self.progress, self.options = con, out, base, progress, options
        self.done = []

    def _target(self):
        return os.path.join(self.out, f"table_{len(self.done) + 1}.parquet")

    def _name(self, sheet):
        if not sheet:
            name = self.base
        else:
            part = re.sub(r"\W+", "_", sheet).strip("_") or "sheet"
            name = f"{self.base}_{part}"
        taken = {t["name"] for t in self.done}
        unique, n = name, 2
        while unique in taken:
            unique, n = f"{name}_{n}", n + 1
        return unique

    def _finish(self, target, columns, notes, guesses, sheet=None, own_file=True):
        self.progress(0.9, "describing the columns")
        for c in columns:
            notes += c.notes
        table = profile.describe(self.con, target, self._name(sheet), sheet, notes, guesses + convert.guesses(columns),
                                 convert.units(columns), self.options.preview, own_file)
        table["parquet"] = os.path.basename(target)
        self.done.append(table)

    def csv(self, path, codec, work, notes, delimiter):
        target = self._target()
        source, columns, more, guesses = csvfile.load(path, codec, self.progress, work, delimiter, self.options.nrows)
        if len(columns) > wide.FROM_COLUMNS:
            wide.write(source.path, columns, target)
            return self._finish(target, columns, notes + more, guesses)
        try:
            self._typed(source, columns, target)
        except duckdb.Error as error:
            source, columns, more, guesses = self._again(error, path, codec, work, source, columns, more, guesses, target, delimiter)
        self._finish(target, columns, notes + more, guesses)

    def _typed(self, source, columns, target):
        convert.settle(self.con, source.relation(), columns)
        convert.write(self.con, source.relation(), columns, target, self.progress, "reading and typing the rows")

    def _again(self, error, path, codec, work, source, columns, more, guesses, target, delimiter):
        """The sample misled: with room for long lines if that was it, then with every column as text, then row by row."""
        if "maximum line size" in str(error).lower() and source.lengthen():
            try:
                self._typed(source, columns, target)
                return source, columns, more, guesses
            except duckdb.Error:
                pass
        source.lengthen()
        source.widen()
        try:
            self._typed(source, columns, target)
        except duckdb.Error:
            source, columns, more, guesses = csvfile.load_carefully(path, codec, self.progress, work, delimiter)
            self._typed(source, columns, target)
        return source, columns, more, guesses

    def grid(self, g):
        target = self._target()
        try:
            relation, columns, notes, guesses = grid.load(self.con, g, "cells", self.options.nrows)
        except TableError as e:
            if e.code == "EMPTY_TABLE":
                return
            raise
        if len(columns) > wide.FROM_COLUMNS:
            raw = target + ".raw"
            self.con.execute(f"COPY (SELECT * FROM {relation}) TO {sql_text(raw)} (FORMAT parquet)")
            wide.write(raw, columns, target)
            os.remove(raw)
        else:
            convert.settle(self.con, relation, columns)
            convert.write(self.con, relation, columns, target, self.progress, "typing the cells")
        self.con.unregister(relation)
        self._finish(target, columns, notes, guesses, g.sheet)

    def records(self, path, work):
        """JSON lines that DuckDB reads: its numbers are kept as they are, its texts are typed as everywhere else."""
        target, raw = self._target(), os.path.join(work, "raw.parquet")
        self.progress(0.0, "looking through the lines")
        found = [r[:2] for r in self.con.execute(f"DESCRIBE SELECT * FROM {jsonfile.streamed(path)}").fetchall()]
        picks, columns = [], []
        for name, kind in found:
            # A JSON value is text here; ->> takes the quotation marks off a string.
            picks.append(f"{quote(name)} ->> '$' AS {quote(name)}" if kind == "JSON" else quote(name))
            columns.append(convert.Column(name, name, typed=kind not in ("JSON", "VARCHAR")))
        lines = jsonfile.streamed(path, found)
        run_with_progress(self.con, f"COPY (SELECT {', '.join(picks)} FROM {lines}) TO {sql_text(raw)} (FORMAT parquet)",
                          self.progress, 0.0, 0.25, "reading the lines")
        relation = f"read_parquet({sql_text(raw)})"
        texts = [c for c in columns if not c.typed]
        if texts:
            some = self.con.execute(f"SELECT {', '.join(quote(c.key) for c in texts)} FROM {relation} LIMIT {csvfile.SAMPLE_ROWS}").fetchall()
            for c, cells in zip(texts, zip(*some)):
                c.sample = [v for v in cells if v is not None]
        convert.plan_all(columns)
        for c in texts:
            c.plan.native = None
        convert.settle(self.con, relation, columns)
        blank = " AND ".join(f"{quote(c.key)} IS NULL" for c in columns)
        lost = self.con.execute(f"SELECT count(*) FROM {relation} WHERE {blank}").fetchall()[0][0]
        convert.write(self.con, relation, columns, target, self.progress, "typing the values", f"WHERE NOT ({blank})" if lost else "")
        notes = [f"{lost} line(s) are empty or not valid JSON and were left out"] if lost else []
        self._finish(target, columns, notes, [])

    def parquet(self, path):
        target = self._target()
        names = [r[0] for r in self.con.execute(f"DESCRIBE SELECT * FROM read_parquet({sql_text(path)})").fetchall()]
        if len({n.lower() for n in names}) == len(names):
            # Reading it once proves that every page can be decoded.
            self.con.execute(f"SELECT {', '.join(f'count({quote(n)})' for n in names)} FROM read_parquet({sql_text(path)})").fetchall()[0]
            shutil.copyfile(path, target)
        else:
            self.con.execute(f"COPY (SELECT * FROM read_parquet({sql_text(path)})) TO {sql_text(target)} (FORMAT parquet)")
        self._finish(target, [], [], [], own_file=False)
