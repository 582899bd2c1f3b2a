"""Which columns name each row once: the grain of a table. Tries few combinations, and never for long."""

import itertools
import re

from .patterns import quote

# Larger tables are tried by single columns only, and the largest not at all.
COMBINED_ROWS = 300_000
MOST_ROWS = 5_000_000
MOST_KEYS, MOST_TRIES, MOST_PARTS = 3, 12, 3
NAMED = re.compile(r"(?:^|[_\s])(?:id|no|key|code|sku|uuid|num|number)$|id$|编号|单号|工号|学号|序号|代码|编码|号码|主键|流水", re.I)
WHOLE = ("BIGINT", "INTEGER", "SMALLINT", "TINYINT", "HUGEINT", "UBIGINT", "UINTEGER", "USMALLINT", "UTINYINT")
DAYS = ("DATE", "TIMESTAMP")


def candidates(con, relation, columns, rows, exact):
    """Lists of column names, the narrowest first. `exact`: the distinct counts are no estimates."""
    if rows < 2 or rows > MOST_ROWS:
        return []
    fit = [c for c in columns if not c["nulls"] and c["distinct"] > 1 and not c.get("unit") and _can_name(c, columns)]
    single = [c for c in fit if (c["type"] not in WHOLE or c is columns[0] or NAMED.search(c["name"])) and c["distinct"] >= (rows if exact else 0.9 * rows)]
    if not exact:
        single = [c for c in single[:MOST_KEYS] if _unique(con, relation, [c], rows)]
    if single:
        single.sort(key=lambda c: not NAMED.search(c["name"]))
        return [[c["name"]] for c in single[:MOST_KEYS]]
    return [] if rows > COMBINED_ROWS else _combined(con, relation, fit[:8], rows)


def _can_name(column, columns):
    """A figure that happens to be unique names nothing."""
    kind = column["type"]
    if kind in WHOLE:
        return column is columns[0] or bool(NAMED.search(column["name"])) or column["distinct"] <= 400
    return kind in ("VARCHAR", "UUID") or kind.startswith(DAYS)


def _combined(con, relation, fit, rows):
    tries = 0
    for size in range(2, MOST_PARTS + 1):
        for parts in itertools.combinations(fit, size):
            most = 1
            for part in parts:
                most *= part["distinct"]
            if most < rows:
                continue
            tries += 1
            if tries > MOST_TRIES:
                return []
            if _unique(con, relation, parts, rows):
                return [[c["name"] for c in parts]]
    return []


def _unique(con, relation, parts, rows):
    names = ", ".join(quote(c["name"]) for c in parts)
    return con.execute(f"SELECT count(*) FROM (SELECT DISTINCT {names} FROM {relation})").fetchall()[0][0] == rows
