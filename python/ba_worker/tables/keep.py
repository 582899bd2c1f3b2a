"""Rows of a database, sent as JSON lines, become one typed Parquet file. Never changes a value: a column that holds anything
its declared type cannot keep exactly stays text, and that is said."""

import os

import duckdb

from .engine import connect, cores, run_with_progress
from .errors import TableError
from .patterns import quote, sql_text

LONG_LINE = 256 << 20
WHOLE = r"[-+]?[0-9]+"
DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
NUMBER = r"[-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
CLOCK = DAY + r" [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"
OFFSET = r"[-+][0-9]{2}(?::[0-9]{2}){0,2}"
WORDS = {"integer": "whole numbers", "decimal": "decimals of at most 38 digits", "float": "numbers", "boolean": "true or false",
         "date": "dates", "timestamp": "times", "moment": "times with one way to write a zone"}


def keep(args, progress):
    """args: path (JSON lines with the keys c0, c1 …), columns [{name, kind}], out (path of the Parquet file)."""
    con = connect(cores())
    try:
        return _run(con, args, progress)
    except TableError as e:
        return e.as_dict()
    except duckdb.OutOfMemoryException:
        return TableError("OUT_OF_MEMORY", "the rows need more memory than they may use",
                          "keep fewer columns or rows").as_dict()


def _run(con, args, progress):
    columns = args["columns"]
    if not columns:
        raise TableError("SQL_FAILED", "the query gives no columns, so there is nothing to keep")
    names, notes = _names([c["name"] for c in columns])
    progress(0.0, "reading the rows")
    _load(con, args["path"], columns)
    picks = []
    for i, column in enumerate(columns):
        kind, wrong = _fit(con, f"c{i}", column["kind"])
        picks.append(f"CAST(c{i} AS {kind}) AS {quote(names[i])}")
        if wrong:
            shown = ", ".join(f"`{v[:30]}`" for v in wrong)
            notes.append(f"{names[i]}: some values are not {WORDS[column['kind']]} ({shown}); kept as text")
    run_with_progress(con, f"COPY (SELECT {', '.join(picks)} FROM rows ORDER BY n) TO {sql_text(args['out'])} (FORMAT parquet)",
                      progress, 0.5, 1.0, "writing the table")
    kept = f"read_parquet({sql_text(args['out'])})"
    found = con.execute(f"DESCRIBE SELECT * FROM {kept}").fetchall()
    count = con.execute(f"SELECT count(*) FROM {kept}").fetchall()[0][0]
    return {"rows": count, "notes": notes, "columns": [{"name": r[0], "type": r[1]} for r in found]}


def _names(given):
    """Each name once, whatever its case: a table has no two columns of one name."""
    taken, names, notes = set(), [], []
    for i, name in enumerate(given):
        base = name.strip() or f"column_{i + 1}"
        unique, n = base, 2
        while unique.lower() in taken:
            unique, n = f"{base}_{n}", n + 1
        taken.add(unique.lower())
        names.append(unique)
        if unique != base:
            notes.append(f"a second column {base} is called {unique}")
    return names, notes


def _load(con, path, columns):
    """All cells as text, in the order they came."""
    fields = ", ".join(f"c{i} VARCHAR, j{i} VARCHAR" for i in range(len(columns)))
    if os.path.getsize(path) == 0:
        con.execute(f"CREATE TEMP TABLE rows (n BIGINT, {fields})")
        return
    loose = [c["kind"] == "any" for c in columns]
    types = "{" + ", ".join(f"c{i}: '{'JSON' if any_kind else 'VARCHAR'}'" for i, any_kind in enumerate(loose)) + "}"
    # Of a column that declares nothing, the JSON beside the text tells numbers from digits in a text.
    picks = ", ".join(f"c{i} ->> '$' AS c{i}, c{i}::VARCHAR AS j{i}" if any_kind else f"c{i}" for i, any_kind in enumerate(loose))

    def read(size):
        con.execute(f"CREATE OR REPLACE TEMP TABLE rows AS SELECT row_number() OVER () AS n, {picks} FROM read_json({sql_text(path)}, "
                    f"format = 'newline_delimited', columns = {types}, maximum_object_size = {size})")

    try:
        read(16 << 20)
    except duckdb.Error as error:
        if "maximum_object_size" not in str(error):
            raise
        read(LONG_LINE)


def _fit(con, cell, declared):
    """The type that keeps every value of a column exactly, and a few values that kept it from the declared one."""
    shape, kinds = _candidates(con, cell, declared)
    told = cell.replace("c", "j") if declared == "any" else cell
    for pattern, kind in zip(shape, kinds):
        # A pattern first: a cast alone would round 1.5 to a whole number.
        bad = f"{cell} IS NOT NULL AND NOT (regexp_full_match({told}, {sql_text(pattern)}) AND TRY_CAST({cell} AS {kind}) IS NOT NULL)"
        if not con.execute(f"SELECT 1 FROM rows WHERE {bad} LIMIT 1").fetchall():
            return kind, []
        wrong = con.execute(f"SELECT DISTINCT {cell} FROM rows WHERE {bad} LIMIT 3").fetchall()
    if declared in ("any", "text"):
        return "VARCHAR", []
    return "VARCHAR", sorted(r[0] for r in wrong)


def _candidates(con, cell, declared):
    if declared == "integer":
        return [WHOLE, WHOLE], ["BIGINT", "DECIMAL(38, 0)"]
    if declared == "any":
        return [WHOLE, NUMBER], ["BIGINT", "DOUBLE"]
    if declared == "decimal":
        whole, scale = con.execute(
            f"SELECT max(length(ltrim(split_part({cell}, '.', 1), '-+0'))), max(length(split_part({cell}, '.', 2))) FROM rows").fetchall()[0]
        whole, scale = whole or 0, scale or 0
        width = 18 if whole + scale <= 18 else 38
        return [WHOLE + r"(?:\.[0-9]+)?"], [f"DECIMAL({width}, {min(scale, 38)})"]
    if declared == "float":
        return [".*"], ["DOUBLE"]
    if declared == "boolean":
        return ["true|false"], ["BOOLEAN"]
    if declared == "date":
        return [DAY], ["DATE"]
    if declared == "timestamp":
        return [CLOCK], ["TIMESTAMP"]
    if declared == "moment":
        return [CLOCK + OFFSET, CLOCK], ["TIMESTAMP WITH TIME ZONE", "TIMESTAMP"]
    return [], []
