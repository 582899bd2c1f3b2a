"""Turns the value of a last expression into text and, for tables, into a compact table. Sizes are capped."""

import math

MAX_TEXT = 20_000
MAX_ROWS, MAX_COLUMNS, MAX_CELL = 50, 40, 200


def configure():
    import numpy
    import pandas

    # `np.float64(1.5)` is 1.5 to people and to models.
    numpy.set_printoptions(legacy="1.25")
    pandas.set_option("display.max_rows", 40)
    pandas.set_option("display.max_columns", 30)
    pandas.set_option("display.width", 160)
    pandas.set_option("display.max_colwidth", 80)
    pandas.set_option("display.unicode.east_asian_width", True)


def describe(value):
    """`{"repr": …, "table"?: …, "files"?: …}` or None when there is nothing to show."""
    if value is None:
        return None
    import numpy
    import pandas

    from ba_worker import charts

    if charts.is_plotly(value):
        return {"repr": "plotly figure", "files": charts.save_plotly(value)}
    if charts.is_matplotlib(value):
        return None
    shown = {"repr": cut(repr(clean(value)))}
    if isinstance(value, pandas.Series):
        value = value.to_frame(name="value" if value.name is None else value.name)
        shown["table"] = table(value)
    elif isinstance(value, pandas.DataFrame):
        shown["table"] = table(value)
    elif isinstance(value, (bool, int, float, str)) and not isinstance(value, numpy.generic):
        shown["scalar"] = cell(value)
    elif isinstance(value, numpy.generic):
        shown["scalar"] = cell(value.item())
    return shown


def clean(value, depth=3):
    """Figures without noise, also inside plain lists and dicts."""
    import numpy

    if isinstance(value, (float, numpy.floating)):
        return figure(float(value)) if math.isfinite(value) else value
    if type(value) in (list, tuple) and depth and len(value) <= 10_000:
        return type(value)(clean(item, depth - 1) for item in value)
    if type(value) is dict and depth and len(value) <= 10_000:
        return {key: clean(item, depth - 1) for key, item in value.items()}
    return value


def cut(text):
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + f" … ({len(text) - MAX_TEXT} more characters)"


def table(frame, most=MAX_ROWS):
    import pandas

    rows, columns = frame.shape
    part = frame.iloc[:most, :MAX_COLUMNS]
    names = [str(name) for name in part.columns]
    types = [str(kind) for kind in part.dtypes]
    data = [[cell(item) for item in part.iloc[:, number].tolist()] for number in range(part.shape[1])]
    plain = isinstance(frame.index, pandas.RangeIndex) and frame.index.name is None
    if not plain:
        for level in reversed(range(frame.index.nlevels)):
            values = part.index.get_level_values(level)
            names.insert(0, str(frame.index.names[level] or ""))
            types.insert(0, str(values.dtype))
            data.insert(0, [cell(item) for item in values.tolist()])
    return {
        "columns": names,
        "dtypes": types,
        "rows": [list(row) for row in zip(*data)] if data else [],
        "shape": [rows, columns],
        "index_columns": 0 if plain else frame.index.nlevels,
    }


def figure(value):
    """Without the noise at the end of a float: 142041357.36, not 142041357.36000064. Pi keeps all its digits."""
    for digits in (15, 14):
        short = float(f"{value:.{digits}g}")
        if len(repr(short).partition("e")[0].replace(".", "").strip("-0")) <= digits - 3:
            return short
    return value


def cell(value):
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else cut(str(value))
    if isinstance(value, float):
        return figure(value) if math.isfinite(value) else (None if math.isnan(value) else str(value))
    if isinstance(value, str):
        return value if len(value) <= MAX_CELL else value[:MAX_CELL] + "…"
    if value.__class__.__name__ in ("NaTType", "NAType"):
        return None
    text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    return text if len(text) <= MAX_CELL else text[:MAX_CELL] + "…"
