"""同期群与留存：留存矩阵、加权留存曲线、Kaplan-Meier 生存曲线。只定义函数，不读写文件。"""

import numpy as np
import pandas as pd


def cohort_table(df, user, date, freq="M", as_of=None):
    """每个首次活跃期的用户在之后第 0、1、2…期仍活跃的人数。还没到的期是 NaN，不是 0。

    freq: "D" 日、"W" 周、"M" 月、"Q" 季。as_of 缺省为数据中的最后一期；最后一期若不完整，应传入上一期的日期。
    """
    when = pd.to_datetime(df[date]).dt.to_period(freq)
    data = pd.DataFrame({"user": df[user].to_numpy(), "period": when.to_numpy()}).dropna().drop_duplicates()
    end = pd.Period(as_of, freq=freq) if as_of is not None else data["period"].max()
    data = data[data["period"] <= end]
    first = data.groupby("user")["period"].min().rename("cohort")
    data = data.join(first, on="user")
    data["age"] = [(p - c).n for p, c in zip(data["period"], data["cohort"])]
    counts = data.pivot_table(index="cohort", columns="age", values="user", aggfunc="nunique", fill_value=0)
    oldest = int((end - counts.index.min()).n)
    counts = counts.reindex(columns=range(oldest + 1), fill_value=0).astype(float)
    for cohort in counts.index:
        counts.loc[cohort, [a for a in counts.columns if a > (end - cohort).n]] = np.nan
    return counts


def retention(counts):
    """留存率矩阵：每行除以第 0 期人数。"""
    return counts.div(counts[0], axis=0)


def retention_curve(counts):
    """各期加权平均留存：只用“已经到了这一期”的同期群，分子分母都如此。直接对各行平均会偏向小群。"""
    reached = counts.notna()
    eligible = reached.mul(counts[0], axis=0).sum()
    return pd.DataFrame({"留存率": counts.sum() / eligible, "到期用户": eligible, "同期群数": reached.sum()})


def kaplan_meier(duration, churned, level=0.95):
    """生存曲线：duration 为观察到的时长，churned 为是否已流失（未流失者是删失，不能丢弃）。

    返回每个流失时点的存活率、Greenwood 标准误与对数-对数置信区间。
    """
    from scipy import stats

    t, e = np.asarray(duration, dtype=float), np.asarray(churned, dtype=bool)
    z = stats.norm.ppf(0.5 + level / 2)
    survival, spread, rows = 1.0, 0.0, []
    for time in np.unique(t[e]):
        at_risk, events = int((t >= time).sum()), int(((t == time) & e).sum())
        survival *= 1 - events / at_risk
        if at_risk > events:
            spread += events / (at_risk * (at_risk - events))
        error = survival * np.sqrt(spread)
        low = high = np.nan
        if 0 < survival < 1:
            theta = z * np.sqrt(spread) / np.log(survival)
            low, high = sorted((survival ** np.exp(theta), survival ** np.exp(-theta)))
        rows.append((time, at_risk, events, survival, error, low, high))
    return pd.DataFrame(rows, columns=["时长", "在险", "流失", "存活率", "标准误", "下限", "上限"])


def median_lifetime(curve):
    """存活率首次降到 50% 及以下的时长；尚未降到则为 NaN（不要外推）。"""
    below = curve[curve["存活率"] <= 0.5]
    return float(below["时长"].iloc[0]) if len(below) else float("nan")
