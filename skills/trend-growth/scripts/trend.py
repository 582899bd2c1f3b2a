"""同比、环比、复合增长率、趋势检验与季节性分解。只定义函数，不读写文件。"""

import numpy as np
import pandas as pd
from scipy import stats


def to_monthly(df, date, value, how="sum"):
    """明细 -> 按月序列。缺失的月份保留为 NaN（how="sum" 时），不会悄悄变成 0。"""
    when = pd.to_datetime(df[date])
    grouped = df.assign(_m=when.dt.to_period("M")).groupby("_m")[value]
    series = grouped.sum(min_count=1) if how == "sum" else grouped.agg(how)
    full = pd.period_range(series.index.min(), series.index.max(), freq="M")
    return series.reindex(full)


def rate(new, old):
    """增长率 new/old-1。基期为 0、为负或缺失时没有意义，返回 NaN。"""
    new, old = np.asarray(new, dtype=float), np.asarray(old, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.where(old > 0, new / old - 1, np.nan)
    return out


def growth_table(series, periods_per_year=12):
    """每期的环比、同比、年初至今累计及其同比、滚动一年。series 的索引必须连续（见 to_monthly）。"""
    series = pd.Series(series, dtype=float)
    n = periods_per_year
    table = pd.DataFrame({"值": series})
    table["环比"] = rate(series, series.shift(1))
    table["同比"] = rate(series, series.shift(n))
    year = pd.Index([getattr(i, "year", k // n) for k, i in enumerate(series.index)])
    table["累计"] = series.groupby(year).cumsum().to_numpy()
    table["累计同比"] = rate(table["累计"], table["累计"].shift(n))
    table["滚动一年"] = series.rolling(n).sum()
    return table


def cagr(first, last, periods):
    """复合增长率 (last/first)^(1/periods)-1。periods 是间隔数：2019 到 2024 是 5，不是 6。"""
    if periods <= 0 or first <= 0 or last < 0:
        return float("nan")
    return (last / first) ** (1 / periods) - 1


def mann_kendall(values):
    """Mann-Kendall 趋势检验（含并列修正）与 Sen 斜率。不要求正态，对极端值不敏感。"""
    x = np.asarray([v for v in values if pd.notna(v)], dtype=float)
    n = len(x)
    if n < 4:
        raise ValueError("趋势检验至少需要 4 个点")
    s = int(sum(np.sign(x[k + 1:] - x[k]).sum() for k in range(n - 1)))
    ties = np.unique(x, return_counts=True)[1]
    variance = (n * (n - 1) * (2 * n + 5) - (ties * (ties - 1) * (2 * ties + 5)).sum()) / 18
    z = 0.0 if s == 0 or variance == 0 else (s - np.sign(s)) / np.sqrt(variance)
    slope = stats.theilslopes(x, np.arange(n))[0]
    p = float(2 * stats.norm.sf(abs(z)))
    word = "无显著趋势" if p >= 0.05 else ("显著上升" if s > 0 else "显著下降")
    return {"n": n, "S": s, "z": float(z), "p": p, "sen_slope": float(slope), "结论": word}


def decompose(series, period=12):
    """STL 分解为趋势、季节、残差，并给出季节强度与趋势强度（0–1，超过 0.6 可称明显）。"""
    from statsmodels.tsa.seasonal import STL

    series = pd.Series(series, dtype=float)
    if series.isna().any():
        raise ValueError("分解前先处理缺失期；不要用 0 填补")
    if len(series) < 2 * period + 1:
        raise ValueError(f"至少需要两个完整周期（{2 * period + 1} 期），现有 {len(series)} 期")
    fit = STL(series.to_numpy(), period=period, robust=True).fit()
    parts = pd.DataFrame({"值": series, "趋势": fit.trend, "季节": fit.seasonal, "残差": fit.resid}, index=series.index)

    def strength(part):
        whole = np.var(part + fit.resid)
        return 0.0 if whole == 0 else float(max(0.0, 1 - np.var(fit.resid) / whole))

    return parts, {"季节强度": strength(fit.seasonal), "趋势强度": strength(fit.trend)}


def seasonal_index(series, period=12):
    """比率—移动平均法的季节指数（平均为 1）。1.20 表示该期通常比平均高 20%。"""
    x = pd.Series(series, dtype=float).to_numpy()
    if len(x) < 2 * period:
        raise ValueError("至少需要两个完整周期")
    if period % 2 == 0:
        weights = np.r_[0.5, np.ones(period - 1), 0.5] / period
    else:
        weights = np.ones(period) / period
    half = len(weights) // 2
    centred = np.full(len(x), np.nan)
    centred[half:len(x) - half] = np.convolve(x, weights, mode="valid")
    ratio = pd.Series(x / centred)
    index = ratio.groupby(np.arange(len(x)) % period).median()
    return (index / index.mean()).to_numpy()


def jan_feb_together(series):
    """把每年 1、2 月合并后再算同比：春节在两个月间移动，单月同比没有意义。"""
    series = pd.Series(series, dtype=float)
    part = series[[p.month in (1, 2) for p in series.index]]
    both = part.groupby([p.year for p in part.index]).sum(min_count=2)
    return pd.DataFrame({"1–2月合计": both, "同比": rate(both, both.shift(1))})
