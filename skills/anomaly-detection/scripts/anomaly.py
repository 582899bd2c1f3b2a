"""异常检测：稳健 z 分、四分位围栏、季节性残差、CUSUM。只定义函数，不读写文件。"""

import numpy as np
import pandas as pd


def robust_z(values):
    """修正 z 分 0.6745*(x-中位数)/MAD（Iglewicz & Hoaglin）。|z|>3.5 视为异常。

    MAD 为 0（过半数值相同）时退回平均绝对偏差；全部相同则返回 0。
    """
    x = np.asarray(values, dtype=float)
    median = np.nanmedian(x)
    deviation = np.abs(x - median)
    mad = np.nanmedian(deviation)
    if mad > 0:
        return 0.6745 * (x - median) / mad
    mean = np.nanmean(deviation)
    return np.zeros_like(x) if mean == 0 else (x - median) / (1.253314 * mean)


def iqr_fences(values, k=1.5):
    """Tukey 围栏 [Q1-k*IQR, Q3+k*IQR]。k=1.5 为可疑，k=3 为极端。"""
    x = np.asarray(values, dtype=float)
    q1, q3 = np.nanpercentile(x, [25, 75])
    return q1 - k * (q3 - q1), q3 + k * (q3 - q1)


def seasonal_anomalies(series, period, threshold=4.0):
    """先去掉趋势与季节（稳健 STL），再对残差算稳健 z。返回每期的期望值、残差、z 与是否异常。"""
    from statsmodels.tsa.seasonal import STL

    series = pd.Series(series, dtype=float)
    if series.isna().any():
        raise ValueError("先处理缺失期：缺失本身就是一种异常，应单独报告")
    if len(series) < 2 * period + 1:
        raise ValueError(f"至少需要 {2 * period + 1} 期才能估计季节性，现有 {len(series)} 期；改用 robust_z")
    # 窗口取长（近似固定季节、平缓趋势），否则 STL 会把异常“学”进去，残差失真、误报成倍增加。
    season, slow = max(35, 2 * (len(series) // period) + 1), 4 * period + 1
    fit = STL(series.to_numpy(), period=period, seasonal=season, trend=slow, robust=True).fit()
    z = robust_z(fit.resid)
    table = pd.DataFrame({"值": series, "期望": fit.trend + fit.seasonal, "残差": fit.resid, "z": z}, index=series.index)
    # 残差几乎为零时 z 会虚高：要求偏离也有业务意义（超过期望的 1%）。
    material = np.abs(table["残差"]) > 0.01 * np.abs(table["期望"])
    table["异常"] = (np.abs(z) > threshold) & material
    return table


def cusum(values, target, sd, k=0.5, h=5.0):
    """表格式 CUSUM：发现小而持续的漂移。C+ 或 C- 超过 h 即报警；N 指出漂移从几期前开始。"""
    high = low = 0.0
    n_high = n_low = 0
    rows = []
    for value in np.asarray(values, dtype=float):
        z = (value - target) / sd
        high, low = max(0.0, high + z - k), max(0.0, low - z - k)
        n_high, n_low = (n_high + 1 if high > 0 else 0), (n_low + 1 if low > 0 else 0)
        rows.append((value, high, n_high, low, n_low, high > h or low > h))
    return pd.DataFrame(rows, columns=["值", "C+", "N+", "C-", "N-", "报警"])


def explain(df, is_bad, dims, value=None):
    """异常集中在哪里：各维度取值在异常行与全部行中的占比及倍数（lift），按 lift 排序。"""
    bad = df[is_bad]
    if bad.empty:
        return pd.DataFrame(columns=["维度", "取值", "异常占比", "总体占比", "倍数", "异常行数"])
    weight = (lambda d: d[value].abs()) if value else (lambda d: pd.Series(1.0, index=d.index))
    rows = []
    for dim in dims:
        share_bad = weight(bad).groupby(bad[dim]).sum() / weight(bad).sum()
        share_all = weight(df).groupby(df[dim]).sum() / weight(df).sum()
        for key, share in share_bad.items():
            rows.append((dim, key, share, share_all[key], share / share_all[key], int((bad[dim] == key).sum())))
    table = pd.DataFrame(rows, columns=["维度", "取值", "异常占比", "总体占比", "倍数", "异常行数"])
    return table.sort_values(["倍数", "异常行数"], ascending=False, ignore_index=True)
