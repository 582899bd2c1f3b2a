"""Guesses what a file is: its kind by content before name, its encoding by bytes. Never reads a large file whole."""

import codecs
import os
import re

from . import signatures
from .errors import TableError

HEAD = 1 << 20
SLICE = 256 << 10
WHOLE_FILE_CHECK = 32 << 20

TEXT_KINDS = {"txt", "md", "py", "sql", "js", "ts", "html", "css", "sh", "yaml", "yml", "xml", "r", "java", "c", "cpp",
              "go", "rs", "php", "rb", "log", "toml", "ini"}
TABLE_KINDS = {"csv", "tsv", "xlsx", "xls", "json", "jsonl", "parquet"}
ALIASES = {"ndjson": "jsonl", "xlsm": "xlsx", "xlsb": "xlsx", "ods": "xlsx", "markdown": "md", "text": "txt", "tab": "tsv",
           "pq": "parquet", "htm": "html"}
FORMATS = {"excel": "xlsx", "text": "txt", "python": "py"}


def slices(path):
    """The head, and for larger files pieces of the middle and the end."""
    size = os.path.getsize(path)
    with open(path, "rb") as f:
        if size <= WHOLE_FILE_CHECK:
            return [f.read()]
        pieces = [f.read(HEAD)]
        for at in (size // 3, size // 2, size - SLICE):
            f.seek(at)
            pieces.append(f.read(SLICE))
    return pieces


def kind_of(path, filename, wanted=None):
    """The kind to read a file as. Content wins over the name: an HTML page named .xlsx is an HTML page."""
    with open(path, "rb") as f:
        head = f.read(4096)
    extension = filename.rsplit(".", 1)[-1].lower() if "." in filename else ""
    named = FORMATS.get(wanted, wanted) or ALIASES.get(extension, extension)
    if head[:4] == b"PAR1":
        return "parquet"
    if head[:5] == b"%PDF-":
        return "pdf"
    if head[:4] == b"PK\x03\x04":
        return "xlsx"
    if head[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
        return "xls"
    signatures.refuse_what_is_no_table(head)
    if named in ("xlsx", "xls"):
        text = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
        if re.match(rb"(<!doctype html|<html|<table|<meta|<head|<style)", text) or b"<table" in text:
            return "html_table"
        if text.startswith(b"<?xml") and b"schemas-microsoft-com:office:spreadsheet" in text:
            raise TableError("UNSUPPORTED_FORMAT", "this is an XML spreadsheet of Excel 2003; save it as .xlsx")
        if head and _looks_like_text(head) and not _is_binary(head):
            return "csv"
        raise TableError("NOT_A_WORKBOOK", f"{filename} is not an Excel workbook")
    if named == "parquet":
        raise TableError("NOT_PARQUET", f"{filename} is not a Parquet file")
    if named == "pdf":
        raise TableError("NOT_PDF", f"{filename} is not a PDF")
    if named in TABLE_KINDS or named in TEXT_KINDS:
        if _is_binary(head):
            raise signatures.no_table("binary data", signatures.OTHER)
        return named
    return "txt" if not head or _looks_like_text(head) else "binary"


def _looks_like_text(head):
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF8)):
        return True
    control = sum(1 for b in head if b < 9 or 13 < b < 32)
    return control <= len(head) // 100


def _is_binary(head):
    """Bytes that no encoding known here makes a text of; wide characters are full of control bytes and are none."""
    wide = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)) or _utf16_without_bom(head)
    return not wide and signatures.looks_binary(head)


def encoding_of(path, named=None):
    """(codec, name shown to people, notes). `named` is tried first and given up with a note when it does not fit."""
    pieces = slices(path)
    notes = []
    if named:
        try:
            codec = codecs.lookup(named).name
        except LookupError:
            notes.append(f"unknown encoding `{named}`; detected instead")
        else:
            detected = _detect(pieces)
            fits = all(_decodes(p, codec, i) for i, p in enumerate(pieces))
            if fits and detected[0] == "utf-8-sig" and codec in ("utf-8", "utf_8"):
                return (*detected, notes)
            if fits and not (detected[0].startswith("utf-") and not codec.startswith("utf")):
                return codec, codec, notes
            notes.append(f"the file is not {named}; read as {detected[1]}")
            return (*detected, notes)
    return (*_detect(pieces), notes)


def _detect(pieces):
    head = pieces[0]
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8-sig", "utf-8-bom"
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32", "utf-32"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16", "utf-16"
    wide = _utf16_without_bom(head[:4096])
    if wide:
        return wide, wide
    if all(_decodes(p, "utf-8", i) for i, p in enumerate(pieces)):
        return "utf-8", "utf-8"
    if _mostly_double_bytes(pieces):
        for codec, name in (("gbk", "gbk"), ("gb18030", "gb18030")):
            if all(_decodes(p, codec, i) for i, p in enumerate(pieces)):
                return codec, name
        if _share_valid(head, "utf-8") >= 0.999:
            return "utf-8", "utf-8"
        return "gb18030", "gb18030"
    if _share_valid(head, "utf-8") >= 0.9:
        return "utf-8", "utf-8"
    return "cp1252", "cp1252"


def _utf16_without_bom(head):
    if len(head) < 8:
        return None
    even = head[0::2].count(0) / max(1, len(head[0::2]))
    odd = head[1::2].count(0) / max(1, len(head[1::2]))
    if odd > 0.3 and even < 0.05:
        return "utf-16-le"
    if even > 0.3 and odd < 0.05:
        return "utf-16-be"
    return None


def _decodes(piece, codec, index):
    """Strictly decodable, but for characters cut at the edges of a slice."""
    starts = range(1) if index == 0 else range(4)
    for start in starts:
        try:
            codecs.getincrementaldecoder(codec)("strict").decode(piece[start:], final=False)
        except (UnicodeDecodeError, UnicodeError):
            continue
        return True
    return False


def _share_valid(piece, codec):
    text = piece.decode(codec, "replace")
    return 1 - text.count("\ufffd") / max(1, sum(1 for c in text if ord(c) > 127))


def _mostly_double_bytes(pieces):
    """GBK puts high bytes in pairs; western one-byte encodings sprinkle single ones."""
    paired = single = 0
    for piece in pieces:
        for run in re.findall(rb"[\x80-\xff]+", piece[:HEAD]):
            if len(run) >= 2:
                paired += len(run)
            else:
                single += 1
    # A GBK character may end in an ASCII byte, so some single high bytes are normal.
    return paired > 2 * single


def open_text(path, codec, errors="replace"):
    return open(path, "r", encoding=codec, errors=errors, newline="")


def transcode(path, codec, target, progress=None):
    """Writes the file again as UTF-8 without NUL characters. Returns how many characters could not be read."""
    size = max(1, os.path.getsize(path))
    bad = 0
    decoder = codecs.getincrementaldecoder(codec)("replace")
    done = 0
    with open(path, "rb") as source, open(target, "wb") as sink:
        while True:
            block = source.read(4 << 20)
            text = decoder.decode(block, final=not block)
            bad += text.count("\ufffd")
            sink.write(text.replace("\x00", "").encode("utf-8", "replace"))
            done += len(block)
            if progress and block:
                progress(0.2 * done / size, f"converting {codec} to utf-8")
            if not block:
                return bad
