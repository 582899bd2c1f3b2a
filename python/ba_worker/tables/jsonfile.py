"""JSON and JSON lines: finds the records in the document and flattens nested objects one level at a time."""

import json
import os

from .errors import TableError
from .grid import Grid
from .notes import note, warn
from .patterns import sql_text

MAX_WHOLE = 256 << 20
STREAM_FROM = 32 << 20
DEPTH = 4
NAMES = 5000


def load_text(path, codec):
    if os.path.getsize(path) > MAX_WHOLE:
        raise TableError("TOO_LARGE", f"a JSON document over {MAX_WHOLE >> 20} MB is not read", said="json_too_large", step="json_lines", megabytes=MAX_WHOLE >> 20)
    with open(path, "rb") as f:
        return f.read().decode(codec, "replace").lstrip("\ufeff")


def parse(text):
    try:
        return json.loads(text)
    except RecursionError:
        raise TableError("BAD_JSON", "the document is nested too deeply", said="json_too_deep") from None
    except json.JSONDecodeError as e:
        raise TableError("BAD_JSON", f"line {e.lineno}, column {e.colno}: {e.msg}", line=e.lineno, column=e.colno, reason=e.msg) from None


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
        raise TableError("BAD_JSON", "no line is valid JSON", said="json_no_line")
    grid = _records(records)
    if grid is None:
        return []
    if bad:
        grid.notes.append(warn("lines_invalid", f"{bad} line(s) are not valid JSON and were left out", count=bad))
    return [grid]


def _in_object(value, path=(), depth=0):
    """Grids of the records anywhere inside: `{"data": {"list": […]}}`, several lists, columns, or the split form."""
    split = _split_form(value)
    if split:
        return [split]
    columns = _columns_form(value)
    if columns:
        return [columns]
    keyed = _keyed_form(value)
    if keyed:
        return [keyed]
    found = []
    for key, part in value.items():
        if isinstance(part, list) and part:
            grid = _records(part)
            if grid:
                grid.sheet = ".".join((*path, str(key)))
                found.append(grid)
        elif isinstance(part, dict) and part and depth < DEPTH:
            found += _in_object(part, (*path, str(key)), depth + 1)
    tables = [g for g in found if g.names != ["value"]]
    if tables or depth:
        found = tables
    # Paths that say no more than the key are left out.
    if len(found) == 1 and depth == 0 and "." in (found[0].sheet or ""):
        found[0].notes.append(note("flattened", f"records found at {found[0].sheet}", path=found[0].sheet))
        found[0].sheet = found[0].sheet.rsplit(".", 1)[-1]
    return found


def _split_form(value):
    """`{"columns": […], "data": [[…]]}`, as pandas and many interfaces write it."""
    rows = next((value[k] for k in ("data", "rows", "values", "records", "items") if isinstance(value.get(k), list)), None)
    names = next((value[k] for k in ("columns", "fields", "header", "headers", "schema", "cols") if isinstance(value.get(k), list)), None)
    if not rows or not names or not all(isinstance(r, list) for r in rows):
        return None
    names = [n.get("name", n.get("title", "")) if isinstance(n, dict) else n for n in names]
    if not all(isinstance(n, str) for n in names) or any(len(r) != len(names) for r in rows):
        return None
    return Grid([[_cell(c) for c in r] for r in rows], names=list(names))


def _keyed_form(value):
    """Records under their ids instead of in a list: `{"A-001": {…}, "A-002": {…}}`."""
    parts = list(value.values())
    if len(parts) < 2 or not all(isinstance(v, dict) and v for v in parts):
        return None
    shared = set.intersection(*(set(v) for v in parts))
    if len(shared) < 2 or len(shared) * 2 < max(len(v) for v in parts) or any(isinstance(v[k], (dict, list)) for v in parts for k in shared):
        return None
    grid = _records([{"key": k, **v} for k, v in value.items()])
    grid.notes.append(note("flattened", "records stood under their keys; the key is a column", path="key", case="keys"))
    return grid


def _columns_form(value):
    """A list of equal length, or an object with the same keys, for every column."""
    parts = list(value.values())
    if len(parts) < 2:
        return None
    if all(isinstance(v, list) and v and not any(isinstance(x, (dict, list)) for x in v) for v in parts) and len({len(v) for v in parts}) == 1:
        return Grid([list(r) for r in zip(*parts)], names=[str(k) for k in value])
    if all(isinstance(v, dict) and v and not any(isinstance(x, (dict, list)) for x in v.values()) for v in parts):
        keys = list(parts[0])
        if all(list(v) == keys for v in parts) and all(k.isdigit() for k in keys):
            return Grid([[v[k] for v in parts] for k in keys], names=[str(k) for k in value])
    return None


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
                    raise TableError("TOO_MANY_COLUMNS", f"more than {NAMES} different keys", said="too_many_keys", most=NAMES)
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
