"""A grid of cells (a sheet, an HTML table, JSON records) made into a relation of columns ready to convert."""

import datetime
from dataclasses import dataclass, field

import pyarrow as pa

from . import convert, header, infer
from .errors import TableError

MAX_COLUMNS = 16_384


@dataclass
class Grid:
    rows: list
    sheet: str | None = None
    merged: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    # Known already (JSON): no header is looked for.
    names: list | None = None


def load(con, grid, register_as, nrows=None):
    """Registers the grid as an Arrow table and returns `(relation, columns, notes, guesses)`."""
    if grid.names is not None:
        body, names, guesses = grid.rows, grid.names, []
    else:
        data_at, names, guesses = header.find(grid.rows, grid.merged)
        body = grid.rows[data_at:]
    notes = list(grid.notes)
    body = _without_footnotes(body, notes)
    filled = [r for r in body if not all(header.empty(c) for c in r)]
    if len(filled) < len(body):
        notes.append(f"{len(body) - len(filled)} blank row(s) left out")
    body = filled[:nrows] if nrows is not None else filled
    width = max([len(r) for r in body] + [len(names or [])])
    if width > MAX_COLUMNS:
        raise TableError("TOO_MANY_COLUMNS", f"{width} columns; at most {MAX_COLUMNS} are read")
    if not width:
        raise TableError("EMPTY_TABLE", "the table holds no values")
    labels, more, _ = header.unique_names(names, width)
    columns, arrays = [], []
    for i in range(width):
        cells = [r[i] if i < len(r) else None for r in body]
        if all(header.empty(c) for c in cells) and not (names and i < len(names) and names[i]):
            continue
        column, array = _column(f"c{i}", labels[i], cells)
        columns.append(column)
        arrays.append(array)
    if not columns:
        raise TableError("EMPTY_TABLE", "the table holds no values")
    con.register(register_as, pa.table(arrays, names=[c.key for c in columns]))
    convert.plan_all(columns)
    for c in columns:
        if c.plan:
            c.plan.native = None
    return register_as, columns, notes + more, guesses


def _without_footnotes(body, notes):
    """Remarks under a table are not rows of it."""
    rows = list(body)
    width = max((len(r) for r in rows), default=0)
    cut = []
    while rows:
        cells = [c for c in rows[-1] if not header.empty(c)]
        if not cells:
            rows.pop()
            continue
        after_gap = len(rows) > 1 and all(header.empty(c) for c in rows[-2])
        remark = isinstance(cells[0], str) and bool(header.FOOTNOTE.match(cells[0].strip()))
        lonely = len(cells) == 1 and isinstance(cells[0], str)
        if lonely and ((width >= 3 and (remark or after_gap)) or (width == 2 and remark and after_gap)):
            cut.append(cells[0].strip())
            rows.pop()
            continue
        break
    notes += [f"footnote left out: `{c[:80]}`" for c in reversed(cut)]
    return rows


def _column(key, name, cells):
    """An Arrow array of the cells: typed when they all agree, else text for `infer`."""
    kinds = {type(c) for c in cells if not header.empty(c)}
    cells = [None if header.empty(c) else c for c in cells]
    if kinds and kinds <= {int, float} and not infer.DATE_HEADER.search(name):
        whole = kinds == {int} and all(c is None or abs(c) < 2**63 for c in cells)
        if not (whole and _like_dates(cells)):
            array = pa.array(cells, pa.int64()) if whole else pa.array([None if c is None else float(c) for c in cells], pa.float64())
            return convert.Column(key, name, typed=True), array
    if kinds == {bool}:
        return convert.Column(key, name, typed=True), pa.array(cells, pa.bool_())
    if kinds == {datetime.date} or (kinds and kinds <= {datetime.date, datetime.datetime}):
        return convert.Column(key, name, typed=True), _dates(cells)
    texts = [None if c is None else as_text(c) for c in cells]
    sample = [t for t in texts if t is not None]
    if len(sample) > 12_000:
        sample = sample[:4000] + sample[4000::max(1, len(sample) // 8000)]
    return convert.Column(key, name, sample), pa.array(texts, pa.string())


def _like_dates(cells):
    return all(c is None or 19000101 <= c <= 21001231 for c in cells)


def _dates(cells):
    at_midnight = all(not isinstance(c, datetime.datetime) or c.time() == datetime.time() for c in cells if c is not None)
    if at_midnight:
        return pa.array([c.date() if isinstance(c, datetime.datetime) else c for c in cells], pa.date32())
    full = [c if c is None or isinstance(c, datetime.datetime) else datetime.datetime.combine(c, datetime.time()) for c in cells]
    return pa.array(full, pa.timestamp("us"))


def as_text(cell):
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return repr(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(sep=" ")
    return str(cell)
