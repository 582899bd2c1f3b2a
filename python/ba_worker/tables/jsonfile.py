"""JSON and JSON lines: finds the records in the document and flattens nested objects one level at a time."""

import json
import os

from .errors import TableError
from .grid import Grid
from .patterns import sql_text

MAX_WHOLE = 256 << 20
STREAM_FROM = 32 << 20
DEPTH = 4
NAMES = 5000


def load_text(path, codec):
    if os.path.getsize(path) > MAX_WHOLE:
        raise TableError("TOO_LARGE", f"a JSON document over {MAX_WHOLE >> 20} MB is not read; use JSON lines")
    with open(path, "rb") as f:
        return f.read().decode(codec, "replace").lstrip("\ufeff")


def parse(text):
    try:
        return json.loads(text)
    except RecursionError:
        raise TableError("BAD_JSON", "the document is nested too deeply") from None
    except json.JSONDecodeError as e:
        raise TableError("BAD_JSON", f"line {e.lineno}, column {e.colno}: {e.msg}") from None


def document(path, codec):
    """(keys, grids) of a JSON file. A document without records has keys and no grid."""
    text = load_text(path, codec)
    if not text.strip():
        raise TableError("EMPTY_FILE", "the file is empty")
    try:
        value = parse(text)
    except TableError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) > 1 and lines[0].lstrip().startswith("{"):
            return [], lines_of(lines)
        raise
    if isinstance(value, dict):
        return [str(k) for k in list(value)[:NAMES]], _in_object(value)
    if isinstance(value, list):
        grid = _records(value)
        return [], [grid] if grid else []
    return [], []


def lines_of(lines):
    records, bad = [], 0
    for line in lines:
        if not line.strip():
            continue
        try:
            records.append(json.loads(line))
        except (json.JSONDecodeError, RecursionError):
            bad += 1
    if not records:
        raise TableError("BAD_JSON", "no line is valid JSON")
    grid = _records(records)
    if grid is None:
        return []
    if bad:
        grid.notes.append(f"{bad} line(s) are not valid JSON and were left out")
    return [grid]


def _in_object(value):
    found = []
    for key, part in value.items():
        if isinstance(part, list) and part:
            grid = _records(part)
            if grid:
                grid.sheet = str(key)
                found.append(grid)
    if found:
        lengths = {len(v) for v in value.values() if isinstance(v, list)}
        scalars = all(isinstance(v, list) and not any(isinstance(x, (dict, list)) for x in v) for v in value.values())
        if scalars and len(lengths) == 1 and len(value) > 1:
            columns = list(value.values())
            return [Grid([list(r) for r in zip(*columns)], names=[str(k) for k in value])]
        found = [g for g in found if g.names != ["value"]] or found
    return found


def _records(items):
    """A grid of a list of objects, of a list of lists, or of plain values."""
    items = [i for i in items if i is not None]
    if not items:
        return None
    if all(isinstance(i, list) for i in items):
        return Grid([[_cell(c) for c in row] for row in items])
    if not any(isinstance(i, dict) for i in items):
        return Grid([[_cell(i)] for i in items], names=["value"])
    flat, names = [], {}
    for item in items:
        row = _flatten(item) if isinstance(item, dict) else {"value": _cell(item)}
        for k in row:
            if k not in names:
                if len(names) >= NAMES:
                    raise TableError("TOO_MANY_COLUMNS", f"more than {NAMES} different keys")
                names[k] = len(names)
        flat.append(row)
    return Grid([[row.get(n) for n in names] for row in flat], names=list(names))


def _flatten(item, prefix="", depth=0):
    out = {}
    for key, value in item.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and value and depth < DEPTH:
            out.update(_flatten(value, name + ".", depth + 1))
        else:
            out[name] = _cell(value)
    return out


def _cell(value):
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    return value


def streamed(path, columns=None):
    """Large JSON lines as DuckDB itself reads them: to find the columns, or with `columns` [(name, type)] known.

    All lines decide a column's type: by a sample alone, a value that came later and did not fit would be empty. Dates stay
    text here, and are planned like those of any other file.
    """
    unseen = sql_text("%Y\x1f%m\x1f%d")
    found = f"sample_size = -1, dateformat = {unseen}, timestampformat = {unseen}"
    if columns:
        found = "columns = {" + ", ".join(f"{sql_text(name)}: {sql_text(kind)}" for name, kind in columns) + "}"
    return (f"read_json({sql_text(path)}, format = 'newline_delimited', ignore_errors = true, maximum_object_size = {64 << 20}, "
            f"maximum_depth = 2, {found})")
