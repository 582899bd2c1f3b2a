"""One read-only SQL statement over the conversation's tables. Only names that the statement mentions become views."""

import math
import os
import time
import warnings

import duckdb

from ba_worker.display import figure

from . import checks, hints
from .engine import cores, standing
from .errors import TableError
from .patterns import quote, sql_text
from .values import plain

BIG = 8 << 20
MAX_CELL = 100_000
ALLOWED = {duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN}


def query(args, progress):
    """args: sql, params, tables [{path, names}], max_rows, keep (path of a Parquet file, or null)."""
    tables = args.get("tables") or []
    size = sum(os.path.getsize(t["path"]) for t in tables)
    con = standing(cores() if size > BIG else 1)
    try:
        return _run(con, args, tables)
    except TableError as e:
        return e.as_dict()
    except duckdb.CatalogException as e:
        return TableError("UNKNOWN_NAME", _message(e), hints.table(con, args["sql"], tables, str(e))).as_dict()
    except duckdb.BinderException as e:
        return TableError("BAD_REFERENCE", _message(e), hints.columns(con, args["sql"], tables, str(e))).as_dict()
    except duckdb.ParserException as e:
        return TableError("SQL_SYNTAX", _message(e)).as_dict()
    except duckdb.PermissionException as e:
        return TableError("NOT_PERMITTED", _message(e)).as_dict()
    except duckdb.OutOfMemoryException:
        return TableError("OUT_OF_MEMORY", "the query needs more memory than it may use",
                          "select fewer columns, filter earlier, or aggregate").as_dict()
    except duckdb.Error as e:
        return TableError("SQL_FAILED", _message(e)).as_dict()
    finally:
        con.close()


def _message(error):
    return str(error).strip()[:1500]


def _run(con, args, tables):
    sql = args["sql"]
    statements = con.extract_statements(sql)
    if len(statements) != 1:
        raise TableError("ONE_STATEMENT", f"exactly one statement is allowed, got {len(statements)}")
    if statements[0].type not in ALLOWED:
        raise TableError("READ_ONLY", f"only queries are allowed, got {statements[0].type.name}")
    _views(con, tables, sql)
    params = args.get("params") or None
    limit = int(args.get("max_rows") or 1000)
    started = time.perf_counter()
    kept = None
    if args.get("keep"):
        path = args["keep"]
        _execute(con, f"COPY ({sql.rstrip().rstrip(';')}\n) TO {sql_text(path)} (FORMAT parquet)", params)
        con.fetchall()
        kept = {"path": path}
        _execute(con, f"SELECT * FROM read_parquet({sql_text(path)}) LIMIT {limit + 1}", None)
    elif statements[0].type == duckdb.StatementType.SELECT:
        # The limit goes into the plan: without it the whole result would be made before the first row is seen.
        _execute(con, f"SELECT * FROM (\n{sql.rstrip().rstrip(';')}\n) LIMIT {limit + 1}", params)
    else:
        _execute(con, sql, params)
    columns = [{"name": d[0], "type": str(d[1]).strip('"')} for d in con.description]
    rows, truncated = _fetch(con, columns, limit)
    if kept:
        kept["rows"] = con.execute(f"SELECT count(*) FROM read_parquet({sql_text(kept['path'])})").fetchall()[0][0]
    elapsed = (time.perf_counter() - started) * 1000
    found = [] if args.get("unchecked") else checks.of_result(columns, rows, truncated)
    if statements[0].type == duckdb.StatementType.SELECT and not args.get("unchecked"):
        found += checks.of_query(con, sql, params, rows)
    return {"columns": columns, "rows": rows, "truncated": truncated, "kept": kept, "elapsed_ms": elapsed, "checks": found}


def _execute(con, sql, params):
    try:
        con.execute(sql, params) if params else con.execute(sql)
    except duckdb.InvalidInputException as e:
        if "parameter" in str(e).lower():
            raise TableError("BAD_PARAMS", _message(e)) from None
        raise


def _views(con, tables, sql):
    """Views for the tables the statement names; for all of them when it names none, so that SHOW TABLES is true."""
    text = sql.lower()
    used = [t for t in tables if any(n.lower() in text for n in t["names"])] or tables
    for t in used:
        for name in t["names"]:
            con.execute(f"CREATE OR REPLACE TEMP VIEW {quote(name)} AS SELECT * FROM read_parquet({sql_text(os.path.abspath(t['path']))})")


def _fetch(con, columns, limit):
    integers = {i for i, c in enumerate(columns) if c["type"] in ("HUGEINT", "UHUGEINT")}
    maps = {i for i, c in enumerate(columns) if c["type"].startswith("MAP")}
    rows, truncated = [], False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        batches = con.to_arrow_table().to_batches()
    for batch in batches:
        arrays = [batch.column(i).to_pylist() for i in range(batch.num_columns)]
        for values in zip(*arrays):
            if len(rows) == limit:
                truncated = True
                break
            rows.append([_value(v, i, integers, maps) for i, v in enumerate(values)])
        if truncated:
            break
    return rows, truncated


def _value(v, i, integers, maps):
    if v is not None and i in integers:
        v = int(v)
    elif v is not None and i in maps:
        v = dict(v)
    elif isinstance(v, float) and math.isfinite(v):
        v = figure(v)
    v = plain(v)
    return v[:MAX_CELL] if isinstance(v, str) else v
