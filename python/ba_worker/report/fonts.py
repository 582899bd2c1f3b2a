"""The fonts of documents: one for Chinese and Latin text, one for emoji, one for the rest. Knows which characters none of them has."""

import functools
import importlib.util
import os
import re
import shutil
import tempfile

FAMILY = "Noto Sans CJK SC"
_HERE = os.path.join(os.path.dirname(__file__), "fonts", "NotoEmoji-Regular.ttf")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufeff\ufff0-\uffff\u2028\u2029\u202a-\u202e\u2066-\u2069]|[\ud800-\udfff]")
# Joiners and selectors are part of what stands before them.
_UNSEEN = {0x200B, 0x200C, 0x200D, 0x2060, 0xFE0E, 0xFE0F, 0x20E3, 0xAD, 9, 10, 13, *range(0x1F3FB, 0x1F400), *range(0xE0020, 0xE0080)}


def _package(name, *inside):
    return os.path.join(importlib.util.find_spec(name).submodule_search_locations[0], *inside)


def paths():
    dejavu = _package("matplotlib", "mpl-data", "fonts", "ttf", "DejaVuSans.ttf")
    return [_package("mplfonts", "fonts", "NotoSansCJKsc-Regular.otf"), _HERE, dejavu]


_made = []


def folder():
    """A folder with just these fonts: the packages' own folders hold others that documents must not pick up."""
    if not _made or not os.path.isdir(_made[0]):
        target = os.path.abspath(tempfile.mkdtemp(prefix=".fonts_", dir="."))
        for path in paths():
            shutil.copyfile(path, os.path.join(target, os.path.basename(path)))
        _made[:] = [target]
    return _made[0]


@functools.lru_cache(maxsize=1)
def _covered():
    from fontTools.ttLib import TTFont

    found = set()
    for path in paths():
        with TTFont(path, lazy=True) as font:
            found |= set(font.getBestCmap())
    return found


class Glyphs:
    """Brings text to what the fonts can show; the rest is written as its number and remembered."""

    def __init__(self):
        self.missing = {}

    def fit(self, text):
        text = _CONTROL.sub("", text)
        if text.isascii():
            return text
        covered = _covered()
        if all(ord(c) in covered or ord(c) in _UNSEEN for c in set(text)):
            return text
        return "".join(c if ord(c) in covered or ord(c) in _UNSEEN else self._named(c) for c in text)

    def _named(self, char):
        self.missing[char] = self.missing.get(char, 0) + 1
        return f"U+{ord(char):04X}"

    def listed(self, most=12):
        names = [f"U+{ord(c):04X}" for c in list(self.missing)[:most]]
        return ", ".join(names) + (" …" if len(self.missing) > most else "")
