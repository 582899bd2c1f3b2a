"""Knows files by their first bytes: those that are read by a reader of their own, and those that are never tables or texts.

A picture named .csv is not read as rows of rubbish.
"""

import zipfile
import zlib

from .errors import TableError

# What to do about each (`errors.STEPS`).
PICTURE, UNPACK, EXPORT, DOCUMENT, SLIDES = "picture", "unpack", "export", "document", "slides"
NUMBERS, ACCESS, R_DATA, OTHER = "numbers", "access", "r_data", "data"
# What a file is, by the last word of its name here; the name itself needs no translation.
SORTS = {"image": "is_image", "archive": "is_archive", "program": "is_program", "recording": "is_recording", "video": "is_video", "database": "is_database",
         "file": "is_data_file", "document": "is_document", "presentation": "is_slides", "message": "is_message", "font": "is_font", "pickle": "is_pickle",
         "data": "is_binary"}
SORTS_BY_NAME = {"an icon image": "is_icon", "a rich-text document": "is_rich_text"}

# Long enough, or with bytes no text has, so that no header of a CSV begins like one of these.
BEGINNINGS = [
    (b"\x89PNG\r\n\x1a\n", "a PNG image", PICTURE),
    (b"\xff\xd8\xff", "a JPEG image", PICTURE),
    (b"GIF87a", "a GIF image", PICTURE),
    (b"GIF89a", "a GIF image", PICTURE),
    (b"II*\x00", "a TIFF image", PICTURE),
    (b"MM\x00*", "a TIFF image", PICTURE),
    (b"8BPS\x00", "a Photoshop image", PICTURE),
    (b"PK\x05\x06", "a zip archive", UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", UNPACK),
    (b"\xfd7zXZ\x00", "an xz archive", UNPACK),
    (b"\x28\xb5\x2f\xfd", "a zstd archive", UNPACK),
    (b"\x04\x22\x4d\x18", "an LZ4 archive", UNPACK),
    (b"\x7fELF", "a Linux program", OTHER),
    (b"\xca\xfe\xba\xbe\x00", "a Java program", OTHER),
    (b"\xcf\xfa\xed\xfe", "a macOS program", OTHER),
    (b"\x00asm\x01", "a WebAssembly program", OTHER),
    (b"OggS\x00", "an Ogg recording", OTHER),
    (b"fLaC\x00", "a FLAC recording", OTHER),
    (b"\x1aE\xdf\xa3", "a Matroska video", OTHER),
    (b"\x00\x01\x00\x00Standard Jet DB", "an Access database", ACCESS),
    (b"\x00\x01\x00\x00Standard ACE DB", "an Access database", ACCESS),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 data file", EXPORT),
    (b"Obj\x01", "an Avro data file", EXPORT),
    (b"\x93NUMPY", "a NumPy data file", EXPORT),
    (b"RDX2\nX\n", "an R data file", R_DATA),
    (b"RDX3\nX\n", "an R data file", R_DATA),
    (b"X\n\x00\x00\x00", "an R data file", R_DATA),
    (b"\x80\x04\x95", "a Python pickle", EXPORT),
    (b"\x80\x05\x95", "a Python pickle", EXPORT),
    (b"{\\rtf1", "a rich-text document", DOCUMENT),
    (b"\x00\x01\x00\x00\x00", "a font", OTHER),
    (b"OTTO\x00", "a font", OTHER),
    (b"wOFF\x00\x01\x00\x00", "a font", OTHER),
    (b"wOF2\x00\x01\x00\x00", "a font", OTHER),
]


ARCHIVES = frozenset(kind for _, kind, step in BEGINNINGS if step == UNPACK) | {"a gzip archive", "a zip archive", "a bzip2 archive", "a tar archive"}
SAS = b"\x00" * 12 + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00\x09\xc7\x31\x8c\x18\x1f\x10\x11"
OLD_STATA = [bytes([version]) for version in range(102, 117)]
# Kinds with a reader of their own, by a beginning that no text has.
READABLE = [
    (b"\x1f\x8b\x08", "gzip"),
    (b"SQLite format 3\x00", "sqlite"),
    (b"ARROW1\x00\x00", "arrow"),
    (b"FEA1\x00", "arrow"),
    (b"<stata_dta><header>", "stata"),
    (b"$FL2@(#)", "spss"),
    (b"$FL3@(#)", "spss"),
    (SAS, "sas"),
    (b"HEADER RECORD*******LIB", "xport"),
]


def readable(head, tail):
    """The kind of a file with a reader of its own; None for others. `tail`: its last few bytes."""
    found = next((kind for start, kind in READABLE if head.startswith(start)), None)
    if found:
        return found
    if head[8:12] == b"DUCK" and bytes(4) in head[12:20]:
        return "duckdb"
    # The last byte of an ORC file is the length of a part that ends in its name.
    if head[:3] == b"ORC" and tail[-4:-1] == b"ORC":
        return "orc"
    # Old Stata files: a version, an order of bytes, and two fixed bytes.
    if head[:1] in OLD_STATA and head[1:2] in (b"\x01", b"\x02") and head[2:4] == b"\x01\x00":
        return "stata"
    return None


def refuse_what_is_no_table(head):
    """Raises for the known kinds. `head`: the first few thousand bytes."""
    found = _by_beginning(head) or _by_structure(head)
    if found:
        raise no_table(*found)


def what_it_is(head):
    """(what to call it, what to do) for a known kind that is never a table; None for others."""
    return _by_beginning(head) or _by_structure(head)


def no_table(kind, step, code="UNSUPPORTED_FORMAT"):
    said = SORTS_BY_NAME.get(kind) or SORTS[kind.rsplit(" ", 1)[-1]]
    words = kind.split(" ")
    name = " ".join(words[1:-2] if kind.endswith("data file") else words[1:-1])
    return TableError(code, f"this is {kind}, not a table", said=said, step=step, name=name)


def _by_beginning(head):
    return next(((kind, step) for start, kind, step in BEGINNINGS if head.startswith(start)), None)


def _by_structure(head):
    """Kinds whose first letters a text may have as well (`BMI,age`, `ID3,name`): more of the file has to agree."""
    if head[:4] == b"RIFF":
        return {b"WEBP": ("a WebP image", PICTURE), b"WAVE": ("a WAV recording", OTHER), b"AVI ": ("an AVI video", OTHER)}.get(head[8:12])
    if head[:2] == b"BM" and head[6:10] == bytes(4) and head[14:18] in (b"\x0c\0\0\0", b"\x28\0\0\0", b"\x6c\0\0\0", b"\x7c\0\0\0"):
        return "a BMP image", PICTURE
    if head[:4] == b"\x00\x00\x01\x00" and 0 < int.from_bytes(head[4:6], "little") < 256 and head[9:10] == b"\0":
        return "an icon image", PICTURE
    if head[:3] == b"\x00\x00\x00" and head[4:8] == b"ftyp":
        if head[8:12] in (b"heic", b"heix", b"mif1", b"avif"):
            return "a HEIC image", PICTURE
        return "an MP4 video", OTHER
    if head[:3] == b"ID3" and head[3:4] in b"\x02\x03\x04" and len(head) > 10:
        return "an MP3 recording", OTHER
    if head[:2] in (b"\xff\xfb", b"\xff\xf3", b"\xff\xf2") and looks_binary(head):
        return "an MP3 recording", OTHER
    if head[:3] == b"BZh" and head[4:10] == b"1AY&SY":
        return "a bzip2 archive", UNPACK
    if head[257:262] == b"ustar" and b"\0" in head[:257]:
        return "a tar archive", UNPACK
    if head[:2] == b"MZ" and head[int.from_bytes(head[60:64], "little"):][:4] == b"PE\0\0":
        return "a Windows program", OTHER
    return None


# Tabs, line ends, form feeds, the end mark of DOS and the shifts of ISO-2022 are text; NUL is dropped later.
_TEXT_CONTROLS = frozenset(b"\x00\x08\t\n\x0b\x0c\r\x0e\x0f\x1a\x1b")


def looks_binary(head):
    """Many different control bytes: one or two kinds may be a delimiter (Hive writes \\x01), a few may be dirt."""
    controls = [b for b in head if b < 32 and b not in _TEXT_CONTROLS]
    return len(controls) > len(head) // 50 and len(set(controls)) >= 4


def in_zip(path):
    """What a zip is by the names inside: `xlsx`, `docx`, `zip`, `broken`, or None for a package that is refused."""
    try:
        with zipfile.ZipFile(path) as z:
            infos = z.infolist()
            mimetype = opendocument_type(z, infos)
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError):
        return "broken"
    return _in_zip({i.filename.lower() for i in infos}, mimetype)[0]


def _in_zip(names, mimetype):
    """(kind, what to call it, what to do)."""
    if any(n.startswith("xl/") for n in names) or "spreadsheet" in mimetype:
        return "xlsx", None, None
    if "word/document.xml" in names:
        return "docx", "a Word document", DOCUMENT
    if any(n.startswith("word/") for n in names) or "opendocument.text" in mimetype:
        return None, "a Word document", DOCUMENT
    if any(n.startswith("ppt/") for n in names) or "opendocument.presentation" in mimetype:
        return None, "a PowerPoint presentation", SLIDES
    if any(n.startswith("index/") and n.endswith(".iwa") for n in names) or "index.zip" in names:
        return None, "an Apple iWork document", NUMBERS
    if "meta-inf/manifest.mf" in names:
        return None, "a Java program", OTHER
    if "[content_types].xml" in names:
        return "xlsx", None, None  # a package of Office all the same; its parts may lie anywhere
    return "zip", "a zip archive", UNPACK


def opendocument_type(z, infos):
    """What an OpenDocument file says of itself in its first part."""
    if not infos or infos[0].filename != "mimetype":
        return ""
    try:
        with z.open(infos[0]) as f:
            return f.read(200).decode("ascii", "replace")
    except (RuntimeError, zlib.error, EOFError, zipfile.BadZipFile, NotImplementedError):  # encrypted or broken; its reader will say so
        return ""


def refuse_other_archives(names, mimetype):
    """A zip archive by the names inside: raises unless it may be a workbook."""
    kind, what, step = _in_zip(names, mimetype)
    if kind != "xlsx":
        raise no_table(what, step, code="NOT_A_WORKBOOK")


def refuse_other_office(path):
    """The container of old Office files, when it could not be read as a workbook: names the program that wrote it."""
    streams = {"WordDocument": ("a Word document", DOCUMENT), "PowerPoint Document": ("a PowerPoint presentation", SLIDES),
               "__properties_version1.0": ("an Outlook message", EXPORT), "VisioDocument": ("a Visio document", SLIDES)}
    with open(path, "rb") as f:
        held = f.read(32 << 20)
    for stream, found in streams.items():
        if stream.encode("utf-16-le") in held:
            raise no_table(*found, code="NOT_A_WORKBOOK")


def refuse_locked_document(path):
    """A Word document with a password lies in the container of old Office files."""
    with open(path, "rb") as f:
        if "EncryptedPackage".encode("utf-16-le") in f.read(1 << 20):
            raise TableError("PASSWORD_PROTECTED", "the Word document is protected by a password", step="password_word")
