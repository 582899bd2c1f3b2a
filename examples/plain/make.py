"""Makes questions.jsonl: the plainest questions there are, over the tables of examples/fresh, by their column names.

They have no checked answers. The judge of the offline analyst learns from them that such forms can be answered
(crates/analyst/examples/learn.rs), and `ba-agent eval examples/plain` counts those that get a figure.
"""

import json
import random
import warnings
from pathlib import Path

import pandas as pd

warnings.filterwarnings("ignore")
HERE = Path(__file__).parent
PER_TABLE = 9

CHINESE = [
    "总{m}是多少？", "各{d}的{m}", "哪个{d}的{m}最高？", "平均{m}是多少", "{m}最高的是哪一条记录？", "按{d}对{m}做帕累托分析",
    "{d}的帕累托分析", "{m}的分布情况", "{m}有异常值吗？", "{m}和{n}有没有相关性", "每个月的{m}趋势", "{m}前5的{d}", "{v}的{m}是多少",
    "{v}有多少条记录？", "{m}的中位数", "一共有几种{d}", "{v}占总{m}的比例", "有没有重复的记录？", "有哪些缺失值？", "{m}的标准差是多少",
    "除了{v}以外的{m}合计", "对比{v}和{w}的{m}", "{d}的占比", "{m}同比增长多少", "{m}的月环比", "{m}的90分位数", "一共多少行", "按{d}统计记录数",
    "{m}最低的{d}是哪个", "最近一个月的{m}", "画出{m}的折线图", "{d}的ABC分类",
    "{v}一共有多少条？", "{v}{y}年的{m}是多少", "{y}年{v}有多少条记录", "{v}的平均{m}", "{v}和{w}一共多少{m}", "{v}里{m}最高多少", "{y}年{v}的{m}合计多少",
    "{v}有几条{m}超过{k}", "{d}是{v}的有多少", "{v}每个月的{m}", "{v}占多少比例", "{y}年哪个{d}的{m}最多", "{y}年一共多少{m}", "{v}的{m}中位数是多少",
]
ENGLISH = [
    "Total {m}", "What is the average {m}?", "{m} by {d}", "Which {d} has the highest {m}?", "Which row has the highest {m}?",
    "Pareto analysis of {m} by {d}", "Distribution of {m}", "Are there outliers in {m}?", "Is {m} correlated with {n}?", "{m} by month",
    "top 5 {d} by {m}", "{m} for {v}", "How many rows are {v}?", "median {m}", "How many different {d} are there?", "What share of {m} is {v}?",
    "Are there duplicate rows?", "Which columns have missing values?", "standard deviation of {m}", "{m} excluding {v}", "compare {m} of {v} and {w}",
    "share of each {d}", "year over year growth of {m}", "month over month change in {m}", "90th percentile of {m}", "How many rows are there?",
    "count by {d}", "Which {d} has the lowest {m}?", "{m} in the last month", "plot {m} over time", "ABC classification of {d} by {m}",
    "How many {r} in {v}?", "How many {r} did {v} have?", "How many {r} do we have for {v}?", "how many {r} are on the {v} {d}", "What was the {m} of {v} in {y}?",
    "How many {r} were there in {y}?", "How much {m} did {v} have in {y}?", "average {m} of the {v} {r}", "What is the highest {m} for {v}?",
    "How many {v} {r} had {m} over {k}?", "What is the total {m} of {v} and {w}?", "Which {d} had the most {r} in {y}?", "What share of the {r} are {v}?",
    "how many of the {r} were {v}", "{v} {m} per month",
]


def read(path):
    return pd.read_excel(path) if path.suffix == ".xlsx" else pd.read_csv(path)


def said(column):
    """A header without its unit."""
    return str(column).split("(")[0].split("（")[0].replace("_", " ").strip()


def years(table):
    """The years the dates of a table are in."""
    found = {str(v)[:4] for c in table for v in table[c].dropna().head(200) if str(v)[:2] == "20" and str(v)[4:5] in "-/年"}
    return sorted(found) or ["2024"]


def questions(path):
    table = read(path)
    rows = len(table)
    draw = random.Random(str(path.relative_to(HERE.parent)))
    number = [c for c in table if pd.api.types.is_numeric_dtype(table[c]) and table[c].nunique() > 10 and table[c].nunique() < rows]
    name = [c for c in table if table[c].dtype.kind in "OUST" or str(table[c].dtype) in ("str", "string")]
    group = [c for c in name if 2 < table[c].nunique() <= 30]
    dated = any("date" in str(c).lower() or "日" in str(c) or "时间" in str(c) for c in table)
    if len(number) < 2 or not group:
        return
    forms = CHINESE if any("\u4e00" <= ch <= "\u9fff" for c in table for ch in str(c)) else ENGLISH
    timed = ("月", "同比", "month", "year", "折线", "over time", "{y}")
    forms = [f for f in forms if dated or not any(t in f for t in timed)]
    for form in draw.sample(forms, PER_TABLE):
        d = draw.choice(group)
        m, n = draw.sample(number, 2)
        v, w = draw.sample(sorted(map(str, table[d].dropna().unique())), 2)
        r = path.stem.replace("_", " ").split(" ")[-1].lower()
        y, k = draw.choice(years(table)), f"{table[m].median():.0f}"
        yield form.format(m=said(m), n=said(n), d=said(d), v=v, w=w, r=r, y=y, k=k)


with open(HERE / "questions.jsonl", "w", encoding="utf-8") as out:
    for path in sorted((HERE.parent / "fresh").glob("*/tables/*")):
        if path.suffix not in (".csv", ".xlsx"):
            continue
        for i, question in enumerate(questions(path) or []):
            case = {
                "id": f"{path.parent.parent.name}-{path.stem}-{i + 1}",
                "split": path.parent.parent.name,
                "files": [f"../fresh/{path.parent.parent.name}/tables/{path.name}"],
                "question": question,
                "expect": {"figure": True},
            }
            out.write(json.dumps(case, ensure_ascii=False) + "\n")
