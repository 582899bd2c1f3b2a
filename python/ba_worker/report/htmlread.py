"""HTML of a model → blocks. Scripts are looked at only for charts (`charts.py` runs them in an engine of its own); nothing else of them is kept."""

import re

import lxml.html

from . import marks
from .runs import Writer, plain, safe_link, trim

_BLOCKS = {"p", "div", "section", "article", "main", "header", "footer", "figure", "figcaption", "center", "body", "html", "form", "details", "summary", "aside", "nav", "dl", "dt", "dd", "address", "li"}
_DROPPED = {"script", "style", "head", "template", "iframe", "object", "embed", "noscript", "canvas", "svg", "input", "button", "select", "textarea", "link", "meta", "title", "audio", "video"}
_STYLES = {"b": "b", "strong": "b", "i": "i", "em": "i", "s": "s", "del": "s", "strike": "s", "code": "c", "kbd": "c", "samp": "c"}
_SCRIPT = re.compile(r"<script\b([^>]*)>([\s\S]*?)(?:</script\s*>|\Z)", re.I)
_TAG = re.compile(r"<(/?)([a-zA-Z][\w-]*)((?:\"[^\"]*\"|'[^']*'|[^'\">])*)>")
_HREF = re.compile(r"""href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.I)
MAX_DEPTH = 120


def blocks(html, source):
    scripts = [marks.clean(code) for attributes, code in _SCRIPT.findall(html) if "src=" not in attributes.lower().replace(" ", "")]
    boxes = source.charts.from_scripts(scripts, html) if scripts else {}
    try:
        root = lxml.html.fragment_fromstring(_SCRIPT.sub(" ", html), create_parent="div")
    except (ValueError, lxml.etree.LxmlError):
        return list(boxes.values())
    reader = _Reader(source, boxes)
    found = reader.children(root, 0)
    # A chart whose box is not in this piece still has its place here.
    return found + [chart for box, chart in boxes.items() if box not in reader.used]


def inline_tag(tag, writer, style):
    """A single tag inside a line of Markdown: only what changes the look of the text is known."""
    found = _TAG.match(tag)
    if not found:
        return
    closing, name = found[1], found[2].lower()
    if name == "br":
        writer.line_break()
    elif name in _STYLES:
        style[_STYLES[name]] = not closing
    elif name == "a":
        link = None if closing else _HREF.search(found[3])
        style["href"] = safe_link(next((v for v in link.groups() if v), "")) if link else None


class _Reader:
    def __init__(self, source, boxes):
        self.source, self.boxes, self.used = source, boxes, set()

    def children(self, node, depth):
        """Blocks of a container; text between them is paragraphs of its own."""
        found, writer = [], Writer(self.source)

        def flush():
            nonlocal writer
            runs, later = trim(_spaced(writer.runs)), writer.later
            if plain(runs).strip():
                found.append({"k": "para", "runs": runs})
            found.extend(later)
            figure, writer = writer.figure, Writer(self.source)
            writer.figure = figure

        writer.text(node.text or "", {})
        for child in node:
            name = child.tag.lower() if isinstance(child.tag, str) else ""
            if self._is_block(child, name) and depth < MAX_DEPTH:
                flush()
                found += self.block(child, name, depth + 1)
            elif name and name not in _DROPPED:
                self.inline(child, name, {}, writer, depth + 1)
            writer.text(child.tail or "", {})
        flush()
        return found

    def _is_block(self, node, name):
        return bool(name) and (name in _BLOCKS or name in ("table", "ul", "ol", "pre", "hr", "blockquote") or re.fullmatch("h[1-6]", name) or node.get("id") in self.boxes)

    def block(self, node, name, depth):
        box = node.get("id")
        if box in self.boxes and box not in self.used:
            self.used.add(box)
            return [self.boxes[box]]
        if re.fullmatch("h[1-6]", name):
            inner = [block for block in self.children(node, depth)]
            return [{**block, "k": "heading", "level": int(name[1])} if block["k"] == "para" else block for block in inner]
        if name == "table":
            return self.table(node, depth)
        if name in ("ul", "ol"):
            items = [self.children(item, depth) for item in node if item.tag == "li"]
            return [{"k": "list", "ordered": name == "ol", "start": 1, "items": [item for item in items if item]}]
        if name == "pre":
            return [{"k": "code", "lang": "", "text": marks.clean(node.text_content()).strip("\n")}]
        if name == "blockquote":
            return [{"k": "quote", "blocks": self.children(node, depth)}]
        if name == "hr":
            return [{"k": "rule"}]
        return self.children(node, depth)

    def inline(self, node, name, style, writer, depth):
        style = dict(style)
        if name == "br":
            return writer.line_break()
        if name == "img":
            return writer.image(node.get("src"), node.get("alt"))
        if name in _STYLES:
            style[_STYLES[name]] = True
        if name == "a":
            style["href"] = safe_link(node.get("href"))
        writer.text(node.text or "", style)
        for child in node:
            inner = child.tag.lower() if isinstance(child.tag, str) else ""
            if inner and inner not in _DROPPED and depth < MAX_DEPTH:
                self.inline(child, inner, style, writer, depth + 1)
            writer.text(child.tail or "", style)

    def table(self, node, depth):
        header, rows = [], []
        for row in node.iter("tr"):
            if next((a for a in row.iterancestors("table")), None) is not node:
                continue
            cells = []
            for cell in row:
                if cell.tag not in ("td", "th"):
                    continue
                inner = self.children(cell, depth + 1)
                cells.append([run for block in inner for run in block.get("runs", ())])
                # A cell over several columns keeps the columns after it in their place.
                cells += [[] for _ in range(min(_whole(cell.get("colspan")), 50) - 1)]
            heads = all(cell.tag == "th" for cell in row if cell.tag in ("td", "th"))
            if cells and not header and not rows and (heads or row.getparent().tag == "thead"):
                header = cells
            elif cells:
                rows.append(cells)
        if not header and rows:
            header = rows.pop(0)
        width = max([len(header), *map(len, rows)], default=0)
        if not width:
            return []
        fill = lambda cells: cells + [[] for _ in range(width - len(cells))]
        return [{"k": "table", "header": fill(header), "rows": [fill(row) for row in rows], "align": [None] * width}]


def _whole(text):
    return int(text) if text and text.isdigit() else 1


def _spaced(runs):
    """Space in HTML is one space."""
    return [{**run, "t": re.sub(r"[ \t\r\n\f]+", " ", run["t"])} if "t" in run else run for run in runs]
