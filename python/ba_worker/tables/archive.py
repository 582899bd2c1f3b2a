"""Archives of tables: a gzip file, or a zip with at most fifty files. Members are copied out under names of our own.

Refuses bombs, passwords, and archives inside archives. A member's name is a label, never a path.
"""

import gzip
import os
import re
import zipfile
import zlib

from . import signatures
from .errors import TableError
from .notes import warn

MAX_MEMBERS = 50
MAX_UNPACKED = 2 << 30
BOMB_SIZE = 100 << 20
BOMB_RATIO = 100
BLOCK = 1 << 20
UNPACK = "unpack_tables"
# Left by the programs that pack, and no one's data.
LITTER = re.compile(r"(^|/)(__MACOSX/|\._|\.DS_Store$|Thumbs\.db$|desktop\.ini$)", re.I)


def members(path, filename, kind, work, progress):
    """(`[(inner name, path in the work folder)]`, notes on what was left out). `kind` is `gzip` or `zip`."""
    found, notes = [], []
    unpack = _gzip if kind == "gzip" else _zip
    for name, target in unpack(path, filename, work, progress):
        what = _no_member(target)
        if what is None:
            found.append((name, target))
            continue
        os.remove(target)
        if what[0] in signatures.ARCHIVES:
            raise TableError("NESTED_ARCHIVE", f"{name} is an archive inside the archive", step=UNPACK, member=name)
        why = signatures.no_table(*what).sentence()
        notes.append(warn("member_left_out", f"{name} was left out: {why['text']}", member=name, why=why))
    if not found:
        raise TableError("NO_TABLE", "the archive holds no table", step="tables")
    return found, notes


def label(name):
    """The last part of a member's name, fit to be shown."""
    last = re.split(r"[/\\]", name.rstrip("/\\"))[-1]
    return re.sub(r"[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]", "", last).strip()[:120] or "member"


def _no_member(path):
    """(what to call a member that is no table, what to do); None when it may be one."""
    with open(path, "rb") as f:
        head = f.read(4096)
    if head.startswith(b"\x1f\x8b\x08"):
        return "a gzip archive", UNPACK
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")) and signatures.in_zip(path) == "zip":
        return "a zip archive", UNPACK
    return signatures.what_it_is(head)


class _Budget:
    """Counts what is really unpacked, whatever the archive says of itself."""

    def __init__(self, path):
        self.packed, self.left, self.done = max(1, os.path.getsize(path)), MAX_UNPACKED, 0

    def spend(self, count):
        self.done += count
        if self.done > self.left or (self.done > BOMB_SIZE and self.done / self.packed > BOMB_RATIO):
            raise TableError("ZIP_BOMB", f"the archive of {self.packed} bytes unpacks to more than {self.done} bytes; refused", step=UNPACK, packed=self.packed, unpacked=self.done)


def _copy(source, target, budget):
    with open(target, "wb") as sink:
        while block := source.read(BLOCK):
            budget.spend(len(block))
            sink.write(block)


def _gzip(path, filename, work, progress):
    progress(0.0, "unpacking")
    target = os.path.join(work, "member_1")
    try:
        with gzip.open(path, "rb") as source:
            _copy(source, target, _Budget(path))
    except (EOFError, gzip.BadGzipFile, zlib.error) as e:
        raise TableError("BAD_ARCHIVE", f"the gzip file is damaged or cut off: {str(e)[:120]}", step="pack_again") from None
    if os.path.getsize(target) == 0:
        raise TableError("EMPTY_FILE", "the gzip file holds nothing")
    inner = re.sub(r"\.(gz|gzip)$", "", filename, flags=re.I)
    inner = re.sub(r"\.tgz$", ".tar", inner, flags=re.I)
    yield label(inner), target


def _zip(path, filename, work, progress):
    try:
        with zipfile.ZipFile(path) as z:
            infos = [i for i in z.infolist() if not i.is_dir() and i.file_size and not LITTER.search(_name(i))]
            _check(infos)
            budget = _Budget(path)
            for n, info in enumerate(infos):
                progress(0.1 * n / len(infos), f"unpacking {n + 1} of {len(infos)}")
                target = os.path.join(work, f"member_{n + 1}")
                with z.open(info) as source:
                    _copy(source, target, budget)
                yield label(_name(info)), target
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError) as e:
        raise TableError("BAD_ARCHIVE", f"the zip archive is damaged or packed in an unknown way: {str(e)[:120]}", step="pack_plain") from None


def _check(infos):
    if any(i.flag_bits & 1 for i in infos):
        raise TableError("PASSWORD_PROTECTED", "the zip archive is protected by a password", step="unpack")
    if len(infos) > MAX_MEMBERS:
        raise TableError("TOO_MANY_MEMBERS", f"the archive holds {len(infos)} files; at most {MAX_MEMBERS} are read",
                         step="fewer_tables", count=len(infos), most=MAX_MEMBERS)
    if sum(i.file_size for i in infos) > MAX_UNPACKED:
        raise TableError("ZIP_BOMB", f"the archive says it unpacks to more than {MAX_UNPACKED >> 30} GB; refused", said="unpacks_too_large", step=UNPACK, gigabytes=MAX_UNPACKED >> 30)


def _name(info):
    """Without the UTF-8 flag the bytes are in the packer's own code page: on Chinese Windows, GBK."""
    if info.flag_bits & 0x800:
        return info.filename
    for codec in ("utf-8", "gb18030"):
        try:
            return info.filename.encode("cp437").decode(codec)
        except (UnicodeDecodeError, UnicodeEncodeError):
            continue
    return info.filename
