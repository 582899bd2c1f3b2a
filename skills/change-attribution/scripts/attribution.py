"""变化归因：贡献、结构与费率、量价结构、乘法指标树。每种分解都精确相加，没有“其他”。只定义函数。"""

import numpy as np
import pandas as pd


def contribution(df, segment, before, after):
    """可加指标（收入、订单数）：各分组的变化、对总变化的贡献率、对增长率的拉动（百分点）。"""
    table = df.groupby(segment, as_index=False)[[before, after]].sum()
    total0, change = table[before].sum(), (table[after] - table[before])
    table["变化"] = change
    table["增长率"] = np.where(table[before] > 0, table[after] / table[before].where(table[before] > 0) - 1, np.nan)
    table["贡献率"] = change / change.sum() if change.sum() != 0 else np.nan
    table["拉动(百分点)"] = 100 * change / total0 if total0 else np.nan
    order = change.abs().sort_values(ascending=False).index
    return table.loc[order].reset_index(drop=True)


def rate_mix(df, segment, num0, den0, num1, den1):
    """比率指标（转化率、毛利率、客单价）：总比率的变化 = 费率效应 + 结构效应，按分组给出。

    中点法：费率效应 = 平均占比 x 比率变化；结构效应 = 占比变化 x (平均比率 - 平均总比率)。
    结构效应减去总比率，所以“高于平均的组占比上升”才是正贡献。
    """
    t = df.groupby(segment, as_index=False)[[num0, den0, num1, den1]].sum()
    d0, d1 = t[den0].sum(), t[den1].sum()
    total0, total1 = t[num0].sum() / d0, t[num1].sum() / d1
    share0, share1 = t[den0] / d0, t[den1] / d1
    rate0 = (t[num0] / t[den0].where(t[den0] != 0))
    rate1 = (t[num1] / t[den1].where(t[den1] != 0))
    # 只在一期出现的组没有“费率变化”，全部算结构。
    rate0, rate1 = rate0.fillna(rate1), rate1.fillna(rate0)
    rate0, rate1 = rate0.fillna(0.0), rate1.fillna(0.0)
    t["比率前"], t["比率后"], t["占比前"], t["占比后"] = rate0, rate1, share0, share1
    t["费率效应"] = (share0 + share1) / 2 * (rate1 - rate0)
    t["结构效应"] = (share1 - share0) * ((rate0 + rate1) / 2 - (total0 + total1) / 2)
    t["合计"] = t["费率效应"] + t["结构效应"]
    summary = {"前": total0, "后": total1, "变化": total1 - total0,
               "费率效应": t["费率效应"].sum(), "结构效应": t["结构效应"].sum()}
    keep = [segment, "占比前", "占比后", "比率前", "比率后", "费率效应", "结构效应", "合计"]
    order = t["合计"].abs().sort_values(ascending=False).index
    return t.loc[order, keep].reset_index(drop=True), summary


def price_volume_mix(df, product, q0, p0, q1, p1):
    """收入变化 = 数量 + 结构 + 价格 + 新品 + 停售。价格按本期数量计（Paasche），数量与结构按基期价格计。"""
    t = df[[product, q0, p0, q1, p1]].fillna(0.0).copy()
    old, new = t[q0] > 0, t[q1] > 0
    kept = old & new
    quantity0, quantity1 = t.loc[kept, q0].sum(), t.loc[kept, q1].sum()
    growth = quantity1 / quantity0 if quantity0 else 0.0
    t["数量"] = np.where(kept, t[q0] * (growth - 1) * t[p0], 0.0)
    t["结构"] = np.where(kept, (t[q1] - t[q0] * growth) * t[p0], 0.0)
    t["价格"] = np.where(kept, t[q1] * (t[p1] - t[p0]), 0.0)
    t["新品"] = np.where(new & ~old, t[q1] * t[p1], 0.0)
    t["停售"] = np.where(old & ~new, -t[q0] * t[p0], 0.0)
    t["收入前"], t["收入后"] = t[q0] * t[p0], t[q1] * t[p1]
    effects = ["数量", "结构", "价格", "新品", "停售"]
    summary = {"收入前": t["收入前"].sum(), "收入后": t["收入后"].sum()} | {e: t[e].sum() for e in effects}
    return t[[product, "收入前", "收入后", *effects]], summary


def multiplicative(before, after):
    """乘法指标树（收入=流量x转化率x客单价）：对数平均（LMDI）分解，各因子贡献精确相加，与顺序无关。"""
    if set(before) != set(after):
        raise ValueError("前后两期的因子必须相同")
    if any(v <= 0 for v in [*before.values(), *after.values()]):
        raise ValueError("各因子必须为正；有零或负值时改用 contribution")
    v0, v1 = float(np.prod(list(before.values()))), float(np.prod(list(after.values())))
    weight = v0 if np.isclose(v0, v1, rtol=1e-12) else (v1 - v0) / np.log(v1 / v0)
    rows = [(k, before[k], after[k], after[k] / before[k] - 1, weight * np.log(after[k] / before[k])) for k in before]
    table = pd.DataFrame(rows, columns=["因子", "前", "后", "变化率", "贡献"])
    table["贡献率"] = table["贡献"] / (v1 - v0) if v1 != v0 else np.nan
    return table, {"前": v0, "后": v1, "变化": v1 - v0}
