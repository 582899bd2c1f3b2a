"""What a call showed, handed over as tables: every DataFrame, Series, dict or list of rows that was printed, and the last value.
Capped. Also the names and shapes of the variables that live on. Nothing here may fail a call."""

import builtins
import types

from ba_worker import display

MAX_TABLES, MAX_ROWS, MAX_CELLS = 20, 1_000, 20_000
MAX_VARIABLES, MAX_SHOWN = 40, 60

_tables = []
_cells = 0


def begin():
    global _cells
    _tables.clear()
    _cells = 0


def take():
    return list(_tables)


def note(value):
    """Keeps a table of what was shown, where it is one."""
    global _cells
    if len(_tables) >= MAX_TABLES or isinstance(value, (str, bytes, int, float)) or value is None:
        return
    try:
        frame = frame_of(value)
        if frame is None or not frame.shape[1]:
            return
        room = (MAX_CELLS - _cells) // max(1, frame.shape[1])
        table = display.table(frame, min(MAX_ROWS, room))
        _cells += len(table["rows"]) * len(table["columns"])
        if table["rows"]:
            _tables.append(table)
    except Exception:
        return


def frame_of(value):
    """A DataFrame of anything that reads as a table."""
    import numpy
    import pandas

    if isinstance(value, pandas.DataFrame):
        return value
    if isinstance(value, pandas.Series):
        return value.to_frame(name="value" if value.name is None else value.name)
    if isinstance(value, dict) and 0 < len(value) <= MAX_ROWS:
        return _of_dict(value)
    if isinstance(value, (list, tuple)) and 0 < len(value) <= MAX_ROWS:
        if all(isinstance(row, dict) for row in value):
            return pandas.DataFrame(list(value))
        if all(isinstance(row, (list, tuple)) for row in value) and len({len(row) for row in value}) == 1:
            return pandas.DataFrame([list(row) for row in value])
        return None
    if isinstance(value, numpy.ndarray) and value.ndim in (1, 2) and value.size <= MAX_CELLS and value.ndim == 2:
        return pandas.DataFrame(value)
    return None


def _of_dict(value):
    import pandas

    inner = list(value.values())
    if all(isinstance(v, dict) for v in inner):
        return pandas.DataFrame.from_dict(value, orient="index")
    if all(isinstance(v, (list, tuple)) for v in inner) and len({len(v) for v in inner}) == 1:
        return pandas.DataFrame(value)
    return pandas.DataFrame([[str(k), display.cell(v)] for k, v in value.items() if not isinstance(v, (dict, list, tuple))], columns=["key", "value"])


def printed(*values, **how):
    """The `print` that user code finds."""
    builtins.print(*values, **how)
    if how.get("file") is None:
        for value in values:
            note(value)


printed.__name__ = printed.__qualname__ = "print"


def variables(namespace, given):
    """`[{name, kind, about}]` of what the next call will find, the latest last."""
    found = []
    for name, value in list(namespace.items()):
        if name.startswith("_") or name in given or isinstance(value, types.ModuleType):
            continue
        try:
            found.append({"name": name[:80], "kind": type(value).__name__[:40], "about": _about(value)})
        except Exception:
            continue
    return found[-MAX_VARIABLES:]


def _about(value):
    import pandas

    if isinstance(value, pandas.DataFrame):
        names = [str(c) for c in value.columns[:8]]
        return f"{value.shape[0]} × {value.shape[1]}: {', '.join(n[:30] for n in names)}{' …' if value.shape[1] > 8 else ''}"
    if isinstance(value, pandas.Series):
        return f"{len(value)}{f': {value.name}' if value.name is not None else ''}"[:MAX_SHOWN]
    if hasattr(value, "shape") and isinstance(value.shape, tuple):
        return " × ".join(map(str, value.shape))
    if isinstance(value, (types.FunctionType, type)):
        return ""
    if isinstance(value, (bool, int, float, str)):
        text = repr(display.figure(value) if isinstance(value, float) and value == value and abs(value) != float("inf") else value)
        return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
    return str(len(value)) if hasattr(value, "__len__") else ""
