"""数据质量体检：逐列画像与问题清单。只报告，不修改数据。只定义函数，不读写文件。"""

import re
import unicodedata

import numpy as np
import pandas as pd

EXPORT_LIMITS = {65535: "旧版 Excel", 65536: "旧版 Excel", 1048575: "Excel", 1048576: "Excel", 10000: "常见导出上限", 50000: "常见导出上限", 100000: "常见导出上限"}
TOTAL_WORDS = re.compile(r"^\s*(合计|总计|小计|汇总|总和|total|grand total|subtotal|sum)\s*[:：]?\s*$", re.IGNORECASE)
PLACEHOLDERS = {"", "-", "--", "—", "n/a", "na", "null", "none", "nan", "无", "未知", "不详", "#n/a", "#value!", "#ref!", "?"}


def check(df, keys=None, today=None, dates=()):
    """返回问题清单（严重度 高/中/低、列、问题、数量、例子），按严重度排序。

    keys: 应当唯一的列（一列或多列）；dates: 应当是日期的列；today: 判断“未来日期”的当天。
    """
    issues = []

    def add(level, column, what, count, examples=()):
        shown = "、".join(str(e)[:40] for e in list(examples)[:3])
        issues.append((level, column, what, int(count), shown))

    _whole(df, keys, add)
    for column in df.columns:
        values = df[column]
        _missing(column, values, add)
        if values.dtype == object or pd.api.types.is_string_dtype(values):
            _text(column, values, add)
        elif pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
            _numbers(column, values, add)
        if column in dates or pd.api.types.is_datetime64_any_dtype(values):
            _dates(column, values, today, add)
    order = {"高": 0, "中": 1, "低": 2}
    table = pd.DataFrame(issues, columns=["严重度", "列", "问题", "数量", "例子"])
    return table.sort_values(["严重度", "数量"], key=lambda c: c.map(order) if c.name == "严重度" else -c, ignore_index=True)


def _whole(df, keys, add):
    if len(df) in EXPORT_LIMITS:
        add("高", "（整表）", f"行数正好是 {EXPORT_LIMITS[len(df)]}，可能被截断", len(df))
    repeated = df.duplicated()
    if repeated.any():
        add("高", "（整表）", "完全重复的行", repeated.sum(), [f"第 {i + 1} 行" for i in np.flatnonzero(repeated)[:3]])
    if keys:
        keys = [keys] if isinstance(keys, str) else list(keys)
        same = df.duplicated(keys, keep=False) & ~df.duplicated(keep=False)
        if same.any():
            add("高", "+".join(keys), "主键重复但内容不同", same.sum(), df.loc[same, keys[0]].unique())
        if df[keys].isna().any(axis=1).any():
            add("高", "+".join(keys), "主键缺失", df[keys].isna().any(axis=1).sum())
    for name in df.columns:
        if str(name).startswith("Unnamed") or not str(name).strip():
            add("中", str(name), "没有列名", 1)
    texts = df.select_dtypes(exclude="number")
    for column in texts.columns:
        totals = texts[column].astype(str).str.match(TOTAL_WORDS)
        if totals.any():
            add("高", column, "混入合计行，求和会翻倍", totals.sum(), texts.loc[totals, column].unique())


def _missing(column, values, add):
    share = values.isna().mean() if len(values) else 0
    if share == 1:
        add("中", column, "整列为空", len(values))
    elif share >= 0.3:
        add("中", column, f"缺失 {share:.0%}", values.isna().sum())
    elif share > 0:
        add("低", column, f"缺失 {share:.1%}", values.isna().sum())
    known = values.dropna()
    if len(known) > 1 and known.nunique() == 1:
        add("低", column, "只有一个值", len(known), known.unique())


def _text(column, values, add):
    known = values.dropna().astype(str)
    if known.empty:
        return
    holders = known[known.str.strip().str.lower().isin(PLACEHOLDERS)]
    if len(holders):
        add("中", column, "用文字表示的缺失", len(holders), holders.unique())
    real = known.drop(holders.index)
    numeric = real.map(as_number).notna()
    if len(real) and 0.5 < numeric.mean():
        add("高" if numeric.mean() < 1 else "中", column, "数字存成了文本" + ("，且混有非数字" if numeric.mean() < 1 else ""), numeric.sum(), real[numeric].unique() if numeric.mean() == 1 else real[~numeric].unique())
        return
    padded = real[real != real.str.strip()]
    if len(padded):
        add("低", column, "首尾有空格", len(padded), [repr(v) for v in padded.unique()])
    if real.nunique() <= max(50, 0.2 * len(real)):
        groups = real.groupby(real.map(normal))
        variants = [sorted(g.unique()) for _, g in groups if g.nunique() > 1]
        if variants:
            count = sum(real.isin(v[1:]).sum() for v in variants)
            add("中", column, "同一取值有多种写法", count, [" / ".join(v[:3]) for v in variants])


def _numbers(column, values, add):
    known = values.dropna().astype(float)
    if np.isinf(known).any():
        add("高", column, "无穷大", np.isinf(known).sum())
        known = known[np.isfinite(known)]
    if len(known) < 8:
        return
    negative = known < 0
    if 0 < negative.mean() < 0.05:
        add("中", column, "少数负值（退款或错误？）", negative.sum(), known[negative].unique())
    positive = known[known > 0]
    if len(positive) >= 20:
        logs = np.log10(positive)
        middle = logs.median()
        spread = max((logs - middle).abs().median() * 1.4826, 0.05)
        # 只看偏大的一侧：小额很常见，“元”当“万元”填才会大出几个数量级。
        far = positive[logs - middle > max(6 * spread, 1.5)]
        if len(far):
            add("中", column, "数量级异常（单位错误？）", len(far), far.sort_values(ascending=False).unique())


def _dates(column, values, today, add):
    parsed = pd.to_datetime(values, errors="coerce", format="mixed") if not pd.api.types.is_datetime64_any_dtype(values) else values
    broken = parsed.isna() & values.notna()
    if broken.any():
        add("高", column, "不是有效日期", broken.sum(), values[broken].unique())
    known = parsed.dropna()
    if known.empty:
        return
    now = pd.Timestamp(today) if today is not None else pd.Timestamp.now()
    future = known[known > now]
    if len(future):
        add("中", column, "未来的日期", len(future), future.dt.date.unique())
    old = known[known < pd.Timestamp("1990-01-01")]
    if len(old):
        add("中", column, "过早的日期（1900 等默认值？）", len(old), old.dt.date.unique())
    days = pd.Series(known.dt.normalize().unique()).sort_values()
    gaps = days.diff().dt.days
    usual = gaps.median()
    if len(days) >= 20 and usual >= 1:
        holes = gaps[gaps > max(3 * usual, usual + 3)]
        if len(holes):
            where = [f"{days[i] - pd.Timedelta(days=int(gaps[i])):%Y-%m-%d} 至 {days[i]:%Y-%m-%d}" for i in holes.index]
            add("中", column, "日期有断档", len(holes), where)


def as_number(text):
    """“1,234.5”“￥12”“(300)”“15%” -> 数；不是数字返回 None。"""
    t = unicodedata.normalize("NFKC", str(text)).strip().replace(",", "")
    negative = t.startswith("(") and t.endswith(")")
    t = t.strip("()").lstrip("¥$€").strip()
    percent = t.endswith("%")
    try:
        value = float(t.rstrip("%"))
    except ValueError:
        return None
    if not np.isfinite(value):
        return None
    return (-value if negative else value) / (100 if percent else 1)


def normal(text):
    """比较用的写法：全半角、大小写、空格与常见标点一致。"""
    return re.sub(r"[\s\-_·.()（）]+", "", unicodedata.normalize("NFKC", str(text)).lower())


def profile(df):
    """逐列画像：类型、非空数、缺失率、唯一值数、最小、最大、例子。"""
    rows = []
    for column in df.columns:
        known = df[column].dropna()
        comparable = pd.api.types.is_numeric_dtype(known) or pd.api.types.is_datetime64_any_dtype(known)
        rows.append((column, str(df[column].dtype), len(known), 1 - len(known) / len(df) if len(df) else 0.0, known.nunique(),
                     known.min() if comparable and len(known) else None, known.max() if comparable and len(known) else None,
                     "、".join(str(v)[:20] for v in known.unique()[:3])))
    return pd.DataFrame(rows, columns=["列", "类型", "非空", "缺失率", "唯一值", "最小", "最大", "例子"])


def score(issues, rows):
    """0–100 的质量分：高、中、低问题按影响行数占比扣分，封顶 40、15、5。只用于前后对比，不用于跨表比较。"""
    caps = {"高": (40, 10), "中": (15, 3), "低": (5, 1)}
    lost = 0.0
    for level, count in zip(issues["严重度"], issues["数量"]):
        cap, least = caps[level]
        lost += max(least, cap * min(1.0, count / max(rows, 1)))
    return max(0.0, round(100 - lost, 1))
