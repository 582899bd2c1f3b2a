"""Word: real headings, lists and tables, charts as pictures; everything can be edited."""

import io
import re

import docx
from docx.enum.section import WD_ORIENT
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.shared import Cm, Emu, Pt, RGBColor

from . import document, layout, pdf, pictures

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
GREY, DOUBT, ACCENT = RGBColor(0x66, 0x70, 0x80), RGBColor(0xB4, 0x53, 0x09), RGBColor(0x2F, 0x6F, 0xDE)
# More rows make a file that Word takes minutes to open.
MAX_ROWS = 6000


def clean(text):
    return _CONTROL.sub("", str(text))


class Paper:
    def __init__(self, doc):
        self.doc, self.file = doc, docx.Document()
        self.proofs = {p["n"]: p for part in doc.parts for p in part["proofs"]}
        self.codes = {c["code_id"]: c for part in doc.parts for c in part["codes"]}
        self._styles()

    def _styles(self):
        for name in ("Normal", *(f"Heading {n}" for n in range(1, 7)), "Title", "List Bullet", "List Number", "Quote"):
            style = self.file.styles[name]
            style.font.name = "Calibri"
            fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
            fonts.set(qn("w:eastAsia"), "Microsoft YaHei")
            for theme in ("w:asciiTheme", "w:hAnsiTheme", "w:eastAsiaTheme", "w:cstheme"):
                fonts.attrib.pop(qn(theme), None)
        self.file.styles["Normal"].font.size = Pt(10.5)
        section = self.file.sections[0]
        section.page_width, section.page_height = Cm(21), Cm(29.7)
        section.left_margin = section.right_margin = Cm(2.2)
        self._page_number(section.footer.paragraphs[0])

    @staticmethod
    def _page_number(paragraph):
        paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
        for kind, text in (("begin", None), (None, "PAGE"), ("end", None)):
            run = paragraph.add_run()
            part = OxmlElement("w:fldChar" if kind else "w:instrText")
            if kind:
                part.set(qn("w:fldCharType"), kind)
            else:
                part.text = text
            run._r.append(part)

    def runs(self, paragraph, runs):
        for run in runs:
            if "br" in run:
                paragraph.add_run().add_break()
            elif "math" in run:
                self.formula(paragraph, run["math"])
            elif "t" in run:
                self.run(paragraph, run)

    def run(self, paragraph, run):
        target = self.link(paragraph, run["href"]) if run.get("href") and not run["href"].startswith("#") else paragraph
        made = target.add_run(clean(run["t"])) if target is paragraph else self.linked(target, paragraph, clean(run["t"]))
        made.bold, made.italic = run.get("b") or None, run.get("i") or None
        made.font.strike = run.get("s") or None
        if run.get("c"):
            made.font.name = "Consolas"
        proof = self.proofs.get(run.get("fig"))
        if proof and proof["marked"]:
            made.font.underline, made.font.color.rgb = True, DOUBT
            mark = paragraph.add_run("?")
            mark.font.superscript, mark.font.color.rgb = True, DOUBT

    def link(self, paragraph, address):
        """A hyperlink element; Word follows it only when the reader asks."""
        relation = paragraph.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
        element = OxmlElement("w:hyperlink")
        element.set(qn("r:id"), relation)
        paragraph._p.append(element)
        return element

    @staticmethod
    def linked(element, paragraph, text):
        made = paragraph.add_run(text)
        made.font.color.rgb, made.font.underline = ACCENT, True
        element.append(made._r)
        return made

    def formula(self, paragraph, tex, scale=1.0):
        drawn = pictures.formula(tex)
        if not drawn:
            made = paragraph.add_run(clean(tex))
            made.font.name = "Cambria Math"
            return
        picture = paragraph.add_run().add_picture(io.BytesIO(pdf.png_of(drawn[0], 288)), width=Emu(int(drawn[1] * scale * 12700)))
        _describe(picture, tex)

    def blocks(self, blocks, level=0):
        for block in blocks:
            self.block(block, level)

    def block(self, block, level=0):
        kind, file = block["k"], self.file
        if kind == "para":
            self.runs(file.add_paragraph(), block["runs"])
        elif kind == "heading":
            self.runs(file.add_heading(level=min(block["level"] + 1, 6)), block["runs"])
        elif kind == "code":
            self.code(block["text"])
        elif kind == "list":
            self.list(block, level)
        elif kind == "quote":
            for inner in block["blocks"]:
                if inner["k"] == "para":
                    self.runs(file.add_paragraph(style="Quote"), inner["runs"])
                else:
                    self.block(inner, level)
        elif kind == "table":
            self.table(block)
        elif kind == "math":
            paragraph = file.add_paragraph()
            paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER
            self.formula(paragraph, block["tex"], 1.15)
        elif kind == "chart":
            self.chart(block)
        elif kind == "image":
            self.picture(block["bytes"], min(block["w"] / 96 * 2.54, 16.5), block["alt"])
        elif kind == "note":
            self.note(block["text"])
        elif kind == "codemark" and block["id"] in self.codes:
            made = file.add_paragraph().add_run("→ " + clean(self.code_title(self.codes[block["id"]])))
            made.font.color.rgb = ACCENT

    def code_title(self, code):
        return self.doc.say("code_n", n=code["n"]) + (f": {code['description']}" if code.get("description") else "")

    def note(self, text):
        made = self.file.add_paragraph().add_run("⚠ " + clean(text))
        made.font.color.rgb = DOUBT

    def code(self, text):
        paragraph = self.file.add_paragraph()
        shade = OxmlElement("w:shd")
        for key, value in (("w:val", "clear"), ("w:color", "auto"), ("w:fill", "F6F8FA")):
            shade.set(qn(key), value)
        paragraph._p.get_or_add_pPr().append(shade)
        for index, line in enumerate(clean(text).split("\n")):
            run = paragraph.add_run(line)
            run.font.name, run.font.size = "Consolas", Pt(8.5)
            run._r.get_or_add_rPr().get_or_add_rFonts().set(qn("w:eastAsia"), "Microsoft YaHei")
            if index < text.count("\n"):
                run.add_break()

    def list(self, block, level):
        name = "List Number" if block["ordered"] else "List Bullet"
        style = name if level == 0 else f"{name} {min(level + 1, 3)}"
        for number, item in enumerate(block["items"]):
            first = True
            for inner in item:
                if inner["k"] == "para" and first:
                    # A number of its own: Word would go on counting from the list before.
                    paragraph = self.file.add_paragraph(style=style if not block["ordered"] else "Normal")
                    if block["ordered"]:
                        paragraph.paragraph_format.left_indent, paragraph.paragraph_format.first_line_indent = Cm(0.8 * (level + 1)), Cm(-0.6)
                        paragraph.add_run(f"{block['start'] + number}. ")
                    self.runs(paragraph, inner["runs"])
                    first = False
                else:
                    self.block(inner, level + 1)

    def table(self, block):
        aligns, pieces = layout.aligns(block), layout.pieces(block)
        turned = any(piece["wide"] for piece in pieces)
        if turned:
            self._section(True)
        rows = block["rows"][:MAX_ROWS]
        for piece in pieces:
            columns = piece["columns"]
            if len(pieces) > 1:
                self._quiet(self.doc.say("columns_of", first=columns[1] + 1, last=columns[-1] + 1, all=len(block["header"])))
            self._grid(block, rows, columns, aligns, piece["size"])
        if len(block["rows"]) > len(rows):
            self.note(self.doc.say("rows_left", shown=len(rows), all=len(block["rows"])))
        if turned:
            self._section(False)

    def _grid(self, block, rows, columns, aligns, size):
        table = self.file.add_table(rows=1, cols=len(columns), style="Light Grid Accent 1")
        table.autofit = True
        repeat = OxmlElement("w:tblHeader")
        repeat.set(qn("w:val"), "true")
        table.rows[0]._tr.get_or_add_trPr().append(repeat)
        # One row is made by hand and copied: adding rows through the library takes quadratic time.
        self._cells(table.rows[0]._tr, table, [block["header"][c] for c in columns], [aligns[c] for c in columns], size, True)
        body = table._tbl
        for row in rows:
            line = OxmlElement("w:tr")
            for c in columns:
                cell = OxmlElement("w:tc")
                cell.append(self._paragraph(row[c] if c < len(row) else [], aligns[c], size))
                line.append(cell)
            body.append(line)

    def _cells(self, line, table, cells, aligns, size, bold):
        for cell, runs, align in zip(table.rows[0].cells, cells, aligns):
            paragraph = cell.paragraphs[0]
            self.runs(paragraph, runs)
            if align == "right":
                paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
            for run in paragraph.runs:
                run.font.size, run.bold = Pt(size), bold

    def _paragraph(self, runs, align, size):
        from docx.text.paragraph import Paragraph

        paragraph = Paragraph(OxmlElement("w:p"), self.file._body)
        if align in ("right", "center"):
            paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT if align == "right" else WD_ALIGN_PARAGRAPH.CENTER
        self.runs(paragraph, runs)
        for run in paragraph.runs:
            run.font.size = Pt(size)
        return paragraph._p

    def _section(self, turned):
        section = self.file.add_section()
        section.orientation = WD_ORIENT.LANDSCAPE if turned else WD_ORIENT.PORTRAIT
        section.page_width, section.page_height = (Cm(29.7), Cm(21)) if turned else (Cm(21), Cm(29.7))

    def _quiet(self, text):
        made = self.file.add_paragraph().add_run(clean(text))
        made.font.size, made.font.color.rgb = Pt(9), GREY

    def chart(self, block):
        if not block.get("_svg"):
            self.note(self.doc.chart_note(block))
            table = document.chart_table(block)
            if table:
                self.table(table)
            return
        self.picture(pdf.png_of(block["_svg"]), 16.5, block["title"] or self.doc.say("chart_n", n=block["n"]))
        caption = self.file.add_paragraph()
        caption.alignment = WD_ALIGN_PARAGRAPH.CENTER
        made = caption.add_run(clean(" · ".join(filter(None, (self.doc.say("chart_n", n=block["n"]), block["title"], block.get("source_name"))))))
        made.font.size, made.font.color.rgb = Pt(9), GREY

    def picture(self, data, width, alt):
        paragraph = self.file.add_paragraph()
        paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER
        picture = paragraph.add_run().add_picture(io.BytesIO(data), width=Cm(width))
        if picture.height > Cm(22):
            picture.width, picture.height = int(picture.width * Cm(22) / picture.height), Cm(22)
        _describe(picture, alt)

    def part(self, part):
        say = self.doc.say
        label = " · ".join(filter(None, (say("question") + (f" {part['number']}" if len(self.doc.parts) > 1 else ""), part["asked"], part["model"])))
        self._quiet(label)
        question = self.file.add_paragraph(clean(part["question"]), style="Intense Quote")
        question.paragraph_format.left_indent = Cm(0)
        self.blocks(part["blocks"])
        if part["marked"]:
            self.note(say("marked"))
        if part["summary"]:
            self._quiet(part["summary"])
        for note in part["notes"]:
            self.note(note)

    def appendix(self):
        say = self.doc.say
        if any(p["sources"] or p["proofs"] for p in self.doc.parts):
            self.file.add_heading(say("proofs"), 1)
            for part in self.doc.parts:
                for s in part["sources"]:
                    self.file.add_heading(clean(" · ".join(filter(None, (s["name"], s["tool"], s["connection"])))), 3)
                    if s["what"]:
                        self.code(s["what"])
                if part["proofs"]:
                    rows = [[[{"t": p["text"], **({"fig": p["n"]} if p["marked"] else {})}], [{"t": p["said"]}], [{"t": p["origin"]}]] for p in part["proofs"]]
                    self.table({"k": "table", "header": [[{"t": say(k)}] for k in ("figure", "state", "origin")], "rows": rows, "align": [None] * 3})
        codes = [c for p in self.doc.parts for c in p["codes"]]
        if codes:
            self.file.add_heading(say("code"), 1)
            for code in codes:
                self.file.add_heading(clean(self.code_title(code)), 3)
                self.code(code["code"])


def _describe(picture, text):
    picture._inline.docPr.set("descr", clean(text)[:250])


def write(doc, out, progress):
    doc.draw_all(progress)
    paper = Paper(doc)
    paper.file.core_properties.title = clean(doc.title)[:250]
    paper.file.core_properties.author = "BA-Agent"
    paper.file.add_heading(clean(doc.title), 0)
    paper._quiet(doc.facts())
    for index, part in enumerate(doc.parts):
        progress(0.7 + 0.25 * index / len(doc.parts), "Word")
        paper.part(part)
    paper.appendix()
    paper.file.save(out)
