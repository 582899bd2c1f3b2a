"""What there is, where a name was not found: every column of the tables asked, the nearest by letters or by meaning, and the
statement as it would be with those (SPEC W2). Never runs a statement; a proposal is only bound."""

import difflib
import re

import duckdb

from . import sqltree
from .patterns import quote, sql_text

MOST_COLUMNS, MOST_TABLES = 120, 40
# Names that one proposal replaces, and the longest statement worth one.
MOST_MENDS, LONGEST = 6, 4000
TOKENS = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/|\w+|.""", re.S)
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
    """For an unknown column: the statement with the nearest ones, and all columns of the tables that it names."""
    name = _missing(message)
    shown, every = [], []
    for t in _named(con, sql, tables):
        found = _columns(con, t)
        every += found
        more = f" … {len(found) - MOST_COLUMNS} more" if len(found) > MOST_COLUMNS else ""
        shown.append(f"columns of {quote(t['names'][0])}: {', '.join(map(quote, found[:MOST_COLUMNS]))}{more}")
        if len(shown) == 5:
            break
    near = nearest(name, every)
    return "; ".join(proposal(con, sql, every, tables) + ([f"nearest to {name!r}: {', '.join(map(quote, near))}"] if near else []) + shown)


def table(con, sql, tables, message):
    """For an unknown table: the nearest with their columns, and the names of all."""
    if "Function" in message.split("\n")[0]:
        # The engine's own words name functions that are alike.
        return None
    named = re.search(r"Table with name (.+?) does not exist", message)
    names = [t["names"][0] for t in tables if t.get("names")]
    if not names:
        return "there are no tables yet; upload a file"
    every = {n.lower(): t for t in tables for n in t.get("names") or []}
    near = difflib.get_close_matches((named.group(1) if named else "").lower(), every, 3, 0.5) if named else []
    shown = []
    if len(tables) == 1 or near:
        t = every[near[0]] if near else tables[0]
        shown += proposal(con, sql, _columns(con, t), tables, t["names"][0])
    for t in {id(every[n]): every[n] for n in near}.values():
        shown.append(f"nearest: {quote(t['names'][0])} ({', '.join(map(quote, _columns(con, t)[:MOST_COLUMNS]))})")
    more = f" … {len(names) - MOST_TABLES} more" if len(names) > MOST_TABLES else ""
    return "; ".join([*shown, "tables: " + ", ".join(map(quote, names[:MOST_TABLES])) + more])


def proposal(con, sql, known, tables, table=None):
    """The statement with unknown names replaced by the nearest, when it can be bound then; a list of one hint, or of none."""
    if len(sql) > LONGEST:
        return []
    mended = sql
    for _ in range(MOST_MENDS):
        try:
            con.execute(f"PREPARE {quote('__proposal')} AS {mended}")
            con.execute(f"DEALLOCATE {quote('__proposal')}")
        except duckdb.CatalogException as e:
            unknown = re.search(r"Table with name (.+?) does not exist", str(e))
            better = _replaced(mended, unknown.group(1), _bare(con, table)) if unknown and table else mended
        except duckdb.BinderException as e:
            unknown = _missing(str(e))
            near = nearest(unknown, known, 1)
            # Double quotes around what is no column mean a text.
            better = _replaced(mended, unknown, _bare(con, near[0])) if near else _replaced(mended, unknown, sql_text(unknown), quoted=True)
        except duckdb.Error:
            return []
        else:
            return [f"try: {mended}"] if mended != sql else []
        if better == mended:
            return []
        mended = better
    return []


def _bare(con, name):
    """Without quotes where SQL needs none: inside JSON small models get them wrong."""
    plain = re.fullmatch(r"[^\W\d]\w*", name) and not con.execute("SELECT 1 FROM duckdb_keywords() WHERE keyword_name = lower(?)", [name]).fetchall()
    return name if plain else quote(name)


def _missing(message):
    """The column that an error says is not there."""
    found = re.search(r'[Cc]olumn "?([^"]+?)"? not found|[Cc]olumn "([^"]+)" referenced that exists|does not have a column named "([^"]+)"|column named "?([^"\n]+?)"?$', message.split("\n")[0])
    return next((g for g in found.groups() if g), "").split(".")[-1] if found else ""


def _replaced(sql, name, by, quoted=False):
    """With the name replaced wherever it stands as a name; with `quoted` only where it stands in double quotes."""
    own = {quote(name).lower()} if quoted else {name.lower(), quote(name).lower()}
    return "".join(by if name and token.lower() in own else token for token in TOKENS.findall(sql))


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
