"""Tables inside the sandbox: `ingest`, `query`, `read`, `export`, `keep`, `joins`. Each takes `(args, progress)` and returns JSON.

Everything here works on hostile files. Nothing here starts a thread or opens a file when it is imported.
"""

from .engine import warm
from .export import export
from .ingest import ingest, read
from .joins import joins
from .keep import keep
from .query import query

__all__ = ["export", "ingest", "joins", "keep", "query", "read", "warm"]
