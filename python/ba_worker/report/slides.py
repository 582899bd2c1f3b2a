"""Slides: a title, then one finding a slide with its native, editable chart or its table, and the source in the notes."""

import io
import re

from pptx import Presentation
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.dml.color import RGBColor
from pptx.enum.chart import XL_CHART_TYPE, XL_LEGEND_POSITION
from pptx.enum.shapes import MSO_SHAPE
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.oxml.ns import qn
from pptx.util import Emu, Inches, Pt

from . import document, layout, pdf
from .runs import plain

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
ROWS, COLUMNS, TABLE_SLIDES, MAX_SLIDES = 13, 8, 8, 120
MAX_CELL = 160
LINES = 9
# Words that fit above a chart or a table, and the room they take.
LEAD_LINES, LEAD_WIDTH, LEAD_ROOM, LEAD_ROWS = 3, 300, 1.15, 9
TOP, BOTTOM, LEFT, WIDE = 1.4, 6.95, 0.6, 12.1
PALETTE = ("2F6FDE", "E8833A", "1F9E89", "B5539C", "C9A227", "5B8FB9", "7D6BC4", "8A8F98")
INK, GREY, DOUBT, ACCENT = RGBColor(0x20, 0x24, 0x2B), RGBColor(0x66, 0x70, 0x80), RGBColor(0xB4, 0x53, 0x09), RGBColor(0x2F, 0x6F, 0xDE)
HEAD, BAND, PAPER = RGBColor(0x2F, 0x6F, 0xDE), RGBColor(0xF3, 0xF6, 0xFB), RGBColor(0xFF, 0xFF, 0xFF)


def clean(text):
    return _CONTROL.sub("", str(text))


class Deck:
    def __init__(self, doc):
        self.doc, self.deck = doc, Presentation()
        self.deck.slide_width, self.deck.slide_height = Inches(13.333), Inches(7.5)
        self.blank = self.deck.slide_layouts[6]
        self.proofs = {p["n"]: p for part in doc.parts for p in part["proofs"]}

    def slide(self, title, notes):
        slide = self.deck.slides.add_slide(self.deck.slide_layouts[5])
        holder = slide.shapes.title
        holder.left, holder.top, holder.width, holder.height = Inches(0.6), Inches(0.35), Inches(12.1), Inches(0.95)
        holder.text_frame.word_wrap = True
        self.write(holder.text_frame.paragraphs[0], clean(title)[:140], 26 if len(title) < 50 else 20, bold=True)
        holder.text_frame.paragraphs[0].alignment = PP_ALIGN.LEFT
        slide.notes_slide.notes_text_frame.text = clean(notes)[:8000]
        self.bar(slide, 0, 0.5, 0.14, 0.66)
        frame = slide.shapes.add_textbox(Inches(LEFT), Inches(7.03), Inches(WIDE), Inches(0.35)).text_frame
        frame.word_wrap, foot = True, frame.paragraphs[0]
        foot.alignment = PP_ALIGN.RIGHT
        self.write(foot, f"{clean(self.doc.title)[:60]}  ·  {len(self.deck.slides)}", 10, GREY)
        return slide

    @staticmethod
    def bar(slide, left, top, wide, tall):
        shape = slide.shapes.add_shape(MSO_SHAPE.RECTANGLE, *map(Inches, (left, top, wide, tall)))
        shape.fill.solid()
        shape.fill.fore_color.rgb = ACCENT
        shape.line.fill.background()
        shape.shadow.inherit = False

    @staticmethod
    def write(paragraph, text, size, colour=INK, bold=False):
        run = paragraph.add_run()
        run.text = text
        run.font.size, run.font.bold, run.font.color.rgb = Pt(size), bold, colour
        run.font.name = "Calibri"
        east = run._r.get_or_add_rPr().makeelement(qn("a:ea"), {"typeface": "Microsoft YaHei"})
        run._r.get_or_add_rPr().append(east)
        return run

    def full(self):
        return len(self.deck.slides) >= MAX_SLIDES

    def title(self):
        slide = self.deck.slides.add_slide(self.deck.slide_layouts[0])
        for holder, place in ((slide.shapes.title, (0.9, 2.2, 11.5, 1.8)), (slide.placeholders[1], (0.9, 4.1, 11.5, 1.4))):
            holder.left, holder.top, holder.width, holder.height = map(Inches, place)
        self.write(slide.shapes.title.text_frame.paragraphs[0], clean(self.doc.title)[:140], 36, bold=True)
        slide.shapes.title.text_frame.paragraphs[0].alignment = PP_ALIGN.LEFT
        frame = slide.placeholders[1].text_frame
        frame.paragraphs[0].alignment = PP_ALIGN.LEFT
        facts = f"{self.doc.made} · {self.doc.given.get('conversation_id', '')}"
        self.write(frame.paragraphs[0], clean(facts), 16, GREY)
        self.bar(slide, 0.95, 1.95, 1.6, 0.09)
        slide.notes_slide.notes_text_frame.text = clean("\n\n".join(p["question"] for p in self.doc.parts))[:8000]

    def lead(self, slide, lines):
        """The words that belong to the chart or table, above it; how far down they reach, in inches."""
        if not lines:
            return TOP
        frame = slide.shapes.add_textbox(Inches(LEFT), Inches(TOP - 0.1), Inches(WIDE), Inches(LEAD_ROOM)).text_frame
        frame.word_wrap = True
        for index, (runs, _) in enumerate(lines):
            self.runs(frame.paragraphs[0] if index == 0 else frame.add_paragraph(), runs, 16)
        return TOP + LEAD_ROOM

    def bullets(self, title, lines, notes):
        for start in range(0, len(lines), LINES):
            if self.full():
                return
            slide = self.slide(title, notes)
            frame = slide.shapes.add_textbox(Inches(0.65), Inches(1.5), Inches(12), Inches(5.5)).text_frame
            frame.word_wrap = True
            piece = lines[start : start + LINES]
            size = 20 if sum(layout.width(plain(r)) for r, _ in piece) < 700 else 15
            for index, (runs, level) in enumerate(piece):
                paragraph = frame.paragraphs[0] if index == 0 else frame.add_paragraph()
                paragraph.space_after = Pt(8)
                self.runs(paragraph, [{"t": "    " * level + "• "}, *runs], size)

    def runs(self, paragraph, runs, size):
        for run in runs:
            text = clean(run.get("t") or run.get("math") or " ")
            proof = self.proofs.get(run.get("fig"))
            marked = bool(proof and proof["marked"])
            self.write(paragraph, text + (" (?)" if marked else ""), size, DOUBT if marked else INK, bool(run.get("b")))

    def chart(self, block, title, notes, lead):
        data = block["data"]
        if not data and not block.get("_svg"):
            return self.bullets(title, [*lead, ([{"t": "⚠ " + self.doc.chart_note(block)}], 0)], notes)
        slide = self.slide(block["title"] or title, notes)
        top = self.lead(slide, lead)
        if block.get("_svg"):
            return self.picture(slide, pdf.png_of(block["_svg"]), block["title"], top)
        place = map(Inches, (LEFT, top, WIDE, BOTTOM - top))
        return self.native(slide.shapes.add_chart(_kind(data), *place, _data(data)).chart, data)

    @staticmethod
    def picture(slide, data, described, top=TOP):
        """As large as fits, in the middle."""
        picture = slide.shapes.add_picture(io.BytesIO(data), 0, 0)
        scale = min(Inches(WIDE) / picture.width, Inches(BOTTOM - top) / picture.height)
        picture.width, picture.height = int(picture.width * scale), int(picture.height * scale)
        picture.left, picture.top = Inches(LEFT) + (Inches(WIDE) - picture.width) // 2, Inches(top)
        picture._element.nvPicPr.cNvPr.set("descr", clean(described)[:250])

    @staticmethod
    def native(chart, data):
        chart.font.size, chart.has_title = Pt(13), False
        chart.has_legend = len(data["series"]) > 1 or data["kind"] == "pie"
        if chart.has_legend:
            chart.legend.position, chart.legend.include_in_layout = XL_LEGEND_POSITION.BOTTOM, False
        plot = chart.plots[0]
        if data["kind"] == "pie":
            plot.has_data_labels = True
            plot.data_labels.show_percentage, plot.data_labels.show_value = True, False
            for index in range(len(data["categories"])):
                fill = plot.series[0].points[index].format.fill
                fill.solid()
                fill.fore_color.rgb = RGBColor.from_string(PALETTE[index % len(PALETTE)])
            return
        if data["kind"] == "bar":
            plot.gap_width = 70
            plot.has_data_labels = len(data["categories"]) * len(data["series"]) <= 24
            if plot.has_data_labels:
                plot.data_labels.font.size, plot.data_labels.number_format, plot.data_labels.number_format_is_linked = Pt(11), "#,##0.##", False
        for index, series in enumerate(plot.series):
            colour = RGBColor.from_string(PALETTE[index % len(PALETTE)])
            if data["kind"] == "line" and not data["area"]:
                series.format.line.color.rgb, series.smooth = colour, False
            elif data["kind"] == "scatter":
                series.format.line.fill.background()
                series.marker.size = 9
                series.marker.format.fill.solid()
                series.marker.format.fill.fore_color.rgb = colour
            else:
                series.format.fill.solid()
                series.format.fill.fore_color.rgb = colour
        if data["kind"] != "scatter":
            chart.value_axis.tick_labels.number_format, chart.value_axis.tick_labels.number_format_is_linked = "#,##0.##", False
        chart.value_axis.major_gridlines.format.line.color.rgb = RGBColor(0xD5, 0xDA, 0xE1)

    def table(self, block, title, notes, lead):
        aligns, chars = layout.aligns(block), layout.wanted(block)
        pieces = [(rows, c) for c in _columns(len(block["header"])) for rows in _rows(block, c, chars)]
        if lead and len(pieces[0][0]) > LEAD_ROWS:
            self.bullets(title, lead, notes)
            lead = []
        shown, seen = pieces[:TABLE_SLIDES], 0
        for index, (rows, columns) in enumerate(shown):
            if self.full():
                return
            named = f"{title} ({index + 1}/{len(pieces)})" if len(pieces) > 1 else title
            slide = self.slide(named, notes)
            self.grid(slide, block, rows, columns, aligns, chars, self.lead(slide, lead if index == 0 else []))
            seen = max(seen, rows[-1] + 1 if rows else 0)
            if index == len(shown) - 1 and len(pieces) > len(shown):
                box = slide.shapes.add_textbox(Inches(LEFT), Inches(7.03), Inches(9), Inches(0.35)).text_frame
                self.write(box.paragraphs[0], self.doc.say("rows_left", shown=seen, all=len(block["rows"])), 12, DOUBT)

    def grid(self, slide, block, rows, columns, aligns, chars, top):
        tall = Inches(min(0.5, max(0.36, (BOTTOM - top) / (len(rows) + 1))))
        total = sum(chars[c] for c in columns)
        wide = min(WIDE, max(0.14 * total, 5))
        table = slide.shapes.add_table(len(rows) + 1, len(columns), Inches(LEFT), Inches(top), Inches(wide), tall * (len(rows) + 1)).table
        for place, column in enumerate(columns):
            table.columns[place].width = int(Inches(wide) * chars[column] / total)
            self.cell(table.cell(0, place), block["header"][column], aligns[column], HEAD)
            for line, index in enumerate(rows):
                row = block["rows"][index]
                self.cell(table.cell(line + 1, place), row[column] if column < len(row) else [], aligns[column], BAND if line % 2 else PAPER)

    def cell(self, cell, runs, align, fill):
        cell.margin_top = cell.margin_bottom = Emu(30000)
        cell.vertical_anchor = MSO_ANCHOR.MIDDLE
        cell.fill.solid()
        cell.fill.fore_color.rgb = fill
        paragraph, head, left = cell.text_frame.paragraphs[0], fill == HEAD, MAX_CELL
        if align == "right":
            paragraph.alignment = PP_ALIGN.RIGHT
        for run in runs or [{"t": ""}]:
            proof = self.proofs.get(run.get("fig"))
            doubt = bool(proof and proof["marked"])
            text = clean(run.get("t") or run.get("math") or "")
            text, left = (text if len(text) <= left else text[: max(left, 0)] + "…"), left - len(text)
            self.write(paragraph, text + (" (?)" if doubt else ""), 12, PAPER if head else DOUBT if doubt else INK, head)
            if left <= 0:
                return

    def part(self, part):
        notes = _notes(self.doc, part)
        if len(self.doc.parts) > 1 and not self.full():
            self.bullets(f"{self.doc.say('question')} {part['number']}", [([{"t": part["question"]}], 0)], notes)
        title, lines = first_title(part), []

        def flush():
            nonlocal lines
            if lines:
                self.bullets(title, lines, notes)
            lines = []

        for block in part["blocks"]:
            if self.full():
                return
            if block["k"] == "heading":
                flush()
                title = plain(block["runs"]) or title
            elif block["k"] in ("chart", "table"):
                own, lead = block.get("source_name"), lines if _is_short(lines) else []
                if lead:
                    lines = []
                flush()
                (self.chart if block["k"] == "chart" else self.table)(block, title, notes + (f"\n{self.doc.say('source')}: {own}" if own else ""), lead)
            elif block["k"] == "image":
                flush()
                self.picture(self.slide(block["alt"] or title, notes), block["bytes"], block["alt"])
            else:
                lines += list(_lines(block, self.doc))
        flush()


def _is_short(lines):
    return 0 < len(lines) <= LEAD_LINES and sum(layout.width(plain(runs)) for runs, _ in lines) <= LEAD_WIDTH


def _rows(block, columns, chars):
    """Indices of the rows of each slide, by the lines that their longest cells take."""
    total = sum(chars[c] for c in columns)
    room = {c: max(145 * chars[c] / total, 4) for c in columns}
    count = len(block["rows"])
    found, now, used = [], [], 0
    lines_of = lambda row: max((-(-min(layout.width(plain(row[c])), MAX_CELL * 2) // int(room[c])) for c in columns if c < len(row)), default=1) or 1
    if all(lines_of(row) == 1 for row in block["rows"]):
        slides = max(-(-count // ROWS), 1)
        cuts = [count * n // slides for n in range(slides + 1)]
        return [list(range(first, last)) for first, last in zip(cuts, cuts[1:])]
    for index, row in enumerate(block["rows"]):
        lines = lines_of(row)
        if now and used + lines > ROWS:
            found.append(now)
            now, used = [], 0
        now.append(index)
        used += lines
    return [*found, now]


def first_title(part):
    return document.first_words(part["blocks"], 60) or part["question"][:60]


def _lines(block, doc, level=0):
    """The words of a block as (runs, level)."""
    kind = block["k"]
    if kind == "para":
        yield block["runs"], level
    elif kind == "math":
        yield [{"t": block["tex"]}], level
    elif kind == "note":
        yield [{"t": "⚠ " + block["text"]}], level
    elif kind == "list":
        for item in block["items"]:
            for inner in item:
                yield from _lines(inner, doc, level + (inner["k"] == "list"))
    elif kind == "quote":
        for inner in block["blocks"]:
            yield from _lines(inner, doc, level)
    elif kind == "code":
        yield [{"t": block["text"][:300]}], level


def _notes(doc, part):
    found = [f"{doc.say('question')}: {part['question']}", f"{doc.say('sources')}:"]
    found += [f"{s['name']} {s['tool']} {s['connection']}\n{s['what'][:1500]}" for s in part["sources"]]
    found += [part["summary"], *part["notes"]]
    found += [f"? {p['text']}: {p['origin']}" for p in part["proofs"] if p["marked"]]
    return "\n".join(filter(None, found))


def _columns(count):
    """Groups of columns; the first one is in each."""
    if count <= COLUMNS:
        return [list(range(count))]
    groups = -(-(count - 1) // (COLUMNS - 1))
    cuts = [1 + (count - 1) * n // groups for n in range(groups + 1)]
    return [[0, *range(first, last)] for first, last in zip(cuts, cuts[1:])]


def _kind(data):
    if data["kind"] == "pie":
        return XL_CHART_TYPE.DOUGHNUT if data.get("ring") else XL_CHART_TYPE.PIE
    if data["kind"] == "scatter":
        return XL_CHART_TYPE.XY_SCATTER
    if data["kind"] == "line":
        return (XL_CHART_TYPE.AREA_STACKED if data["stacked"] else XL_CHART_TYPE.AREA) if data["area"] else XL_CHART_TYPE.LINE_MARKERS
    plain_kind, stacked = (XL_CHART_TYPE.BAR_CLUSTERED, XL_CHART_TYPE.BAR_STACKED) if data["horizontal"] else (XL_CHART_TYPE.COLUMN_CLUSTERED, XL_CHART_TYPE.COLUMN_STACKED)
    return stacked if data["stacked"] else plain_kind


def _data(data):
    if data["kind"] == "scatter":
        made = XyChartData()
        for series in data["series"]:
            points = made.add_series(clean(series["name"]) or "y")
            for x, y in series["points"]:
                points.add_data_point(x, y)
        return made
    made = CategoryChartData()
    made.categories = [clean(c) for c in data["categories"]]
    for series in data["series"]:
        made.add_series(clean(series["name"]) or " ", series["values"])
    return made


def write(doc, out, progress):
    # Only charts without a native form need a picture; one axis and one kind is all that the library can draw.
    for owner, block in doc.charts:
        if not block["data"] or len({(s.get("kind"), s.get("axis")) for s in block["data"]["series"]}) > 1:
            owner.svg(block)
    deck = Deck(doc)
    deck.deck.core_properties.title, deck.deck.core_properties.author = clean(doc.title)[:250], "BA-Agent"
    deck.title()
    for index, part in enumerate(doc.parts):
        progress(0.4 + 0.5 * index / len(doc.parts), "PowerPoint")
        deck.part(part)
    deck.deck.save(out)
