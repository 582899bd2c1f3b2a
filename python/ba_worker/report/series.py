"""An ECharts option → categories and values, for native charts of slides and workbooks and for a table beside a chart that cannot be drawn."""

KINDS = {"bar", "line", "pie", "scatter", "effectScatter"}
MAX_POINTS = 5000


def read(option):
    """{"kind", "categories", "series": [{"name", "values", "kind"}], "stacked", "horizontal", "area", "points"?}, or None where no such table is in it."""
    try:
        return _read(option)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        return None


def title_of(option):
    title = first(option.get("title"))
    return str(title.get("text") or "") if isinstance(title, dict) else ""


def first(value):
    return value[0] if isinstance(value, list) and value else value


def as_list(value):
    return value if isinstance(value, list) else [] if value is None else [value]


def _read(option):
    if "baseOption" in option:
        option = {**option["baseOption"], **{k: v for k, v in option.items() if k in ("series", "xAxis", "yAxis")}}
    drawn = [s for s in as_list(option.get("series")) if isinstance(s, dict)]
    if not drawn or any(s.get("type", "line") not in KINDS for s in drawn):
        return None
    table = _dataset(option)
    if drawn[0].get("type") == "pie":
        return _pie(drawn[0], table)
    if all(s.get("type") in ("scatter", "effectScatter") for s in drawn):
        return _scatter(drawn, table)
    x, y = first(option.get("xAxis")) or {}, first(option.get("yAxis")) or {}
    horizontal = y.get("type") == "category" or ("data" in y and x.get("type", "value") == "value")
    names = as_list((y if horizontal else x).get("data"))
    categories = [_label(n) for n in names]
    found = []
    for index, item in enumerate(drawn):
        labels, values = _values(item, index, table, horizontal)
        categories = categories or labels
        found.append({"name": str(item.get("name") or _column(item, index, table) or ""), "values": values, "kind": item.get("type", "line"),
                      "axis": 1 if item.get("yAxisIndex") else 0})
    categories = (categories or [str(i + 1) for i in range(max(len(s["values"]) for s in found))])[:MAX_POINTS]
    for item in found:
        item["values"] = (item["values"] + [None] * len(categories))[: len(categories)]
    return {"kind": found[0]["kind"], "categories": categories, "series": found, "stacked": len({s.get("stack") for s in drawn}) == 1 and bool(drawn[0].get("stack")) and len(drawn) > 1, "horizontal": horizontal,
            "area": all(s.get("areaStyle") is not None for s in drawn)}


def _number(value):
    if isinstance(value, dict):
        value = value.get("value")
    if isinstance(value, list):
        value = value[-1] if value else None
    if isinstance(value, bool) or value in (None, "", "-"):
        return None
    try:
        value = float(value)
    except (TypeError, ValueError):
        return None
    return value if abs(value) < 1e300 else None


def _label(value):
    return str(value.get("value", value.get("name", ""))) if isinstance(value, dict) else str(value)


def _dataset(option):
    """(columns, rows) of the first dataset."""
    dataset = first(option.get("dataset"))
    source = dataset.get("source") if isinstance(dataset, dict) else None
    if isinstance(source, dict):
        columns = list(source)
        return columns, [list(row) for row in zip(*source.values())]
    if not isinstance(source, list) or not source:
        return None
    if isinstance(source[0], dict):
        columns = [str(c) for c in (dataset.get("dimensions") or source[0]) if not isinstance(c, dict)] or list(source[0])
        return columns, [[row.get(c) for c in columns] for row in source]
    dimensions = [d.get("name") if isinstance(d, dict) else d for d in dataset.get("dimensions") or []]
    if dimensions and list(map(str, dimensions)) != list(map(str, source[0])):
        return [str(d) for d in dimensions], [list(row) for row in source]
    return [str(c) for c in source[0]], [list(row) for row in source[1:]]


def _place(columns, wanted, otherwise):
    wanted = first(wanted)
    if isinstance(wanted, int):
        return wanted
    return columns.index(str(wanted)) if str(wanted) in columns else otherwise


def _column(item, index, table):
    if not table or item.get("data"):
        return None
    encode = item.get("encode") or {}
    wanted = first(encode.get("value", encode.get("y")))
    return wanted if isinstance(wanted, str) and wanted in table[0] else table[0][min(index + 1, len(table[0]) - 1)]


def _values(item, index, table, horizontal):
    data = item.get("data")
    if data is None and table:
        columns, rows = table
        encode = item.get("encode") or {}
        label = _place(columns, encode.get("y" if horizontal else "x", encode.get("itemName")), 0)
        value = _place(columns, encode.get("x" if horizontal else "y", encode.get("value")), min(index + 1, len(columns) - 1))
        return [_label(r[label]) for r in rows], [_number(r[value]) for r in rows]
    data = as_list(data)
    plain = [d.get("value") if isinstance(d, dict) else d for d in data]
    if plain and all(isinstance(d, list) and len(d) >= 2 for d in plain):
        label, value = (1, 0) if horizontal else (0, 1)
        return [_label(d[label]) for d in plain], [_number(d[value]) for d in plain]
    return [d["name"] for d in data if isinstance(d, dict) and "name" in d], [_number(d) for d in data]


def _pie(item, table):
    if item.get("data") is None and table:
        columns, rows = table
        encode = item.get("encode") or {}
        label, value = _place(columns, encode.get("itemName"), 0), _place(columns, encode.get("value"), 1)
        pairs = [(_label(r[label]), _number(r[value])) for r in rows]
    else:
        pairs = [(str(d.get("name", "")) if isinstance(d, dict) else "", _number(d)) for d in as_list(item.get("data"))]
    if not pairs:
        return None
    pairs = pairs[:MAX_POINTS]
    ring = isinstance(item.get("radius"), list) and str(item["radius"][0]) not in ("0", "0%")
    return {"kind": "pie", "ring": ring, "categories": [p[0] for p in pairs], "series": [{"name": str(item.get("name") or ""), "values": [p[1] for p in pairs], "kind": "pie", "axis": 0}],
            "stacked": False, "horizontal": False, "area": False}


def _scatter(drawn, table):
    found = []
    for index, item in enumerate(drawn):
        data = item.get("data")
        if data is None and table:
            columns, rows = table
            encode = item.get("encode") or {}
            x, y = _place(columns, encode.get("x"), 0), _place(columns, encode.get("y"), min(index + 1, len(columns) - 1))
            points = [(_number(r[x]), _number(r[y])) for r in rows]
        else:
            plain = [d.get("value") if isinstance(d, dict) else d for d in as_list(data)]
            points = [(_number(d[0]), _number(d[1])) for d in plain if isinstance(d, list) and len(d) >= 2]
        points = [p for p in points if None not in p][:MAX_POINTS]
        if not points:
            return None
        found.append({"name": str(item.get("name") or ""), "points": points, "values": [p[1] for p in points], "kind": "scatter", "axis": 0})
    return {"kind": "scatter", "categories": [f"{p[0]:g}" for p in found[0]["points"]], "series": found, "stacked": False, "horizontal": False, "area": False}
