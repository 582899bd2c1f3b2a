"""One DuckDB per process: opened early, locked before anything untrusted touches it.

The connection is opened with one thread and no background threads, so that a process may fork after
`warm()`; threads are added, and the configuration locked, when a job starts.
"""

import os
import tempfile
import threading
import warnings

import duckdb

_ready = None
# Connections in use. Closing one frees its memory piece by piece, and the process ends soon anyway.
_used = []
# The folder that queries are answered in, and its connection.
_standing = None
MEMORY = "900MB"


def warm():
    """Opens the connection and runs the first query, so that a job does not wait for either."""
    global _ready
    if _ready is None:
        _ready = _open()
        _ready.extract_statements("SELECT 1")
        _ready.execute("CREATE OR REPLACE TEMP VIEW w AS SELECT 'a' AS k, 1 AS v")
        _ready.execute("SELECT * FROM (SELECT k, sum(v) FROM w GROUP BY 1 ORDER BY 1) LIMIT 2")
        _rows(_ready)
        _ready.execute("DROP VIEW w")
        _touch_parquet(_ready)
    return _ready


def _rows(con):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return con.to_arrow_table().to_batches()


def _touch_parquet(con):
    """Writes and reads a tiny file, where there is a place for one: first use costs more than the query itself."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "w.parquet").replace("'", "''")
            con.execute(f"COPY (SELECT 'a' AS k, 1.5 AS v, DATE '2024-01-01' AS d) TO '{path}' (FORMAT parquet)").fetchall()
            con.execute(f"SELECT k, sum(v), date_trunc('month', d) FROM read_parquet('{path}') WHERE v > 0 GROUP BY ALL")
            _rows(con)
    except (OSError, duckdb.Error):
        pass


def _open():
    con = duckdb.connect(":memory:", config={"threads": 1, "async_threads": 0})
    con.execute("SET GLOBAL TimeZone = 'UTC'")
    # Progress is asked for, never printed.
    con.execute("SET enable_progress_bar = true")
    con.execute("SET enable_progress_bar_print = false")
    con.execute("SET autoload_known_extensions = false")
    con.execute("SET autoinstall_known_extensions = false")
    con.execute("SET allow_community_extensions = false")
    con.execute("SET max_temp_directory_size = '4GB'")
    con.execute(f"SET memory_limit = '{MEMORY}'")
    return con


def connect(threads=1):
    """The process's connection, locked to its working folder. Threads may be raised, never the walls."""
    global _ready
    con = _ready or _open()
    _ready = None
    here = os.path.join(os.path.realpath(os.getcwd()), "")
    if threads > 1:
        con.execute(f"SET threads = {int(threads)}")
    con.execute("SET temp_directory = '" + here.replace("'", "''") + ".duckdb_tmp'")
    con.execute("SET allowed_directories = ['" + here.replace("'", "''") + "']")
    con.execute("SET enable_external_access = false")
    con.execute("SET lock_configuration = true")
    _used.append(con)
    return con


def standing(threads=1):
    """A session of its own on the database that this process has open for this folder already: it sees no view of another
    query. The same files always ask for as many threads."""
    global _standing
    here = os.path.realpath(os.getcwd())
    if _standing is None or _standing[0] != here:
        _standing = here, connect(threads)
    return _standing[1].cursor()


def cores():
    return max(1, min(4, len(os.sched_getaffinity(0))))


def run_with_progress(con, sql, progress, low, high, message):
    """Runs a long statement and reports how far it is."""
    done = threading.Event()

    def watch():
        while not done.wait(0.4):
            share = con.query_progress() if hasattr(con, "query_progress") else -1
            if share and share > 0:
                progress(low + (high - low) * min(1.0, share / 100), message)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        con.execute(sql)
    finally:
        done.set()
        watcher.join()
