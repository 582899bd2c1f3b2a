"""Database files: every table and view of SQLite and DuckDB, opened read-only. A hostile view runs into a limit and is left out."""

import os
import re
import sqlite3
import threading
import time
import urllib.parse

import duckdb
import pyarrow as pa

from .errors import TableError
from .notes import note, warn
from .patterns import quote
from .typed import Typed

MAX_TABLES = 50
MAX_CELLS = 200_000_000
MAX_TEXT = 2 << 30
MAX_VALUE = 16 << 20
# Longer bytes are pictures and documents, not keys.
SHORT_BLOB = 64
SECONDS = 60
BATCH = 20_000
# Types that Arrow has no word for.
NO_ARROW = ("BIT", "INTERVAL", "UNION", "BIGNUM", "VARINT", "TIME WITH TIME ZONE", "GEOMETRY")
EXPORT = "export_parquet"


def tables(path, kind):
    """(`[Typed]`, notes on what was left out). `kind` is `sqlite` or `duckdb`; each Typed holds a reader that is read once."""
    source = (_Sqlite if kind == "sqlite" else _Duck)(path)
    found, notes = [], []
    names = source.names()
    if len(names) > MAX_TABLES:
        left = ", ".join(shown for shown, _ in names[MAX_TABLES:][:5])
        notes.append(warn("tables_left_out", f"{len(names) - MAX_TABLES} of {len(names)} tables were left out ({left} …); at most {MAX_TABLES} are read",
                          left=len(names) - MAX_TABLES, all=len(names), names=left, most=MAX_TABLES))
    for shown, name in names[:MAX_TABLES]:
        try:
            made = source.read(shown, name)
        except (sqlite3.Error, duckdb.Error, ValueError, pa.ArrowException) as e:
            why = _reason(e)
            notes.append(warn("table_left_out", f"{shown} was left out: {why['text']}", table=shown, why=why))
            continue
        if made is None:
            notes.append(note("table_empty", f"{shown} holds no rows", table=shown))
        else:
            found.append(made)
    notes += source.notes
    if not found:
        if not notes:
            raise TableError("NO_TABLE", "the database holds no tables", said="database_empty", step=EXPORT)
        raise TableError("NO_TABLE", f"the database has nothing to read: {notes[0]['text']}", said="database_unread", step=EXPORT, why=notes[0])
    return found, notes


class _Unfit(ValueError):
    """A table that is left out for a reason of ours."""

    def __init__(self, code, text, **values):
        super().__init__(text)
        self.sentence = {"code": code, "text": text, "values": values}


def _reason(error):
    if isinstance(error, _Unfit):
        return error.sentence
    text = str(error).strip().splitlines()[0][:160] if str(error).strip() else type(error).__name__
    if re.search("interrupt", text, re.I):
        return _Unfit("took_too_long", f"it took more than {SECONDS} s to read", seconds=SECONDS).sentence
    return {"code": "other_reason", "text": text, "values": {"reason": text}}


class _Sqlite:
    def __init__(self, path):
        self.notes = []
        with open(path, "rb") as f:
            head = f.read(100)
        if len(head) < 100 or os.path.getsize(path) < 512:
            raise _damaged("SQLite", "it is cut off")
        if head[18] == 2:
            self.notes.append(note("write_ahead", "the database keeps a write-ahead log; changes still in its -wal file are not part of the upload"))
        where = urllib.parse.quote(os.path.abspath(path))
        try:
            self.con = sqlite3.connect(f"file:{where}?mode=ro&immutable=1", uri=True, isolation_level=None, check_same_thread=False)
            self.con.text_factory = lambda b: b.decode("utf-8", "replace")
            self.con.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
            self.con.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            for setting in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0", "query_only = ON"):
                self.con.execute(f"PRAGMA {setting}")
            self.listed = self.con.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_schema WHERE type IN ('table', 'view')").fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as e:
            if "not a database" in str(e):
                raise TableError("PASSWORD_PROTECTED", "the SQLite database is encrypted or damaged", said="database_locked", step="password", program="SQLite") from None
            raise _damaged("SQLite", str(e)) from None

    def names(self):
        """(shown, name) of tables, then views. Virtual tables run code of their own and are left out with what belongs to them."""
        virtual = [n for _, n, sql in self.listed if re.match(r"\s*CREATE\s+VIRTUAL", sql, re.I)]
        for name in virtual:
            self.notes.append(warn("table_left_out", f"{name} was left out: it is a virtual table", table=name, why={"code": "virtual_table", "text": "it is a virtual table"}))
        shadows = tuple(f"{v}_" for v in virtual)
        kept = [(kind, n) for kind, n, _ in self.listed if not n.startswith("sqlite_") and n not in virtual and not (shadows and n.startswith(shadows))]
        return [(n, n) for _, n in sorted(kept, key=lambda k: k[0])]

    def read(self, shown, name):
        until = time.monotonic() + SECONDS
        self.con.set_progress_handler(lambda: time.monotonic() > until, 10_000)
        declared = [(r[1], (r[2] or "").upper()) for r in self.con.execute(f"PRAGMA table_xinfo({quote(name)})") if r[6] != 1]
        rows, held = self._survey(name, [c for c, _ in declared])
        if not rows:
            return None
        if rows * len(declared) > MAX_CELLS:
            raise _Unfit("too_many_values", f"{rows} rows × {len(declared)} columns are too many", rows=rows, columns=len(declared))
        notes, fields, picks = [], [], []
        for (column, said), (kinds, low, high, longest) in zip(declared, held):
            if kinds == {"blob"} and longest > SHORT_BLOB:
                notes.append(note("column_left_out", f"{column} was left out: it holds binary data", column=column))
                continue
            fields.append(pa.field(column, _sqlite_type(kinds, said, low, high)))
            picks.append(quote(column))
        if not fields:
            raise _Unfit("all_binary", "all its columns hold binary data")
        schema = pa.schema(fields)
        query = f"SELECT {', '.join(picks)} FROM {quote(name)}"
        return Typed(shown, pa.RecordBatchReader.from_batches(schema, self._batches(query, schema, rows)), notes)

    def _survey(self, name, columns):
        """(rows, per column: kinds of its values, least and greatest number, longest value), all in one pass."""
        picks = ["count(*)"]
        for c in map(quote, columns):
            picks += [f"max(typeof({c}) = '{kind}')" for kind in ("integer", "real", "text", "blob")]
            number = f"CASE WHEN typeof({c}) = 'integer' THEN {c} END"
            picks += [f"min({number})", f"max({number})", f"max(length(CAST({c} AS BLOB)))", f"total(length(CAST({c} AS BLOB)))"]
        rows, *flat = self.con.execute(f"SELECT {', '.join(picks)} FROM {quote(name)}").fetchone()
        held, size = [], 0
        for i in range(len(columns)):
            integer, real, text, blob, low, high, longest, total = flat[i * 8:i * 8 + 8]
            found = {k for k, seen in (("integer", integer), ("real", real), ("text", text), ("blob", blob)) if seen}
            held.append((found, low or 0, high or 0, longest or 0))
            size += total or 0
        if size > MAX_TEXT:
            raise _Unfit("values_too_large", f"its values take more than {MAX_TEXT >> 30} GB", gigabytes=MAX_TEXT >> 30)
        return rows, held

    def _batches(self, query, schema, expected):
        until = time.monotonic() + SECONDS
        self.con.set_progress_handler(lambda: time.monotonic() > until, 10_000)
        cursor, seen = self.con.execute(query), 0
        while rows := self._some(cursor):
            seen += len(rows)
            # A view may give more rows the second time (random()): what was counted is what is read.
            if seen > 2 * expected + BATCH:
                raise TableError("UNREADABLE", "a view gives other rows each time it is read", said="unsteady_view", step=EXPORT)
            arrays = [pa.array([_cell(v, f.type) for v in cells], f.type) for cells, f in zip(zip(*rows), schema)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _some(self, cursor):
        try:
            return cursor.fetchmany(BATCH)
        except sqlite3.Error as e:
            raise _damaged("SQLite", _reason(e)["text"]) from None


def _sqlite_type(kinds, declared, low, high):
    if kinds == {"integer"}:
        return pa.bool_() if declared.startswith("BOOL") and low >= 0 and high <= 1 else pa.int64()
    if kinds == {"real"} or (kinds == {"integer", "real"} and -2**53 < low and high < 2**53):
        return pa.float64()
    return pa.string()


def _cell(value, kind):
    if value is None:
        return None
    if kind == pa.string():
        if isinstance(value, bytes):
            return value.hex()
        return value if isinstance(value, str) else repr(value)
    if kind == pa.bool_():
        return bool(value)
    return float(value) if kind == pa.float64() else value


class _Duck:
    def __init__(self, path):
        self.notes = []
        walls = {"enable_external_access": False, "autoload_known_extensions": False, "autoinstall_known_extensions": False,
                 "allow_community_extensions": False, "threads": 1, "memory_limit": "600MB", "temp_directory": "", "lock_configuration": True}
        try:
            self.con = duckdb.connect(path, read_only=True, config=walls)
        except (duckdb.Error, RuntimeError, ValueError) as e:
            text = str(e)
            if "encrypt" in text.lower():
                raise TableError("PASSWORD_PROTECTED", "the DuckDB database is encrypted", said="database_locked", step=EXPORT, program="DuckDB") from None
            if "version" in text.lower():
                raise TableError("UNSUPPORTED_FORMAT", f"the DuckDB database is of a version that cannot be read here: {text.splitlines()[0][:120]}",
                                 said="database_version", step="export_newer", program="DuckDB") from None
            raise _damaged("DuckDB", text) from None

    def names(self):
        listed = self.con.execute(
            "SELECT schema_name, table_name, 0 AS k FROM duckdb_tables() WHERE NOT internal AND NOT temporary "
            "UNION ALL SELECT schema_name, view_name, 1 FROM duckdb_views() WHERE NOT internal AND NOT temporary ORDER BY k, 1, 2").fetchall()
        return [(name if schema == "main" else f"{schema}.{name}", f"{quote(schema)}.{quote(name)}") for schema, name, _ in listed]

    def read(self, shown, name):
        # Each table has a cursor of its own: its rows are taken later, when others have been opened.
        cursor = self.con.cursor()
        notes, picks = [], []
        for column, kind, *_ in cursor.execute(f"DESCRIBE {name}").fetchall():
            if kind == "BLOB":
                notes.append(note("column_left_out", f"{column} was left out: it holds binary data", column=column))
            elif kind.startswith(NO_ARROW):
                picks.append(f"CAST({quote(column)} AS VARCHAR) AS {quote(column)}")
            else:
                picks.append(quote(column))
        if not picks:
            raise _Unfit("all_binary", "all its columns hold binary data")
        rows = _timed(cursor, lambda: cursor.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0])
        if not rows:
            return None
        if rows * len(picks) > MAX_CELLS:
            raise _Unfit("too_many_values", f"{rows} rows × {len(picks)} columns are too many", rows=rows, columns=len(picks))
        query = f"SELECT {', '.join(picks)} FROM {name} LIMIT {rows}"
        return Typed(shown, _timed(cursor, lambda: cursor.sql(query).to_arrow_reader(BATCH)), notes)


def _timed(cursor, work):
    alarm = threading.Timer(SECONDS, cursor.interrupt)
    alarm.start()
    try:
        return work()
    finally:
        alarm.cancel()


def _damaged(program, why):
    return TableError("BAD_FILE", f"the {program} database is damaged or cut off: {why.strip().splitlines()[0][:160] if why.strip() else 'unknown'}",
                      said="damaged", step=EXPORT)
