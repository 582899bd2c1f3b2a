"""Upload → typed Parquet tables and a profile: finds out what the file is and hands it to its reader. The original is only read."""

import os
import tempfile
from dataclasses import dataclass, field

import duckdb

from . import archive, detect, encoding, jsonfile, marktable, readers, textfile, webpage, workbook
from .engine import connect, cores
from .errors import TableError
from .maker import Maker, base_name
from .notes import warn

BIG = 4 << 20


def ingest(args, progress):
    """args: path, filename, out (folder, default `.`), options (what a person chose: encoding, header_row, sheet, types).
    Returns the FileProfile, or `{"error": …}`."""
    chosen = args.get("options") or {}
    options = Options(encoding=chosen.get("encoding"), sheet=chosen.get("sheet"), header_row=chosen.get("header_row"), types=chosen.get("types") or {})
    return _guarded(args, progress, options)


def read(args, progress):
    """Like `ingest`, for one look: args may name format, encoding, sheet, nrows and preview (rows shown).

    Returns `{"kind", "profile", "text"}`; text is there for PDF and plain text.
    """
    options = Options(args.get("format"), args.get("encoding"), args.get("sheet"), args.get("nrows"), args.get("preview") or 20, forgiving=True)
    result = _guarded(args, progress, options)
    if "error" in result:
        return result
    return {"kind": options.kind, "profile": result, "text": options.text}


@dataclass
class Options:
    wanted: str | None = None
    encoding: str | None = None
    sheet: object = None
    nrows: int | None = None
    preview: int = 20
    header_row: int | None = None
    types: dict = field(default_factory=dict)
    # A wrong choice is set right with a note; else it is refused.
    forgiving: bool = False
    # Filled while reading.
    kind: str = ""
    text: str | None = None


def _guarded(args, progress, options):
    path, filename = args["path"], args["filename"]
    threads = cores() if os.path.getsize(path) > BIG else 1
    try:
        if os.path.getsize(path) == 0:
            raise TableError("EMPTY_FILE", "the file is empty")
        with tempfile.TemporaryDirectory(prefix=".ingest_", dir=".") as work:
            maker = Maker(connect(threads), args.get("out") or ".", base_name(filename), progress, options)
            result = {"encoding": None, "tables": maker.done, "lines": None, "keys": []}
            _file(maker, path, filename, work, result)
            _check_choices(maker, options)
            progress(1.0, "ready")
            return result
    except TableError as e:
        return e.as_dict()
    except duckdb.Error as e:
        return TableError("UNREADABLE", f"the file cannot be read: {str(e).splitlines()[0][:200]}").as_dict()


def _check_choices(maker, options):
    """A column that was given a type must exist."""
    names = {c["name"] for t in maker.done for c in t["columns"]}
    unknown = [n for n in options.types if n not in names]
    if unknown and maker.done:
        raise TableError("UNKNOWN_COLUMN", f"no column `{unknown[0]}`; there are: " + ", ".join(f"`{n}`" for n in sorted(names)[:30]),
                         column=unknown[0], known=sorted(names)[:30])


def _file(maker, path, filename, work, result):
    """One file, or one member of an archive."""
    options, progress = maker.options, maker.progress
    kind = options.kind = detect.kind_of(path, filename, options.wanted)
    if kind == "binary":
        raise TableError("UNSUPPORTED_FORMAT", f"{filename} is of no kind that can be read", said="unknown_kind", step="data")
    if kind in readers.ARCHIVES:
        _archive(maker, path, filename, kind, work, result)
    elif kind in ("xlsx", "xls"):
        before = len(maker.done)
        for g in workbook.grids(path, kind, work, progress, options.sheet):
            maker.grid(g)
        if len(maker.done) == before:
            raise TableError("EMPTY_FILE", "the workbook holds no cells")
    elif kind == "parquet":
        maker.parquet(path)
    elif kind in readers.TYPED or kind == "docx":
        _further(maker, path, kind, options, result)
    elif kind == "pdf":
        pages, total = textfile.pdf(path, progress)
        options.text = "\f".join(pages)
        result["lines"] = sum(len(p.splitlines()) for p in pages)
        result["keys"] = [f"{total} page(s)"]
        for g in readers.in_pdf(path, progress):
            maker.grid(g)
    else:
        codec, result["encoding"], notes = encoding.encoding_of(path, options.encoding)
        if options.encoding and notes and not options.forgiving:
            raise TableError("BAD_ENCODING", notes[0]["text"], said=notes[0]["code"], step="encoding", **notes[0]["values"])
        _textual(maker, path, kind, codec, notes, work, result)


def _archive(maker, path, filename, kind, work, result):
    """Every member is a file of its own; one that cannot be read is named, unless none can."""
    members, notes = archive.members(path, filename, kind, work, maker.progress)
    failed = None
    for i, (name, inner) in enumerate(members):
        folder = os.path.join(work, f"member_{i}")
        os.makedirs(folder, exist_ok=True)
        if len(members) > 1:
            maker.base = base_name(name)
        try:
            _file(maker, inner, name, folder, result)
        except TableError as e:
            failed = failed or e
            notes.append(warn("member_left_out", f"{name} in the archive was left out: {e.message}", member=name, why=e.sentence()))
    if failed and not maker.done:
        raise failed
    maker.say(notes)


def _further(maker, path, kind, options, result):
    found = readers.read(path, kind)
    for g in found.grids:
        maker.grid(g)
    for t in found.typed:
        maker.typed(t)
    options.text = found.text
    if found.text is not None:
        result["lines"] = len(found.text.splitlines())
    maker.say(found.notes)
    if not maker.done and not found.text:
        raise TableError("NO_TABLE", "the file holds no table")


def _textual(maker, path, kind, codec, notes, work, result):
    options = maker.options
    if kind in ("csv", "tsv"):
        return maker.csv(path, codec, work, notes, "\t" if kind == "tsv" else None)
    if kind in ("json", "jsonl"):
        result["keys"] = _json(maker, path, kind, codec, work)
        if not maker.done:
            options.text = textfile.read(path, codec)
        return None
    text = textfile.read(path, codec)
    if kind == "html_table":
        before = len(maker.done)
        for g in webpage.grids(text, workbook=True):
            maker.grid(g)
        if len(maker.done) == before:
            raise TableError("NOT_A_WORKBOOK", "the file is a web page without a table; was it saved from a page that asks to sign in?", said="page_without_table")
        return None
    options.text = text
    result["lines"] = text.count("\n") + (not text.endswith("\n") and bool(text))
    if kind == "py":
        functions, classes = textfile.python_names(text)
        result["keys"] = functions + classes
    mark = marktable.delimiter(text) if kind == "txt" else None
    if mark:
        # A table under the name of a text.
        options.text, result["lines"] = None, None
        return maker.csv(path, codec, work, notes, mark)
    for g in readers.in_text(text, kind):
        maker.grid(g)
    return None


def _json(maker, path, kind, codec, work):
    if kind == "jsonl" and os.path.getsize(path) > jsonfile.STREAM_FROM and codec in ("utf-8", "utf-8-sig"):
        maker.records(path, work)
        return []
    if kind == "jsonl":
        keys, grids = [], jsonfile.lines_of(jsonfile.load_text(path, codec).splitlines())
    else:
        keys, grids = jsonfile.document(path, codec)
    for g in grids:
        maker.grid(g)
    return keys
