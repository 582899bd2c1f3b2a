"""A table whose reader already knows its types, and the way from Arrow's many types to those DuckDB reads from Parquet."""

from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .errors import TableError

MAX_FLOAT_WHOLE = 2**53


@dataclass
class Typed:
    name: str | None
    # A pyarrow Table, or a RecordBatchReader that is read once.
    data: object
    notes: list = field(default_factory=list)


def write(data, target):
    """Writes a Table or RecordBatchReader as Parquet and returns its row count. Repeated column names are numbered."""
    names = _unique(data.schema.names)
    schema = pa.schema([pa.field(n, plain_type(f.type)) for n, f in zip(names, data.schema)])
    rows = 0
    batches = data.to_batches(max_chunksize=65_536) if isinstance(data, pa.Table) else data
    try:
        with pq.ParquetWriter(target, schema, compression="snappy") as out:
            for batch in batches:
                arrays = [_plain(batch.column(i), f.type) for i, f in enumerate(schema)]
                out.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
                rows += batch.num_rows
    except pa.ArrowException as e:
        raise TableError("UNREADABLE", f"the table cannot be read: {str(e).splitlines()[0][:160] if str(e) else type(e).__name__}", step="write_again") from None
    return rows


def plain_type(kind):
    """The type a column is kept as. What Parquet or SQL has no word for becomes text."""
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if pa.types.is_null(kind) or pa.types.is_duration(kind) or pa.types.is_interval(kind):
        return pa.string()
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_date64(kind):
        return pa.date32()
    # Beyond the years 1677 to 2262 there are no nanoseconds; no table of figures needs them.
    if pa.types.is_timestamp(kind) and kind.unit != "us":
        return pa.timestamp("us", kind.tz)
    if pa.types.is_time(kind):
        return pa.time64("us")
    return kind


def _plain(cells, kind):
    if isinstance(cells, pa.ExtensionArray):
        cells = cells.storage
    if cells.type == kind:
        return cells
    if pa.types.is_dictionary(cells.type):
        return _plain(cells.dictionary_decode(), kind)
    if pa.types.is_run_end_encoded(cells.type):
        return _plain(pc.run_end_decode(cells), kind)
    if pa.types.is_duration(cells.type) or pa.types.is_interval(cells.type):
        return pa.array([None if v is None else str(v) for v in cells.to_pylist()], pa.string())
    return cells.cast(kind, safe=False)


def whole(cells):
    """Floating-point numbers that are all whole, as integers: statistics programs know no others."""
    if not pa.types.is_floating(cells.type) or len(cells) == cells.null_count:
        return cells
    low, high = pc.min_max(cells).values()
    if not (low.is_valid and abs(low.as_py()) < MAX_FLOAT_WHOLE and abs(high.as_py()) < MAX_FLOAT_WHOLE):
        return cells
    if not pc.all(pc.fill_null(pc.equal(cells, pc.floor(cells)), True)).as_py():
        return cells
    return cells.cast(pa.int64())


def _unique(names):
    out, seen = [], set()
    for i, name in enumerate(names):
        base = name = str(name).strip() or f"column_{i + 1}"
        n = 2
        while name.lower() in seen:
            name, n = f"{base}_{n}", n + 1
        seen.add(name.lower())
        out.append(name)
    return out
