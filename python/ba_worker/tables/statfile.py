"""Files of statistics programs: Stata, SAS and SPSS. Value labels are applied; where they cannot be, a note says so."""

import contextlib
import importlib.util
import io
import mmap
import os
import re

import numpy as np
import pandas as pd
import pyarrow as pa

from . import typed
from .errors import TableError
from .notes import note, warn
from .typed import Typed

PROGRAMS = {"stata": "Stata", "sas": "SAS", "xport": "SAS transport", "spss": "SPSS"}
SHOWN = 5
MAX_UNPACKED = 2 << 30
MEMBER = b"HEADER RECORD*******MEMBER  HEADER RECORD!!!!!!!"


def arrow(path, kind):
    """`[Typed]` with the table of a `stata`, `sas`, `xport` or `spss` file."""
    reader = {"stata": _stata, "sas": _sas, "xport": _sas, "spss": _spss}[kind]
    try:
        frame, notes = reader(path, kind)
    except TableError:
        raise
    except Exception as e:  # these readers raise whatever a wrong byte leads them into
        raise TableError("BAD_FILE", f"the {PROGRAMS[kind]} file is damaged, cut off or of an unknown version: {str(e)[:160] or type(e).__name__}",
                         said="damaged_or_newer", step="save_in_program", what=PROGRAMS[kind]) from None
    if frame.shape[1] == 0:
        raise TableError("EMPTY_FILE", f"the {PROGRAMS[kind]} file holds no columns")
    return [Typed(None, _table(frame), notes)]


def _table(frame):
    arrays, names = [], []
    for i, name in enumerate(frame.columns):
        cells = frame.iloc[:, i]
        if isinstance(cells.dtype, pd.CategoricalDtype):
            cells = cells.astype(object)
        names.append(str(name))
        arrays.append(_array(cells))
    return pa.table(arrays, names=names)


def _array(cells):
    if not (pd.api.types.is_object_dtype(cells.dtype) or pd.api.types.is_string_dtype(cells.dtype)):
        cells = pa.array(cells, from_pandas=True)
        cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
        if pa.types.is_timestamp(cells.type):
            return _days(cells)
        return typed.whole(cells)
    values = [None if _missing(v) else v for v in cells]
    try:
        cells = pa.array(values)
        return _days(cells) if pa.types.is_timestamp(cells.type) else typed.whole(cells)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return pa.array([None if v is None else _text(v) for v in values], pa.string())


def _days(cells):
    """Times that are all midnight are days."""
    times = cells.cast(pa.timestamp("us"), safe=False)
    days = times.cast(pa.date32(), safe=False)
    return days if days.cast(pa.timestamp("us")).equals(times) else times


def _missing(value):
    return value is None or value == "" or (isinstance(value, float) and value != value) or value is pd.NaT


def _text(value):
    return repr(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _stata(path, kind):
    with pd.read_stata(path, iterator=True) as reader:
        labels = reader.variable_labels()
    notes = _column_labels(labels)
    raw = pd.read_stata(path, convert_categoricals=False)
    try:
        labelled = pd.read_stata(path, order_categoricals=False)
    except ValueError as e:  # two values share a label
        notes.append(warn("labels_not_applied", f"value labels were not applied; the columns hold their codes ({str(e).splitlines()[0][:80]})"))
        labelled = raw
    for i, name in enumerate(raw.columns):
        cells = labelled.iloc[:, i]
        if not isinstance(cells.dtype, pd.CategoricalDtype):
            continue
        words = [c for c in cells.cat.categories if isinstance(c, str)]
        if len(words) == len(cells.cat.categories):
            raw = raw.assign(**{name: cells.astype(object)})
            notes.append(note("labels_applied", f"{name}: value labels applied", column=name))
        elif words:
            codes = {w: raw.iloc[:, i][cells == w].iloc[0] for w in words if (cells == w).any()}
            notes += _special(name, codes)
    return _repaired(raw, notes, _old_stata(path)), notes


def _old_stata(path):
    """Before version 118 a file does not say its encoding, and is read as Latin-1."""
    with open(path, "rb") as f:
        head = f.read(40)
    release = re.search(rb"<release>(\d+)", head)
    return not release or int(release[1]) < 118


def _special(name, codes):
    """Labels on a few values of a number column: those values are codes, and would spoil a mean."""
    if not codes:
        return []
    shown = ", ".join(f"{_text(float(v))} = {w}" for w, v in list(codes.items())[:SHOWN])
    return [warn("labelled_values", f"{name}: some numbers are codes, not amounts ({shown})", column=name,
                 codes={_text(float(v)): w for w, v in codes.items()})]


def _column_labels(labels):
    told = {str(k): str(v).strip() for k, v in labels.items() if v and str(v).strip() and str(v).strip() != str(k)}
    if not told:
        return []
    shown = "; ".join(f"{k}: {v}" for k, v in list(told.items())[:SHOWN])
    more = f" and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
    return [note("column_labels", f"labels of the columns: {shown}{more}", labels=told)]


def _sas(path, kind):
    if kind == "xport" and _data_sets(path) > 1:
        raise TableError("SEVERAL_TABLES", "the SAS transport file holds several data sets", step="data_sets")
    if kind == "xport":
        frame, notes = pd.read_sas(path, format="xport", encoding=None), []
    else:
        frame, notes = _data_set(path)
    for i, name in enumerate(frame.columns):
        cells = frame.iloc[:, i]
        if pd.api.types.is_object_dtype(cells.dtype) and any(isinstance(v, bytes) for v in cells):
            frame = frame.assign(**{name: _decoded(cells)})
        elif pd.api.types.is_float_dtype(cells.dtype):
            # The reader leaves the smallest number there is in place of zero in transport files.
            frame = frame.assign(**{name: cells.where(np.abs(cells) > 1e-70, cells * 0)})
    frame.columns = [c.decode("ascii", "replace") if isinstance(c, bytes) else str(c) for c in frame.columns]
    return frame, notes


def _data_set(path):
    # The reader remarks on odd files by printing.
    with contextlib.redirect_stdout(io.StringIO()), pd.read_sas(path, format="sas7bdat", encoding="infer", iterator=True) as reader:
        claimed = reader.row_count * reader.row_length
        if claimed > (MAX_UNPACKED if reader.compression else os.path.getsize(path)):
            raise ValueError(f"it claims {reader.row_count} rows, which it cannot hold")
        frame = reader.read()
        return frame, _column_labels({c.name: c.label for c in reader.columns})


def _data_sets(path):
    with open(path, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as held:
        first = held.find(MEMBER)
        return 1 if first < 0 or held.find(MEMBER, first + 1) < 0 else 2


def _decoded(cells):
    codec = _codec(b"\n".join(v for v in cells if isinstance(v, bytes)))
    return [v.decode(codec, "replace").rstrip(" \x00") if isinstance(v, bytes) else v for v in cells]


def _codec(data):
    for codec in ("utf-8", "gb18030"):
        try:
            data.decode(codec)
        except UnicodeDecodeError:
            continue
        # Single high bytes between letters are Western, whatever pairs they would make.
        if codec == "utf-8" or not re.search(rb"[A-Za-z][\x80-\xff][A-Za-z]", data):
            return codec
    return "cp1252"


def _repaired(frame, notes, doubtful):
    """Chinese text that was read as Latin-1, read again."""
    if not doubtful:
        return frame
    for i, name in enumerate(frame.columns):
        cells = frame.iloc[:, i]
        if not (pd.api.types.is_object_dtype(cells.dtype) or pd.api.types.is_string_dtype(cells.dtype)):
            continue
        texts = [v.encode("latin-1", "replace") if isinstance(v, str) else None for v in cells]
        high = b"\n".join(t for t in texts if t and max(t) > 127)
        codec = _codec(high) if high else "cp1252"
        if codec == "cp1252":
            continue
        frame = frame.assign(**{name: [v if t is None else t.decode(codec, "replace") for v, t in zip(cells, texts)]})
        notes.append(warn("encoding_guessed", f"{name}: the file does not say its encoding; its text was read as {codec}", column=name, encoding=codec))
    return frame


def _spss(path, kind):
    if importlib.util.find_spec("pyreadstat") is None:
        raise TableError("UNSUPPORTED_FORMAT", "this is an SPSS file, which cannot be read here", said="spss", step="save_in_spss")
    import pyreadstat

    frame, about = pyreadstat.read_sav(path, apply_value_formats=False, user_missing=False)
    notes = _column_labels({n: label for n, label in zip(about.column_names, about.column_labels)})
    for name, labels in about.variable_value_labels.items():
        if name not in frame or not labels:
            continue
        cells = frame[name]
        codes = set(cells.dropna().unique()) - {""}
        if codes and codes <= set(labels):
            frame[name] = cells.map(labels)
            notes.append(note("labels_applied", f"{name}: value labels applied", column=name))
        elif pd.api.types.is_numeric_dtype(cells.dtype):
            notes += _special(name, {w: c for c, w in labels.items() if c in codes})
    return frame, notes
