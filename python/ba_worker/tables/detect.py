"""What a file is, by its content before its name. Never reads a large file whole."""

import codecs
import os
import re

from . import signatures
from .encoding import utf16_without_bom
from .errors import TableError

TEXT_KINDS = {"txt", "md", "py", "sql", "js", "ts", "html", "css", "sh", "yaml", "yml", "xml", "r", "java", "c", "cpp",
              "go", "rs", "php", "rb", "log", "toml", "ini"}
TABLE_KINDS = {"csv", "tsv", "xlsx", "xls", "json", "jsonl", "parquet"}
ALIASES = {"ndjson": "jsonl", "xlsm": "xlsx", "xlsb": "xlsx", "ods": "xlsx", "markdown": "md", "text": "txt", "tab": "tsv",
           "pq": "parquet", "htm": "html", "xhtml": "html", "feather": "arrow", "ipc": "arrow", "arrows": "arrow", "dta": "stata",
           "sav": "spss", "zsav": "spss", "sas7bdat": "sas", "xpt": "xport", "db": "sqlite", "sqlite3": "sqlite", "db3": "sqlite",
           "ddb": "duckdb", "gz": "gzip", "doc": "docx"}
# What a name may promise and only the content can keep.
PROMISED = {"arrow": "Arrow", "orc": "ORC", "stata": "Stata", "spss": "SPSS", "sas": "SAS", "xport": "SAS transport", "sqlite": "SQLite", "duckdb": "DuckDB",
            "docx": "Word", "zip": "zip", "gzip": "gzip"}
PAGE = re.compile(rb"(?:<\?xml[^>]*\?>\s*)?<(?:!doctype html|html|table|meta|head|style)", re.I)
FORMATS = {"excel": "xlsx", "text": "txt", "python": "py"}


def kind_of(path, filename, wanted=None):
    """The kind to read a file as. Content wins over the name: an HTML page named .xlsx is an HTML page."""
    with open(path, "rb") as f:
        head = f.read(4096)
        f.seek(max(0, os.path.getsize(path) - 16))
        tail = f.read()
    extension = filename.rsplit(".", 1)[-1].lower() if "." in filename else ""
    named = FORMATS.get(wanted, wanted) or ALIASES.get(extension, extension)
    if head[:4] == b"PAR1":
        return "parquet"
    if head[:5] == b"%PDF-":
        return "pdf"
    if head[:4] == b"PK\x03\x04":
        return _packed(path, filename, named)
    if head[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
        if named == "docx":
            signatures.refuse_locked_document(path)
        return "xls"
    found = signatures.readable(head, tail)
    if found:
        return found
    signatures.refuse_what_is_no_table(head)
    if named == "arrow" and head[:4] == b"\xff\xff\xff\xff":
        return "arrow"
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if named in ("xlsx", "xls"):
        return _misnamed_workbook(head, text.lower(), filename)
    if PAGE.match(text) and not wanted and named in ("csv", "tsv", "docx"):
        return "html_table"
    if named in PROMISED:
        locked = named in ("sqlite", "duckdb")
        raise TableError("BAD_FILE", f"{filename} is no {PROMISED[named]} file{' (or it is encrypted)' if locked else ''}",
                         said="not_of_its_kind_or_locked" if locked else "not_of_its_kind", step="own_format", what=PROMISED[named])
    if named == "parquet":
        raise TableError("NOT_PARQUET", f"{filename} is no Parquet file", said="not_of_its_kind", step="own_format", what="Parquet")
    if named == "pdf":
        raise TableError("NOT_PDF", f"{filename} is no PDF file", said="not_of_its_kind", step="own_format", what="PDF")
    if named in TABLE_KINDS or named in TEXT_KINDS:
        if _is_binary(head):
            raise signatures.no_table("binary data", signatures.OTHER)
        return named
    if PAGE.match(text):
        return "html"
    return "txt" if not head or _looks_like_text(head) else "binary"


def _packed(path, filename, named):
    """A zip by what lies inside: a workbook, a Word document, or tables."""
    kind = signatures.in_zip(path)
    if kind == "broken" and named in ("docx", "zip"):
        raise TableError("BAD_FILE", f"{filename} is damaged or cut off", said="damaged", step="save_again")
    if kind == "docx" or (kind == "zip" and named not in ("xlsx", "xls")):
        return kind
    return "xlsx"  # whose reader refuses by name what is none


def _misnamed_workbook(head, text, filename):
    if PAGE.match(text) or b"<table" in text:
        return "html_table"
    if text.startswith(b"<?xml") and b"schemas-microsoft-com:office:spreadsheet" in text:
        raise TableError("UNSUPPORTED_FORMAT", "this is an XML spreadsheet of Excel 2003", said="xml_spreadsheet", step="save_as_xlsx")
    if text.startswith(b"mime-version:") and b"multipart/related" in text:
        raise TableError("UNSUPPORTED_FORMAT", "this is a web archive (MHTML)", said="web_archive", step="save_in_excel")
    if head and _looks_like_text(head) and not _is_binary(head):
        return "csv"
    raise TableError("NOT_A_WORKBOOK", f"{filename} is no Excel workbook", said="not_of_its_kind", step="own_format", what="Excel")


def _looks_like_text(head):
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF8)):
        return True
    control = sum(1 for b in head if b < 9 or 13 < b < 32)
    return control <= len(head) // 100


def _is_binary(head):
    """Bytes that no encoding known here makes a text of; wide characters are full of control bytes and are none."""
    wide = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)) or utf16_without_bom(head)
    return not wide and signatures.looks_binary(head)
