"""One HTML file with everything in it: charts react to the reader, and nothing is fetched. Only the two scripts written here may run."""

import base64
import hashlib
import html
import json
import os
import re
import urllib.parse

from . import charts, document, layout, pictures

_DATE = re.compile(r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?: [\d:]+)?")

_SANS = "system-ui, -apple-system, 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', sans-serif"
_HERE = os.path.dirname(__file__)


def esc(text):
    return html.escape(str(text), quote=True)


class Writer:
    def __init__(self, doc):
        self.doc = doc
        self.proofs = {p["n"]: p for part in doc.parts for p in part["proofs"]}
        self.codes = {c["code_id"]: c for part in doc.parts for c in part["codes"]} if doc.has_appendix else {}

    def runs(self, runs):
        return "".join(map(self.run, runs))

    def run(self, run):
        if "math" in run:
            return self.formula(run["math"], "formula")
        if "br" in run:
            return "<br>"
        if "t" not in run:
            return ""
        text = esc(run["t"])
        for key, tag in (("c", "code"), ("b", "strong"), ("i", "em"), ("s", "s")):
            if run.get(key):
                text = f"<{tag}>{text}</{tag}>"
        if run.get("href"):
            text = f'<a href="{esc(run["href"])}" rel="noopener noreferrer nofollow">{text}</a>'
        proof = self.proofs.get(run.get("fig"))
        if proof:
            mark = "<sup>?</sup>" if proof["marked"] else ""
            if not self.doc.has_appendix:
                return f'<span class="figure doubtful" title="{esc(proof["said"])}">{text}{mark}</span>' if mark else text
            text = f'<a class="figure{" doubtful" if proof["marked"] else ""}" href="#proof-{proof["n"]}" title="{esc(proof["said"] + " · " + proof["origin"])}">{text}{mark}</a>'
        return text

    def formula(self, tex, kind):
        drawn = pictures.formula(tex)
        if not drawn:
            return f"<code>{esc(tex)}</code>"
        svg, width, height, depth = drawn
        style = f"width:{width / 11:.2f}em;height:{height / 11:.2f}em;vertical-align:{-depth / 11:.2f}em"
        return f'<img class="{kind}" alt="{esc(tex)}" style="{style}" src="{svg_address(svg)}">'

    def blocks(self, blocks):
        return "\n".join(filter(None, map(self.block, blocks)))

    def block(self, block):
        kind = block["k"]
        if kind == "para":
            return f"<p>{self.runs(block['runs'])}</p>"
        if kind == "heading":
            level = min(block["level"] + 2, 6)
            return f"<h{level}>{self.runs(block['runs'])}</h{level}>"
        if kind == "code":
            return f"<pre><code>{esc(block['text'])}</code></pre>"
        if kind == "list":
            tag = "ol" if block["ordered"] else "ul"
            start = f' start="{int(block["start"])}"' if block["ordered"] and block["start"] != 1 else ""
            return f"<{tag}{start}>" + "".join(f"<li>{self.blocks(item)}</li>" for item in block["items"]) + f"</{tag}>"
        if kind == "quote":
            return f"<blockquote>{self.blocks(block['blocks'])}</blockquote>"
        if kind == "table":
            return self.table(block)
        if kind == "math":
            return f'<p class="display">{self.formula(block["tex"], "formula")}</p>'
        if kind == "chart":
            return self.chart(block)
        if kind == "image":
            data = base64.b64encode(block["bytes"]).decode()
            return f'<p><img class="picture" alt="{esc(block["alt"])}" src="data:image/png;base64,{data}"></p>'
        if kind == "note":
            return f'<p class="note">{esc(block["text"])}</p>'
        if kind == "codemark":
            code = self.codes.get(block["id"])
            return f'<p><a href="#{esc(block["id"])}">→ {esc(self.code_title(code))}</a></p>' if code else ""
        return "<hr>" if kind == "rule" else ""

    def code_title(self, code):
        return self.doc.say("code_n", n=code["n"]) + (f": {code['description']}" if code.get("description") else "")

    def table(self, block):
        classes = [f' class="{a}"' if a in ("right", "center") else "" for a in layout.aligns(block)]
        head = "".join(f"<th{c}>{self.runs(cell)}</th>" for c, cell in zip(classes, block["header"]))
        rows = ("<tr>" + "".join(self.cell(c, cell) for c, cell in zip(classes, row)) + "</tr>" for row in block["rows"])
        return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'

    def cell(self, align, runs):
        text = self.runs(runs)
        # A date that breaks at its hyphen is read twice.
        return f'<td{align or (" class=date" if _DATE.fullmatch(text) else "")}>{text}</td>'

    def chart(self, block):
        svg = block.get("_svg")
        if not svg:
            table = document.chart_table(block)
            return f'<p class="note">{esc(self.doc.chart_note(block))}</p>' + (self.table(table) if table else "")
        title = block["title"] or self.doc.say("chart_n", n=block["n"])
        caption = self.doc.say("chart_n", n=block["n"]) + (f" · {block['source_name']}" if block.get("source_name") else "")
        return (f'<figure class="chart"><div class="live" id="chart-{block["n"]}" style="height:{block["h"]}px" hidden></div>'
                f'<img class="still" alt="{esc(title)}" src="{svg_address(charts.with_font(svg, "sans-serif"))}"><figcaption>{esc(caption)}</figcaption></figure>')

    def part(self, part):
        say, several = self.doc.say, len(self.doc.parts) > 1
        label = " · ".join(filter(None, (say("question") + (f" {part['number']}" if several else ""), part["asked"], f"{say('model')}: {part['model']}" if part["model"] else "")))
        asked = self.doc.question_of(part)
        found = [f'<section><div class="question"><small>{esc(label)}</small>{"<br>" * bool(asked)}{esc(asked)}</div>', self.blocks(part["blocks"])]
        if part["marked"]:
            found.append(f'<p class="note">{esc(say("marked"))}</p>')
        if part["summary"]:
            found.append(f'<p class="quiet">{esc(part["summary"])}</p>')
        if part["notes"]:
            found.append('<div class="note"><strong>' + esc(say("data_notes")) + "</strong><br>" + "<br>".join(map(esc, part["notes"])) + "</div>")
        return "\n".join(found) + "</section>"

    def appendix(self):
        say, found = self.doc.say, []
        if not self.doc.has_appendix:
            return ""
        if any(p["proofs"] or p["sources"] for p in self.doc.parts):
            found.append(f"<section><h2>{esc(say('proofs'))}</h2>")
            for part in self.doc.parts:
                for s in part["sources"]:
                    about = " · ".join(filter(None, (s["tool"], s["connection"], f"{say('rows')} {s['rows']}" if s["rows"] is not None else "")))
                    found.append(f"<h4>{esc(s['name'])} <small>{esc(about)}</small></h4>" + (f"<pre><code>{esc(s['what'])}</code></pre>" if s["what"] else ""))
                if part["proofs"]:
                    heads = "".join(f"<th>{esc(say(k))}</th>" for k in ("figure", "state", "origin"))
                    rows = "".join(f'<tr id="proof-{p["n"]}"{" class=doubtful" if p["marked"] else ""}><td>{esc(p["text"])}</td><td>{esc(p["said"])}</td><td>{esc(p["origin"])}</td></tr>' for p in part["proofs"])
                    found.append(f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>')
            found.append("</section>")
        codes = [c for p in self.doc.parts for c in p["codes"]]
        if codes:
            found.append(f"<section><h2>{esc(say('code'))}</h2>")
            found += [f'<h4 id="{esc(c["code_id"])}">{esc(self.code_title(c))}</h4><pre><code>{esc(c["code"])}</code></pre>' for c in codes]
            found.append("</section>")
        return "\n".join(found)


def svg_address(svg):
    return "data:image/svg+xml," + urllib.parse.quote(svg, safe=" /:=;,()!*")


def _hash(script):
    return "'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'"


def write(doc, out, progress):
    doc.draw_all(progress)
    writer = Writer(doc)
    body = "\n".join(writer.part(p) for p in doc.parts) + writer.appendix()
    scripts, allowed = "", "'none'"
    drawn = {block["n"]: block["option"] for _, block in doc.charts if block.get("_svg")}
    if drawn:
        with open(doc.given["echarts"], encoding="utf-8") as file:
            library = file.read().replace("</script", "<\\/script")
        with open(os.path.join(_HERE, "live.js"), encoding="utf-8") as file:
            own = file.read()
        data = json.dumps(drawn, ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
        allowed = f"{_hash(library)} {_hash(own)}"
        scripts = f'<script type="application/json" id="options">{data}</script><script>{library}</script><script>{own}</script>'
    policy = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    with open(os.path.join(_HERE, "page.css"), encoding="utf-8") as file:
        style = file.read().replace("SANS", _SANS)
    lang = "zh-CN" if doc.lang == "zh" else "en"
    with open(out, "w", encoding="utf-8") as file:
        file.write(f'<!doctype html>\n<html lang="{lang}"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
                   f'<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer"><title>{esc(doc.title)}</title><style>{style}</style></head>'
                   f'<body><header><h1>{esc(doc.title)}</h1><p class="quiet">{esc(doc.facts())}</p></header>\n{body}\n{scripts}</body></html>\n')
