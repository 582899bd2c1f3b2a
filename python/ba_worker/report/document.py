"""The stored report as one document: parts with blocks, sources, code and proofs. What every format is written from."""

import re

from . import charts, proofs, words
from .parse import Source
from .pictures import Pictures
from .runs import plain

MAX_CODE = 400_000


class Document:
    def __init__(self, given, progress=lambda *_: None):
        self.given = given
        self.lang = given.get("language") or _language(given)
        self.engine = charts.Engine(given.get("echarts"))
        self.pictures = Pictures(given.get("pictures") or {}, self.lang)
        self.counter, self.figures, self.parts = [0], 0, []
        self.charts = []
        for index, part in enumerate(given["parts"]):
            progress(0.05 + 0.35 * index / len(given["parts"]), self.say("answer"))
            self.parts.append(self._part(part, index + 1))
        self.title = (given.get("title") or self.parts[0]["question"] or self.say("report")).strip().replace("\n", " ")[:200]
        self.made = str(given.get("made_at") or "")
        self.audience = given.get("audience") or "owner"

    def say(self, key, **values):
        return words.say(self.lang, key, **values)

    def _part(self, given, number):
        answer = given.get("answer") or {}
        metadata = answer.get("metadata") or {}
        tables = evidence_tables(given.get("evidence") or [])
        codes = [{**code, "n": f"{number}.{i + 1}" if len(self.given["parts"]) > 1 else str(i + 1)} for i, code in enumerate(given.get("code") or [])]
        sources = self._sources(given, tables, number)
        drawn = charts.Charts(self.engine, metadata, self.lang, self.counter)
        source = Source(answer, drawn, {code["code_id"]: code for code in codes}, self.figures)
        blocks = self._settle(source.blocks()) if given.get("answer") else [{"k": "note", "text": self._unanswered(given)}]
        names = {s["call"]: s["name"] for s in sources}
        part = {
            "number": number, "question": str(given.get("question") or ""), "asked": str(given.get("asked_at") or ""), "run_id": str(given.get("run_id") or ""),
            "model": self.say("offline") if metadata.get("offline") else str(metadata.get("model") or ""),
            "blocks": blocks, "summary": proofs.summary(self.lang, metadata.get("audit")), "codes": codes, "sources": sources, "tables": tables,
            "notes": data_notes(metadata), "proofs": proofs.entries(self.lang, metadata, tables, names, source.shown, self.figures), "charts": drawn,
        }
        part["marked"] = any(p["marked"] for p in part["proofs"])
        self.figures += len((metadata.get("audit") or {}).get("figures") or [])
        self.charts += [(drawn, block) for block in drawn.all]
        for chart in drawn.all:
            chart["source_name"] = names.get(chart.get("source"))
        return part

    def _sources(self, given, tables, number):
        found = []
        for call in given.get("calls") or []:
            arguments = call.get("arguments") or {}
            what = next((str(arguments[k]) for k in ("query", "sql", "code", "url", "file_id", "filename") if arguments.get(k)), "")
            kind = "sql" if "query" in arguments or "sql" in arguments else "python" if "code" in arguments else ""
            table = proofs.table_of(tables, call.get("tool_call_id"))
            index = len(found) + 1
            found.append({"name": f"S{number}.{index}" if len(self.given["parts"]) > 1 else f"S{index}", "call": call.get("tool_call_id"), "tool": str(call.get("tool_name") or ""),
                          "connection": str(arguments.get("connection") or ""), "what": what[:MAX_CODE], "lang": kind, "rows": table["total"] if table else None, "success": call.get("success")})
        return found

    def _unanswered(self, given):
        status = given.get("status")
        why = str(given.get("error") or "") or self.say(status if status in ("cancelled", "running") else "failed")
        return self.say("no_answer", why=why[:500])

    def _settle(self, blocks):
        """Pictures get their bytes, or a note stands in their place."""
        found = []
        for block in blocks:
            if block["k"] == "image" and "bytes" not in block:
                block = self.pictures.resolve(block)
            elif block["k"] == "list":
                block = {**block, "items": [self._settle(item) for item in block["items"]]}
            elif block["k"] == "quote":
                block = {**block, "blocks": self._settle(block["blocks"])}
            found.append(block)
        return found

    def facts(self):
        """When it was made, and for its owner, of which conversation."""
        made = f"{self.say('made')} {self.made}"
        return f"{made} · {self.say('conversation')} {self.given.get('conversation_id', '')}" if self.audience == "owner" else made

    @property
    def has_appendix(self):
        """Visitors see the answer; how it was found only where its owner wants that."""
        return self.audience != "visitors"

    def draw_all(self, progress):
        """Every chart as SVG; those that cannot be keep their reason."""
        for index, (owner, block) in enumerate(self.charts):
            progress(0.4 + 0.3 * index / max(len(self.charts), 1), self.say("chart_n", n=block["n"]))
            owner.svg(block)

    def chart_note(self, block):
        return self.say("chart_broken", why=block["error"] or self.say("chart_empty"))

    def name(self):
        """A file name without an extension."""
        stem = re.sub(r"[^\w\-. ()（）]+", " ", self.title).strip(" .") or "report"
        return re.sub(r"\s+", " ", stem)[:60].strip(" .")


def chart_table(chart):
    """The data of a chart as a table block, for where it cannot be drawn."""
    data = chart.get("data")
    if not data:
        return None
    cell = lambda v: [{"t": "" if v is None else f"{v:,.12g}" if isinstance(v, float) else str(v)}]
    rows = [[cell(name), *(cell(s["values"][i]) for s in data["series"])] for i, name in enumerate(data["categories"])]
    return {"k": "table", "header": [[], *([{"t": s["name"]}] for s in data["series"])], "rows": rows, "align": [None] + ["right"] * len(data["series"])}


def evidence_tables(evidence):
    """[{"call", "columns", "rows", "total"}] of what tools returned."""
    found = []
    for item in evidence:
        for source in item.get("sources") or []:
            body = source.get("body") or {}
            if source.get("kind") == "tool" and body.get("shape") == "table" and body.get("columns"):
                found.append({"call": source.get("id"), "columns": [str(c) for c in body["columns"]], "rows": body.get("rows") or [], "total": body.get("total_rows") or len(body.get("rows") or [])})
    return found


def data_notes(metadata):
    found = []
    for note in metadata.get("data_notes") or []:
        text, column = str(note.get("text") or ""), note.get("column")
        found.append(f"{note.get('table')}: {column}: {text}" if column and column not in text else f"{note.get('table')}: {text}")
    return found


def _language(given):
    return "zh" if any(words.is_chinese(str(part.get("question") or "")) for part in given["parts"]) or not given["parts"] else "en"


def walk(blocks):
    """Every block, those inside lists and quotations too."""
    for block in blocks:
        yield block
        if block["k"] == "list":
            for item in block["items"]:
                yield from walk(item)
        elif block["k"] == "quote":
            yield from walk(block["blocks"])


def first_words(blocks, most=160):
    """What the answer says first."""
    for block in walk(blocks):
        if block["k"] == "para":
            return plain(block["runs"]).strip()[:most]
    return ""
