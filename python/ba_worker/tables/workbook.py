"""Excel workbooks through calamine: every sheet, merged headers, stray cells, and bombs refused before they open."""

import datetime
import os
import re
import shutil
import zipfile

import python_calamine as calamine

from . import sheetinfo, signatures
from .errors import TableError
from .grid import Grid
from .notes import note

MAX_UNPACKED = 2 << 30
BOMB_SIZE = 100 << 20
BOMB_RATIO = 100
MAX_CELLS = 30_000_000
MAX_MERGES = 50_000
CELL = re.compile(rb'<c r="([A-Z]{1,3})([0-9]{1,7})"')
STRAY = rb'<c r="%s"(?:[^>]*/>|[^>]*>.*?</c>)'


def grids(path, kind, work, progress, only=None):
    """Yields a Grid for every sheet that holds cells; `only` is a sheet's name or index."""
    notes = {}
    if kind == "xlsx":
        _check_zip(path)
        path, notes = _drop_stray_cells(path, work)
        for sheet, more in sheetinfo.notes(path, _sheet_names(path)).items():
            notes.setdefault(sheet, []).extend(more)
    book = _open(path)
    names = [m.name for m in book.sheets_metadata if m.typ == calamine.SheetTypeEnum.WorkSheet]
    wanted = _pick(names, only)
    for n, name in enumerate(wanted):
        progress(0.05 + 0.2 * n / len(wanted), f"reading sheet {name}")
        sheet, rows = _rows(book, name)
        if not rows:
            continue
        offset = sheet.start or (0, 0)
        grid = Grid([[_cell(c) for c in r] for r in rows], sheet=name, merged=_merged(sheet, offset), notes=list(notes.get(name, [])))
        yield grid


def _rows(book, name):
    try:
        sheet = book.get_sheet_by_name(name)
        if sheet.height * sheet.width > MAX_CELLS:
            raise TableError("TOO_MANY_CELLS", f"sheet {name} spans {sheet.height} × {sheet.width} cells; at most {MAX_CELLS} are read", said="sheet_too_large",
                             sheet=name, rows=sheet.height, columns=sheet.width, most=MAX_CELLS)
        return sheet, sheet.to_python(skip_empty_area=True)
    except (TableError, MemoryError, KeyboardInterrupt, SystemExit):
        raise
    # Damaged archives come as many kinds of error, and as a panic that is no Exception.
    except BaseException as e:
        raise TableError("BAD_WORKBOOK", f"sheet {name} cannot be read: {str(e)[:200]}", said="sheet_unreadable", step="save_in_spreadsheet", sheet=name) from None


def _open(path):
    try:
        return calamine.CalamineWorkbook.from_path(path)
    except calamine.PasswordError:
        raise TableError("PASSWORD_PROTECTED", "the workbook is protected by a password", step="password_excel") from None
    except (calamine.CalamineError, calamine.ZipError, calamine.XmlError, OSError, ValueError) as e:
        with open(path, "rb") as f:
            head = f.read(1 << 16)
        if "EncryptedPackage".encode("utf-16-le") in head or "password" in str(e).lower() or "encrypt" in str(e).lower():
            raise TableError("PASSWORD_PROTECTED", "the workbook is protected by a password", step="password_excel") from None
        signatures.refuse_other_office(path)
        raise TableError("BAD_WORKBOOK", f"the workbook cannot be read: {str(e)[:200]}", step="save_in_spreadsheet") from None


def _pick(names, only):
    if only is None:
        return names
    if isinstance(only, int) or (isinstance(only, str) and only not in names and only.lstrip("-").isdigit()):
        index = int(only)
        if -len(names) <= index < len(names):
            return [names[index]]
    elif only in names:
        return [only]
    else:
        close = [n for n in names if n.strip().lower() == str(only).strip().lower()]
        if close:
            return close[:1]
    raise TableError("NO_SUCH_SHEET", f"no sheet `{only}`; there are: " + ", ".join(f"`{n}`" for n in names[:30]), sheet=str(only), known=names[:30])


def _check_zip(path):
    try:
        with zipfile.ZipFile(path) as z:
            infos = z.infolist()
            mimetype = signatures.opendocument_type(z, infos)
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError) as e:
        raise TableError("BAD_WORKBOOK", f"the workbook cannot be opened: {e}", step="save_in_spreadsheet") from None
    unpacked = sum(i.file_size for i in infos)
    packed = max(1, os.path.getsize(path))
    if unpacked > MAX_UNPACKED or (unpacked > BOMB_SIZE and unpacked / packed > BOMB_RATIO):
        raise TableError("ZIP_BOMB", f"the workbook unpacks from {packed} to {unpacked} bytes; refused", packed=packed, unpacked=unpacked)
    signatures.refuse_other_archives({i.filename.lower() for i in infos}, mimetype)


def _drop_stray_cells(path, work):
    """A cell far outside the table would make the reader hold the whole grid: such sheets are rewritten without it."""
    names = _sheet_names(path)
    found, notes = {}, {}
    with zipfile.ZipFile(path) as z:
        for info in z.infolist():
            if re.fullmatch(r"xl/worksheets/[^/]+\.xml", info.filename):
                stray = _stray(z, info)
                if stray:
                    found[info.filename] = stray
        if not found:
            return path, {}
        target = os.path.join(work, "trimmed.xlsx")
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out:
            for info in z.infolist():
                if info.filename not in found:
                    with z.open(info) as source, out.open(info.filename, "w", force_zip64=True) as sink:
                        shutil.copyfileobj(source, sink)
                    continue
                xml = z.read(info)
                for ref in found[info.filename]:
                    xml = re.sub(STRAY % ref, b"", xml, count=1, flags=re.S)
                out.writestr(info.filename, xml)
                refs = ", ".join(r.decode() for r in found[info.filename][:3])
                sheet = names.get(info.filename, info.filename)
                count = len(found[info.filename])
                notes[sheet] = [note("stray_cells", f"{count} stray cell(s) far from the table left out ({refs})", count=count, refs=refs)]
    return target, notes


def _sheet_names(path):
    """Part name → sheet name, as far as the relations say."""
    try:
        with zipfile.ZipFile(path) as z:
            book = z.read("xl/workbook.xml").decode("utf-8", "replace")
            rels = z.read("xl/_rels/workbook.xml.rels").decode("utf-8", "replace")
    except KeyError:
        return {}
    targets = {}
    for tag in re.findall(r"<Relationship [^>]*>", rels):
        ident, target = re.search(r'Id="([^"]+)"', tag), re.search(r'Target="([^"]+)"', tag)
        if ident and target:
            targets[ident[1]] = "xl/" + target[1].removeprefix("/xl/").removeprefix("/")
    names = {}
    for tag in re.findall(r"<sheet [^>]*>", book):
        name, ident = re.search(r'name="([^"]*)"', tag), re.search(r'r:id="([^"]+)"', tag)
        if name and ident and ident[1] in targets:
            names[targets[ident[1]]] = name[1]
    return names


def _stray(z, info):
    """References of cells that blow up an otherwise small grid."""
    cells, max_row, max_col, refs = 0, 0, 0, []
    tail = b""
    with z.open(info) as f:
        while True:
            block = f.read(1 << 20)
            if not block:
                break
            text = tail + block
            for m in CELL.finditer(text):
                cells += 1
                row, col = int(m[2]), _column(m[1])
                max_row, max_col = max(max_row, row), max(max_col, col)
                if len(refs) < 200_000:
                    refs.append((row, col, m[1] + m[2]))
            tail = text[-24:] if not CELL.search(text[-24:]) else b""
    if max_row * max_col <= 2_000_000 or max_row * max_col <= 200 * cells or cells >= 200_000:
        return []
    rows = sorted(r for r, _, _ in refs)
    cols = sorted(c for _, c, _ in refs)
    row_limit, col_limit = _edge(rows, 2000), _edge(cols, 200)
    return [ref for r, c, ref in refs if r > row_limit or c > col_limit][:1000]


def _edge(positions, gap):
    """The last position before a leap that no table makes."""
    for a, b in zip(positions, positions[1:]):
        if b - a > gap:
            return a
    return positions[-1]


def _column(letters):
    n = 0
    for b in letters:
        n = n * 26 + b - 64
    return n


def _merged(sheet, offset):
    ranges = getattr(sheet, "merged_cell_ranges", None) or []
    top, left = offset
    return [(a[0] - top, a[1] - left, b[0] - top, b[1] - left) for a, b in ranges[:MAX_MERGES]]


def _cell(value):
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, datetime.datetime) and value.year < 1900:
        return None
    return value
