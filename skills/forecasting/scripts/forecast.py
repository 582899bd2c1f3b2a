"""时间序列预测：基准、指数平滑、滚动回测、区间。只定义函数，不读写文件。"""

import warnings

import numpy as np
import pandas as pd
from scipy import stats


# 少于此数，连朴素法的区间也没有意义。
SHORTEST = 4


def mase(actual, predicted, history, period=1):
    """MASE：误差相对（季节）朴素法在历史上的平均误差。小于 1 才算比“照抄去年同期”好。"""
    history = np.asarray(history, dtype=float)
    scale = np.mean(np.abs(history[period:] - history[:-period]))
    return float(np.mean(np.abs(np.asarray(actual, dtype=float) - np.asarray(predicted, dtype=float))) / scale)


def naive(history, horizon, level=0.95):
    """朴素法：等于最后一期。标准差按 sqrt(h) 扩大。"""
    x = np.asarray(history, dtype=float)
    sd = np.sqrt(np.mean(np.diff(x) ** 2))
    steps = np.arange(1, horizon + 1)
    return _band(np.full(horizon, x[-1]), sd * np.sqrt(steps), level)


def seasonal_naive(history, horizon, period, level=0.95):
    """季节朴素法：等于去年同期。标准差按 sqrt(已过的完整周期数+1) 扩大。"""
    x = np.asarray(history, dtype=float)
    sd = np.sqrt(np.mean((x[period:] - x[:-period]) ** 2))
    steps = np.arange(horizon)
    point = x[-period:][steps % period]
    return _band(point, sd * np.sqrt(steps // period + 1), level)


def drift(history, horizon, level=0.95):
    """漂移法：沿首末两点的连线延伸。"""
    x = np.asarray(history, dtype=float)
    n = len(x)
    slope = (x[-1] - x[0]) / (n - 1)
    sd = np.sqrt(np.sum((np.diff(x) - slope) ** 2) / (n - 2))
    steps = np.arange(1, horizon + 1)
    return _band(x[-1] + slope * steps, sd * np.sqrt(steps * (1 + steps / (n - 1))), level)


def ets(history, horizon, period=1, level=0.95, seasonal=None, damped=True):
    """指数平滑状态空间模型，区间由模拟得到。seasonal: None、"add"（幅度固定）或 "mul"（幅度随水平放大）。

    "mul" 在对数上做加法模型：比直接的乘法模型稳定，预测与区间都不会为负。
    """
    from statsmodels.tsa.exponential_smoothing.ets import ETSModel

    logs = seasonal == "mul"
    x = pd.Series(np.log(np.asarray(history, dtype=float)) if logs else np.asarray(history, dtype=float))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ETSModel(x, error="add", trend="add", damped_trend=damped, seasonal="add" if seasonal else None, seasonal_periods=period if seasonal else None)
        fit = model.fit(disp=False, maxiter=200)
        paths = np.asarray(fit.simulate(horizon, anchor="end", repetitions=2000, rng=np.random.default_rng(0)))
        point = fit.forecast(horizon).to_numpy()
    low, high = np.quantile(paths, [(1 - level) / 2, (1 + level) / 2], axis=1)
    made = pd.DataFrame({"预测": point, "下限": low, "上限": high})
    return np.exp(made) if logs else made


def _band(point, sd, level):
    z = stats.norm.ppf(0.5 + level / 2)
    return pd.DataFrame({"预测": point, "下限": point - z * sd, "上限": point + z * sd})


def candidates(history, period):
    """可用的方法：历史越短，可选越少。"""
    x = np.asarray(history, dtype=float)
    methods = {"朴素": lambda h, n: naive(h, n), "漂移": lambda h, n: drift(h, n)}
    if len(x) >= 10:
        methods["指数平滑"] = lambda h, n: ets(h, n)
    if period > 1 and len(x) >= 2 * period + 1:
        methods["季节朴素"] = lambda h, n: seasonal_naive(h, n, period)
        if len(x) >= 3 * period:
            methods["指数平滑(加法季节)"] = lambda h, n: ets(h, n, period, seasonal="add")
            if (x > 0).all():
                methods["指数平滑(乘法季节)"] = lambda h, n: ets(h, n, period, seasonal="mul", damped=False)
                methods["指数平滑(乘法季节,阻尼)"] = lambda h, n: ets(h, n, period, seasonal="mul")
    return methods


def backtest(series, horizon, period=12, folds=3):
    """滚动起点回测：每折只用当时已知的数据。返回各方法的 MASE、MAPE 与 95% 区间的实际覆盖率，按 MASE 排序。"""
    x = np.asarray(series, dtype=float)
    if np.isnan(x).any():
        raise ValueError("序列有缺失，先补齐或说明")
    cuts = [len(x) - horizon * k for k in range(folds, 0, -1)]
    cuts = [c for c in cuts if c >= max(2 * period + 1, 8)]
    if not cuts:
        raise ValueError(f"历史太短：预测 {horizon} 期并回测至少需要 {max(2 * period + 1, 8) + horizon} 期")
    methods = candidates(x[: cuts[0]], period)
    scale_period = period if cuts[0] > 2 * period else 1
    rows = []
    for name, method in methods.items():
        scores, apes, inside = [], [], []
        for cut in cuts:
            actual, made = x[cut: cut + horizon], method(x[:cut], horizon)
            scores.append(mase(actual, made["预测"], x[:cut], scale_period))
            with np.errstate(divide="ignore", invalid="ignore"):
                apes.append(np.nanmean(np.where(actual != 0, np.abs(made["预测"] / actual - 1), np.nan)))
            inside.append(np.mean((actual >= made["下限"]) & (actual <= made["上限"])))
        rows.append((name, np.mean(scores), np.mean(apes), np.mean(inside), len(cuts)))
    table = pd.DataFrame(rows, columns=["方法", "MASE", "MAPE", "覆盖率", "折数"])
    return table.sort_values("MASE", ignore_index=True)


def forecast(series, horizon, period=12, folds=3):
    """回测选出方法，再用全部历史预测。返回（预测表, 回测表, 方法名）。

    MASE 与最好者相差不到 10% 的方法里，取区间覆盖率最接近 95% 的：点值差不多时，区间可信更重要。
    简单方法与最好者相差不到 2% 时，用简单方法并照实说明。历史太短、无法按预测期回测时，只给朴素法与区间；回测表改为逐期（向前
    1 期）的误差，少于 9 期时为空。
    """
    values = np.asarray(series, dtype=float)
    if len(values) < SHORTEST:
        raise ValueError(f"历史太短：至少需要 {SHORTEST} 期")
    if len(values) < max(2 * period + 1, 8) + horizon:
        return _short(series, values, horizon)
    scores = backtest(series, horizon, period, folds)
    close = scores[scores["MASE"] <= 1.1 * scores["MASE"].iloc[0]]
    best = close.loc[(close["覆盖率"] - 0.95).abs().idxmin(), "方法"]
    simple = scores[scores["方法"].isin(["季节朴素", "朴素"])]
    if len(simple) and simple["MASE"].min() <= scores["MASE"].iloc[0] * 1.02:
        best = simple["方法"].iloc[0]
    x = np.asarray(series, dtype=float)
    return _dated(candidates(x, period)[best](x, horizon), series, horizon), scores, best


def _short(series, x, horizon):
    """只有十几期：朴素法与区间。"""
    if np.isnan(x).any():
        raise ValueError("序列有缺失，先补齐或说明")
    empty = pd.DataFrame(columns=["方法", "MASE", "MAPE", "覆盖率", "折数"])
    scores = backtest(x, 1, 1, folds=len(x) - 8) if len(x) >= 9 else empty
    return _dated(naive(x, horizon), series, horizon), scores[scores["方法"] == "朴素"].reset_index(drop=True), "朴素"


def _dated(made, series, horizon):
    index = getattr(series, "index", None)
    if isinstance(index, pd.PeriodIndex):
        made.index = pd.period_range(index[-1] + 1, periods=horizon, freq=index.freq)
    elif isinstance(index, pd.DatetimeIndex) and pd.infer_freq(index):
        made.index = pd.date_range(index[-1], periods=horizon + 1, freq=pd.infer_freq(index))[1:]
    return made
