"""A grid of cells (a sheet, an HTML table, JSON records), laid out and made into a relation of columns ready to convert."""

import datetime
import re
from dataclasses import dataclass, field

import pyarrow as pa

from . import convert, dates, header, units
from .cells import empty
from .errors import TableError
from .notes import note, warn

MAX_COLUMNS = 16_384
FLAG = "_is_total"
YEAR_NAMED = re.compile(r"^(?:年|年份|年度|会计年度|year|yr|fiscal.?year|jahr|année)$", re.I)
MONTH_NAMED = re.compile(r"^(?:月|月份|会计月|month|mon|monat|mois)$", re.I)
TITLE_YEAR = re.compile(r"(?<![0-9])((?:19|20)[0-9]{2})(?![0-9])")
# Nothing, in an accountant's hand.
DASHED = re.compile(r"[$¥￥€£]\s*[-–—]+|[-–—]+\s*[$¥￥€£]")
SERIAL_MONTH = re.compile(r"([0-9]{1,2})\s*月?(?:份)?")


@dataclass
class Grid:
    rows: list
    sheet: str | None = None
    merged: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    # Known already (JSON): no header is looked for.
    names: list | None = None


@dataclass
class Loaded:
    relation: str
    columns: list
    notes: list
    flagged: bool


def load(con, layout, register_as, nrows=None, choices=None, european=False):
    """Registers a layout as an Arrow table and plans its columns."""
    body, flags = layout.rows, layout.totals
    if nrows is not None:
        body, flags = body[:nrows], flags[:nrows]
    names, notes = layout.names, list(layout.notes)
    width = max([len(r) for r in body] + [len(names or [])], default=0)
    if width > MAX_COLUMNS:
        raise TableError("TOO_MANY_COLUMNS", f"{width} columns; at most {MAX_COLUMNS} are read", count=width, most=MAX_COLUMNS)
    labels, more = header.unique_names(names, width)
    columns, arrays = [], []
    for i in range(width):
        cells = [r[i] if i < len(r) else None for r in body]
        if all(empty(c) for c in cells) and not (names and i < len(names) and names[i]):
            continue
        column, array = _column(f"c{i}", labels[i], cells, (choices or {}).get(labels[i]))
        column.unit = _unit(layout, i, labels[i])
        columns.append(column)
        arrays.append(array)
    if not columns or (not body and (not names or len(columns) == 1 and layout.sheet)):
        raise TableError("EMPTY_TABLE", "the table holds no values")
    _months(layout, columns, arrays, body, labels, notes)
    fields = [c.key for c in columns]
    flagged = any(flags)
    if flagged:
        fields.append(FLAG)
        arrays.append(pa.array(flags, pa.bool_()))
    con.register(register_as, pa.table(arrays, names=fields))
    convert.plan_all(columns, european)
    for c in columns:
        if c.plan:
            c.plan.native = None
    return Loaded(register_as, columns, notes + more, flagged)


def _unit(layout, i, name):
    own = layout.units.get(i) or units.unit_of_name(name)
    if own:
        return own
    shared = layout.units.get("*")
    return shared if shared and units.takes_title_unit(name) else None


def _months(layout, columns, arrays, body, labels, notes):
    """Year and month in two columns (or the year in the title) also become one column of dates (SPEC B6)."""
    if any(c.typed and pa.types.is_temporal(a.type) for c, a in zip(columns, arrays)) or any(
            dates.NAMED.search(n) for n in labels if not YEAR_NAMED.match(n) and not MONTH_NAMED.match(n)):
        return
    at = {c.name: i for i, c in enumerate(columns)}
    year = next((n for n in at if YEAR_NAMED.match(n.strip())), None)
    month = next((n for n in at if MONTH_NAMED.match(n.strip())), None)
    if month is None:
        return
    title = set(TITLE_YEAR.findall(layout.title))
    if year is None and len(title) != 1:
        return
    years = [str(v) for v in arrays[at[year]].to_pylist()] if year else [next(iter(title))] * len(body)
    months = [str(v) for v in arrays[at[month]].to_pylist()]
    made = [_first_day(y, m) for y, m in zip(years, months)]
    known = [d for d in made if d]
    if not known or len(known) * 10 < 9 * sum(m not in ("None", "") for m in months):
        return
    name = "年月" if any(ord(ch) > 0x2e80 for ch in month) else "year_month"
    if name in at:
        return
    columns.append(convert.Column("ym", name, typed=True))
    arrays.append(pa.array(made, pa.date32()))
    if year:
        notes.append(note("year_month", f"{year} and {month} together are dates in column {name}", column=name, columns=[year, month]))
    else:
        notes.append(note("year_from_title", f"year {years[0]} taken from the title; months as dates are in column {name}", column=name, year=years[0]))


def _first_day(year, month):
    found = re.search(r"(?:19|20)[0-9]{2}", year)
    number = SERIAL_MONTH.fullmatch(month.strip()) or SERIAL_MONTH.fullmatch(month.strip().removesuffix(".0"))
    n = int(number[1]) if number else dates.MONTHS.get(month.strip().lower().rstrip("."))
    if not found or not n or not 1 <= n <= 12:
        return None
    return datetime.date(int(found[0]), n, 1)


def _column(key, name, cells, choice=None):
    """An Arrow array of the cells: typed when they all agree, else text for `infer`."""
    kinds = {type(c) for c in cells if not empty(c)}
    cells = [None if empty(c) else c for c in cells]
    if choice is None and kinds and kinds <= {int, float} and not dates.NAMED.search(name) and not dates.STAMPED.search(name):
        whole = kinds == {int} and all(c is None or abs(c) < 2**63 for c in cells)
        if not (whole and _like_dates(cells, name)):
            array = pa.array(cells, pa.int64()) if whole else pa.array([None if c is None else float(c) for c in cells], pa.float64())
            column = convert.Column(key, name, typed=True)
            column.notes = _lost_digits(name, cells)
            return column, array
    if choice is None and kinds == {bool}:
        return convert.Column(key, name, typed=True), pa.array(cells, pa.bool_())
    if choice in (None, "date") and kinds and kinds <= {datetime.date, datetime.datetime}:
        return convert.Column(key, name, typed=True), _dates(cells)
    texts = [None if c is None or isinstance(c, str) and DASHED.fullmatch(c.strip()) else as_text(c) for c in cells]
    column = convert.Column(key, name, choice=choice)
    if choice in (None, "date"):
        plain = dates.rewritten(texts)
        if plain is not None:
            texts = plain
            column.notes = [note("dates_written", f"{name}: dates written in words read as dates", column=name, case="words")]
    sample = [t for t in texts if t is not None]
    if len(sample) > 12_000:
        sample = sample[:4000] + sample[4000::max(1, len(sample) // 8000)]
    column.sample = sample
    return column, pa.array(texts, pa.string())


def _lost_digits(name, cells):
    """A spreadsheet keeps fifteen digits: longer numbers ended in zeros before they came here."""
    long = [c for c in cells if c is not None and abs(c) >= 1e15]
    if long and all(float(c).is_integer() for c in long):
        shown = [f"{int(c)}" for c in long[:3]]
        return [warn("digits_lost", f"{name}: numbers of more than 15 digits were stored as numbers; their last digits are lost ({', '.join(shown[:2])})", name, examples=shown)]
    return []


def _like_dates(cells, name):
    if dates.MONTH_NAMED.search(name) and all(c is None or 190001 <= c <= 210012 for c in cells):
        return True
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
