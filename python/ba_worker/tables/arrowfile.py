"""Arrow files (also called Feather) and ORC: typed columns, checked before they are used because their offsets may lie."""

import os
import warnings

import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.orc

from .errors import TableError
from .typed import Typed

NAMES = {"arrow": "the Arrow file", "orc": "the ORC file"}
MAX_BYTES = 2 << 30


def arrow(path, kind):
    """`[Typed]` with the one table of an `arrow` or `orc` file."""
    try:
        table = _orc(path) if kind == "orc" else _ipc(path)
    except TableError:
        raise
    except (pa.ArrowException, OSError, MemoryError, ValueError, NotImplementedError, UnicodeDecodeError) as e:
        raise TableError("BAD_FILE", f"{NAMES[kind]} is damaged or cut off: {str(e).splitlines()[0][:160] if str(e) else type(e).__name__}",
                         said="damaged", step="write_again") from None
    if not table.num_columns:
        raise TableError("EMPTY_FILE", f"{NAMES[kind]} holds no columns")
    return [Typed(None, table)]


def _ipc(path):
    with open(path, "rb") as f:
        start = f.read(6)
    if start[:4] == b"FEA1":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = pyarrow.feather.read_table(path, memory_map=False)
        table.validate(full=True)
        return table
    with pa.OSFile(path) as source:
        if start == b"ARROW1":
            reader = pyarrow.ipc.open_file(source)
            return _bounded(reader.schema, (reader.get_batch(i) for i in range(reader.num_record_batches)))
        reader = pyarrow.ipc.open_stream(source)
        return _bounded(reader.schema, reader)


def _orc(path):
    # Times of ORC need the world's time zones; where the machine has none, those of the environment serve.
    if not os.path.exists("/usr/share/zoneinfo/GMT"):
        import tzdata

        os.environ.setdefault("TZDIR", os.path.join(os.path.dirname(tzdata.__file__), "zoneinfo"))
    file = pyarrow.orc.ORCFile(path)
    stripes = (file.read_stripe(i) for i in range(file.nstripes))
    return _bounded(file.schema, stripes)


def _bounded(schema, batches):
    """Packed columns may grow a thousandfold: they are counted as they come, and checked before anything else looks into them."""
    kept, size = [], 0
    for batch in batches:
        batch.validate(full=True)
        size += batch.nbytes
        if size > MAX_BYTES:
            raise TableError("TOO_LARGE", f"the file unpacks to more than {MAX_BYTES >> 30} GB", said="unpacks_too_large", step="part", gigabytes=MAX_BYTES >> 30)
        kept.append(batch)
    return pa.Table.from_batches(kept, schema=schema)
