"""Reads a corpus of messy files with the worker's own code and compares figures with the truth their authors knew.

    python corpus.py ARCHIVE…  [--docs PAGE] [--only WORD] [--show]

An archive is a .tar.xz with `truth.jsonl` and `files/` (or a folder with the same). A wrong figure without a warning on its
table is a silent error, and there must be none. Ends with `N passed, M failed`.
"""

import argparse
import contextlib
import io
import json
import math
import os
import re
import sys
import tarfile
import tempfile
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))

import duckdb  # noqa: E402

import ba_worker.tables.ingest  # noqa: E402, F401
from ba_worker.tables.patterns import quote, sql_text  # noqa: E402

# The package names its function like the module.
ingest_module = sys.modules["ba_worker.tables.ingest"]

RIGHT, WARNED, REFUSED, SILENT = "right", "warned", "refused", "silent"


def plain_name(name):
    return re.sub(r"[\s_]+", "", re.split(r"[(（\[【]", name)[0] or name).lower()


def find_column(columns, wanted, index=None):
    names = [c["name"] for c in columns if c["name"] != "_is_total"]
    if index is not None:
        return names[index]
    exact = [n for n in names if n == wanted]
    for key in (lambda n: re.sub(r"[\s_.]+", "", n).lower(), plain_name):
        exact = exact or [n for n in names if key(n) == key(wanted)]
    if not exact:
        ends = [n for n in names if plain_name(n).endswith(plain_name(wanted)) or plain_name(n).startswith(plain_name(wanted))]
        exact = ends[:1] if len(ends) == 1 else []
    if not exact:
        raise LookupError(f"no column {wanted}; there are {names}")
    return exact[0]


def close(got, want):
    if isinstance(want, (int, float)) and not isinstance(want, bool):
        if got is None:
            return want == 0
        return math.isclose(float(got), want, rel_tol=1e-6, abs_tol=1e-6)
    return str(got).strip() == str(want).strip()


def pick_table(tables, wanted):
    if isinstance(wanted, int):
        return tables[wanted]
    named = [t for t in tables if t["sheet"] == wanted or t["name"] == wanted or (t["sheet"] or "").startswith(str(wanted))]
    if not named:
        raise LookupError(f"no table {wanted}")
    return named[0]


def month_key(kind, q):
    return f"strftime({q}, '%Y-%m')" if kind.startswith(("DATE", "TIMESTAMP")) else f"{q}::VARCHAR"


def group_key(text):
    """`2024.0`, `2024-01-01 00:00:00` and ` 华东 ` are written as people say them."""
    text = re.sub(r"(?: 00:00:00(?:\+00)?|\.0)$", "", str(text).strip())
    return text


def measure(con, table, check):
    relation = f"read_parquet({sql_text(table['parquet'])})"
    kinds = {c["name"]: c["type"] for c in table["columns"]}
    kind = check["kind"]
    if kind == "count":
        return con.execute(f"SELECT count(*) FROM {relation}").fetchone()[0]
    q = quote(name := find_column(table["columns"], check.get("column", ""), check.get("column_index")))
    if kind in ("sum", "mean"):
        if kinds[name] == "VARCHAR":
            raise LookupError(f"{name} is text")
        return con.execute(f"SELECT {'sum' if kind == 'sum' else 'avg'}({q})::DOUBLE FROM {relation}").fetchone()[0]
    if kind == "distinct":
        return con.execute(f"SELECT count(DISTINCT {q}) FROM {relation}").fetchone()[0]
    if kind == "text":
        return group_key(con.execute(f"SELECT {q}::VARCHAR FROM {relation} LIMIT 1 OFFSET {check['row']}").fetchone()[0])
    if kinds[name] == "VARCHAR":
        raise LookupError(f"{name} is text")
    by_name = find_column(table["columns"], check["by"] if kind == "group_sum" else check["date"])
    if kind == "month_sum" and kinds[by_name] == "VARCHAR":
        # Months without a year, whose year stood elsewhere, have a column of dates beside them.
        by_name = next((n for n in kinds if n in ("年月", "year_month")), by_name)
    by = quote(by_name)
    key = month_key(kinds[by_name], by) if kind == "month_sum" else f"{by}::VARCHAR"
    rows = con.execute(f"SELECT {key}, sum({q})::DOUBLE FROM {relation} WHERE {by} IS NOT NULL GROUP BY 1").fetchall()
    return {group_key(k): v for k, v in rows}


def agrees(check, got):
    want = check["value"]
    if isinstance(want, dict):
        def keyed(d):
            return {re.sub(r"\s+", "", k).lower(): v for k, v in d.items()}
        got, want = keyed(got), keyed(want)
        if check.get("some"):
            # The author named some of the groups.
            got = {k: v for k, v in got.items() if k in want}
        if set(got) != set(want):
            # 1 and 2024-01-01 are January, true is TRUE: judged by figures in order when the keys differ only in writing.
            return len(got) == len(want) and all(close(a, b) for (_, a), (_, b) in zip(sorted(got.items()), sorted(want.items())))
        return all(close(got[k], v) for k, v in want.items())
    return close(got, want)


def warnings_of(table):
    return [n for n in table["notes"] if n["level"] == "warn"]


def judge(truth, folder):
    """(outcome, problems, notes) of one file."""
    path = os.path.join(folder, "files", truth["file"])
    with tempfile.TemporaryDirectory() as work:
        before = os.getcwd()
        os.chdir(work)
        ingest_module.connect = lambda threads=1: duckdb.connect(":memory:", config={"threads": 1})
        os.symlink(path, "input")
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                profile = ingest_module.ingest({"path": "input", "filename": truth["file"]}, lambda *_: None)
            return _judged(truth, profile)
        except Exception as e:
            return SILENT, [f"crash {type(e).__name__}: {e}", traceback.format_exc().splitlines()[-3].strip()], []
        finally:
            os.chdir(before)


def _judged(truth, profile):
    if "error" in profile:
        return (RIGHT if truth.get("refused") else REFUSED), [profile["error"]["message"]], []
    if truth.get("refused"):
        return (SILENT, ["should be refused"], []) if profile["tables"] else (RIGHT, ["no table"], [])
    tables = profile["tables"]
    notes = [n for t in tables for n in t["notes"]]
    wrong, silent = [], False
    if "tables" in truth and len(tables) != truth["tables"]:
        wrong.append(f"{len(tables)} tables, not {truth['tables']}: {[t['name'] for t in tables]}")
    con = duckdb.connect(":memory:", config={"threads": 1})
    for check in truth["checks"]:
        table = None
        try:
            table = pick_table(tables, check.get("table", 0))
            got = measure(con, table, check)
        except (LookupError, IndexError) as e:
            wrong.append(f"{short(check)}: {e or 'no such table'}")
            # A person who asks for it is told that it is not there or not a number: that is no wrong figure.
            continue
        except duckdb.Error as e:
            wrong.append(f"{short(check)}: {str(e)[:100]}")
            continue
        if not agrees(check, got):
            wrong.append(f"{short(check)}: got {str(got)[:150]}")
            silent = silent or not warnings_of(table)
    if truth.get("must_warn") and not any(warnings_of(t) for t in tables):
        wrong.append("no warning")
        silent = True
    if silent:
        return SILENT, wrong, notes
    return (WARNED if wrong else RIGHT), wrong, notes


def short(check):
    what = check.get("column", "")
    by = check.get("by") or check.get("date")
    return f"{check['kind']} {what}{' by ' + by if by else ''} = {str(check['value'])[:120]}"


@contextlib.contextmanager
def opened(source):
    if os.path.isdir(source):
        yield source
        return
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(source) as archive:
            archive.extractall(folder, filter="data")
        yield folder


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--docs")
    parser.add_argument("--only")
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    rows = []
    for source in args.sources:
        with opened(source) as folder, open(os.path.join(folder, "truth.jsonl"), encoding="utf-8") as f:
            for line in f:
                truth = json.loads(line)
                if args.only and args.only not in truth["file"] and args.only != truth["trait"]:
                    continue
                outcome, wrong, notes = judge(truth, folder)
                rows.append((os.path.basename(source).split(".")[0], truth, outcome, wrong, notes))
                if args.show and outcome != RIGHT or (args.show and args.only):
                    print(f"{outcome:8} {truth['file']} [{truth['trait']}] {truth.get('why', '')}")
                    for w in wrong:
                        print("           ", w)
                    for n in notes if args.only else []:
                        print("            -", n["level"], n["code"], n["text"])
    for source in dict.fromkeys(r[0] for r in rows):
        part = [r for r in rows if r[0] == source]
        counts = {o: sum(1 for r in part if r[2] == o) for o in (RIGHT, WARNED, REFUSED, SILENT)}
        print(f"{source}: {len(part)} files, " + ", ".join(f"{n} {o}" for o, n in counts.items())
              + f" ({100 * counts[RIGHT] / max(1, len(part)):.1f} % right)")
    if args.docs:
        write_page(args.docs, rows)
    silent = [r[1]["file"] for r in rows if r[2] == SILENT]
    if silent:
        print("silent errors:", ", ".join(silent))
    print(f"{len(rows) - len(silent)} passed, {len(silent)} failed")
    sys.stdout.flush()
    os._exit(1 if silent else 0)


def write_page(path, rows):
    def cell(text):
        return re.sub(r"\s+", " ", str(text)).replace("|", "\\|").replace("<", "&lt;")[:160]

    with open(path, "w", encoding="utf-8") as f:
        f.write("# The corpus of messy files\n\nMade by `make corpus`; do not edit. `right`: every figure as its author knew it. `warned`: a figure is missing or "
                "differs, and the table says so. `refused`: not read, with the reason. A wrong figure without a warning would be `silent` and "
                "fails the tests.\n\n")
        for source in dict.fromkeys(r[0] for r in rows):
            part = [r for r in rows if r[0] == source]
            right = sum(1 for r in part if r[2] == RIGHT)
            silent = sum(1 for r in part if r[2] == SILENT)
            f.write(f"- `{source}`: {len(part)} files, {right} right ({100 * right / len(part):.1f} %), {silent} silent errors\n")
        f.write("\n| file | what is messy | outcome | expected | got | notes |\n|---|---|---|---|---|---|\n")
        for _, truth, outcome, wrong, notes in rows:
            expected = "; ".join(short(c) for c in truth["checks"][:2]) or "refused"
            codes = ", ".join(dict.fromkeys(("**" + n["code"] + "**") if n["level"] == "warn" else n["code"] for n in notes))
            got = "as expected" if outcome == RIGHT else "; ".join(wrong[:2])
            f.write(f"| {cell(truth['file'])} | {cell(truth.get('why') or truth['trait'])} | {outcome} | {cell(expected)} | {cell(got)} | {codes} |\n")


if __name__ == "__main__":
    main()
