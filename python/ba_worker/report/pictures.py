"""Pictures for documents: files of the conversation checked and brought to size, formulas and charts drawn. Never more than a document can carry."""

import io
import os
import re
import warnings

from . import words

MAX_FILE, MAX_ALL, MAX_SIDE, MAX_PIXELS = 24 << 20, 48 << 20, 2000, 40_000_000
_PLAIN = re.compile(r"[^/\\\x00-\x1f]{1,255}\Z")


class Pictures:
    """`files`: name in the conversation → file in the job's folder."""

    def __init__(self, files, language):
        self.files, self.language, self.used, self.cache = files, language, 0, {}

    def resolve(self, block):
        """An image block with its bytes, or a note in its place."""
        name = os.path.basename(block["src"].split("?")[0]) if not block["src"].startswith("data:") else ""
        import urllib.parse

        name = urllib.parse.unquote(name) or block["alt"] or "?"
        if name in self.cache:
            return {**self.cache[name], "alt": block["alt"] or name}
        given = self.files.get(name)
        if given is None or not _PLAIN.match(name):
            return self._note("picture_missing", name)
        if "path" not in given:
            return self._note("picture_large", name, size=words.human_size(given.get("size", 0)))
        size = os.path.getsize(given["path"])
        if size > MAX_FILE or self.used + size > MAX_ALL:
            return self._note("picture_large", name, size=words.human_size(size))
        self.used += size
        try:
            data, width, height = _sized(given["path"])
        except Exception:  # Pillow's readers raise whatever a broken file makes them raise.
            return self._note("picture_broken", name)
        found = {"k": "image", "name": f"picture_{len(self.cache) + 1}.png", "bytes": data, "w": width, "h": height}
        self.cache[name] = found
        return {**found, "alt": block["alt"] or name}

    def _note(self, key, name, **values):
        return {"k": "note", "text": words.say(self.language, key, name=name[:80], **values)}


def _sized(path):
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = MAX_PIXELS
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Image.open(path, formats=("PNG", "JPEG", "GIF", "WEBP", "BMP")) as image:
            image.load()
            image = image.convert("RGBA" if image.mode in ("RGBA", "LA", "P", "PA") else "RGB")
            image.thumbnail((MAX_SIDE, MAX_SIDE))
            out = io.BytesIO()
            image.save(out, "PNG")
            return out.getvalue(), *image.size


def formula(tex):
    """(SVG text, width, height, depth) in points of a formula at 11 points, or None where the typesetter does not know it."""
    if len(tex) > 2000 or any(ord(c) > 0x2e7f for c in tex):
        return None
    from matplotlib import mathtext, rcParams
    from matplotlib.font_manager import FontProperties
    from matplotlib.figure import Figure
    import matplotlib.backends.backend_svg  # noqa: F401

    source = "$" + _known(tex) + "$"
    try:
        width, height, depth, _, _ = mathtext.MathTextParser("path").parse(source, dpi=72, prop=FontProperties(size=11, math_fontfamily="dejavusans"))
        figure = Figure(figsize=(max(width, 1) / 72, max(height, 1) / 72))
        figure.text(0, depth / height if height else 0, source, fontproperties=FontProperties(size=11, math_fontfamily="dejavusans"))
        out = io.StringIO()
        before = rcParams["svg.fonttype"], rcParams["svg.hashsalt"]
        rcParams["svg.fonttype"], rcParams["svg.hashsalt"] = "path", "ba"
        try:
            figure.savefig(out, format="svg", dpi=72, transparent=True, metadata={"Date": None})
        finally:
            rcParams["svg.fonttype"], rcParams["svg.hashsalt"] = before
    except Exception:  # mathtext reports what it does not know by many kinds of error.
        return None
    text = out.getvalue()
    return text[text.index("<svg") :], width, height, depth


_NAMES = ((r"\\dfrac|\\tfrac", r"\\frac"), (r"\\text(?=\s*\{)", r"\\mathrm"), (r"\\(?:left|right)\.", ""), (r"\\,|\\;|\\!|\\:", r"\\ "), (r"\\lvert|\\rvert", "|"),
          (r"\\operatorname", r"\\mathrm"), (r"\\le(?![a-zA-Z])", r"\\leq"), (r"\\ge(?![a-zA-Z])", r"\\geq"), (r"\\(?:display|text)style", ""), (r"\\%", r"\\%"), (r"\\tag\{[^}]*\}", ""))


def _known(tex):
    for pattern, instead in _NAMES:
        tex = re.sub(pattern, instead, tex)
    return re.sub(r"\s+", " ", tex).strip()
