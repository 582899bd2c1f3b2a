"""Clean Markdown; with pictures it is a zip of the text and a folder of them."""

import re
import zipfile

from . import charts, document, pdf

_SPECIAL = re.compile(r"([\\`*_\[\]<>])")
_START = re.compile(r"^(\s*)([#>+-]|\d+[.)])(?=\s)")


class Writer:
    def __init__(self, doc, mark="[^unproven]"):
        self.doc, self.files, self.mark = doc, {}, mark
        self.proofs = {p["n"]: p for part in doc.parts for p in part["proofs"]}
        self.codes = {c["code_id"]: c for part in doc.parts for c in part["codes"]}

    def runs(self, runs, cell=False):
        text = "".join(self.run(r, cell) for r in runs)
        return text.replace("|", "\\|").replace("\n", " ") if cell else text

    def run(self, run, cell):
        if "math" in run:
            return f"${run['math']}$"
        if "br" in run:
            return "<br>" if cell else "  \n"
        if "t" not in run:
            return ""
        if run.get("c"):
            fence = "``" if "`" in run["t"] else "`"
            return f"{fence}{run['t']}{fence}"
        text = _SPECIAL.sub(r"\\\1", run["t"])
        for key, sign in (("b", "**"), ("i", "*"), ("s", "~~")):
            if run.get(key) and text.strip():
                text = f"{sign}{text.strip()}{sign}" if text == text.strip() else text.replace(text.strip(), f"{sign}{text.strip()}{sign}", 1)
        if run.get("href"):
            text = f"[{text}]({run['href'].replace(')', '%29').replace(' ', '%20')})"
        proof = self.proofs.get(run.get("fig"))
        return text + self.mark if proof and proof["marked"] else text

    def blocks(self, blocks):
        return "\n\n".join(filter(None, map(self.block, blocks)))

    def block(self, block):
        kind = block["k"]
        if kind == "para":
            return _START.sub(r"\1\\\2", self.runs(block["runs"]))
        if kind == "heading":
            return "#" * min(block["level"] + 1, 6) + " " + self.runs(block["runs"])
        if kind == "code":
            fence = "~~~~" if "```" in block["text"] else "```"
            return f"{fence}{block['lang']}\n{block['text']}\n{fence}"
        if kind == "list":
            return "\n".join(self.item(block, i, item) for i, item in enumerate(block["items"]))
        if kind == "quote":
            return "\n".join("> " + line for line in self.blocks(block["blocks"]).splitlines())
        if kind == "table":
            return self.table(block)
        if kind == "math":
            return f"$$\n{block['tex']}\n$$"
        if kind == "chart":
            return self.chart(block)
        if kind == "image":
            return self.picture(block["name"], block["bytes"], block["alt"])
        if kind == "note":
            return f"> ⚠ {_SPECIAL.sub(chr(92) + chr(92) + '1', block['text'])}"
        if kind == "codemark":
            code = self.codes.get(block["id"])
            return f"*{self.doc.say('code_n', n=code['n'])}*" if code else ""
        return "---" if kind == "rule" else ""

    def item(self, block, index, item):
        sign = f"{block['start'] + index}. " if block["ordered"] else "- "
        return sign + self.blocks(item).replace("\n", "\n" + " " * len(sign))

    def table(self, block):
        sign = {"right": "---:", "center": ":---:"}
        line = lambda cells: "| " + " | ".join(cells) + " |"
        aligns = [sign.get(a, "---") for a in block["align"]] + ["---"] * (len(block["header"]) - len(block["align"]))
        rows = [line([self.runs(c, True) or " " for c in row]) for row in block["rows"]]
        return "\n".join([line([self.runs(c, True) or " " for c in block["header"]]), line(aligns), *rows])

    def chart(self, block):
        if not block.get("_svg"):
            table = document.chart_table(block)
            note = self.block({"k": "note", "text": self.doc.chart_note(block)})
            return note + ("\n\n" + self.table(table) if table else "")
        self.files[f"pictures/chart_{block['n']}.svg"] = charts.with_font(block["_svg"], "sans-serif").encode()
        return self.picture(f"chart_{block['n']}.png", pdf.png_of(block["_svg"]), block["title"] or self.doc.say("chart_n", n=block["n"]))

    def picture(self, name, data, alt):
        self.files[f"pictures/{name}"] = data
        return f"![{re.sub(r'[][]', ' ', alt)}](pictures/{name})"

    def document(self):
        doc, say = self.doc, self.doc.say
        found = [f"# {_SPECIAL.sub(chr(92) + chr(92) + '1', doc.title)}", doc.facts()]
        for part in doc.parts:
            found.append("\n".join(f"> {line}" for line in f"**{say('question')}**: {part['question']}".splitlines()))
            found.append(self.blocks(part["blocks"]))
            if part["summary"]:
                found.append(f"*{part['summary']}*")
            found += [f"> ⚠ {note}" for note in part["notes"]]
        if any(part["sources"] for part in doc.parts):
            found.append(f"## {say('proofs')}")
            for part in doc.parts:
                found += [f"**{s['name']}** {s['tool']} {s['connection']}" + (f"\n\n```{s['lang']}\n{s['what']}\n```" if s["what"] else "") for s in part["sources"]]
                if part["proofs"]:
                    rows = [[[{"t": p["text"]}], [{"t": p["said"]}], [{"t": p["origin"]}]] for p in part["proofs"]]
                    found.append(self.table({"header": [[{"t": say(k)}] for k in ("figure", "state", "origin")], "rows": rows, "align": []}))
        codes = [c for p in doc.parts for c in p["codes"]]
        if codes:
            found.append(f"## {say('code')}")
            found += [f"**{say('code_n', n=c['n'])}** {c.get('description') or ''} ({c['code_id']})\n\n```{c.get('language') or ''}\n{c['code'].rstrip()}\n```" for c in codes]
        if any(part["marked"] for part in doc.parts):
            found.append(f"[^unproven]: {say('unproven_why')}")
        return "\n\n".join(filter(None, found)) + "\n"


def write(doc, out, progress):
    doc.draw_all(progress)
    writer = Writer(doc)
    text = writer.document()
    if not writer.files:
        with open(out, "w", encoding="utf-8") as file:
            file.write(text)
        return "md"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{doc.name()}.md", text)
        for name, data in writer.files.items():
            archive.writestr(name, data)
    return "zip"
