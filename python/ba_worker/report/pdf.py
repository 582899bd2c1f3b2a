"""PDF, by Typst. The report goes in as data beside a fixed template."""

import json
import os
import re
import shutil
import tempfile

import typst

from . import charts, document, fonts, layout, pictures
from .runs import plain

_LONG = re.compile(r"[^\s\u2e80-\uffff\u200b]{24,}")
_LABEL = re.compile(r"[^a-zA-Z0-9_-]")
# More rows are for the workbook: typesetting them takes longer than anybody reads.
MAX_ROWS = 6000


class Paper:
    def __init__(self, doc, folder):
        self.doc, self.folder, self.glyphs, self.formulas = doc, folder, fonts.Glyphs(), {}
        self.proven = {p["n"]: p for part in doc.parts for p in part["proofs"]}
        self.codes = {c["code_id"]: c for part in doc.parts for c in part["codes"]}

    def text(self, text, longest=60):
        """Fit for the fonts; a word that would stick out of the page may break."""
        text = self.glyphs.fit(text)
        if len(text) <= 24:
            return text
        return _LONG.sub(lambda m: m[0] if len(m[0]) <= longest else "\u200b".join(m[0][i : i + 12] for i in range(0, len(m[0]), 12)), text)

    def write(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data)
        return name

    def formula(self, tex):
        if tex not in self.formulas:
            drawn = pictures.formula(tex)
            name = f"formula_{len(self.formulas)}.svg"
            self.formulas[tex] = (self.write(name, drawn[0].encode()), *drawn[1:]) if drawn else None
        return self.formulas[tex]

    def runs(self, runs, longest=60):
        if len(runs) == 1 and set(runs[0]) == {"t"}:
            return self.text(runs[0]["t"], longest)
        return [self.run(r, longest) for r in runs]

    def run(self, run, longest):
        if "math" in run:
            drawn = self.formula(run["math"])
            return {"math": self.text(run["math"]), "file": drawn and drawn[0], "w": drawn[1] if drawn else 0, "depth": drawn[3] if drawn else 0}
        if "t" not in run:
            return run
        found = {**run, "t": self.text(run["t"], longest)}
        proof = self.proven.get(run.get("fig"))
        if proof:
            found["to"] = True
            if proof["marked"]:
                found["marked"] = True
        return found

    def blocks(self, blocks):
        return [made for block in blocks for made in self.block(block)]

    def block(self, block):
        kind = block["k"]
        if kind == "para":
            return [{"k": "para", "runs": self.runs(block["runs"])}]
        if kind == "heading":
            return [{"k": "heading", "level": block["level"], "runs": self.runs(block["runs"])}]
        if kind == "code":
            return [{"k": "code", "lang": _LABEL.sub("", block["lang"])[:20] or "text", "text": self.text(block["text"], 90)}]
        if kind == "list":
            return [{**block, "items": [self.blocks(item) for item in block["items"]]}]
        if kind == "quote":
            return [{"k": "quote", "blocks": self.blocks(block["blocks"])}]
        if kind == "table":
            return self.table(block)
        if kind == "math":
            drawn = self.formula(block["tex"])
            return [{"k": "math", "tex": self.text(block["tex"]), "file": drawn and drawn[0], "w": min(drawn[1], 380) if drawn else 0}]
        if kind == "chart":
            return self.chart(block)
        if kind == "image":
            return [self.image(block)]
        if kind == "note":
            return [{"k": "note", "text": self.text(block["text"])}]
        if kind == "codemark":
            code = self.codes.get(block["id"])
            return [{"k": "codemark", "id": _LABEL.sub("-", block["id"]), "text": "→ " + self.text(self.code_title(code))}] if code else []
        return [block] if kind == "rule" else []

    def code_title(self, code):
        return self.doc.say("code_n", n=code["n"]) + (f": {code['description']}" if code.get("description") else "")

    def image(self, block):
        name = self.write(block["name"], block["bytes"])
        shown = min(block["w"] * 0.62, 470)
        tall = shown * block["h"] / max(block["w"], 1)
        return {"k": "image", "file": name, "width": shown * min(1, 640 / max(tall, 1)), "height": min(tall, 640)}

    def chart(self, block):
        svg = block.get("_svg")
        if not svg:
            table = document.chart_table(block)
            return [{"k": "note", "text": self.text(self.doc.chart_note(block))}, *(self.table(table) if table else ())]
        svg = charts.with_font(self.glyphs.fit(svg), fonts.FAMILY)
        caption = self.doc.say("chart_n", n=block["n"]) + (f" · {block['source_name']}" if block.get("source_name") else "")
        return [{"k": "chart", "file": self.write(f"chart_{block['n']}.svg", svg.encode()), "caption": caption}]

    def table(self, block):
        aligns, found = layout.aligns(block), []
        rows = block["rows"][:MAX_ROWS]
        pieces = layout.pieces(block)
        for piece in pieces:
            columns = piece["columns"]
            caption = None
            if len(pieces) > 1:
                caption = self.doc.say("columns_of", first=columns[1] + 1, last=columns[-1] + 1, all=len(block["header"]))
            blank = []
            found.append({
                "k": "table", "size": piece["size"], "caption": caption, "align": [aligns[c] for c in columns],
                "header": [self.runs(block["header"][c], 14) for c in columns],
                "cells": [self.runs(row[c] if c < len(row) else blank, 14) for row in rows for c in columns],
            })
        if pieces[0]["wide"]:
            found = [{"k": "turned", "tables": found}]
        if len(block["rows"]) > len(rows):
            found.append({"k": "note", "text": self.doc.say("rows_left", shown=len(rows), all=len(block["rows"]))})
        return found

    def part(self, part):
        say = self.doc.say
        label = say("question") + (f" {part['number']}" if len(self.doc.parts) > 1 else "") + (f" · {part['asked']}" if part["asked"] else "") + (f" · {say('model')}: {part['model']}" if part["model"] else "")
        about = lambda s: " · ".join(filter(None, (s["tool"], s["connection"], f"{say('rows')} {s['rows']}" if s["rows"] is not None else "")))
        return {
            "label": self.text(label), "question": self.text(part["question"]), "blocks": self.blocks(part["blocks"]), "marked": part["marked"], "summary": part["summary"],
            "notes": [self.text(n) for n in part["notes"]],
            "proofs": [{"n": p["n"], "text": self.text(p["text"]), "said": p["said"], "origin": self.text(p["origin"], 40), "marked": p["marked"]} for p in part["proofs"]],
            "sources": [{"name": s["name"], "about": self.text(about(s)), "what": self.text(s["what"], 90), "lang": s["lang"] or "text"} for s in part["sources"]],
            "codes": [{"code_id": _LABEL.sub("-", c["code_id"]), "title": self.text(self.doc.say("code_n", n=c["n"])), "about": self.text(f"{c.get('description') or ''} ({c['code_id']})"),
                       "code": self.text(c["code"], 90), "lang": _LABEL.sub("", c.get("language") or "") or "text"} for c in part["codes"]],
        }

    def data(self):
        from . import words

        doc = self.doc
        parts = [self.part(p) for p in doc.parts]
        if self.glyphs.missing:
            parts[-1]["notes"].append(doc.say("no_glyph", list=self.glyphs.listed()))
        return {"title": self.text(doc.title), "short": self.text(doc.title[:60]), "lang": doc.lang, "made": doc.made, "facts": doc.facts(), "page": words._SAID["page_of"][0 if doc.lang == "zh" else 1],
                "words": words.table(doc.lang), "parts": parts}


def write(doc, out, progress):
    doc.draw_all(progress)
    folder = tempfile.mkdtemp(prefix=".pdf_", dir=".")
    try:
        paper = Paper(doc, folder)
        data = paper.data()
        with open(os.path.join(folder, "report.json"), "w", encoding="utf-8") as file:
            json.dump(data, file, ensure_ascii=False)
        shutil.copyfile(os.path.join(os.path.dirname(__file__), "report.typ"), os.path.join(folder, "report.typ"))
        progress(0.75, "PDF")
        typst.compile(os.path.join(folder, "report.typ"), output=out, root=folder, font_paths=[fonts.folder()], ignore_system_fonts=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def png_of(svg, ppi=180):
    """A chart as PNG, for formats that cannot hold vectors."""
    folder = tempfile.mkdtemp(prefix=".png_", dir=".")
    try:
        with open(os.path.join(folder, "a.svg"), "w", encoding="utf-8") as file:
            file.write(charts.with_font(fonts.Glyphs().fit(svg), fonts.FAMILY))
        with open(os.path.join(folder, "a.typ"), "w", encoding="utf-8") as file:
            file.write('#set page(width: auto, height: auto, margin: 0pt, fill: white)\n#image("a.svg")\n')
        return typst.compile(os.path.join(folder, "a.typ"), format="png", ppi=ppi, root=folder, font_paths=[fonts.folder()], ignore_system_fonts=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
