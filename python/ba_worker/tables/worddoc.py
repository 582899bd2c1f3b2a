"""Word documents (.docx): their tables with merged cells, and their text. Reads one XML part; no entity is ever expanded."""

import os
import xml.parsers.expat
import zipfile
import zlib

from . import captions
from .errors import TableError
from .grid import Grid

MAX_UNPACKED = 512 << 20
BOMB_SIZE = 50 << 20
BOMB_RATIO = 200
MAX_CELLS = 2_000_000
MAX_SPAN = 200
MAX_DEPTH = 20
STEP = "save_in_word"


def read(path):
    """(grids, text) of a document. Tables of one row or one column are layout, and stay in the text alone."""
    parser = _Body()
    try:
        with zipfile.ZipFile(path) as z:
            info = _part(z)
            _check(path, info)
            with z.open(info) as f:
                parser.feed(f)
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, OSError, NotImplementedError, xml.parsers.expat.ExpatError) as e:
        raise TableError("BAD_DOCUMENT", f"the Word document is damaged or cut off: {str(e)[:120]}", step=STEP) from None
    except (RuntimeError, ValueError) as e:  # zipfile's word for a password; expat's for a bad encoding
        if "password" in str(e):
            raise TableError("PASSWORD_PROTECTED", "the Word document is protected by a password", step="password_word") from None
        raise TableError("BAD_DOCUMENT", f"the Word document cannot be read: {str(e)[:120]}", step=STEP) from None
    grids, text = parser.grids(), "\n".join(parser.lines)
    if not grids and not text.strip():
        raise TableError("EMPTY_FILE", "the Word document holds no text and no table", said="empty_document")
    return grids, text


def _part(z):
    names = {i.filename: i for i in z.infolist()}
    if "word/document.xml" in names:
        return names["word/document.xml"]
    other = [n for n in names if n.startswith("word/document") and n.endswith(".xml")]
    if not other:
        raise KeyError("it has no document part")
    return names[other[0]]


def _check(path, info):
    packed = max(1, os.path.getsize(path))
    if info.file_size > MAX_UNPACKED or (info.file_size > BOMB_SIZE and info.file_size / packed > BOMB_RATIO):
        raise TableError("ZIP_BOMB", f"the document unpacks from {packed} to {info.file_size} bytes; refused", packed=packed, unpacked=info.file_size)


class _Table:
    def __init__(self, before):
        self.rows, self.merged, self.open_merges = [], [], {}
        self.before = before

    def add(self, cells, skip):
        """`cells`: (text, span, merge) of one row; `merge` is None, `restart` or `continue`."""
        at, out, index = skip, [None] * skip, len(self.rows)
        for text, span, merge in cells:
            if merge == "continue" and at in self.open_merges:
                self.open_merges[at][2] = index
                text = None
            else:
                self._close(at)
                if merge == "restart":
                    self.open_merges[at] = [index, at, index, at + span - 1]
                elif span > 1:
                    self.merged.append((index, at, index, at + span - 1))
            out += [text or None] + [None] * (span - 1)
            at += span
        self.rows.append(out)

    def _close(self, at):
        done = self.open_merges.pop(at, None)
        if done and (done[2] > done[0] or done[3] > done[1]):
            self.merged.append(tuple(done))

    def grid(self):
        for at in list(self.open_merges):
            self._close(at)
        width = max((len(r) for r in self.rows), default=0)
        if len(self.rows) < 2 or width < 2:
            return None
        titles = captions.above(self.before)
        shift = len(titles)
        merged = sorted((a + shift, b, c + shift, d) for a, b, c, d in self.merged)
        return Grid([[t] for t in titles] + self.rows, sheet=captions.title(titles), merged=merged)


class _Body:
    """Walks the XML as it comes, with a stack for tables inside cells."""

    def __init__(self):
        self.tables, self.lines, self.stack, self.cells, self.ignored, self.depth = [], [], [], 0, 0, 0
        self.paragraph = []
        self.in_text = False

    def feed(self, f):
        p = xml.parsers.expat.ParserCreate(namespace_separator=" ")
        p.buffer_text = True
        p.StartElementHandler, p.EndElementHandler, p.CharacterDataHandler = self._start, self._end, self._data
        p.StartDoctypeDeclHandler = self._doctype
        left = MAX_UNPACKED
        while block := f.read(1 << 20):
            left -= len(block)
            if left < 0:
                raise TableError("ZIP_BOMB", "the document unpacks to more than it says; refused", said="unpacks_more_than_said")
            p.Parse(block, False)
        p.Parse(b"", True)

    def grids(self):
        return [g for g in (t.grid() for t in self.tables) if g]

    def _doctype(self, *_):
        raise TableError("BAD_DOCUMENT", "the document declares entities, which no Word document does; refused", said="document_entities", step=STEP)

    def _start(self, name, attrs):
        space, _, tag = name.rpartition(" ")
        if tag == "Fallback" or self.ignored:  # the same content once more, for older programs
            self.ignored += 1
            return
        if "wordprocessingml" not in space:
            return
        value = next((v for k, v in attrs.items() if k.endswith("val")), None)
        if tag == "tbl":
            self._flush()
            if len(self.stack) >= MAX_DEPTH:
                raise TableError("BAD_DOCUMENT", f"tables are nested more than {MAX_DEPTH} deep; refused", said="tables_too_deep", step=STEP, most=MAX_DEPTH)
            table = _Table(self.lines[-4:] if not self.stack else [])
            self.tables.append(table)
            self.stack.append({"table": table, "row": None, "cell": None, "skip": 0})
        elif tag == "t":
            self.in_text = True
        elif tag in ("tab", "br", "cr") and not attrs.get("pos"):
            self.paragraph.append(" ")
        elif tag == "noBreakHyphen":
            self.paragraph.append("-")
        elif self.stack:
            self._start_in_table(tag, value)

    def _start_in_table(self, tag, value):
        here = self.stack[-1]
        if tag == "tr":
            here["row"], here["skip"] = [], 0
        elif tag == "tc":
            here["cell"] = {"text": [], "span": 1, "merge": None}
        elif tag == "gridBefore" and here["cell"] is None:
            here["skip"] = _span(value, 0)
        elif here["cell"] is not None and tag == "gridSpan":
            here["cell"]["span"] = _span(value, 1)
        elif here["cell"] is not None and tag == "vMerge":
            here["cell"]["merge"] = "restart" if value == "restart" else "continue"

    def _end(self, name):
        if self.ignored:
            self.ignored -= 1
            return
        space, _, tag = name.rpartition(" ")
        if "wordprocessingml" not in space:
            return
        if tag == "t":
            self.in_text = False
        elif tag == "p":
            self._flush()
        elif tag == "tc" and self.stack and self.stack[-1]["cell"] is not None:
            self._end_cell()
        elif tag == "tr" and self.stack and self.stack[-1]["row"] is not None:
            here = self.stack[-1]
            here["table"].add(here["row"], here["skip"])
            self.lines.append("\t".join(text for text, _, _ in here["row"]))
            here["row"] = None
        elif tag == "tbl" and self.stack:
            self._flush()
            self.stack.pop()

    def _end_cell(self):
        self._flush()
        here = self.stack[-1]
        cell, here["cell"] = here["cell"], None
        self.cells += cell["span"]
        if self.cells > MAX_CELLS:
            raise TableError("TOO_MANY_CELLS", f"the document's tables hold more than {MAX_CELLS} cells", step=STEP, most=MAX_CELLS)
        if here["row"] is not None:
            here["row"].append((" ".join(cell["text"]), cell["span"], cell["merge"]))

    def _flush(self):
        text = "".join(self.paragraph).strip()
        self.paragraph = []
        if self.stack and self.stack[-1]["cell"] is not None:
            if text:
                self.stack[-1]["cell"]["text"].append(text)
        elif text:
            self.lines.append(text)

    def _data(self, data):
        if self.in_text and not self.ignored:
            self.paragraph.append(data)


def _span(value, otherwise):
    return min(int(value), MAX_SPAN) if value and value.isascii() and value.isdigit() else otherwise
