"""Makes small files of many formats byte by byte, and reads what is kept of them; used by the tests of formats."""

import os
import struct
import sys
import zipfile

import duckdb
import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from ba_worker.tables import detect, typed  # noqa: E402
from ba_worker.tables.errors import TableError  # noqa: E402


def quiet(fraction, message):
    pass


def put(name, data):
    with open(name, "wb") as f:
        f.write(data.encode() if isinstance(data, str) else data)
    return name


def held(path):
    with open(path, "rb") as f:
        return f.read()


def kind(name):
    return detect.kind_of(name, name)


def refused(call, *args):
    with pytest.raises(TableError) as e:
        call(*args)
    return e.value


def kept(table):
    """The rows as DuckDB reads them back from what is kept."""
    typed.write(table.data, "kept.parquet")
    return duckdb.execute("SELECT * FROM 'kept.parquet'").fetchall()


def codes(notes):
    return [n["code"] for n in notes]


def zipped(parts, name, **kwargs):
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED, **kwargs) as z:
        for inner, data in parts.items():
            z.writestr(inner, data)
    return name


def xport(rows, sets=1):
    """A SAS transport file with the columns CITY (8 letters) and N (a number), as its published layout says."""
    def card(text):
        return text.ljust(80).encode()

    def ibm(value):
        if value is None:
            return b"." + bytes(7)
        if value == 0:
            return bytes(8)
        exponent, left = 64, abs(value)
        while left >= 1:
            left, exponent = left / 16, exponent + 1
        while left < 1 / 16:
            left, exponent = left * 16, exponent - 1
        return bytes([exponent | (128 if value < 0 else 0)]) + int(left * 2**56).to_bytes(7, "big")

    def column(number, name, is_text, at):
        head = struct.pack(">hhhh8s40s8shhh2s8shhl", 2 if is_text else 1, 0, 8, number, name.ljust(8).encode(), b" " * 40, b" " * 8, 0, 0, 0,
                           bytes(2), b" " * 8, 0, 0, at)
        return head + bytes(52)

    when = "01JAN24:00:00:00"
    out = card("HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!" + "0" * 30)
    out += card("SAS     SAS     SASLIB  9.4     X64" + " " * 29 + when) + card(when)
    for _ in range(sets):
        out += card("HEADER RECORD*******MEMBER  HEADER RECORD!!!!!!!000000000000000001600000000140")
        out += card("HEADER RECORD*******DSCRPTR HEADER RECORD!!!!!!!" + "0" * 30)
        out += card("SAS     DATA    SASDATA 9.4     X64" + " " * 29 + when) + card(when)
        out += card("HEADER RECORD*******NAMESTR HEADER RECORD!!!!!!!000000000200000000000000000000")
        names = column(1, "CITY", True, 0) + column(2, "N", False, 8)
        out += names.ljust(-(-len(names) // 80) * 80)
        out += card("HEADER RECORD*******OBS     HEADER RECORD!!!!!!!" + "0" * 30)
        body = b"".join(city.ljust(8) + ibm(n) for city, n in rows)
        out += body.ljust(-(-len(body) // 80) * 80)
    return out


def sas7bdat(rows, claimed=None):
    """A SAS data set with the columns city (8 letters) and n (a number, labelled `how many`): a page of parts, a page of rows."""
    size = 4096
    text = struct.pack("<H", 64) + bytes(26) + b"city" + b"n   " + b"how many"
    text = text.ljust(64, b"\0")

    row_size = bytearray(480)
    row_size[:4] = b"\xf7" * 4
    struct.pack_into("<II", row_size, 20, 16, len(rows) if claimed is None else claimed)
    struct.pack_into("<II", row_size, 36, 2, 0)
    names = struct.pack("<HHHH", 0, 28, 4, 0) + struct.pack("<HHHH", 0, 32, 1, 0)
    places = struct.pack("<IIHBx", 0, 8, 0, 2) + struct.pack("<IIHBx", 8, 8, 0, 1)
    parts = [bytes(row_size), b"\xf6" * 4 + struct.pack("<II", 2, 0), b"\xfd\xff\xff\xff" + text,
             b"\xff" * 4 + bytes(8) + names + bytes(8), b"\xfc\xff\xff\xff" + bytes(8) + places + bytes(8),
             b"\xfe\xfb\xff\xff" + bytes(48),
             b"\xfe\xfb\xff\xff" + bytes(36) + struct.pack("<HHH", 0, 36, 8) + bytes(6)]
    header = bytearray(1024)
    header[:32] = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
    header[37], header[70] = 1, 20
    struct.pack_into("<III", header, 196, 1024, size, 2)
    meta, at = bytearray(size), size
    struct.pack_into("<HHH", meta, 16, 0, len(parts), len(parts))
    for i, body in enumerate(parts):
        at -= len(body)
        meta[at:at + len(body)] = body
        struct.pack_into("<IIBB", meta, 24 + 12 * i, at, len(body), 0, 0)
    data = bytearray(size)
    struct.pack_into("<HHH", data, 16, 0x100, len(rows), 0)
    for i, (city, n) in enumerate(rows):
        data[24 + 16 * i:40 + 16 * i] = city.encode().ljust(8) + struct.pack("<d", n)
    return bytes(header + meta + data)


W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def docx(body, name="x.docx", before=""):
    xml = f'<?xml version="1.0"?>{before}<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'
    return zipped({"[Content_Types].xml": "<Types/>", "word/document.xml": xml}, name)


def wp(text):
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def wc(text, more=""):
    return f"<w:tc><w:tcPr>{more}</w:tcPr>{wp(text)}</w:tc>"


def wtable(*rows):
    return "<w:tbl>" + "".join(f"<w:tr>{''.join(r)}</w:tr>" for r in rows) + "</w:tbl>"


def pdf(pages):
    """A PDF of Helvetica; a page is a list of (x, y, text)."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for page in pages:
        shown = "BT /F1 10 Tf\n" + "".join(f"1 0 0 1 {x} {y} Tm ({t}) Tj\n" for x, y, t in page) + "ET"
        objects.append(f"<< /Length {len(shown)} >>\nstream\n{shown}\nendstream")
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {len(objects)} 0 R /Resources << /Font << /F1 3 0 R >> >> >>")
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>"
    out, places = b"%PDF-1.4\n", []
    for n, body in enumerate(objects):
        places.append(len(out))
        out += f"{n + 1} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{p:010d} 00000 n \n" for p in places)
    count = len(places) + 1
    end = f"xref\n0 {count}\n0000000000 65535 f \n{table}trailer << /Size {count} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF"
    return out + end.encode()


def placed(rows, top=700, above=()):
    """Rows as pieces on a page: two columns from the left, the others to the right."""
    pieces = [(72, top + 16 * (len(above) - i), t) for i, t in enumerate(above)]
    for n, row in enumerate(rows):
        for j, cell in enumerate(row):
            x = (72, 170, 300, 400)[j] + (60 - 5.2 * len(cell) if j > 1 else 0)
            if cell:
                pieces.append((x, top - 14 * n, cell))
    return pieces


def xlsb():
    """The smallest binary workbook: one sheet with a text and a number in each of two rows."""
    def record(ident, body=b""):
        start = bytes([ident]) if ident < 128 else bytes([ident & 0x7f | 0x80, ident >> 7])
        return start + bytes([len(body)]) + body

    def wide(text):
        return struct.pack("<I", len(text)) + text.encode("utf-16-le")

    def row(n, text, number):
        shown = record(6, struct.pack("<II", 0, 0) + wide(text))
        shown += record(6, struct.pack("<II", 1, 0) + wide(number)) if isinstance(number, str) else record(5, struct.pack("<IId", 1, 0, number))
        return record(0, struct.pack("<II", n, 0) + bytes(9)) + shown

    book = record(131) + record(143) + record(156, struct.pack("<II", 0, 1) + wide("rId1") + wide("Data")) + record(144) + record(132)
    sheet = record(129) + record(148, struct.pack("<IIII", 0, 1, 0, 1)) + record(145) + row(0, "city", "n") + row(1, "Bonn", 12.5) + record(146) + record(130)
    rels = ('<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
            'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.bin"/></Relationships>')
    return {"[Content_Types].xml": "<Types/>", "xl/workbook.bin": book, "xl/_rels/workbook.bin.rels": rels, "xl/worksheets/sheet1.bin": sheet}


def ods(body, manifest=None):
    xml = ('<?xml version="1.0"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
           'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">'
           f'<office:body><office:spreadsheet><table:table table:name="Data">{body}</table:table></office:spreadsheet></office:body></office:document-content>')
    plain = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    return {"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": xml, "META-INF/manifest.xml": manifest or plain}


def cells(*values):
    shown = "".join(f'<table:table-cell office:value-type="float" office:value="{v}"/>' if isinstance(v, (int, float)) else
                    f'<table:table-cell office:value-type="string"><text:p>{v}</text:p></table:table-cell>' for v in values)
    return f"<table:table-row>{shown}</table:table-row>"
