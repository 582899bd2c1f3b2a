"""CSV and its relatives. A clean file goes through DuckDB's reader alone; a ragged or odd one is first set right by hand."""

import csv
import io
import os
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from . import convert, dates, encoding, footers, grid, header, totals, units, wide
from .cells import number_of
from .errors import TableError
from .notes import note, warn
from .patterns import NULL_ALWAYS, sql_list, sql_text

DELIMITERS = [",", "\t", ";", "|", "，", "^", "\x01"]
SAMPLE_ROWS = 3000
GRID_BYTES = 8 << 20
GRID_CELLS = 600_000
MAX_COLUMNS = 16_384
BATCH_CELLS = 500_000
MAX_FIELD = 16 << 20
# Small buffers are read by all threads at once; the long ones only serve a file that has such lines.
USUAL_LINE = 2 << 20
USUAL_BUFFER = 8 << 20

csv.field_size_limit(MAX_FIELD)


@dataclass
class Dialect:
    delimiter: str
    quote: str = '"'
    skip_first_line: bool = False


class Odd(Exception):
    """The file is not clean enough for the fast reader; the text says why."""


def sniff(text, wanted=None):
    """The delimiter that splits the sample into the most even rows."""
    first = text.split("\n", 1)[0].strip().lower()
    if first.startswith("sep=") and len(first) == 5:
        return Dialect(first[4] if first[4] != "t" else "\t", skip_first_line=True)
    if wanted:
        return Dialect(wanted)
    best, best_score = ",", 0.0
    for d in (d for d in DELIMITERS if d in text):
        rows = parse(text, Dialect(d), limit=400)
        widths = [len(r) for r in rows if any(c.strip() for c in r)]
        if not widths or max(widths) < 2:
            continue
        mode = max((w for w in set(widths) if w > 1), key=lambda w: (widths.count(w), w))
        even = widths.count(mode) / len(widths)
        score = even * (1 + min(mode, 20) / 100) * (0.9 if d in "，^" else 1)
        if score > best_score:
            best, best_score = d, score
    return Dialect(best)


def parse(text, dialect, limit=None):
    rows = []
    reader = csv.reader(io.StringIO(text.replace("\x00", ""), newline=""), delimiter=dialect.delimiter, quotechar=dialect.quote, strict=False)
    try:
        for row in reader:
            rows.append(row)
            if limit and len(rows) >= limit:
                break
    except csv.Error:
        pass
    return rows


def _sample_text(path, codec):
    """(text of the head without a cut last line, texts of later slices without cut edges)."""
    size = os.path.getsize(path)
    with open(path, "rb") as f:
        head = f.read(encoding.HEAD)
        later = []
        if size > 4 * encoding.HEAD and codec in ("utf-8", "utf-8-sig"):
            for part in range(1, 16):
                f.seek(size * part // 16)
                later.append(f.read(24 << 10))
            f.seek(max(0, size - (64 << 10)))
            later.append(f.read())
    text = head.decode(codec, "replace")
    if size > encoding.HEAD and "\n" in text:
        text = text[:text.rindex("\n") + 1]
    slices = []
    for i, piece in enumerate(later):
        body = piece.decode("utf-8", "replace")
        body = body[body.find("\n") + 1:]
        slices.append(body if i == len(later) - 1 else body[:body.rfind("\n") + 1])
    return text, slices


@dataclass
class Prepared:
    """A CSV file in UTF-8 with a look at its head and at slices of the rest."""

    path: str
    text: str
    slices: list
    dialect: Dialect
    notes: list

    @property
    def small(self):
        """Whether all of it may be held as cells, which the careful reading of layouts needs."""
        return os.path.getsize(self.path) <= GRID_BYTES and self.text.count(self.dialect.delimiter) * max(
            1, os.path.getsize(self.path) // max(1, len(self.text))) <= GRID_CELLS

    @property
    def european(self):
        return self.dialect.delimiter == ";"

    def rows(self, limit=None):
        rows, remark = [], None
        for row in _rows(self.path, self.dialect):
            if remark is None and row:
                # A file that begins with a comment may have more of them anywhere.
                remark = row[0].startswith("#") and len(row) <= 2
            if remark and row and row[0].startswith("#") and len(row) <= 2:
                continue
            rows.append([c if c.strip() else None for c in row])
            if limit and len(rows) >= limit:
                break
        return rows


def prepare(path, codec, progress, work, delimiter=None):
    notes = []
    if codec not in ("utf-8", "utf-8-sig"):
        utf8 = os.path.join(work, "utf8.csv")
        bad = encoding.transcode(path, codec, utf8, progress)
        if bad:
            notes.append(warn("characters_lost", f"{bad} character(s) could not be read as {codec}", count=bad, encoding=codec))
        path, codec = utf8, "utf-8"
    text, slices = _sample_text(path, "utf-8-sig")
    if not text.strip("\ufeff\x00 \r\n\t,;|"):
        raise TableError("EMPTY_FILE", "the file holds no values")
    bad = text.count("\ufffd")
    if bad and not notes:
        notes.append(warn("characters_lost", f"{bad} character(s) are not valid UTF-8 and show as \ufffd", count=bad, encoding="utf-8"))
    dialect = sniff(text, delimiter)
    if dialect.delimiter != ",":
        shown = {"\t": "tab", " ": "space"}.get(dialect.delimiter, f"`{dialect.delimiter}`")
        notes.append(note("delimiter", f"delimiter {shown}", delimiter=shown, **({} if "`" in shown else {"case": shown})))
    if "\x00" in text:
        notes.append(note("nul_removed", "NUL characters removed"))
    return Prepared(path, text, slices, dialect, notes)


def fast(prepared):
    """`(source, columns)` for DuckDB to read the file itself. Raises Odd where that would be wrong."""
    text, slices, dialect = prepared.text, prepared.slices, prepared.dialect
    if "\x00" in text or dialect.skip_first_line or dialect.delimiter in "， " or len(text) < 200 or "\n" not in text:
        raise Odd("unusual characters")
    if "\ufffd" in text or any("\ufffd" in s for s in slices):
        raise Odd("broken characters")
    rows = parse(text, dialect, SAMPLE_ROWS)
    head = header.find(rows)
    width = max(len(r) for r in rows)
    if len(rows) <= head.data_at:
        raise Odd("no data rows")
    if head.data_at > 1 or head.names is None or head.units or any(len(r) != width for r in rows):
        raise Odd("ragged or titled")
    if width > wide.FROM_COLUMNS or any(not n for n in head.names):
        raise Odd("wide or unnamed columns")
    body = rows[head.data_at:]
    if any("\n" in c for c in rows[0]) or any(not any(c.strip() for c in r) for r in body):
        raise Odd("blank rows")
    for s in slices:
        body += [r for r in parse(s, dialect) if len(r) == width]
    _look_for_layout(body, parse(slices[-1] if slices else text, dialect)[-5:], width)
    labels, more = header.unique_names(head.names, width)
    columns = [convert.Column(f"c{i}", labels[i], list(cells)) for i, cells in enumerate(zip(*body))]
    convert.plan_all(columns, prepared.european)
    if len(rows) < SAMPLE_ROWS and _unnamed_total(columns):
        raise Odd("perhaps a total")
    for c in columns:
        c.unit = units.unit_of_name(c.name)
        if c.plan.kind == "VARCHAR" and not c.plan.trim:
            c.plan.native = "VARCHAR"
        if prepared.small and (c.plan.keep_raw or any(n["level"] == "warn" for n in c.plan.notes) or dates.rewritten(c.sample[:100]) is not None):
            raise Odd("a column that wants a closer look")
    if prepared.small and any(grid.MONTH_NAMED.match(c.name.strip()) for c in columns):
        raise Odd("months without dates")
    formats = _formats(columns)
    # Every further word costs the reader a comparison per cell: only those that were seen.
    seen = set().union(*body)
    source = _FastSource(prepared.path, dialect, columns, formats, [m for m in NULL_ALWAYS if m == "" or m in seen])
    return source, columns, more


def _look_for_layout(body, tail, width):
    """Raises Odd where rows are not all plain data: totals, labels on first rows only, remarks at the end."""
    if any(len(r) != width or footers.REMARK.match(r[0].strip()) or footers.signature(r) or footers.paper_line(r) for r in tail):
        raise Odd("footnotes")
    if any(not r[0].strip() for r in body):
        raise Odd("blank labels")
    if totals.mentioned(set().union(*body)):
        raise Odd("perhaps totals")


def _unnamed_total(columns):
    """The last row equals the sum of the others in every column of figures."""
    found = 0
    for c in columns:
        if c.plan.kind not in ("BIGINT", "DOUBLE") or len(c.sample) < 4:
            continue
        values = [number_of(v, c.plan.style or "us") or 0.0 for v in c.sample]
        for one in (values[-1], values[0]):
            found += bool(one) and abs(sum(values) - 2 * one) <= 1e-6 * max(1.0, abs(one))
    return found > 0


def _formats(columns):
    """How the file writes its dates and times. The reader knows one way of each; columns of another are converted later."""
    formats = {}
    for c in columns:
        if c.plan.native in ("DATE", "TIMESTAMP") and formats.setdefault(c.plan.native, c.plan.formats[0]) != c.plan.formats[0]:
            c.plan.native = None
    return formats


class _FastSource:
    """The file as DuckDB's CSV reader sees it, with the columns' native types where the plan trusts them."""

    def __init__(self, path, dialect, columns, formats, blanks):
        self.path, self.dialect, self.columns, self.blanks = path, dialect, columns, blanks
        self.formats = "".join(f", {kind.lower()}format = {sql_text(written)}" for kind, written in formats.items())
        self.line, self.buffer = USUAL_LINE, USUAL_BUFFER

    def relation(self):
        types = ", ".join(f"{sql_text(c.key)}: {sql_text(c.plan.reader_type)}" for c in self.columns)
        return (f"read_csv({sql_text(self.path)}, auto_detect = false, header = false, skip = 1, delim = {sql_text(self.dialect.delimiter)}, "
                f"quote = '\"', escape = '\"', columns = {{{types}}}, nullstr = {sql_list(self.blanks)}, max_line_size = {self.line}, buffer_size = {self.buffer}, "
                f"strict_mode = true{self.formats})")

    def lengthen(self):
        """After a failed read: make room for the longest line that is allowed. False when there is room already."""
        if self.line == MAX_FIELD:
            return False
        self.line, self.buffer = MAX_FIELD, 2 * MAX_FIELD
        return True

    def widen(self):
        """After a failed native read: read everything as text and convert in SQL."""
        for c in self.columns:
            c.plan.native = None


class _ParquetSource:
    def __init__(self, path):
        self.path = path

    def relation(self):
        return f"read_parquet({sql_text(self.path)})"

    def lengthen(self):
        return False

    def widen(self):
        pass


def _rows(path, dialect):
    with open(path, "r", encoding="utf-8-sig", errors="replace", newline="") as f:
        lines = (line.replace("\x00", "") for line in f)
        if dialect.skip_first_line:
            next(lines, None)
        reader = csv.reader(lines, delimiter=dialect.delimiter, quotechar=dialect.quote, strict=False)
        while True:
            try:
                yield next(reader)
            except StopIteration:
                return
            except csv.Error as e:
                raise TableError("BAD_CSV", f"line {reader.line_num}: {e}", line=reader.line_num, reason=str(e)) from None


def careful(prepared, work, progress, nrows=None):
    """Every row through Python: padded, cut of blank rows and footnotes, and written as text columns. For files too large
    to be held as cells."""
    path, dialect, notes = prepared.path, prepared.dialect, []
    found = header.find(prepared.rows(header.LOOK))
    data_at, names = found.data_at, found.names
    width, total = 0, 0
    for row in _rows(path, dialect):
        total += 1
        width = max(width, _used(row))
        if nrows is not None and total > data_at + nrows + 50:
            break
    if width > MAX_COLUMNS:
        raise TableError("TOO_MANY_COLUMNS", f"{width} columns; at most {MAX_COLUMNS} are read", count=width, most=MAX_COLUMNS)
    if not width:
        raise TableError("EMPTY_FILE", "the file holds no values")
    named = _used(names) if names else width
    labels, more = header.unique_names(names, width)
    writer = _Writer(os.path.join(work, "raw.parquet"), width, total, progress)
    stats = _copy_rows(_rows(path, dialect), data_at, width, named, writer, nrows)
    writer.close()
    for code, words in (("blank", "blank row(s) left out"), ("short", "row(s) shorter than the header, filled with blanks"),
                        ("long", "row(s) longer than the header; extra cells are in added columns")):
        if stats[code]:
            notes.append(note(f"{code}_rows", f"{stats[code]} {words}", count=stats[code]))
    notes += [note("footer_left_out", f"footnote left out: `{foot[:80]}`", text=foot[:80]) for foot in stats["footnotes"]]
    columns = [convert.Column(f"c{i}", labels[i], writer.sample[i]) for i in range(width)]
    columns = [c for i, c in enumerate(columns) if writer.filled[i] or (names and i < len(names) and names[i])]
    convert.plan_all(columns, prepared.european)
    for c in columns:
        c.plan.native = None
        c.unit = units.unit_of_name(c.name)
    return _ParquetSource(writer.path), columns, found.notes + notes + more


def _used(row):
    n = len(row)
    while n and not (row[n - 1] or "").strip():
        n -= 1
    return n


def _copy_rows(rows, data_at, width, named, writer, nrows):
    stats = {"blank": 0, "short": 0, "long": 0, "footnotes": []}
    held, count = [], 0
    for i, row in enumerate(rows):
        if i < data_at:
            continue
        used = _used(row)
        if not used:
            held.append(None)
            continue
        lonely = used == 1 and named >= 3
        if lonely and (footers.REMARK.match(row[0].strip()) or held):
            held.append(row)
            continue
        # What was held back was not at the end after all: it is data.
        for kept in held:
            if kept is None:
                stats["blank"] += 1
            else:
                writer.add(kept)
        held = []
        stats["short"] += len(row) < named
        stats["long"] += used > named
        writer.add(row)
        count += 1
        if nrows is not None and count >= nrows:
            return stats
    stats["blank"] += sum(1 for k in held if k is None and any(h is not None for h in held))
    stats["footnotes"] = [k[0].strip() for k in held if k is not None]
    return stats


class _Writer:
    """Text columns to Parquet in batches, remembering a sample of each."""

    def __init__(self, path, width, total, progress):
        self.path, self.width, self.total, self.progress = path, width, max(1, total), progress
        self.schema = pa.schema([(f"c{i}", pa.string()) for i in range(width)])
        self.file = pq.ParquetWriter(path, self.schema, compression="snappy")
        self.batch, self.count = [], 0
        self.limit = max(1, BATCH_CELLS // width)
        self.sample = [[] for _ in range(width)]
        self.filled = [False] * width

    def add(self, row):
        row = row[:self.width]
        self.batch.append(row + [None] * (self.width - len(row)))
        if len(self.batch) >= self.limit:
            self.flush()

    def flush(self):
        if not self.batch:
            return
        columns = list(zip(*self.batch))
        self.file.write_table(pa.table([pa.array(c, pa.string()) for c in columns], schema=self.schema))
        step = max(1, len(self.batch) // 1000) if self.count else 1
        for i, c in enumerate(columns):
            if len(self.sample[i]) < 4 * SAMPLE_ROWS:
                self.sample[i] += [v for v in c[:SAMPLE_ROWS * step:step] if v]
            self.filled[i] = self.filled[i] or any(v and v.strip() for v in c)
        self.count += len(self.batch)
        self.batch = []
        self.progress(0.25 * min(1.0, self.count / self.total), f"{self.count} rows read")

    def close(self):
        self.flush()
        self.file.close()
