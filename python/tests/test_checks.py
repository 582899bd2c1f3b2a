"""Checks on results, tried joins, keys and hints, by the worker's own functions."""

import os
import sys

import duckdb
import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import ba_worker.tables.query  # noqa: E402
from ba_worker.tables import engine, joins  # noqa: E402
from ba_worker.tables.hints import nearest  # noqa: E402

QUERY = sys.modules["ba_worker.tables.query"]


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    con = duckdb.connect()
    con.execute("COPY (SELECT range AS id, ['华东', '华南'][1 + range % 2] AS region, CASE WHEN range % 10 = 0 THEN NULL ELSE 1.5 END AS amount "
                "FROM range(500)) TO 'orders.parquet'")
    con.execute("COPY (SELECT range % 500 AS order_id, range AS quantity FROM range(1500)) TO 'items.parquet'")
    con.execute("COPY (SELECT * FROM (VALUES ('华东', 10, false), ('华南', 20, false), ('合计', 30, true)) t(region, amount, _is_total)) TO 'whole.parquet'")
    return [{"path": f"{n}.parquet", "names": [n]} for n in ("orders", "items", "whole")]


def codes(tables, sql, **params):
    engine._ready = None
    answer = QUERY.query({"sql": sql, "tables": tables, "params": params, "max_rows": 100}, None)
    assert "error" not in answer, answer
    return {n["code"]: n for n in answer["checks"]}


def test_a_join_that_repeats_the_rows_summed_is_told(tables):
    found = codes(tables, "SELECT sum(o.amount) FROM orders o JOIN items i ON o.id = i.order_id")
    assert found["join_multiplied"]["values"] == {"table": "orders", "before": 500, "after": 1500}
    assert found["join_multiplied"]["level"] == "warn"
    by_commas = codes(tables, "SELECT sum(amount) FROM orders, items WHERE id = order_id")
    assert by_commas["join_multiplied"]["values"]["after"] == 1500


@pytest.mark.parametrize("sql", [
    "SELECT o.region, sum(i.quantity) FROM orders o JOIN items i ON o.id = i.order_id GROUP BY 1",
    "SELECT sum(o.amount) FROM orders o JOIN items i ON o.id = i.order_id WHERE i.quantity < 500",
    "SELECT sum(o.amount) FROM orders o JOIN (SELECT order_id, sum(quantity) q FROM items GROUP BY 1) i ON o.id = i.order_id",
    "SELECT count(DISTINCT o.id) FROM orders o JOIN items i ON o.id = i.order_id",
])
def test_a_join_that_repeats_nothing_summed_is_not(tables, sql):
    assert "join_multiplied" not in codes(tables, sql)


def test_a_join_on_a_key_that_is_unique_nowhere(tables):
    found = codes(tables, "SELECT count(*) FROM orders a JOIN orders b USING (region)")
    assert found["join_multiplied"]["values"]["after"] == 125_000


def test_filters_and_blanks(tables):
    none = codes(tables, "SELECT * FROM orders WHERE region = '华东区'")
    assert "zero_rows" in none and "'华东'" in none["filter_removed_all"]["text"]
    bound = codes(tables, "SELECT * FROM orders WHERE region = $r", r="华东区")
    assert "'华东'" in bound["filter_removed_all"]["text"]
    assert "filter_kept_all" in codes(tables, "SELECT id FROM orders WHERE id >= 0")
    assert codes(tables, "SELECT avg(amount) FROM orders WHERE region = '华东'")["blanks_left_out"]["values"] == {"blank": 50, "rows": 250}
    assert codes(tables, "SELECT region, count(*) FROM orders GROUP BY 1") == {}


def test_totals_and_text(tables):
    assert "totals_in_sum" in codes(tables, "SELECT sum(amount) FROM whole")
    assert codes(tables, "SELECT sum(amount) FROM whole WHERE NOT _is_total") == {}
    assert "total_row_in_result" in codes(tables, "SELECT region, amount FROM whole")
    assert "numeric_text" in codes(tables, "SELECT (id * 3)::VARCHAR AS n FROM orders LIMIT 5")
    assert codes(tables, "SELECT lpad(id::VARCHAR, 6, '0') AS code FROM orders LIMIT 5") == {}
    assert "duplicate_rows" in codes(tables, "SELECT region FROM orders LIMIT 10")
    assert "key_variants" in codes(tables, "SELECT unnest(['East', 'east ', 'West']) AS region")


def test_an_unknown_name_is_answered_with_what_there_is(tables):
    engine._ready = None
    error = QUERY.query({"sql": "SELECT revenue FROM orders", "tables": tables}, None)["error"]
    assert error["code"] == "BAD_REFERENCE" and '"id", "region", "amount"' in error["hint"] and "nearest to 'revenue': \"amount\"" in error["hint"]
    engine._ready = None
    error = QUERY.query({"sql": "SELECT * FROM ordres", "tables": tables}, None)["error"]
    assert error["code"] == "UNKNOWN_NAME" and 'nearest: "orders" ("id", "region", "amount")' in error["hint"] and '"items"' in error["hint"]


@pytest.mark.parametrize("sql, mended", [
    ("SELECT SUM(sales) AS sales FROM orders", 'SELECT SUM(amount) AS amount FROM orders'),
    ("SELECT area, sum(o.revenue) FROM orders o WHERE area = 'sales' GROUP BY area", "SELECT region, sum(o.amount) FROM orders o WHERE region = 'sales' GROUP BY region"),
    ('SELECT sum(amount) FROM orders WHERE region = "华东"', "SELECT sum(amount) FROM orders WHERE region = '华东'"),
    ("SELECT sum(revenue) FROM ordres", 'SELECT sum(amount) FROM orders'),
])
def test_an_unknown_name_is_answered_with_a_statement_that_can_be_run(tables, sql, mended):
    engine._ready = None
    hint = QUERY.query({"sql": sql, "tables": tables}, None)["error"]["hint"]
    assert hint.split("; ")[0] == f"try: {mended}"
    engine._ready = None
    assert "rows" in QUERY.query({"sql": mended, "tables": tables}, None)


@pytest.mark.parametrize("sql", ["SELECT colour FROM orders", "SELECT colour, revenue FROM orders", "SELECT sum(region) FROM orders", "SELECT nofunction(id) FROM orders"])
def test_nothing_is_proposed_where_a_name_means_nothing_here(tables, sql):
    engine._ready = None
    assert "try:" not in (QUERY.query({"sql": sql, "tables": tables}, None)["error"]["hint"] or "")


def test_the_nearest_name_by_meaning():
    assert nearest("sales", ["地区", "销售额", "日期"]) == ["销售额"]
    assert nearest("order_date", ["下单日期", "订单号"])[0] == "下单日期"
    assert nearest("xyz", ["a", "b"]) == []


def test_joins_are_tried_both_ways(tables):
    def column(name, distinct, kind="BIGINT"):
        return {"name": name, "type": kind, "distinct": distinct, "nulls": 0}

    engine._ready = None
    given = [{"path": "items.parquet", "name": "items", "rows": 1500, "columns": [column("order_id", 500), column("quantity", 1500)]},
             {"path": "orders.parquet", "name": "orders", "rows": 500, "keys": [["id"]], "columns": [column("id", 500), column("region", 2, "VARCHAR")]}]
    found = joins({"tables": given, "first": 1}, None)["joins"]
    assert found == [{"left": 0, "column": "order_id", "right": 1, "other_column": "id", "covered": 1.0, "other_covered": 1.0, "fan_out": 1, "other_fan_out": 3}]
