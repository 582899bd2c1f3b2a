"""An answer's text → blocks: headings, paragraphs, lists, tables, code, formulas, charts, pictures. The model of every format.

Raw HTML never passes: it is read into the same blocks, and what has no block is left out.
"""

import re

from markdown_it import MarkdownIt

from . import htmlread, marks, segments
from .runs import TOKEN, Writer, plain, safe_link, trim

MAX_BLOCKS = 20_000
_MATH = re.compile(
    r"(?P<fence>^ {0,3}(?:`{3,}|~{3,})[\s\S]*?(?:^ {0,3}(?:`{3,}|~{3,})[ \t]*$|\Z)|`+[^`\n]+`+)"
    r"|\$\$(?P<block>[\s\S]+?)\$\$|\\\[(?P<bracket>[\s\S]+?)\\\]|\\\((?P<paren>[\s\S]+?)\\\)"
    r"|(?<![\\$\w])\$(?![\s$])(?P<inline>(?:\\.|[^\\$\n])+?)(?<!\s)\$(?![\d$])",
    re.M,
)
_MARK = re.compile(r"\{\{(CHART|CODE|FILE):(\d+)\}\}|<!--\s*CODE_SAVED:\s*(code_[a-z0-9_]{1,64})\s*(?:\||-->)(?:[\s\S]*?-->)?")
_FORMULA = re.compile(r"[\\^_={}]|^[a-zA-Z]$")


class Source:
    """One answer while it is read: what its marks stand for, and what was seen of it."""

    def __init__(self, answer, charts, codes, first_figure=0):
        self.metadata = answer.get("metadata") or {}
        self.charts, self.codes, self.first_figure = charts, codes, first_figure
        self.formulas, self.shown, self.placed = [], set(), set()
        figures = (self.metadata.get("audit") or {}).get("figures") or []
        self.text = self._tokens(marks.insert(answer.get("response") or "", figures))

    def _tokens(self, text):
        def mark(match):
            kind, number, saved = match.groups()
            if saved:
                return f"\ue000code-{saved}\ue001"
            if kind == "CODE":
                ref = next((r for r in self.metadata.get("code_refs") or [] if r.get("index") == int(number)), None)
                return f"\ue000code-{ref['code_id']}\ue001" if ref else ""
            return f"\ue000{kind.lower()}-{number}\ue001"

        return _MARK.sub(mark, text)

    def _formulas(self, text):
        def formula(match):
            if match["fence"]:
                return match[0]
            display = match["block"] or match["bracket"]
            tex = display or match["paren"] or match["inline"]
            if match["inline"] and not _FORMULA.search(marks.clean(tex)):
                return match[0]
            self.formulas.append((marks.clean(tex).strip(), bool(display)))
            return f"\ue000math-{len(self.formulas) - 1}\ue001"

        return _MATH.sub(formula, text)

    def file_name(self, index):
        refs = self.metadata.get("file_refs") or []
        found = next((ref for ref in refs if ref.get("index") == index), None)
        return str(found["filename"]) if found else "?"

    def chart(self, number):
        return self.charts.by_reference(number)

    def code_mark(self, code_id):
        if code_id in self.placed:
            return None
        self.placed.add(code_id)
        return {"k": "codemark", "id": code_id}

    def blocks(self):
        found = []
        for kind, start, end in segments.split(self.text):
            piece = self.text[start:end]
            found += htmlread.blocks(piece, self) if kind == "html" else self.prose(piece)
            if len(found) > MAX_BLOCKS:
                return found[:MAX_BLOCKS]
        for code_id in self.codes:
            if code_id not in self.placed:
                self.code_mark(code_id)
        return found

    def prose(self, text):
        parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
        return _Reader(self, parser.parse(self._formulas(text))).blocks()


class _Reader:
    def __init__(self, source, tokens):
        self.source, self.tokens, self.at = source, tokens, 0

    def blocks(self, end=None):
        found = []
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token.type == end:
                break
            found += self._block(token)
        return found

    def _block(self, token):
        kind = token.type
        if kind == "heading_open":
            return self._inline_block({"k": "heading", "level": int(token.tag[1])}, "heading_close")
        if kind == "paragraph_open":
            return self._inline_block({"k": "para"}, "paragraph_close")
        if kind in ("fence", "code_block"):
            return [{"k": "code", "lang": token.info.split()[0] if token.info.split() else "", "text": marks.clean(_spoken(token.content, self.source)).rstrip("\n")}]
        if kind in ("bullet_list_open", "ordered_list_open"):
            return [self._list(token)]
        if kind == "blockquote_open":
            return [{"k": "quote", "blocks": self.blocks("blockquote_close")}]
        if kind == "table_open":
            return self._table()
        if kind == "hr":
            return [{"k": "rule"}]
        if kind == "html_block":
            return htmlread.blocks(token.content, self.source)
        return []

    def _inline_block(self, block, end):
        runs, later = [], []
        while self.tokens[self.at].type != end:
            if self.tokens[self.at].type == "inline":
                runs, later = self._inline(self.tokens[self.at])
            self.at += 1
        self.at += 1
        return placed(block, runs, later)

    def _list(self, token):
        close = token.type.replace("_open", "_close")
        items = []
        while self.tokens[self.at].type != close:
            self.at += 1
            items.append(self.blocks("list_item_close"))
        self.at += 1
        start = token.attrGet("start")
        return {"k": "list", "ordered": token.type.startswith("ordered"), "start": int(start) if start is not None else 1, "items": items}

    def _table(self):
        header, rows, align, later = [], [], [], []
        row = None
        while (token := self.tokens[self.at]).type != "table_close":
            self.at += 1
            if token.type == "tr_open":
                row = []
            elif token.type == "tr_close":
                (rows if header else header).append(row)
            elif token.type in ("th_open", "td_open"):
                if token.type == "th_open":
                    style = str(token.attrGet("style") or "")
                    align.append(style.rpartition(":")[2] or None)
            elif token.type == "inline":
                runs, more = self._inline(token)
                row.append(trim(runs))
                later += more
        self.at += 1
        table = {"k": "table", "header": header[0] if header else [], "rows": rows, "align": align}
        return [table, *(block for block in later if block["k"] != "codemark"), *(block for block in later if block["k"] == "codemark")]

    def _inline(self, token):
        writer, style = Writer(self.source), {}
        links = []
        for child in token.children or ():
            kind = child.type
            if kind in ("text", "html_inline"):
                if kind == "html_inline":
                    htmlread.inline_tag(child.content, writer, style)
                else:
                    writer.text(child.content, style)
            elif kind == "code_inline":
                writer.text(child.content, {**style, "c": True})
            elif kind in ("strong_open", "em_open", "s_open"):
                style[_FLAG[kind[:-5]]] = True
            elif kind in ("strong_close", "em_close", "s_close"):
                style.pop(_FLAG[kind[:-6]], None)
            elif kind == "link_open":
                links.append(style.get("href"))
                style["href"] = safe_link(child.attrGet("href"))
            elif kind == "link_close":
                style["href"] = links.pop() if links else None
            elif kind in ("softbreak", "hardbreak"):
                if kind == "hardbreak":
                    writer.line_break()
                else:
                    writer.text(_between(writer.runs), style)
            elif kind == "image":
                writer.image(child.attrGet("src"), child.content)
        return writer.runs, writer.later


_FLAG = {"strong": "b", "em": "i", "s": "s"}


def _between(runs):
    """A line of Chinese that goes on in the next needs no space."""
    return "" if runs and runs[-1].get("t", " ")[-1:] > "\u2e80" else " "


def _spoken(text, source):
    return TOKEN.sub(lambda m: source.formulas[int(m[2])][0] if m[1] == "math" else m[2], text)


def placed(block, runs, later):
    """A block with what stood in the middle of it after it. A display formula alone in its paragraph is a block of its own."""
    runs = trim(runs)
    if block["k"] == "para" and len(runs) == 1 and "math" in runs[0]:
        return [{"k": "math", "tex": runs[0]["math"]}, *later]
    if not runs or not (plain(runs).strip() or any("math" in run for run in runs)):
        return later
    return [{**block, "runs": runs}, *later]
