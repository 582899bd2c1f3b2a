"""Runs of text: `{"t": text}` with `b`, `i`, `s`, `c` (code), `href`, `fig` (figure of the audit), or `{"math": tex}`, `{"br": true}`, `{"img": name}`."""

import re

from . import marks

TOKEN = re.compile("\ue000([a-z]+)-([^\ue000\ue001]*)\ue001")
_SAFE_LINK = re.compile(r"(?:https?://|mailto:|#)[^\s\x00-\x1f]*\Z", re.I)
_FLAGS = ("b", "i", "s", "c", "href")


def safe_link(href):
    """Only links that a reader may follow; everything else is text."""
    href = marks.clean(href or "").strip()
    return href if len(href) <= 2000 and _SAFE_LINK.match(href) else None


class Writer:
    """Collects runs; marks and tokens inside the text become what they stand for."""

    def __init__(self, source):
        self.source, self.runs, self.figure, self.later = source, [], None, []

    def text(self, text, style):
        at = 0
        for match in TOKEN.finditer(text):
            self._plain(text[at : match.start()], style)
            self._token(match[1], match[2], style)
            at = match.end()
        self._plain(text[at:], style)

    def _plain(self, text, style):
        found, self.figure = marks.pieces(text, self.figure)
        for piece, figure in found:
            run = {"t": piece, **{key: style[key] for key in _FLAGS if style.get(key)}}
            if figure is not None:
                run["fig"] = self.source.first_figure + figure
                self.source.shown.add(figure)
            last = self.runs[-1] if self.runs else None
            if last and "t" in last and {**last, "t": ""} == {**run, "t": ""}:
                last["t"] += piece
            else:
                self.runs.append(run)

    def _token(self, kind, value, style):
        if kind == "math":
            self.runs.append({"math": self.source.formulas[int(value)][0]})
        elif kind == "file":
            name = self.source.file_name(int(value))
            if name.lower().endswith((".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")):
                self.image(name, name)
            else:
                self._plain(f"📄 {name}", style)
        elif kind == "code":
            block = self.source.code_mark(value)
            if block:
                self.later.append(block)
        elif kind == "chart":
            self.later.append(self.source.chart(int(value)))

    def line_break(self):
        self.runs.append({"br": True})

    def image(self, src, alt):
        self.later.append({"k": "image", "src": marks.clean(src or ""), "alt": marks.clean(alt or "")})


def plain(runs):
    """The text of runs alone."""
    return "".join(run.get("t") or run.get("math") or ("\n" if run.get("br") else "") for run in runs)


def trim(runs):
    """Without space at both ends."""
    runs = [dict(run) for run in runs]
    while runs and "t" in runs[0] and not runs[0]["t"].lstrip():
        runs.pop(0)
    while runs and (runs[-1].get("br") or ("t" in runs[-1] and not runs[-1]["t"].rstrip())):
        runs.pop()
    if runs and "t" in runs[0]:
        runs[0]["t"] = runs[0]["t"].lstrip()
    if runs and "t" in runs[-1]:
        runs[-1]["t"] = runs[-1]["t"].rstrip()
    return runs
