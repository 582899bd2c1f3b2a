"""What there is, where a name was not found: every column of the tables asked, and the nearest by letters or by meaning (SPEC W2)."""

import difflib
import re

from . import sqltree
from .patterns import quote

MOST_COLUMNS, MOST_TABLES = 120, 40
# Words that name the same thing in tables of business.
MEANINGS = [set(words.split()) for words in (
    "销售额 销售金额 销售收入 营收 营业额 收入 金额 总额 成交额 revenue sales amount turnover income value total gmv",
    "地区 区域 大区 省份 省 area region province territory state zone",
    "城市 市 city town", "日期 时间 下单时间 date day time datetime timestamp created",
    "数量 件数 销量 qty quantity units count volume num", "客户 顾客 会员 用户 买家 customer client buyer user member account",
    "产品 商品 货品 品名 product item goods sku article", "利润 毛利 净利 profit margin earnings gain",
    "单价 价格 售价 price unitprice rate", "成本 费用 支出 cost expense spend expenses", "类别 品类 分类 类型 category type class kind segment",
    "月份 月 month", "年份 年 year", "订单 单号 订单号 order orderid orderno", "员工 姓名 人员 employee staff name person",
    "部门 department dept division", "渠道 channel source medium", "供应商 supplier vendor",
)]


def columns(con, sql, tables, message):
    """For an unknown column: all columns of the tables that the statement names."""
    missing = re.search(r'[Cc]olumn "?([^"]+?)"? not found|does not have a column named "([^"]+)"|column named "?([^"\n]+?)"?$', message.split("\n")[0])
    name = next((g for g in missing.groups() if g), "") if missing else ""
    shown, every = [], []
    for t in _named(con, sql, tables):
        found = _columns(con, t)
        every += found
        more = f" … {len(found) - MOST_COLUMNS} more" if len(found) > MOST_COLUMNS else ""
        shown.append(f"columns of {quote(t['names'][0])}: {', '.join(map(quote, found[:MOST_COLUMNS]))}{more}")
        if len(shown) == 5:
            break
    near = nearest(name.split(".")[-1], every)
    return "; ".join(([f"nearest to {name!r}: {', '.join(map(quote, near))}"] if near else []) + shown)


def table(con, tables, message):
    """For an unknown table: the nearest with their columns, and the names of all."""
    named = re.search(r"Table with name (.+?) does not exist", message)
    names = [t["names"][0] for t in tables if t.get("names")]
    if not names:
        return "there are no tables yet; upload a file"
    every = {n.lower(): t for t in tables for n in t.get("names") or []}
    near = difflib.get_close_matches((named.group(1) if named else "").lower(), every, 3, 0.5) if named else []
    shown = []
    for t in {id(every[n]): every[n] for n in near}.values():
        shown.append(f"nearest: {quote(t['names'][0])} ({', '.join(map(quote, _columns(con, t)[:MOST_COLUMNS]))})")
    more = f" … {len(names) - MOST_TABLES} more" if len(names) > MOST_TABLES else ""
    return "; ".join([*shown, "tables: " + ", ".join(map(quote, names[:MOST_TABLES])) + more])


def nearest(name, names, most=3):
    """By meaning first, then by letters."""
    if not name:
        return []
    plain = re.sub(r"[\W_]+", "", name).lower()
    words = set(re.findall(r"[a-z]+|[^\W\d_a-zA-Z]+", name.lower())) | {plain}
    alike = []
    for other in names:
        own = re.sub(r"[\W_]+", "", other).lower()
        theirs = set(re.findall(r"[a-z]+|[^\W\d_a-zA-Z]+", other.lower())) | {own}
        if own == plain or any(_means(words, m) and _means(theirs, m) for m in MEANINGS):
            alike.append(other)
    letters = difflib.get_close_matches(name, names, most, 0.55)
    return list(dict.fromkeys(alike + letters + [n for n in names if plain and plain in re.sub(r"[\W_]+", "", n).lower()]))[:most]


def _means(words, meaning):
    return any(w in meaning or any(len(m) > 1 and not m.isascii() and m in w for m in meaning) for w in words)


def _named(con, sql, tables):
    tree = sqltree.parse(con, sql)
    wanted = set()
    if tree:
        for part in sqltree.selects(tree):
            wanted |= {leaf.get("table_name", "").lower() for leaf in sqltree.leaves(sqltree.node_of(part).get("from_table"))}
    return [t for t in tables if any(n.lower() in wanted for n in t.get("names") or [])] or [t for t in tables if any(n.lower() in sql.lower() for n in t.get("names") or [])]


def _columns(con, t):
    try:
        return [r[0] for r in con.execute(f"DESCRIBE SELECT * FROM {quote(t['names'][0])}").fetchall()]
    except Exception:
        import pyarrow.parquet as pq

        return pq.read_schema(t["path"]).names
