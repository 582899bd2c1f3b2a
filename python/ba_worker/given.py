"""What user code finds ready: `load(name)` and `tables[name]`, the same cleaned and typed tables that SQL sees (SPEC B6), and
`skill(file)`.

The uploaded file itself lies beside them under its own name, as it was uploaded.
"""

import difflib
import glob
import os
import types


def names():
    """Tables of uploads lie hidden in the working folder; results that were kept lie open."""
    hidden = (path[1:] for path in glob.glob(".*.parquet"))
    return sorted({path.removesuffix(".parquet") for path in (*hidden, *glob.glob("*.parquet"))})


def load(name):
    """The table of this name (as in SQL, an upload id, or a file name) as a DataFrame of its own."""
    import pyarrow.parquet as pq

    name = str(name).removesuffix(".parquet")
    path = next((path for path in (f".{name}.parquet", f"{name}.parquet") if os.path.exists(path)), None)
    if path is None:
        close = difflib.get_close_matches(name, names(), 3)
        hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
        raise KeyError(f"no table {name!r}; there are: {', '.join(map(repr, names()[:40])) or 'none'}{hint}")
    return pq.read_table(path).to_pandas(date_as_object=False, ignore_metadata=True)


def skill(path):
    """The script of an active skill as a module of its own: two skills may each have a `check`."""
    name = os.path.basename(str(path))
    with open(path, encoding="utf-8") as script:
        source = script.read()
    module = types.ModuleType(name.removesuffix(".py").rpartition("__")[2] or name)
    exec(compile(source, f"<skill {name}>", "exec"), module.__dict__)
    return module


def columns_near(error):
    """All columns of the frame that a KeyError is about, and the nearest to what was asked (SPEC W2)."""
    import pandas

    from ba_worker.tables import hints

    trace, frame = error.__traceback__, None
    while trace is not None:
        owner = trace.tb_frame.f_locals.get("self")
        if isinstance(owner, pandas.DataFrame):
            frame = owner
        trace = trace.tb_next
    if frame is None or "no column" in str(error):
        return ""
    names = [str(c) for c in frame.columns]
    near = hints.nearest(str(error.args[0]) if error.args else "", names)
    told = f"; nearest: {', '.join(map(repr, near))}" if near else ""
    return f"{told}; columns: {', '.join(names[:120])}{' …' if len(names) > 120 else ''}"


class Tables:
    """`tables["销售"]`, `list(tables)`, `"销售" in tables`."""

    def __getitem__(self, name):
        return load(name)

    def __iter__(self):
        return iter(names())

    def __len__(self):
        return len(names())

    def __contains__(self, name):
        return str(name).removesuffix(".parquet") in names()

    def keys(self):
        return names()

    def items(self):
        return ((name, load(name)) for name in names())

    def __repr__(self):
        return f"tables: {', '.join(names()) or 'none'}"
