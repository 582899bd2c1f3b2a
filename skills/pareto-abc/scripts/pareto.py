"""帕累托、ABC/XYZ 分类与集中度。只定义函数，不读写文件。"""

import numpy as np
import pandas as pd


def abc(df, item, value, cuts=(0.8, 0.95)):
    """ABC 分类：按值从大到小累计，跨过 80% 的那一项仍属 A。负值与零单列为“非正”，不参与累计。"""
    total = df.groupby(item, as_index=False)[value].sum()
    positive = total[total[value] > 0].sort_values([value, item], ascending=[False, True], ignore_index=True)
    share = positive[value] / positive[value].sum()
    positive["占比"], positive["累计占比"] = share, share.cumsum()
    # 用“本项之前的累计”判断，跨线的那一项才归在线内；四舍五入误差不应改变类别。
    before = (positive["累计占比"] - share).round(12)
    positive["类别"] = np.select([before < cuts[0], before < cuts[1]], ["A", "B"], "C")
    rest = total[total[value] <= 0].assign(占比=0.0, 累计占比=np.nan, 类别="非正")
    return pd.concat([positive, rest], ignore_index=True)


def abc_summary(table, value):
    """各类的项数、金额及占比：“多少比例的项贡献多少比例的值”。"""
    grouped = table.groupby("类别")[value].agg(项数="size", 金额="sum")
    grouped["项数占比"] = grouped["项数"] / grouped["项数"].sum()
    grouped["金额占比"] = grouped["金额"] / grouped["金额"].sum()
    return grouped


def xyz(matrix, cuts=(0.5, 1.0)):
    """XYZ 分类：每行一个品、每列一期的销量，按变异系数（标准差/均值）分稳定 X、波动 Y、零散 Z。"""
    mean, spread = matrix.mean(axis=1), matrix.std(axis=1, ddof=1)
    cv = (spread / mean.where(mean > 0)).fillna(np.inf)
    kind = np.select([cv <= cuts[0], cv <= cuts[1]], ["X", "Y"], "Z")
    return pd.DataFrame({"均值": mean, "变异系数": cv, "类别": kind}, index=matrix.index)


def gini(values):
    """基尼系数：0 完全平均，接近 1 高度集中。只用非负值。"""
    x = np.sort(np.asarray(values, dtype=float))
    if (x < 0).any():
        raise ValueError("基尼系数只对非负值有意义；先处理退款等负值")
    n, total = len(x), x.sum()
    if n == 0 or total == 0:
        return float("nan")
    return float((2 * np.arange(1, n + 1) - n - 1) @ x / (n * total))


def hhi(values):
    """赫芬达尔指数（0–10000）：份额百分数的平方和。>1800 通常视为高度集中。"""
    x = np.asarray(values, dtype=float)
    return float(((100 * x / x.sum()) ** 2).sum())


def top_share(values, fraction=0.2):
    """前 fraction 的项占总值的比例，检验“二八”是否成立。"""
    x = np.sort(np.asarray(values, dtype=float))[::-1]
    return float(x[: max(1, int(np.ceil(len(x) * fraction)))].sum() / x.sum())
