"""Writes each table found to Parquet and describes it. Knows layouts and types, and nothing of file formats but CSV's."""

import os
import re
import shutil
from dataclasses import replace

import duckdb

from . import convert, csvfile, grid, jsonfile, layout, profile, totals, typed, wide
from .engine import run_with_progress
from .errors import TableError
from .notes import warn
from .patterns import quote, sql_text


# A sample of a file this large may have missed something; a smaller one is read with care at once.
MISLED_FROM = 1 << 20


def base_name(filename):
    """`2024 销售-数据.csv` → `2024_销售_数据`: letters of any script, digits and `_`."""
    stem = os.path.basename(filename.replace("\\", "/"))
    stem = stem.rsplit(".", 1)[0] if "." in stem else stem
    cleaned = re.sub(r"\W+", "_", stem).strip("_")
    return cleaned[:80] or "table"


class Maker:
    """Writes each table found to Parquet and describes it."""

    def __init__(self, con, out, base, progress, options):
        self.con, self.out, self.base, self.progress, self.options = con, out, base, progress, options
        self.done = []

    def say(self, notes):
        """Notes on the whole file stand with its first table."""
        if self.done:
            self.done[0]["notes"][:0] = notes

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

    def _finish(self, target, columns, notes, sheet=None, own_file=True, with_totals=""):
        self.progress(0.9, "describing the columns")
        table = profile.describe(self.con, target, self._name(sheet), sheet, notes + convert.notes(columns), convert.units(columns), self.options.preview, own_file)
        table["parquet"] = os.path.basename(target)
        if with_totals:
            table["with_totals"] = os.path.basename(with_totals)
        self.done.append(table)

    def csv(self, path, codec, work, notes, delimiter):
        prepared = csvfile.prepare(path, codec, self.progress, work, delimiter)
        notes = notes + prepared.notes
        if self.options.nrows is None and self.options.header_row is None and not self.options.types:
            try:
                source, columns, more = csvfile.fast(prepared)
                target = self._target()
                self._typed(source, columns, target)
                doubts = self._totals(target, columns)
                if not (prepared.small and doubts):
                    return self._finish(target, columns, notes + more + doubts)
            except csvfile.Odd:
                pass
            except duckdb.Error as error:
                if os.path.getsize(prepared.path) > MISLED_FROM:
                    return self._again(error, prepared, work, source, columns, notes + more)
        if prepared.small:
            rows = prepared.rows(self.options.nrows and self.options.nrows + 60)
            return self.grid(grid.Grid(rows, notes=notes), prepared.european)
        source, columns, more = csvfile.careful(prepared, work, self.progress, self.options.nrows)
        target = self._target()
        if len(columns) > wide.FROM_COLUMNS:
            wide.write(source.path, columns, target)
        else:
            self._typed(source, columns, target)
        self._finish(target, columns, notes + more + self._totals(target, columns))

    def _typed(self, source, columns, target):
        convert.settle(self.con, source.relation(), columns)
        convert.write(self.con, source.relation(), columns, target, self.progress, "reading and typing the rows")

    def _totals(self, target, columns):
        """A warning where rows are worded like totals. In a file too large for the careful reading they stay in the table."""
        found = set()
        for t in [quote(c.name) for c in columns if not c.typed and c.plan.kind == "VARCHAR"][:5]:
            rows = self.con.execute(f"SELECT DISTINCT {t} FROM read_parquet({sql_text(target)}) WHERE length({t}) <= 60 AND "
                                    f"regexp_matches({t}, '计|total|sum|gesamt|итого|계$', 'i') LIMIT 200").fetchall()
            found |= {r[0] for r in rows}
        label = next((w for w in sorted(found) if totals.mentioned([w])), None)
        return [warn("totals_doubtful", f"rows such as `{label}` look like totals and are part of this large table: leave them out when summing", label=label)] if label else []

    def _again(self, error, prepared, work, source, columns, notes):
        """The sample of a large file misled: with room for long lines if that was it, then with every column as text, then row by row."""
        target = self._target()
        if "maximum line size" in str(error).lower() and source.lengthen():
            try:
                self._typed(source, columns, target)
                return self._finish(target, columns, notes + self._totals(target, columns))
            except duckdb.Error:
                pass
        source.lengthen()
        source.widen()
        try:
            self._typed(source, columns, target)
        except duckdb.Error:
            source, columns, more = csvfile.careful(prepared, work, self.progress)
            notes = notes + more
            self._typed(source, columns, target)
        return self._finish(target, columns, notes + self._totals(target, columns))

    def grid(self, g, european=False):
        for part, found in layout.tables(g, self.options.header_row):
            try:
                self._layout(part, found, european)
            except TableError as e:
                if e.code != "EMPTY_TABLE":
                    raise

    def _layout(self, g, found, european):
        """The table without its total rows, and, where there are some, the whole beside it with a flag. The whole is typed by
        itself: the word in a total's row must not make text of a column of dates."""
        target, with_totals = self._target(), ""
        rows = [r for r, total in zip(found.rows, found.totals) if not total]
        loaded = self._written(replace(found, rows=rows, totals=[False] * len(rows)), target, european)
        if len(rows) < len(found.rows):
            with_totals = target.replace(".parquet", "_all.parquet")
            self._written(found, with_totals, european)
        self._finish(target, loaded.columns, loaded.notes, g.sheet, with_totals=with_totals)

    def _written(self, found, target, european):
        loaded = grid.load(self.con, found, "cells", self.options.nrows, self.options.types, european)
        flag = grid.FLAG if loaded.flagged else None
        if len(loaded.columns) > wide.FROM_COLUMNS:
            raw = target + ".raw"
            self.con.execute(f"COPY (SELECT * FROM {loaded.relation}) TO {sql_text(raw)} (FORMAT parquet)")
            wide.write(raw, loaded.columns, target, [flag] if flag else [])
            os.remove(raw)
        else:
            convert.settle(self.con, loaded.relation, loaded.columns)
            convert.write(self.con, loaded.relation, loaded.columns, target, self.progress, "typing the cells", flag=flag)
        self.con.unregister(loaded.relation)
        return loaded

    def records(self, path, work):
        """JSON lines that DuckDB reads: its numbers are kept as they are, its texts are typed as everywhere else."""
        raw = os.path.join(work, "raw.parquet")
        self.progress(0.0, "looking through the lines")
        found = [r[:2] for r in self.con.execute(f"DESCRIBE SELECT * FROM {jsonfile.streamed(path)}").fetchall()]
        # A JSON value is text here; ->> takes the quotation marks off a string.
        picks = [f"{quote(name)} ->> '$' AS {quote(name)}" if kind == "JSON" else quote(name) for name, kind in found]
        lines = jsonfile.streamed(path, found)
        run_with_progress(self.con, f"COPY (SELECT {', '.join(picks)} FROM {lines}) TO {sql_text(raw)} (FORMAT parquet)",
                          self.progress, 0.0, 0.25, "reading the lines")
        blank = " AND ".join(f"{quote(name)} IS NULL" for name, _ in found)
        relation = f"read_parquet({sql_text(raw)})"
        lost = self.con.execute(f"SELECT count(*) FROM {relation} WHERE {blank}").fetchall()[0][0]
        notes = [warn("lines_invalid", f"{lost} line(s) are empty or not valid JSON and were left out", count=lost, case="empty")] if lost else []
        self._mostly_typed(relation, notes, where=f"WHERE NOT ({blank})" if lost else "")

    def typed(self, table):
        """A table whose reader knew its types; its texts are typed as everywhere else."""
        raw = self._target() + ".raw"
        typed.write(table.data, raw)
        self._mostly_typed(f"read_parquet({sql_text(raw)})", list(table.notes), table.name)
        os.remove(raw)

    def _mostly_typed(self, relation, notes, sheet=None, where=""):
        target = self._target()
        schema = self.con.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        columns = [convert.Column(r[0], r[0], typed=r[1] != "VARCHAR") for r in schema]
        texts = [c for c in columns if not c.typed]
        if texts:
            some = self.con.execute(f"SELECT {', '.join(quote(c.key) for c in texts)} FROM {relation} LIMIT {csvfile.SAMPLE_ROWS}").fetchall()
            for c, cells in zip(texts, zip(*some)):
                c.sample = [v for v in cells if v is not None]
        convert.plan_all(columns)
        for c in texts:
            c.plan.native = None
        convert.settle(self.con, relation, columns)
        convert.write(self.con, relation, columns, target, self.progress, "typing the values", where)
        self._finish(target, columns, notes, sheet)

    def parquet(self, path):
        target = self._target()
        names = [r[0] for r in self.con.execute(f"DESCRIBE SELECT * FROM read_parquet({sql_text(path)})").fetchall()]
        if len({n.lower() for n in names}) == len(names):
            # Reading it once proves that every page can be decoded.
            self.con.execute(f"SELECT {', '.join(f'count({quote(n)})' for n in names)} FROM read_parquet({sql_text(path)})").fetchall()[0]
            shutil.copyfile(path, target)
        else:
            self.con.execute(f"COPY (SELECT * FROM read_parquet({sql_text(path)})) TO {sql_text(target)} (FORMAT parquet)")
        self._finish(target, [], [], own_file=False)
