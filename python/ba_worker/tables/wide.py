"""Tables of hundreds or thousands of columns: typed with Arrow, because planning SQL that long takes minutes.

Only plain numbers and ISO dates are converted here; a column that holds anything else stays text.
"""

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .patterns import NULL_ALWAYS, NULL_IN_VALUES

FROM_COLUMNS = 300
TYPES = {"BIGINT": pa.int64(), "DOUBLE": pa.float64(), "DATE": pa.date32()}
BLANKS = pa.array(sorted(set(NULL_ALWAYS + NULL_IN_VALUES)))


def write(raw_path, columns, target, copied=()):
    """Types the text columns of a Parquet file, one batch of rows at a time."""
    raw = pq.ParquetFile(raw_path)
    wanted = {c.key: TYPES.get(c.plan.kind) if c.plan and c.plan.kind in TYPES and not c.plan.unit else None for c in columns}
    names = [c.key for c in columns]
    for batch in raw.iter_batches(columns=names, batch_size=2000):
        for key, kind in wanted.items():
            if kind is not None and _typed(batch.column(key), kind) is None:
                wanted[key] = pa.float64() if kind == pa.int64() and _typed(batch.column(key), pa.float64()) is not None else None
    schema_types = {key: kind or raw.schema_arrow.field(key).type for key, kind in wanted.items()}
    schema = pa.schema([(c.name, schema_types[c.key]) for c in columns] + [raw.schema_arrow.field(k) for k in copied])
    with pq.ParquetWriter(target, schema, compression="snappy") as out:
        for batch in raw.iter_batches(columns=[*names, *copied], batch_size=2000):
            arrays = []
            for c in columns:
                cells = batch.column(c.key)
                typed = _typed(cells, wanted[c.key]) if wanted[c.key] is not None else None
                arrays.append(cells if typed is None else typed)
            arrays += [batch.column(k) for k in copied]
            out.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))


def _typed(cells, kind):
    if not pa.types.is_string(cells.type):
        return cells if cells.type == kind else None
    text = pc.utf8_trim_whitespace(cells)
    text = pc.if_else(pc.is_in(text, value_set=BLANKS), pa.scalar(None, pa.string()), text)
    try:
        return pc.cast(text, kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
