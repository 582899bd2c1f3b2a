"""One door to the readers of further formats: typed files, databases, documents, and tables inside text.

Archives are not opened here: each of their members is a file of its own.
"""

from dataclasses import dataclass, field

from . import arrowfile, dbfile, marktable, pdftable, statfile, webpage, worddoc

TYPED = {"arrow", "orc", "stata", "sas", "xport", "spss", "sqlite", "duckdb"}
ARCHIVES = {"gzip", "zip"}


@dataclass
class Found:
    """What a file holds: grids whose header is still to be found, tables with types, its text, and notes on the whole file."""
    grids: list = field(default_factory=list)
    typed: list = field(default_factory=list)
    text: str | None = None
    notes: list = field(default_factory=list)


def read(path, kind):
    """A file of one of the kinds of `TYPED`, or `docx`."""
    if kind == "docx":
        grids, text = worddoc.read(path)
        return Found(grids=grids, text=text)
    if kind in ("sqlite", "duckdb"):
        typed, notes = dbfile.tables(path, kind)
        return Found(typed=typed, notes=notes)
    reader = arrowfile if kind in ("arrow", "orc") else statfile
    return Found(typed=reader.arrow(path, kind))


def in_text(text, kind):
    """Grids inside a text that stays available beside them: `html`, `md` or `txt`; none for other kinds."""
    if kind == "html":
        return webpage.grids(text)
    return marktable.grids(text, kind) if kind in ("md", "txt") else []


def in_pdf(path, progress):
    return pdftable.grids(path, progress)
