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
UNPACK = "unpack it and upload the tables themselves"
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
        if what in signatures.ARCHIVES:
            raise TableError("NESTED_ARCHIVE", f"{name} is an archive inside the archive", UNPACK)
        notes.append(warn("member_left_out", f"{name} was left out: it is {what}, not a table", member=name))
    if not found:
        raise TableError("NO_TABLE", "the archive holds no table", "upload the tables themselves, as CSV or XLSX")
    return found, notes


def label(name):
    """The last part of a member's name, fit to be shown."""
    last = re.split(r"[/\\]", name.rstrip("/\\"))[-1]
    return re.sub(r"[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]", "", last).strip()[:120] or "member"


def _no_member(path):
    """What a member is when it is no table; None when it may be one."""
    with open(path, "rb") as f:
        head = f.read(4096)
    if head.startswith(b"\x1f\x8b\x08"):
        return "a gzip archive"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")) and signatures.in_zip(path) == "zip":
        return "a zip archive"
    return signatures.what_it_is(head)


class _Budget:
    """Counts what is really unpacked, whatever the archive says of itself."""

    def __init__(self, path):
        self.packed, self.left, self.done = max(1, os.path.getsize(path)), MAX_UNPACKED, 0

    def spend(self, count):
        self.done += count
        if self.done > self.left or (self.done > BOMB_SIZE and self.done / self.packed > BOMB_RATIO):
            raise TableError("ZIP_BOMB", f"the archive of {self.packed} bytes unpacks to more than {self.done} bytes; refused", UNPACK)


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
        raise TableError("BAD_ARCHIVE", f"the gzip file is damaged or cut off: {str(e)[:120]}", "pack or download it again") from None
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
        raise TableError("BAD_ARCHIVE", f"the zip archive is damaged or packed in an unknown way: {str(e)[:120]}",
                         "pack it again as a plain zip, or upload the tables themselves") from None


def _check(infos):
    if any(i.flag_bits & 1 for i in infos):
        raise TableError("PASSWORD_PROTECTED", "the zip archive is protected by a password", "unpack it and upload what is inside")
    if len(infos) > MAX_MEMBERS:
        raise TableError("TOO_MANY_MEMBERS", f"the archive holds {len(infos)} files; at most {MAX_MEMBERS} are read",
                         "upload the tables you need, or put them into one workbook")
    if sum(i.file_size for i in infos) > MAX_UNPACKED:
        raise TableError("ZIP_BOMB", f"the archive says it unpacks to more than {MAX_UNPACKED >> 30} GB; refused", UNPACK)


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
