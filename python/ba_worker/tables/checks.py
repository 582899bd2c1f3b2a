"""What deterministic checks find in the result of a query, as notes for whoever reads it (SPEC W3). Each has a stable code.

Cheap and bounded: a few counts over the same tables, stopped by the clock, and left out for large ones. A check that cannot be
made says nothing.
"""

import difflib
import re
import threading
import time

import duckdb

from . import sqltree, totals
from .notes import note, warn
from .patterns import quote

# Seconds all counts of one query may take, and rows of the tables they go over.
PATIENCE = 0.5
MOST_ROWS = 3_000_000
SUMMED = {"sum", "avg", "mean", "fsum", "kahan_sum", "stddev", "stddev_samp", "stddev_pop", "median", "var_samp", "variance"}
COUNTED = SUMMED | {"count", "count_star", "min", "max"}
FLAG = "_is_total"
NUMBERED = "__row_of_check"
# Not the digits of a code: those begin with zeros or are long.
NUMERIC = re.compile(r"[-+(]?[¥$€£]?\s?(?:0|[1-9]\d{0,14}|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?\)?\s?[%万亿]?$")
SEEN_ROWS = 1000


def of_result(columns, rows, truncated):
    """From the rows alone."""
    found = []
    if not rows:
        return [note("zero_rows", "the result has no rows")]
    seen = rows[:SEEN_ROWS]
    for i, column in enumerate(columns):
        if column["type"] != "VARCHAR":
            continue
        values = [r[i] for r in seen if isinstance(r[i], str) and r[i].strip()]
        found += _text_column(column["name"], values)
    if 1 < len(seen) and not truncated:
        different = len({repr(r) for r in seen})
        if different < len(seen):
            found.append(note("duplicate_rows", f"{len(seen) - different} of {len(seen)} result rows repeat another one exactly", count=len(seen) - different))
    return found


def _text_column(name, values):
    if len(values) >= 3 and all(NUMERIC.match(v.strip()) for v in values):
        return [note("numeric_text", f"{name} is text that looks like numbers: cast it before comparing, sorting or summing", column=name)]
    labels = sorted(set(values))
    total = next((v for v in labels if len(v) <= 60 and totals.mentioned([v])), None)
    if total and len(labels) > 1:
        return [warn("total_row_in_result", f"{name} holds {total!r} beside the parts: a sum over these rows counts twice", name, label=total)]
    folded = {}
    for v in labels:
        folded.setdefault(" ".join(v.split()).lower(), []).append(v)
    split = next((v for v in folded.values() if len(v) > 1), None)
    if split and len(labels) <= 200:
        return [warn("key_variants", f"{name}: {' / '.join(map(repr, split[:3]))} differ only in case or spaces and are counted apart", name, values=split[:3])]
    return []


def of_query(con, sql, params, rows):
    """From the statement, by counting over its tables."""
    tree = sqltree.parse(con, sql)
    if tree is None:
        return []
    clock = threading.Timer(PATIENCE, con.interrupt)
    clock.daemon = True
    clock.start()
    found = []
    try:
        check = _Check(con, params, sql, time.perf_counter() + PATIENCE)
        for part in sqltree.selects(tree):
            found += check.select(part)
            if not rows and not found:
                found += check.missing(part)
    except (duckdb.Error, KeyError, TypeError, AttributeError, IndexError, RecursionError, RuntimeError):
        pass
    finally:
        clock.cancel()
    return _once(found)


def _once(found):
    seen, kept = set(), []
    for n in found:
        if (n["code"], n["text"]) not in seen:
            seen.add((n["code"], n["text"]))
            kept.append(n)
    return kept[:6]


class _Check:
    def __init__(self, con, params, sql, until):
        self.con, self.params, self.sql, self.until = con, params, sql.lower(), until

    def ask(self, tree):
        if time.perf_counter() > self.until:
            raise RuntimeError("out of time")
        text = sqltree.text(self.con, tree)
        used = {k: v for k, v in (self.params or {}).items() if f"${k}" in text}
        return (self.con.execute(text, used) if used else self.con.execute(text)).fetchall()

    def select(self, tree):
        node = sqltree.node_of(tree)
        source = node.get("from_table")
        parts = [p for p in sqltree.leaves(source) if p.get("type") in ("BASE_TABLE", "SUBQUERY")]
        if not parts or len(parts) != len(sqltree.leaves(source)):
            return []
        self.columns = [self._columns(tree, p) for p in parts]
        sizes = [self.ask(sqltree.counting(tree, [sqltree.function("count_star")], p))[0][0] for p in parts]
        if sum(sizes) > MOST_ROWS:
            return []
        calls = [c for c in sqltree.walk(node.get("select_list")) if c.get("class") == "FUNCTION" and c.get("function_name") in COUNTED]
        return self._filter(tree, source, calls) + self._joins(tree, source, parts, sizes, calls) + self._totals(calls)

    def _columns(self, tree, part):
        star = {"class": "STAR", "type": "STAR", "alias": "", "query_location": 0, "relation_name": "", "exclude_list": [], "replace_list": [],
                "columns": False, "expr": None, "qualified_exclude_list": [], "rename_list": []}
        made = sqltree.counting(tree, [star], part)
        text = sqltree.text(self.con, made)
        used = {k: v for k, v in (self.params or {}).items() if f"${k}" in text}
        sql = f"SELECT * FROM ({text}) LIMIT 0"
        self.con.execute(sql, used) if used else self.con.execute(sql)
        return [d[0] for d in self.con.description]

    def _filter(self, tree, source, calls):
        """How many rows a WHERE keeps, and how many blanks an aggregate leaves out, in one count."""
        where = sqltree.node_of(tree).get("where_clause")
        crossed = any(j.get("ref_type") != "REGULAR" or not (j.get("condition") or j.get("using_columns")) for j in sqltree.joined(source))
        # Without its WHERE a join written with commas would multiply everything.
        inside = where if not crossed else None
        args = {}
        for call in calls:
            if call["function_name"] in SUMMED and not call.get("filter"):
                arg = call["arguments"][0]["expression"]
                if arg.get("class") == "COLUMN_REF":
                    args.setdefault(arg["column_names"][-1], arg)
        if not args and (where is None or crossed):
            return []
        picks = [sqltree.function("count_star"), sqltree.function("count_star", where=inside)]
        picks += [sqltree.function("count", [arg], inside) for arg in args.values()]
        every, kept, *present = self.ask(sqltree.counting(tree, picks, where=where if crossed else None))[0]
        found = []
        if where is not None and not crossed and every:
            if kept == 0:
                found.append(note("filter_removed_all", f"the filter removed all {every} rows" + self._unmet(tree, where), rows=every))
            elif kept == every and every > 1:
                found.append(note("filter_kept_all", f"the filter removed nothing: all {every} rows pass it", rows=every))
        for name, there in zip(args, present):
            if 0 < kept - there:
                found.append(note("blanks_left_out", f"{name}: {kept - there} of {kept} rows are blank and left out of the aggregate", column=name, blank=kept - there, rows=kept))
        return found

    def missing(self, tree):
        """Why nothing came, where the filter was not counted."""
        where = sqltree.node_of(tree).get("where_clause")
        unmet = self._unmet(tree, where) if where else ""
        return [note("filter_unmet", unmet.strip(" :;"))] if unmet else []

    def _unmet(self, tree, where):
        """Values that a filter asks for and a column does not hold, with the nearest it does."""
        told = []
        for test in sqltree.walk(where):
            if test.get("type") == "COMPARE_EQUAL":
                values = [test["left"], test["right"]]
                column = next((v for v in values if v.get("class") == "COLUMN_REF"), None)
                wanted = [v for v in values if v.get("class") in ("CONSTANT", "PARAMETER")]
            elif test.get("type") == "COMPARE_IN":
                sides = test.get("children") or []
                column = sides[0] if sides and sides[0].get("class") == "COLUMN_REF" else None
                wanted = [v for v in sides[1:] if v.get("class") in ("CONSTANT", "PARAMETER")]
            else:
                continue
            texts = [t for t in map(self._text, wanted) if t]
            if column is None or not texts:
                continue
            cast = {"class": "FUNCTION", **sqltree.function("concat", [column])}
            made = sqltree.counting(tree, [sqltree.function("list", [cast])])
            sqltree.node_of(made)["select_list"][0]["distinct"] = True
            held = [v for v in (self.ask(made)[0][0] or [])[:5000] if v]
            for text in texts[:3]:
                if text not in held:
                    near = difflib.get_close_matches(text, held, 3, 0.4) or [v for v in held if text in v or v in text][:3] or sorted(held)[:5]
                    told.append(f"{column['column_names'][-1]} holds no {text!r}; it holds {', '.join(map(repr, near))}" + (" …" if len(held) > len(near) else ""))
        return (": " + "; ".join(told[:3])) if told else ""

    def _text(self, value):
        """The text that a filter compares with, written out or bound."""
        if value.get("class") == "PARAMETER":
            bound = (self.params or {}).get(value.get("identifier"))
            return bound if isinstance(bound, str) else None
        literal = value.get("literal") or {}
        return literal.get("text") if literal.get("kind") == "STRING" else None

    def _joins(self, tree, source, parts, sizes, calls):
        links = sqltree.joined(source)
        if not links or any(j.get("join_type") not in ("INNER", "LEFT", "RIGHT", "OUTER") for j in links):
            return []
        node = sqltree.node_of(tree)
        after = self.ask(sqltree.counting(tree, [sqltree.function("count_star")], where=node.get("where_clause")))[0][0]
        names = [p.get("table_name") or sqltree.called(p) for p in parts]
        before = ", ".join(f"{n} {s}" for n, s in zip(names, sizes))
        if after > max(sizes):
            return [warn("join_multiplied", f"the join multiplied rows: {before} → {after}; neither side's key is unique, so sums and counts are too large. "
                         "Aggregate one side to the key first, or join on a unique key", before=dict(zip(names, sizes)), after=after)]
        found = []
        summed = {self._home(c, parts) for c in calls if c["function_name"] in SUMMED | {"count"} and not c.get("distinct")} - {None}
        for i in sorted(summed):
            times, different = self._repeats(tree, source, parts[i])
            if times > different:
                found.append(warn("join_multiplied", f"the join repeats rows of {names[i]}: {different} of its rows → {times}; its columns are summed or counted more than "
                                  f"once. Aggregate the other table to the key first, or sum {names[i]} without the join", table=names[i], before=different, after=times))
        if not calls and not node.get("group_expressions") and after > sizes[0]:
            found.append(note("join_grew", f"the join gives more rows than {names[0]} has: {before} → {after}", before=dict(zip(names, sizes)), after=after))
        return found

    def _repeats(self, tree, source, part):
        """How often rows of one table come out of the join, and how many different ones; nothing for a subquery."""
        if part.get("type") != "BASE_TABLE" or part["table_name"] in [e.get("key") for e in sqltree.node_of(tree)["cte_map"]["map"]]:
            return 0, 0
        self.con.execute(f"CREATE OR REPLACE TEMP VIEW {quote(NUMBERED)} AS SELECT *, row_number() OVER () AS {quote(NUMBERED)} FROM {quote(part['table_name'])}")
        called = sqltree.called(part)
        row = {"class": "COLUMN_REF", "type": "COLUMN_REF", "alias": "", "query_location": 0, "column_names": [called, NUMBERED]}
        different = {**sqltree.function("count", [row]), "distinct": True}
        made = sqltree.counting(tree, [sqltree.function("count", [row]), different], sqltree.renamed(source, part, NUMBERED), sqltree.node_of(tree).get("where_clause"))
        return self.ask(made)[0]

    def _home(self, call, parts):
        """Which table an aggregate's column is of."""
        names = [sqltree.called(p) for p in parts]
        for ref in sqltree.walk(call.get("arguments")):
            if ref.get("class") == "COLUMN_REF":
                *table, column = ref["column_names"]
                if table:
                    return next((i for i, n in enumerate(names) if n.lower() == table[-1].lower()), None)
                homes = [i for i, cs in enumerate(self.columns) if column.lower() in {c.lower() for c in cs}]
                return homes[0] if len(homes) == 1 else None
        return None

    def _totals(self, calls):
        counted = [c for c in calls if c["function_name"] in SUMMED | {"count", "count_star"}]
        if counted and FLAG not in self.sql and any(FLAG in cs for cs in self.columns):
            return [warn("totals_in_sum", f"the table holds total rows and the aggregate includes them: add WHERE NOT {quote(FLAG)}, or use the table without totals")]
        return []
