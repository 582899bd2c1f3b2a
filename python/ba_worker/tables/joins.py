"""Which columns of two tables hold the same values: tried, with coverage both ways and fan-out. Only counts; joins nothing."""

import difflib
import re

import duckdb

from .engine import connect, cores
from .keys import NAMED, WHOLE
from .patterns import quote, sql_text

BIG = 8 << 20
# Tries between two tables, and in all.
MOST_BETWEEN, MOST_TRIES = 6, 40
MOST_ROWS = 20_000_000


def joins(args, progress):
    """args: tables [{path, name, rows, keys, columns [{name, type, distinct, nulls, examples}]}], first (how many of them, from the
    start, are new: only pairs with one of those are tried). Returns {joins: [{left, column, right, other_column, covered,
    other_covered, fan_out, other_fan_out}]}, left and right counting tables."""
    tables, new = args["tables"], args["first"]
    con = connect(cores() if sum(t["rows"] for t in tables) > 200_000 else 1)
    found, tries = [], 0
    for i in range(min(new, len(tables))):
        for j in range(i + 1, len(tables)):
            for column, other in pairs(tables[i], tables[j]):
                if tries == MOST_TRIES:
                    return {"joins": found}
                tries += 1
                got = _test(con, tables[i], column, tables[j], other)
                if got:
                    found.append({"left": i, "column": column["name"], "right": j, "other_column": other["name"], **got})
    return {"joins": found}


def pairs(one, two):
    """Column pairs worth a try, the likeliest first; each column stands in one pair."""
    scored = []
    for a in one["columns"]:
        for b in two["columns"]:
            score = _likely(a, one, b, two)
            if score:
                scored.append((score, a, b))
    scored.sort(key=lambda s: -s[0])
    chosen, used = [], set()
    for _, a, b in scored:
        if ("a", a["name"]) not in used and ("b", b["name"]) not in used:
            used |= {("a", a["name"]), ("b", b["name"])}
            chosen.append((a, b))
    return chosen[:MOST_BETWEEN]


def _likely(a, one, b, two):
    kind = _kind(a["type"])
    if kind is None or kind != _kind(b["type"]) or a["distinct"] < 2 or b["distinct"] < 2:
        return 0
    x, y = _plain(a["name"]), _plain(b["name"])
    key = _names_rows(a, one) or _names_rows(b, two)
    same = x == y or _of(x, y, two["name"]) or _of(y, x, one["name"])
    shared = bool(set(a.get("examples") or []) & set(b.get("examples") or []))
    if same:
        return 6 + 2 * key + shared
    # Other names: only where one side could be looked up, and something speaks for it.
    if not key or kind == "day":
        return 0
    alike = difflib.SequenceMatcher(None, x, y).ratio() > 0.6
    named = bool(NAMED.search(a["name"])) and bool(NAMED.search(b["name"]))
    if kind == "whole":
        return 3 if alike and named else 0
    return 3 + shared if shared or (alike and named) else 0


def _of(x, y, table):
    """`customer_id` of one table is `id` of the table `customers`."""
    table = _plain(table).rstrip("s")
    return len(y) >= 2 and len(x) > len(y) and x.endswith(y) and x[: -len(y)].rstrip("s") == table


def _names_rows(column, table):
    return column["distinct"] + column.get("nulls", 0) >= 0.97 * table["rows"] > 1


def _plain(name):
    return re.sub(r"[\W_]+", "", name).lower()


def _kind(kind):
    if kind in WHOLE:
        return "whole"
    if kind in ("VARCHAR", "UUID"):
        return "text"
    return "day" if kind == "DATE" else None


def _test(con, one, a, two, b):
    if one["rows"] + two["rows"] > MOST_ROWS:
        return None
    try:
        got = con.execute(f"WITH a AS ({_counted(one, a)}), b AS ({_counted(two, b)}) "
                          "SELECT sum(a.n), sum(b.n), max(b.n), max(a.n) FROM a JOIN b ON a.k = b.k").fetchall()[0]
    except duckdb.Error:
        return None
    if not got[0]:
        return None
    covered, other = int(got[0]) / one["rows"], int(got[1]) / two["rows"]
    if max(covered, other) < 0.05:
        return None
    return {"covered": min(1.0, covered), "other_covered": min(1.0, other), "fan_out": int(got[2]), "other_fan_out": int(got[3])}


def _counted(table, column):
    q, relation = quote(column["name"]), f"read_parquet({sql_text(table['path'])})"
    if [column["name"]] in (table.get("keys") or []):
        return f"SELECT {q} AS k, 1 AS n FROM {relation}"
    return f"SELECT {q} AS k, count(*) AS n FROM {relation} WHERE {q} IS NOT NULL GROUP BY 1"
