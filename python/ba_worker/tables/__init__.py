"""Tables inside the sandbox: `ingest`, `query`, `read`, `export`, `keep`. Each takes `(args, progress)` and returns JSON.

Everything here works on hostile files. Nothing here starts a thread or opens a file when it is imported.
"""

from .engine import warm
from .export import export
from .ingest import ingest, read
from .keep import keep
from .query import query

__all__ = ["export", "ingest", "keep", "query", "read", "warm"]
