"""A statement as DuckDB's own parse tree, taken apart and put together again. Runs nothing but the parser."""

import copy
import json

import duckdb

MAX_SQL = 20_000


def parse(con, sql):
    """The tree of one SELECT, or None."""
    if len(sql) > MAX_SQL:
        return None
    try:
        tree = json.loads(con.execute("SELECT json_serialize_sql($1)", [sql]).fetchall()[0][0])
    except (duckdb.Error, ValueError, RecursionError):
        return None
    if tree.get("error") or len(tree.get("statements") or []) != 1:
        return None
    return tree


def text(con, tree):
    return con.execute("SELECT json_deserialize_sql($1)", [json.dumps(tree)]).fetchall()[0][0]


def selects(tree):
    """Every plain SELECT that stands alone: the statement itself, its CTEs and the subqueries of its FROM, each with the CTEs
    that it may name, as a tree of its own."""
    found = []
    _collect(tree["statements"][0]["node"], [], found)
    for node, ctes in found:
        statement = copy.deepcopy({k: v for k, v in tree["statements"][0].items() if k != "node"})
        node = copy.deepcopy(node)
        node["cte_map"] = {"map": copy.deepcopy(ctes)}
        yield {"error": False, "statements": [{**statement, "node": node}]}


def _collect(node, ctes, found):
    if not isinstance(node, dict) or len(found) >= 6:
        return
    known = list(ctes)
    for entry in (node.get("cte_map") or {}).get("map") or []:
        inner = (entry.get("value") or {}).get("query_node") or {}
        _collect(inner, known, found)
        known = known + [entry]
    if node.get("type") == "SELECT_NODE":
        found.append((node, known))
        for leaf in leaves(node.get("from_table")):
            if leaf.get("type") == "SUBQUERY":
                _collect(((leaf.get("subquery") or {}).get("node")) or {}, known, found)
    elif node.get("type") == "SET_OPERATION_NODE":
        for child in (node.get("left"), node.get("right"), *(node.get("children") or [])):
            _collect(child, known, found)


def node_of(tree):
    return tree["statements"][0]["node"]


def leaves(source):
    """What a FROM joins together."""
    if not isinstance(source, dict):
        return []
    if source.get("type") == "JOIN":
        return leaves(source.get("left")) + leaves(source.get("right"))
    return [source]


def joined(source):
    """Every join of a FROM."""
    if not isinstance(source, dict) or source.get("type") != "JOIN":
        return []
    return [source] + joined(source.get("left")) + joined(source.get("right"))


def called(leaf):
    """The name by which a leaf's columns are called."""
    return leaf.get("alias") or leaf.get("table_name") or ""


def renamed(source, part, name):
    """The same FROM with one of its tables taken from elsewhere, under the name it had."""
    if source is part:
        return {**part, "table_name": name, "alias": called(part), "qualified_name": {"path": [name]}}
    if isinstance(source, dict) and source.get("type") == "JOIN":
        return {**source, "left": renamed(source["left"], part, name), "right": renamed(source["right"], part, name)}
    return source


def walk(expression):
    """Every expression below one, itself first; subqueries are left alone."""
    if isinstance(expression, dict):
        if expression.get("class") == "SUBQUERY":
            return
        if "class" in expression:
            yield expression
        for value in expression.values():
            yield from walk(value)
    elif isinstance(expression, list):
        for item in expression:
            yield from walk(item)


def function(name, arguments=(), where=None):
    return {"class": "FUNCTION", "type": "FUNCTION", "alias": "", "query_location": 0, "function_name": name, "schema": "",
            "filter": where, "order_bys": {"type": "ORDER_MODIFIER", "orders": []}, "distinct": False, "is_operator": False,
            "export_state": False, "catalog": "", "arguments": [{"name": "", "expression": a} for a in arguments],
            "qualified_name": {"path": [name]}}


def counting(tree, picks, source=None, where=None):
    """The same FROM (or only `source` of it), asked for other things."""
    made = copy.deepcopy(tree)
    node = node_of(made)
    node.update(select_list=copy.deepcopy(picks), modifiers=[], group_expressions=[], group_sets=[], having=None, qualify=None, sample=None,
                where_clause=copy.deepcopy(where))
    if source is not None:
        node["from_table"] = copy.deepcopy(source)
    return made
