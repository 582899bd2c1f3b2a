"""Describes a typed Parquet table: types, blanks, spread, frequent values, and what looks wrong with it."""

import datetime
import math
import re

from . import keys
from .notes import note, warn
from .patterns import quote, sql_text
from .units import unit_of_name
from .values import plain

MANY_COLUMNS = 300
EXACT_ROWS = 300_000
TOP_LIMIT = 200_000
MANY_LABELS = 20_000
# A column of these names says what other columns are counted in.
UNIT_NAMED = re.compile(r"^(?:币种|货币|币别|currency|ccy|curr\.?|währung|devise|(?:计量)?单位|unit|uom|units of measure|통화|通貨|валюта)$", re.I)


def describe(con, path, name, sheet=None, notes=(), units=None, preview_rows=20, own_file=True):
    """The profile of one table, as the protocol's TableProfile. `own_file`: written here, so its statistics are exact."""
    relation = f"read_parquet({sql_text(path)})"
    schema = con.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    rows = con.execute(f"SELECT count(*) FROM {relation}").fetchall()[0][0]
    columns = [{"name": r[0], "type": r[1]} for r in schema]
    for part in range(0, len(columns), 50):
        _spread(con, relation, columns[part:part + 50], rows, len(columns) <= MANY_COLUMNS, own_file)
    if len(columns) <= MANY_COLUMNS:
        _top(con, relation, columns, rows)
    for c in columns:
        unit = (units or {}).get(c["name"]) or unit_of_name(c["name"])
        if unit and is_number(c["type"]):
            c["unit"] = unit
    preview = con.execute(f"SELECT * FROM {_castable(relation, columns)} LIMIT {preview_rows}").fetchall()
    found = list(notes) + _quality(con, relation, columns, rows)
    return {
        "name": name, "sheet": sheet, "rows": rows, "columns": columns, "notes": found,
        "keys": keys.candidates(con, relation, columns, rows, rows <= EXACT_ROWS) if len(columns) <= MANY_COLUMNS else [],
        "preview": [[plain(v) for v in row] for row in preview], "parquet": path,
    }


def _castable(relation, columns):
    """A zone-carrying time cannot be fetched as an object here: it travels as text."""
    picks = [f"{quote(c['name'])}::VARCHAR AS {quote(c['name'])}" if "TIME ZONE" in c["type"] else quote(c["name"]) for c in columns]
    return f"(SELECT {', '.join(picks)} FROM {relation})" if picks else relation


def _comparable(kind):
    return not kind.startswith(("STRUCT", "MAP", "UNION")) and not kind.endswith("]") and kind not in ("BLOB", "JSON")


def is_number(kind):
    return kind in ("BIGINT", "INTEGER", "SMALLINT", "TINYINT", "HUGEINT", "UBIGINT", "UINTEGER", "USMALLINT", "UTINYINT", "DOUBLE",
                    "FLOAT") or kind.startswith("DECIMAL")


def _spread(con, relation, columns, rows, distinct, own_file):
    bounds = {}
    # The file's own statistics hold the bounds, and DuckDB answers from them when nothing else is asked. Those of a file
    # that somebody else wrote may be cut short; and there are none of true and false.
    bounded = [c for c in columns if _comparable(c["type"]) and own_file and c["type"] != "BOOLEAN"]
    if bounded:
        got = con.execute(f"SELECT {', '.join(_bounds(c) for c in bounded)} FROM {relation}").fetchall()[0]
        bounds = {c["name"]: got[2 * i:2 * i + 2] for i, c in enumerate(bounded)}
    picks = []
    for c in columns:
        q = quote(c["name"])
        comparable = _comparable(c["type"])
        picks.append(f"count({q})")
        picks.append(_bounds(c) if comparable and c["name"] not in bounds else "NULL, NULL")
        exact = rows <= EXACT_ROWS
        picks.append(_moments(c, exact) if is_number(c["type"]) else "NULL, NULL, NULL")
        picks.append((f"count(DISTINCT {q})" if exact else f"approx_count_distinct({q})") if comparable and distinct else "NULL")
    if not picks:
        return
    got = con.execute(f"SELECT {', '.join(picks)} FROM {relation}").fetchall()[0]
    for i, c in enumerate(columns):
        present, low, high, mean, std, quarters, unique = got[7 * i:7 * i + 7]
        low, high = bounds.get(c["name"], (low, high))
        c["nulls"] = rows - present
        c["distinct"] = min(unique or 0, present)
        c["min"], c["max"] = _short(plain(low)), _short(plain(high))
        for what, figure in zip(("mean", "std", "q1", "median", "q3"), (mean, std, *(quarters or ()))):
            if figure is not None and math.isfinite(figure):
                c[what] = figure
        c["top"], c["examples"] = [], []


def _moments(column, exact):
    """Mean, deviation and quartiles; infinities are left to the bounds. Never with FILTER: DuckDB gives each filtered aggregate a buffer
    for every column of the statement, so memory would grow with the square of the columns."""
    q = f"{quote(column['name'])}::DOUBLE"
    quantile = "quantile_cont" if exact else "approx_quantile"
    finite = f"CASE WHEN isfinite({q}) THEN {q} END" if column["type"] in ("DOUBLE", "FLOAT") else q
    return f"avg({q}), stddev_samp({finite}), {quantile}({finite}, [0.25, 0.5, 0.75])"


def _bounds(column):
    q = quote(column["name"])
    text = "::VARCHAR" if "TIME ZONE" in column["type"] else ""
    return f"min({q}){text}, max({q}){text}"


def _short(value):
    return value[:80] if isinstance(value, str) else value


def _top(con, relation, columns, rows):
    """Frequent values of columns with few different ones, and examples of all."""
    if not rows:
        return
    for c in columns:
        q = quote(c["name"])
        if not _comparable(c["type"]):
            continue
        small = rows <= EXACT_ROWS
        repeats = 0 < c["distinct"] <= (TOP_LIMIT if small else TOP_LIMIT // 10) and c["distinct"] < 0.9 * (rows - c["nulls"])
        if repeats and (c["type"] in ("VARCHAR", "BOOLEAN") or c["distinct"] <= (1000 if small else 50)):
            got = con.execute(f"SELECT {q}::VARCHAR, count(*) AS n FROM {relation} WHERE {q} IS NOT NULL "
                              f"GROUP BY {q} ORDER BY n DESC, {q} LIMIT 5").fetchall()
            c["top"] = [{"value": v[:80], "count": n} for v, n in got]
            c["examples"] = [v[:80] for v, _ in got[:3]]
    rest = [c for c in columns if not c["examples"]]
    if rest:
        picks = ", ".join(f"{quote(c['name'])}::VARCHAR" for c in rest)
        got = con.execute(f"SELECT {picks} FROM {relation} LIMIT 50").fetchall()
        for i, c in enumerate(rest):
            c["examples"] = [v[:80] for v in dict.fromkeys(r[i] for r in got if r[i] is not None)][:3]


def _quality(con, relation, columns, rows):
    notes = []
    blank = [c["name"] for c in columns if rows and c["nulls"] == rows]
    if blank:
        notes.append(note("empty_columns", "empty column(s): " + ", ".join(blank[:5]) + (" …" if len(blank) > 5 else ""), columns=blank[:20]))
    if 1 < rows <= EXACT_ROWS and 0 < len(columns) <= MANY_COLUMNS:
        unique = con.execute(f"SELECT count(*) FROM (SELECT DISTINCT * FROM {relation})").fetchall()[0][0]
        if unique < rows:
            notes.append(note("duplicate_rows", f"{rows - unique} duplicate row(s)", count=rows - unique))
    elif rows > EXACT_ROWS:
        notes.append(note("estimates", "distinct counts are estimates; duplicate rows not counted (large table)"))
    if rows <= EXACT_ROWS:
        notes += _variants(con, relation, columns, rows)
    for c in columns:
        notes += _suspicious_dates(c)
        if rows >= 10 and 0 < c["nulls"] < rows and c["nulls"] / rows >= 0.5:
            percent = c["nulls"] * 100 // rows
            notes.append(note("mostly_empty", f"{c['name']}: {percent}% empty", column=c["name"], percent=percent))
        if UNIT_NAMED.match(c["name"].strip()) and c["type"] == "VARCHAR" and 1 < c["distinct"] <= 30 and any(is_number(o["type"]) for o in columns):
            kinds = [t["value"] for t in c["top"]] or c["examples"]
            notes.append(warn("unit_column", f"figures are in different units, named in {c['name']} ({', '.join(kinds[:4])}): sum within each", c["name"], units=kinds))
    return notes


def _variants(con, relation, columns, rows):
    """Labels that differ only in case or in spaces: a group is split among them."""
    labels = [c for c in columns if c["type"] == "VARCHAR" and 1 < c["distinct"] <= MANY_LABELS and c["distinct"] <= rows // 2]
    if not labels or len(columns) > MANY_COLUMNS:
        return []
    folded = [f"lower(trim(regexp_replace({quote(c['name'])}, '\\s+', ' ', 'g')))" for c in labels]
    got = con.execute(f"SELECT {', '.join(f'count(DISTINCT {f})' for f in folded)} FROM {relation}").fetchall()[0]
    notes = []
    for c, f, count in zip(labels, folded, got):
        if count < c["distinct"]:
            q = quote(c["name"])
            some = con.execute(f"SELECT list(DISTINCT {q} ORDER BY {q}) FROM {relation} WHERE {q} IS NOT NULL GROUP BY {f} "
                               f"HAVING count(DISTINCT {q}) > 1 ORDER BY count(*) DESC LIMIT 1").fetchall()[0][0]
            shown = [v[:40] for v in some[:4]]
            notes.append(warn("case_variants", f"{c['name']}: {' / '.join(repr(v) for v in shown)} differ only in case or spaces and count as different groups",
                              c["name"], values=shown, count=c["distinct"] - count))
    return notes


def _suspicious_dates(c):
    if c["type"] not in ("DATE", "TIMESTAMP") or not c.get("min"):
        return []
    low, high = str(c["min"])[:10], str(c["max"])[:10]
    found = []
    if low < "1905-01-01" or low == "1970-01-01":
        often = " (often a missing value)" if low == "1970-01-01" else ""
        found.append(warn("suspicious_date", f"{c['name']}: suspicious date {low}{often}", c["name"], date=low, **({"case": "missing"} if often else {})))
    if high > f"{datetime.date.today().year + 10}-12-31":
        found.append(warn("suspicious_date", f"{c['name']}: suspicious date {high}", c["name"], date=high))
    return found
