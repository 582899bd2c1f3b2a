"""Reads documents back with other libraries than wrote them: no row lost, no glyph box, no chart missing or clipped, nothing live that was text,
every figure that nothing proves marked. Each reader takes what was made and the file."""

import io
import os
import re
import subprocess
import sys
import tempfile
import zipfile

WORDS = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
# Text of a report that no document may lose, whatever else is in it.
EDGE = 40


def squeezed(text):
    return re.sub(r"[\s\u200b\xad]+", "", text)


def rows_in(made, text, keys=None):
    flat = squeezed(text)
    lost = [key for key in (made.keys if keys is None else keys) if squeezed(key) not in flat]
    assert not lost, f"{len(lost)} of {len(made.keys)} rows lost, first {lost[:3]}"
    for said in made.text:
        assert squeezed(said) in flat, said
    for note in made.notes:
        assert squeezed(note) in flat, f"no note about {note}"


def read_pdf(made, path):
    text = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, check=True).stdout.decode()
    rows_in(made, text)
    caption = "图" if made.zh else "Chart"
    for number in range(1, made.charts + 1):
        assert re.search(rf"{caption}\s*{number}\b", text), f"chart {number}"
    assert "\ufffd" not in text and "□" not in text
    if made.doubtful:
        assert ("未证实" if made.zh else "unproven") in text and re.search(rf"{made.doubtful}\s*\?", text)
    assert not empty_boxes(path), "a character without a glyph"
    outside = words_outside(path)
    assert not outside, f"outside the page: {outside[:3]}"


def empty_boxes(path):
    """How many characters of the PDF are drawn with glyph 0, the empty box, on pages and in the pictures on them."""
    import pypdf
    from pypdf.generic import ContentStream

    file, found, seen = pypdf.PdfReader(path), 0, set()

    def look(holder, resources):
        nonlocal found
        fonts = (resources or {}).get("/Font") or {}
        wide = {name: font.get_object().get("/Encoding") == "/Identity-H" for name, font in fonts.items()}
        font = None
        for operands, operator in ContentStream(holder, file).operations:
            if operator == b"Tf":
                font = operands[0]
            elif operator in (b"Tj", b"TJ") and wide.get(font):
                for piece in operands[0] if operator == b"TJ" else operands:
                    raw = getattr(piece, "original_bytes", piece if isinstance(piece, bytes) else b"")
                    found += sum(raw[i : i + 2] == b"\0\0" for i in range(0, len(raw), 2))
        for one in ((resources or {}).get("/XObject") or {}).values():
            if one.idnum not in seen:
                seen.add(one.idnum)
                inner = one.get_object()
                if inner.get("/Subtype") == "/Form":
                    look(inner, inner.get("/Resources"))

    for page in file.pages[:60]:
        if page.get_contents() is not None:
            look(page.get_contents(), page.get("/Resources"))
    return found


def words_outside(path):
    """Words that stick out of their page, by poppler's own boxes."""
    text = subprocess.run(["pdftotext", "-bbox", path, "-"], capture_output=True, check=True).stdout.decode()
    found = []
    for page in text.split("<page ")[1:]:
        wide, tall = (float(v) for v in re.findall(r'(?:width|height)="([\d.]+)"', page[:100])[:2])
        for x1, y1, x2, y2, word in re.findall(r'xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">([^<]*)<', page):
            if float(x1) < 5 or float(x2) > wide - 5 or float(y1) < 5 or float(y2) > tall - 5:
                found.append(word)
    return found


def clipped(svg):
    """Whether a chart draws beyond its own edges: the same picture with a margin around it has ink there."""
    import numpy
    from ba_worker.report import pdf
    from PIL import Image

    left, top, wide, tall = (float(v) for v in re.search(r'viewBox="([-\d.]+) ([-\d.]+) ([\d.]+) ([\d.]+)"', svg).groups())
    roomy = re.sub(r"<svg [^>]*>", f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="{wide + 2 * EDGE}" height="{tall + 2 * EDGE}" viewBox="{left - EDGE} {top - EDGE} {wide + 2 * EDGE} {tall + 2 * EDGE}">', svg, count=1)
    image = numpy.asarray(Image.open(io.BytesIO(pdf.png_of(roomy, 72))).convert("L"))
    edge = round(EDGE * image.shape[1] / (wide + 2 * EDGE)) - 1
    inner = numpy.zeros_like(image, dtype=bool)
    inner[edge:-edge, edge:-edge] = True
    return int(((image < 200) & ~inner).sum()) > 6


def read_docx(made, path):
    import docx

    file = docx.Document(path)
    cells = [cell for table in file.tables for row in table._tbl.tr_lst for cell in ("".join(t.text or "" for t in c.iter(WORDS + "t")) for c in row.tc_lst)]
    rows_in(made, "\n".join([*(p.text for p in file.paragraphs), *cells]))
    assert len(file.inline_shapes) >= made.charts
    assert any(p.style.name.startswith("Heading") for p in file.paragraphs)
    width = file.sections[0].page_width - file.sections[0].left_margin - file.sections[0].right_margin
    assert all(shape.width <= width + 20000 for shape in file.inline_shapes), "a picture wider than the page"
    if made.doubtful:
        assert any(f"{made.doubtful}?" in p.text for p in file.paragraphs)


def read_pptx(made, path):
    from pptx import Presentation

    deck = Presentation(path)
    native = pictures = 0
    texts = []
    for slide in deck.slides:
        assert slide.has_notes_slide
        for shape in slide.shapes:
            native += shape.has_chart
            pictures += shape.shape_type == 13
            if shape.has_text_frame:
                texts.append(shape.text_frame.text)
            if shape.has_table:
                texts += [cell.text for row in shape.table.rows for cell in row.cells]
            assert shape.left >= 0 and shape.left + shape.width <= deck.slide_width + 9525, "outside the slide"
            assert shape.top >= 0 and shape.top + shape.height <= deck.slide_height + 9525, "below the slide"
    assert native + pictures >= made.charts, (native, pictures)
    text = "\n".join(texts)
    shown = [key for key in made.keys if key in text]
    rows_in(made, text, shown)
    if len(shown) < len(made.keys):
        assert len(shown) >= min(len(made.keys), 90) and ("工作簿" if made.zh else "workbook") in text, "rows are left out without a word"
    if made.doubtful:
        assert f"{made.doubtful} (?)" in text


def read_xlsx(made, path):
    import openpyxl

    book = openpyxl.load_workbook(path)
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.value is not None]
    rows_in(made, "\n".join(str(c.value) for c in cells))
    for cell in cells:
        if cell.data_type == "f":
            assert re.fullmatch(r"=(?:SUM|SUBTOTAL)\((?:109,)?[A-Z]+2:[A-Z]+\d+\)", cell.value), cell.value
    if made.kind == "formulas":
        texts = [c.value for c in cells if c.data_type == "s"]
        assert all(t in texts for t in ("=1+1", "+cmd", "-2+3", "@SUM(A1)"))
        assert any(c.data_type == "f" and c.value == "=SUM(B2:B6)" for c in cells), "a total that adds up is live"
    assert sum(len(sheet._charts) for sheet in book) >= made.native
    if made.doubtful:
        assert any(f"{made.doubtful} (?)" in str(c.value) for c in cells)


def read_html(made, path):
    import lxml.html
    import urllib.parse

    with open(path, encoding="utf-8") as file:
        text = file.read()
    root = lxml.html.fromstring(text)
    for script in root.iter("script"):
        assert script.get("src") is None
    assert not root.xpath("//iframe|//@onclick|//@onerror|//link|//base")
    assert all(src.startswith("data:") for src in root.xpath("//img/@src"))
    for svg in root.xpath("//figure[contains(@class,'chart')]/img/@src"):
        assert not clipped(urllib.parse.unquote(svg.partition(",")[2])), "a chart is cut at its edge"
    for script in root.xpath("//script|//style"):
        script.drop_tree()
    rows_in(made, root.text_content())
    assert len(root.xpath("//figure[contains(@class,'chart')]")) == made.charts
    if made.doubtful:
        assert [a.text_content() for a in root.xpath("//*[contains(@class,'doubtful') and contains(@class,'figure')]")] == [f"{made.doubtful}?"]


def read_md(made, path):
    pictures = []
    if path.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            pictures = [n for n in archive.namelist() if re.search(r"chart_\d+\.png$", n)]
            text = archive.read(next(n for n in archive.namelist() if n.endswith(".md"))).decode()
            for name in pictures:
                assert archive.read(name).startswith(b"\x89PNG") and name in text
    else:
        text = open(path, encoding="utf-8").read()
    rows_in(made, text.replace("\\", ""))
    assert len(pictures) == made.charts
    if made.doubtful:
        assert f"{made.doubtful}[^unproven]" in text and "[^unproven]: " in text


def read_ipynb(made, path):
    import nbformat

    with zipfile.ZipFile(path) as archive, tempfile.TemporaryDirectory() as folder:
        archive.extractall(folder)
        name = next(n for n in archive.namelist() if n.endswith(".ipynb"))
        book = nbformat.reads(archive.read(name).decode(), as_version=4)
        nbformat.validate(book)
        code = "\n\n".join(cell["source"] for cell in book.cells if cell["cell_type"] == "code")
        code += "\nassert list(result_s2.k if 'result_s2' in globals() else result_s1_2.k) == ['007', '=1+1']"
        assert not [n for n in archive.namelist() if n.endswith(".csv")], "a file that a spreadsheet would run"
        ran = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
        assert ran.returncode == 0 and "42" in ran.stdout, ran.stderr[-2000:]
        text = "\n".join(cell["source"] for cell in book.cells)
        for link in re.findall(r"\]\((pictures/[^)]+)\)", text):
            assert os.path.exists(os.path.join(folder, link)), link
        rows_in(made, text.replace("\\", ""))
        if made.doubtful:
            assert f"{made.doubtful} **(?)**" in text


READ = {"pdf": read_pdf, "docx": read_docx, "pptx": read_pptx, "xlsx": read_xlsx, "html": read_html, "md": read_md, "ipynb": read_ipynb}
