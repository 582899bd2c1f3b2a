"""Runs model-written code in a lasting namespace, and describes what came of it.

Output keeps its order, the last expression's value is shown, a traceback shows the user's own
lines only. Nothing here is a wall: the process is already confined.
"""

import ast
import builtins
import contextlib
import functools
import io
import linecache
import logging
import resource
import sys
import time
import types
import warnings

from ba_worker import charts, checking, display, evidence, frames, given, imports, leaving

_MAIN = types.ModuleType("__main__")
_CELL = "<cell "
_counter = 0
# What user code finds beside Python itself.
_GIVEN = {"load": given.load, "tables": given.Tables(), "skill": given.skill, "check": checking.check, "print": evidence.printed}


def install():
    """Done once before any fork: the namespace of user code, and quieter defaults."""
    sys.modules["__main__"] = _MAIN
    _MAIN.__dict__.update(__builtins__=builtins, **_GIVEN)
    warnings.simplefilter("once")
    # About code that is old or untidy, not about figures.
    for untidy in (ResourceWarning, DeprecationWarning, PendingDeprecationWarning, FutureWarning):
        warnings.simplefilter("ignore", untidy)
    warnings.showwarning = show_warning
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    for name in ("matplotlib.font_manager", "matplotlib.category", "fontTools", "pypdf"):
        logging.getLogger(name).setLevel(logging.ERROR)
    display.configure()
    charts.install_hooks()
    checking.watch_merges()
    tame_duckdb()
    imports.install()


def tame_duckdb():
    """Connections of user code start no thread: the next call runs in a fork, where threads are gone."""
    import duckdb

    quiet = {"threads": 1, "async_threads": 0}
    original = duckdb.connect

    @functools.wraps(original)
    def connect(database=":memory:", read_only=False, config=None, **rest):
        if imports.user_code_runs():
            config = {**quiet, **(config or {})}
        return original(database, read_only, config or {}, **rest)

    duckdb.connect = connect
    duckdb.set_default_connection(original(":memory:", False, quiet))


def show_warning(message, category, filename, lineno, file=None, line=None):
    where = f" (line {lineno})" if filename.startswith(_CELL) else ""
    print(f"{category.__name__}: {message}{where}", file=file or sys.stderr)


class Meter:
    def __init__(self):
        self.wall = time.perf_counter()
        self.cpu = time.process_time()

    def read(self):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return {"cpu": time.process_time() - self.cpu, "peak": peak}


class Output:
    """stdout and stderr as frames on one socket, in the order they were written, up to a cap."""

    _EAGER, _CHUNK = 200, 8192

    def __init__(self, control, limit):
        self.control, self.left = control, limit
        self.dropped = 0
        self.kind, self.parts, self.size, self.sent = frames.STDOUT, [], 0, 0

    def write(self, kind, data):
        data = bytes(data)
        if kind != self.kind:
            self.flush()
            self.kind = kind
        taken = data[: self.left]
        self.left -= len(taken)
        self.dropped += len(data) - len(taken)
        if taken:
            self.parts.append(taken)
            self.size += len(taken)
            if self.size >= self._CHUNK or (self.sent < self._EAGER and taken.endswith(b"\n")):
                self.flush()
        return len(data)

    def flush(self):
        if self.parts:
            data, self.parts, self.size = b"".join(self.parts), [], 0
            self.sent += 1
            for start in range(0, len(data), 65536):
                frames.write(self.control, self.kind, data[start : start + 65536])

    @contextlib.contextmanager
    def redirected(self):
        before = sys.stdin, sys.stdout, sys.stderr
        sys.stdin = io.StringIO()
        sys.stdout, sys.stderr = self.text(frames.STDOUT), self.text(frames.STDERR)
        for handler in logging.getLogger().handlers:
            if isinstance(handler, logging.StreamHandler):
                handler.stream = sys.stderr
        try:
            yield
        finally:
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(Exception):
                    stream.flush()
            sys.stdin, sys.stdout, sys.stderr = before
            self.flush()

    def text(self, kind):
        raw = _Raw(self, kind)
        return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)


class _Raw(io.RawIOBase):
    def __init__(self, output, kind):
        self.output, self.kind = output, kind

    def writable(self):
        return True

    def write(self, data):
        return self.output.write(self.kind, data)


def run(job, control):
    global _counter
    _counter += 1
    name = f"{_CELL}{_counter}>"
    output = Output(control, job["limits"]["output_bytes"])
    meter = Meter()
    value, error = None, None
    evidence.begin()
    checking.begin()
    before = leaving.state()
    imports.enter(job["allow_list"])
    with output.redirected():
        try:
            value = execute(job["code"], name)
            charts.save_open_figures()
        except SystemExit as stop:
            if stop.code not in (None, 0):
                error = describe(stop)
        except BaseException as raised:
            error = describe(raised)
        finally:
            imports.leave()
    live = evidence.variables(_MAIN.__dict__, {k for k, v in _GIVEN.items() if _MAIN.__dict__.get(k) is v}) if error is None else []
    return {"value": value, "error": error, "dropped": output.dropped, "tables": evidence.take(), "checks": [*leaving.notes(before), *checking.take()], "variables": live, **meter.read()}


def execute(code, name):
    lines = code.splitlines(keepends=True)
    linecache.cache[name] = (len(code), None, lines, name)
    tree = ast.parse(code, name)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    namespace = _MAIN.__dict__
    if tree.body:
        exec(compile(tree, name, "exec"), namespace)
    if last is None:
        return None
    value = eval(compile(last, name, "eval"), namespace)
    if value is not None:
        namespace["_"] = value
    evidence.note(value)
    checking.of_value(value)
    return display.describe(value)


def describe(error, full=False):
    """An exception as data; `full` keeps every frame, for the shipped functions."""
    kind = "exception"
    if isinstance(error, imports.ImportRefused):
        kind = "import_refused"
    elif isinstance(error, MemoryError):
        kind = "out_of_memory"
    elif isinstance(error, OSError) and error.errno == 27:
        kind = "quota"
    line = None
    rows = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if full or code.co_filename.startswith(_CELL):
            line = trace.tb_lineno
            place = f", in {code.co_name}" if code.co_name != "<module>" else ""
            rows.append(f"  {code.co_filename} line {line}{place}")
            text = linecache.getline(code.co_filename, line).strip()
            if text:
                rows.append(f"    {text}")
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and (error.filename or "").startswith(_CELL):
        line = error.lineno
        rows.append(f"  {error.filename} line {line}")
        if error.text:
            rows.append(f"    {error.text.strip()}")
    name = type(error).__name__
    message = safe_text(error)
    if isinstance(error, KeyError) and not full:
        message += given.columns_near(error)
    cause = error.__cause__
    if cause is not None and safe_text(cause) not in message:
        message += f" (caused by {type(cause).__name__}: {safe_text(cause)})"
    if len(rows) > 40:
        rows = rows[:20] + ["  …"] + rows[-19:]
    traceback = "\n".join(["Traceback (your lines only):", *rows, f"{name}: {message}"] if rows else [f"{name}: {message}"])
    return {"kind": kind, "type": name, "message": message, "traceback": traceback, "line": line}


def safe_text(error):
    try:
        text = str(error.msg) if isinstance(error, SyntaxError) else str(error)
    except BaseException:
        return "(the message could not be shown)"
    return text if len(text) <= 4000 else text[:4000] + " …"
