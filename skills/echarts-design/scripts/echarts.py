"""生成并检查 ECharts 配置。只定义函数，不读写文件，不访问网络。"""

import json
import math

PALETTE = ["#3366cc", "#e8743b", "#19a979", "#945ecf", "#13a4b4", "#ed4a7b", "#6c8893"]
UP, DOWN, TOTAL, MUTED = "#c23531", "#2f9e44", "#3366cc", "#bbbbbb"


def clean(value):
    """numpy、pandas 与 NaN -> JSON：缺失变为 null（断线），绝不变成 0。"""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, dict):
        return {str(k): clean(v) for k, v in value.items()}
    if hasattr(value, "tolist") and not isinstance(value, (list, tuple)):
        return clean(value.tolist())
    if isinstance(value, (list, tuple)):
        return [clean(v) for v in value]
    if isinstance(value, (int, float)):
        if isinstance(value, float) and not math.isfinite(value):
            return None
        return round(value, 6) if isinstance(value, float) else value
    if hasattr(value, "__iter__"):
        return [clean(v) for v in value]
    text = str(value)
    return None if text in ("NaT", "<NA>", "nan") else text


def _base(title, unit, names):
    return {
        "color": PALETTE,
        "title": {"text": title, "left": "center", "textStyle": {"fontSize": 15}},
        "tooltip": {"trigger": "axis"},
        "legend": {"bottom": 0, "data": names} if len(names) > 1 else {"show": False},
        "grid": {"left": 56, "right": 24, "top": 56, "bottom": 48 if len(names) > 1 else 28, "containLabel": True},
        "yAxis": {"type": "value", "name": unit},
    }


def line(title, x, series, unit=""):
    """趋势。series: {名称: 数值列表}，最多 5 条。"""
    option = _base(title, unit, list(series))
    option["xAxis"] = {"type": "category", "data": clean(x), "boundaryGap": False}
    option["yAxis"]["scale"] = True
    option["series"] = [{"name": n, "type": "line", "data": clean(v), "showSymbol": len(list(x)) <= 24, "connectNulls": False} for n, v in series.items()]
    return clean(option)


def bar(title, categories, series, unit="", horizontal=False, stacked=False):
    """比较。坐标轴必须从 0 开始；类别名长或超过 8 个时用 horizontal。"""
    option = _base(title, unit, list(series))
    category = {"type": "category", "data": clean(categories), "inverse": horizontal}
    value = option.pop("yAxis") | {"min": None}
    value.pop("min")
    option["xAxis"], option["yAxis"] = (value, category) if horizontal else (category, value)
    option["series"] = [{"name": n, "type": "bar", "data": clean(v)} | ({"stack": "total"} if stacked else {}) for n, v in series.items()]
    return clean(option)


WORDS = {"数值": "Value", "累计占比": "Cumulative share", "变化": "Change", "期初": "Start", "期末": "End", "历史": "Actual", "预测": "Forecast",
         "95% 区间": "95% interval", "下限": "Lower bound"}


def said(word, title):
    """图例与标题同一种语言：标题没有汉字时用英文。"""
    return word if any("\u4e00" <= c <= "\u9fff" for c in title) else WORDS[word]


def pareto(title, categories, values, unit=""):
    """帕累托：从大到小的柱 + 累计占比线（右轴固定 0–100%）。"""
    pairs = sorted(zip(categories, values), key=lambda p: -p[1])
    total, running, cumulative = sum(v for _, v in pairs), 0.0, []
    for _, v in pairs:
        running += v
        cumulative.append(100 * running / total if total else None)
    option = bar(title, [c for c, _ in pairs], {said("数值", title): [v for _, v in pairs]}, unit)
    option["legend"] = {"bottom": 0, "data": [said("数值", title), said("累计占比", title)]}
    option["yAxis"] = [option["yAxis"], {"type": "value", "name": said("累计占比", title), "min": 0, "max": 100, "axisLabel": {"formatter": "{value}%"}, "splitLine": {"show": False}}]
    marks = {"symbol": "none", "data": [{"yAxis": 80}], "lineStyle": {"type": "dashed"}}
    option["series"].append({"name": said("累计占比", title), "type": "line", "yAxisIndex": 1, "data": clean(cumulative), "markLine": marks})
    return clean(option)


def waterfall(title, start, changes, end_name=None, start_name=None, unit=""):
    """瀑布：期初 + 各项变化 = 期末。changes: {名称: 变化}。增减用两色，起止用第三色。"""
    start_name, end_name = start_name or said("期初", title), end_name or said("期末", title)
    names, hidden, shown, level = [start_name], [0], [{"value": start, "itemStyle": {"color": TOTAL}}], start
    for name, change in changes.items():
        names.append(name)
        hidden.append(min(level, level + change))
        shown.append({"value": abs(change), "itemStyle": {"color": UP if change >= 0 else DOWN}, "label": {"formatter": f"{change:+,.4g}"}})
        level += change
    names.append(end_name)
    hidden.append(0)
    shown.append({"value": level, "itemStyle": {"color": TOTAL}})
    option = bar(title, names, {said("变化", title): []}, unit)
    option["tooltip"] = {"trigger": "item"}
    option["series"] = [
        {"name": "底", "type": "bar", "stack": "all", "silent": True, "itemStyle": {"color": "transparent"}, "data": hidden},
        {"name": said("变化", title), "type": "bar", "stack": "all", "data": shown, "label": {"show": True, "position": "top"}},
    ]
    return clean(option)


def heatmap(title, x, y, matrix, unit=""):
    """矩阵（留存、相关）：matrix[行][列]，缺失留空。"""
    cells = [[i, j, matrix[j][i]] for j in range(len(y)) for i in range(len(x))]
    cells = [c for c in clean(cells) if c[2] is not None]
    numbers = [c[2] for c in cells] or [0]
    return clean({
        "title": {"text": title, "left": "center", "textStyle": {"fontSize": 15}},
        "tooltip": {"position": "top"},
        "grid": {"left": 56, "right": 24, "top": 48, "bottom": 64, "containLabel": True},
        "xAxis": {"type": "category", "data": x, "splitArea": {"show": True}},
        "yAxis": {"type": "category", "data": y, "inverse": True, "name": unit},
        "visualMap": {"min": min(numbers), "max": max(numbers), "calculable": True, "orient": "horizontal", "left": "center", "bottom": 0},
        "series": [{"type": "heatmap", "data": cells, "label": {"show": len(cells) <= 120}}],
    })


def funnel(title, steps, counts):
    """漏斗：按步骤顺序，不按大小排序。"""
    data = [{"name": s, "value": n} for s, n in zip(steps, counts)]
    return clean({
        "color": PALETTE,
        "title": {"text": title, "left": "center", "textStyle": {"fontSize": 15}},
        "tooltip": {"trigger": "item", "formatter": "{b}: {c}"},
        "series": [{"type": "funnel", "sort": "none", "top": 48, "bottom": 16, "left": "12%", "width": "76%", "label": {"show": True, "position": "inside", "formatter": "{b}: {c}"}, "data": data}],
    })


def forecast_band(title, past_x, past, future_x, point, low, high, unit=""):
    """预测：历史实线、预测虚线、区间阴影；阴影用下限 + (上限-下限) 堆叠。"""
    n = len(list(past_x))
    gap = [None] * n
    last = [None] * (n - 1) + [clean(list(past)[-1])] if n else []
    option = line(title, list(past_x) + list(future_x), {said("历史", title): list(clean(past)) + [None] * len(list(future_x))}, unit)
    option["legend"] = {"bottom": 0, "data": [said(word, title) for word in ("历史", "预测", "95% 区间")]}
    width = [None if l is None or h is None else h - l for l, h in zip(clean(low), clean(high))]
    option["series"] += [
        {"name": said("预测", title), "type": "line", "lineStyle": {"type": "dashed"}, "data": last + clean(point)},
        {"name": said("下限", title), "type": "line", "stack": "band", "symbol": "none", "lineStyle": {"opacity": 0}, "data": gap + clean(low), "tooltip": {"show": False}},
        {"name": said("95% 区间", title), "type": "line", "stack": "band", "symbol": "none", "lineStyle": {"opacity": 0}, "areaStyle": {"opacity": 0.2}, "data": gap + width},
    ]
    return clean(option)


def check(option):
    """画图前的自查：返回问题清单，空表示通过。"""
    problems = []
    series = option.get("series") or []
    if not series or all(not s.get("data") for s in series):
        problems.append("没有数据")
    if not (option.get("title") or {}).get("text"):
        problems.append("没有标题；标题应写结论")
    kinds = [s.get("type") for s in series]
    for axis in [a for key in ("xAxis", "yAxis") for a in _list(option.get(key))]:
        low = axis.get("min")
        if "bar" in kinds and axis.get("type") == "value" and (axis.get("scale") or (isinstance(low, (int, float)) and low > 0)):
            problems.append("柱形图的数值轴没有从 0 开始，会夸大差别")
        if axis.get("type") == "category" and len(axis.get("data") or []) > 60 and "line" not in kinds:
            problems.append("类别超过 60 个：只画前若干名并合并其余")
    if kinds.count("pie"):
        slices = max(len(s.get("data") or []) for s in series if s.get("type") == "pie")
        if slices > 6:
            problems.append("饼图超过 6 块，改用横向柱形图")
    if kinds.count("line") > 7:
        problems.append("折线超过 7 条，拆成多图或突出一两条")
    values = [a for a in _list(option.get("yAxis")) if a.get("type") == "value"]
    if len(values) > 1 and not any(a.get("max") == 100 for a in values):
        problems.append("双轴容易误导：改成两张图，或指数化到同一起点")
    lengths = [len(a.get("data") or []) for key in ("xAxis", "yAxis") for a in _list(option.get(key)) if a.get("type") == "category"]
    for s in series:
        if s.get("type") in ("line", "bar") and lengths and len(s.get("data") or []) not in (0, *lengths):
            problems.append(f"“{s.get('name', '')}”有 {len(s['data'])} 个点，坐标轴有 {lengths[0]} 个")
    return problems


def _list(value):
    return [] if value is None else value if isinstance(value, list) else [value]


def html(option, chart_id="chart-1", height=360):
    """可直接放进报告的片段。数据中的 </script> 被转义，不能提前结束脚本。"""
    if not chart_id.replace("-", "").replace("_", "").isalnum():
        raise ValueError("图表 id 只能用字母、数字、- 与 _")
    text = json.dumps(clean(option), ensure_ascii=False, allow_nan=False).replace("</", "<\\/").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f'<div id="{chart_id}" style="height:{int(height)}px"></div>\n<script>echarts.init(document.getElementById("{chart_id}")).setOption({text});</script>'
