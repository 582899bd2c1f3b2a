"""RFM 分层与客户价值。只定义函数，不读写文件。"""

import numpy as np
import pandas as pd

SEGMENTS = [
    # (名称, R 的范围, FM 平均分的范围)；自上而下第一个符合者。
    ("重要价值客户", (4, 5), (4, 5)),
    ("重要发展客户", (4, 5), (2, 4)),
    ("新客户", (4, 5), (0, 2)),
    ("重要保持客户", (2, 3), (3, 5)),
    ("一般客户", (2, 3), (0, 3)),
    ("重要挽留客户", (1, 1), (3, 5)),
    ("流失客户", (1, 1), (0, 3)),
]


def rfm(df, customer, date, amount, as_of=None, order=None):
    """每位客户的 R（距今天数）、F（有效订单数）、M（净额）及 1–5 分与分层。

    退款（负数）计入净额，但不算一次购买；净额不为正的客户单列为“净退款客户”，不参与打分。
    as_of 缺省为数据最后一天的次日；要与其他报表同口径时请显式传入。
    """
    data = df[[customer, date, amount] + ([order] if order else [])].dropna(subset=[customer]).copy()
    data[date] = pd.to_datetime(data[date])
    end = pd.Timestamp(as_of) if as_of is not None else data[date].max().normalize() + pd.Timedelta(days=1)
    data = data[data[date] < end]
    bought = data[data[amount] > 0]
    result = pd.DataFrame({
        "R": (end - bought.groupby(customer)[date].max()).dt.days,
        "F": bought.groupby(customer)[order].nunique() if order else bought.groupby(customer).size(),
        "M": data.groupby(customer)[amount].sum(),
    })
    scored = result[(result["M"] > 0) & result["R"].notna()].copy()
    scored["R分"] = score(-scored["R"])
    scored["F分"] = score(scored["F"])
    scored["M分"] = score(scored["M"])
    scored["分层"] = [segment(r, (f + m) / 2) for r, f, m in zip(scored["R分"], scored["F分"], scored["M分"])]
    result = result.join(scored[["R分", "F分", "M分", "分层"]])
    result["分层"] = result["分层"].fillna("净退款客户")
    return result


def score(values, parts=5):
    """按分位打 1–5 分，值大分高；相同的值得相同的分。

    不用 qcut：大量客户只买过一次时，它的分位点重复，会报错或把同样的客户分到不同档。
    """
    share = values.rank(method="average", pct=True)
    return np.ceil(share * parts).clip(1, parts).astype(int)


def segment(r, fm):
    for name, (r_low, r_high), (fm_low, fm_high) in SEGMENTS:
        if r_low <= r <= r_high and (fm_low < fm <= fm_high or fm == fm_low == 0):
            return name
    return "一般客户"


def summary(result):
    """各层人数、净额、占比与人均：看“多少人贡献多少钱”。"""
    grouped = result.groupby("分层")
    table = pd.DataFrame({"人数": grouped.size(), "净额": grouped["M"].sum(), "人均": grouped["M"].mean(), "平均R": grouped["R"].mean()})
    table["人数占比"] = table["人数"] / table["人数"].sum()
    table["净额占比"] = table["净额"] / table["净额"].sum()
    return table.sort_values("净额", ascending=False)


def simple_clv(margin, retention, discount):
    """客户终身价值（不含首期）：m*r/(1+i-r)。margin 为每期毛利，不是收入；三者必须同一周期。"""
    if not 0 <= retention < 1 or discount < 0:
        raise ValueError("留存率应在 [0,1)，折现率不小于 0")
    return margin * retention / (1 + discount - retention)
