"""漏斗：有序漏斗、转化率区间、两组比较、样本量。只定义函数，不读写文件。"""

import math

import numpy as np
import pandas as pd
from scipy import stats


def funnel(df, user, event, time, steps, window=None):
    """有序漏斗：每个用户依次完成各步，且（给出 window 时）全部在第一步之后的 window 内。

    先做后一步、再做前一步的不算；每步取前一步之后最早的一次。第一步取能走得最远的一次起点。
    """
    data = df[df[event].isin(steps)][[user, event, time]].copy()
    data[time] = pd.to_datetime(data[time])
    limit = pd.Timedelta(window) if window is not None else None
    reached = dict.fromkeys(range(len(steps)), 0)
    for _, rows in data.sort_values(time, kind="stable").groupby(user):
        furthest = _furthest(rows[event].tolist(), rows[time].tolist(), steps, limit)
        for step in range(furthest):
            reached[step] += 1
    counts = [reached[i] for i in range(len(steps))]
    return table(steps, counts)


def _furthest(events, times, steps, limit):
    best = 0
    for start, name in enumerate(events):
        if name != steps[0]:
            continue
        done = 1
        for later in range(start + 1, len(events)):
            if done == len(steps) or (limit is not None and times[later] - times[start] > limit):
                break
            if events[later] == steps[done]:
                done += 1
        best = max(best, done)
        if best == len(steps):
            break
    return best


def table(steps, counts):
    """人数 -> 漏斗表：步骤转化率（对上一步）、总转化率（对第一步）、流失人数与 95% Wilson 区间。"""
    rows = []
    for i, (step, n) in enumerate(zip(steps, counts)):
        above = counts[i - 1] if i else n
        low, high = wilson(n, above) if i and above else (math.nan, math.nan)
        rows.append((step, n, n / above if above else math.nan, n / counts[0] if counts[0] else math.nan, above - n, low, high))
    return pd.DataFrame(rows, columns=["步骤", "人数", "步骤转化率", "总转化率", "流失", "下限", "上限"])


def wilson(successes, total, level=0.95):
    """比例的 Wilson 区间：样本小、比例近 0 或 1 时也可靠（正态近似会越界）。"""
    if total <= 0:
        return math.nan, math.nan
    z, p = stats.norm.ppf(0.5 + level / 2), successes / total
    centre = (p + z * z / (2 * total)) / (1 + z * z / total)
    half = z * math.sqrt(p * (1 - p) / total + z * z / (4 * total * total)) / (1 + z * z / total)
    return max(0.0, centre - half), min(1.0, centre + half)


def compare(s1, n1, s2, n2, level=0.95):
    """两组转化率之差（2 减 1）：Newcombe 区间与合并方差 z 检验。区间跨 0 就不能说有差别。"""
    p1, p2 = s1 / n1, s2 / n2
    (l1, u1), (l2, u2) = wilson(s1, n1, level), wilson(s2, n2, level)
    low = (p2 - p1) - math.sqrt((p2 - l2) ** 2 + (u1 - p1) ** 2)
    high = (p2 - p1) + math.sqrt((u2 - p2) ** 2 + (p1 - l1) ** 2)
    pooled = (s1 + s2) / (n1 + n2)
    error = math.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    z = (p2 - p1) / error if error else 0.0
    return {"p1": p1, "p2": p2, "差": p2 - p1, "下限": low, "上限": high, "z": z, "p值": float(2 * stats.norm.sf(abs(z)))}


def sample_size(p1, p2, alpha=0.05, power=0.8):
    """每组需要的样本量：双侧检验，能以 power 的把握发现 p1 -> p2 的变化。"""
    if p1 == p2:
        raise ValueError("两个比例相同，任何样本都分不出")
    za, zb = stats.norm.ppf(1 - alpha / 2), stats.norm.ppf(power)
    mean = (p1 + p2) / 2
    top = za * math.sqrt(2 * mean * (1 - mean)) + zb * math.sqrt(p1 * (1 - p1) + p2 * (1 - p2))
    return math.ceil((top / (p2 - p1)) ** 2)


def holm(p_values):
    """多重比较的 Holm 校正：同时看许多分组时必须用。"""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p)
    adjusted = np.empty_like(p)
    running = 0.0
    for rank, index in enumerate(order):
        running = max(running, (len(p) - rank) * p[index])
        adjusted[index] = min(1.0, running)
    return adjusted
