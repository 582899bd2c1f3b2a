"""Stands in for the tools in tests: files become tables as in the sandbox, profiles and SQL are plain DuckDB.

One JSON object a line on stdin: {"tool", "arguments"} or {"files": [...]}; one a line on stdout: {"content", "failed"}.
Writes observations the way the agent's pipeline does (SPEC E10), with the five most frequent values a column.
"""
import datetime, decimal, json, os, shutil, sys, tempfile

import duckdb

here = os.getcwd()
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../python"))
from ba_worker import tables

con = duckdb.connect()
scratch = tempfile.TemporaryDirectory()
os.chdir(scratch.name)
typed = {}
names = {}
sheets = []
broken = False


def parquet(path):
    """The first table of a file as the product itself types it."""
    if path not in typed:
        # Reading is confined to the working folder, as in a job.
        out = f"{len(typed)}"
        os.mkdir(out)
        shutil.copy(path, out)
        name = os.path.basename(path)
        found = tables.ingest({"path": f"{out}/{name}", "filename": name, "out": out}, lambda *_: None)
        if "error" in found:
            raise ValueError(found["error"])
        typed[path] = os.path.join(out, found["tables"][0]["parquet"])
    return typed[path]


def load(files):
    for view in names:
        con.execute(f'DROP TABLE IF EXISTS "{view}"')
    names.clear()
    for i, path in enumerate(files, 1):
        view = f"upload_{i:03d}"
        con.execute(f"CREATE OR REPLACE TABLE \"{view}\" AS SELECT * FROM read_parquet('{parquet(os.path.join(here, path))}')")
        names[view] = os.path.basename(path)
    # Files called `book__sheet.csv` stand for the sheets of one workbook.
    sheets.clear()
    first = next(iter(names), None)
    if len(names) > 1 and all("__" in n for n in names.values()):
        for i, view in enumerate(list(names)):
            sheet = names[view].split("__")[1].rsplit(".", 1)[0]
            sheets.append((sheet, view))
            if i:
                con.execute(f'CREATE OR REPLACE VIEW "{first}_{sheet}" AS SELECT * FROM "{view}"')


def plain(v):
    if isinstance(v, decimal.Decimal):
        return float(v)
    if isinstance(v, (datetime.date, datetime.datetime, datetime.time)):
        return str(v)
    return v


def profile(view):
    rows = con.execute(f'SELECT count(*) FROM "{view}"').fetchone()[0]
    columns = []
    for name, kind in [(r[0], r[1]) for r in con.execute(f'DESCRIBE "{view}"').fetchall()]:
        q = '"' + name.replace('"', '""') + '"'
        present, distinct, low, high = con.execute(f'SELECT count({q}), count(DISTINCT {q}), min({q}), max({q}) FROM "{view}"').fetchone()
        top = []
        if 0 < distinct < 0.9 * present and (kind in ("VARCHAR", "BOOLEAN") or distinct <= 1000):
            got = con.execute(f'SELECT {q}::VARCHAR, count(*) n FROM "{view}" WHERE {q} IS NOT NULL GROUP BY {q} ORDER BY n DESC, {q} LIMIT 5').fetchall()
            top = [{"value": v, "count": n} for v, n in got]
        columns.append({"name": name, "type": kind, "nulls": rows - present, "distinct": distinct, "min": plain(low), "max": plain(high), "top": top, "examples": [t["value"] for t in top[:3]]})
    return {"encoding": "utf-8", "table": {"name": names[view].rsplit(".", 1)[0], "rows": rows, "columns": columns}}


def encode(columns, rows):
    def cell(v):
        v = plain(v)
        if v is None:
            return ""
        if isinstance(v, bool):
            return str(v).lower()
        if isinstance(v, (int, float)):
            return repr(v)
        s = str(v)
        return s if s and not any(c in s for c in ',"\n\r') and s.strip() == s else '"' + s.replace('"', '""') + '"'
    return "\n".join([",".join(cell(c) for c in columns)] + [",".join(cell(v) for v in row) for row in rows])


def run(tool, args):
    if tool == "file_reader":
        if not sheets:
            return json.dumps(profile(args["path"]), ensure_ascii=False)
        at = int(args.get("sheet_name", 0))
        found = profile(sheets[at][1])
        found["table"]["sheet"] = sheets[at][0]
        others = ", ".join(f"{i}: {s[0]} (9 rows)" for i, s in enumerate(sheets) if i != at)
        return json.dumps(found, ensure_ascii=False) + f"\nNote: other sheets (sheet_name): {others}"
    if tool == "query_database":
        cur = con.execute(args["query"])
        rows = cur.fetchmany(args.get("max_rows", 1000))
        return f"{len(rows)} rows\n" + encode([d[0] for d in cur.description], rows)
    if tool == "run_python":
        return "ok\nFiles: " + args["code"].rsplit('book.save("', 1)[1].split('"')[0] + " (xlsx, 1 KB)"
    raise ValueError(tool)


for line in sys.stdin:
    request = json.loads(line)
    try:
        if "broken" in request:
            broken, text, failed = True, "", False
        elif "files" in request:
            load(request["files"])
            text, failed = "", False
        else:
            if broken and request["tool"] == "query_database":
                raise RuntimeError("the engine is gone")
            text, failed = "[call] " + run(request["tool"], request["arguments"]), False
    except Exception as e:
        text, failed = f"Operation failed.\nError Message: {e}", True
    name = request.get("tool", "")
    print(json.dumps({"content": f'<tool_result name="{name}">\n{text}\n</tool_result>', "failed": failed}), flush=True)
