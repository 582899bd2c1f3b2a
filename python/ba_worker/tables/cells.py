"""One cell at a time: is it empty, a value or words, and which number does it show. Knows nothing of tables."""

import datetime
import re

from . import patterns as p

VALUES = [p.python_pattern(p.number_pattern(style, currency=True, percent=True)) for style in ("us", "eu", "indian", "space", "space_comma", "swiss")]
SCALED = p.python_pattern(p.number_pattern("us", currency=True, suffixes=[*p.SCALES, *p.UNITS]))
DATES = [p.python_pattern(pattern + "(?:[ T].*)?") for _, pattern, _ in p.DATE_PARTS]
ERRORS = {"#DIV/0!", "#N/A", "#VALUE!", "#REF!", "#NAME?", "#NUM!"}
YEARISH = re.compile(r"(?:19|20)[0-9]{2}(?:年|年度|Q[1-4]|[-/.][0-9]{1,2}|年[0-9]{1,2}月)?(?:\.0)?|(?:FY|H[12] ?)?(?:19|20)[0-9]{2}")
BLANK_WORDS = set(p.NULL_ALWAYS) | set(p.NULL_IN_VALUES)
_DECORATION = re.compile(p.CURRENCY + r"|[ \u00a0\u202f'’%‰]")


def empty(cell):
    return cell is None or (isinstance(cell, str) and not cell.strip(p.SPACES))


def is_value(cell):
    """A number, a date or a truth value: something a header rarely is."""
    if isinstance(cell, (bool, int, float, datetime.date, datetime.time, datetime.timedelta)):
        return True
    text = p.clean(str(cell))
    return any(v.fullmatch(text) for v in VALUES) or any(d.fullmatch(text) for d in DATES) or (
        text[:1].isdigit() and bool(SCALED.fullmatch(text)))


def is_words(cell):
    return isinstance(cell, str) and not empty(cell) and not is_value(cell)


def yearish(cell):
    if isinstance(cell, (datetime.date, datetime.datetime)):
        return True
    return bool(YEARISH.fullmatch(p.clean(str(cell))))


def number_of(cell, style="us"):
    """The number a cell shows, whatever it is dressed in; None when it shows none."""
    if isinstance(cell, bool):
        return None
    if isinstance(cell, (int, float)):
        return float(cell)
    if not isinstance(cell, str):
        return None
    text = p.clean(cell)
    if not text or not any(c.isdigit() for c in text):
        return None
    scale = 1.0
    for word in sorted(p.SCALES, key=len, reverse=True):
        if text.rstrip(")-").endswith(word):
            scale, text = p.SCALES[word], text.replace(word, "")
            break
    percent = 100.0 if "%" in text else 1000.0 if "‰" in text else 1.0
    text = _DECORATION.sub("", text)
    negative = text.startswith("(") or text.endswith("-") or text.startswith("-")
    text = text.strip("()-+")
    group, decimal = (".", ",") if style in ("eu", "space_comma") else (",", ".")
    text = text.replace(group, "").replace(decimal, ".")
    text = re.sub(r"[^0-9.eE+-]+$", "", text)
    try:
        return (-1 if negative else 1) * float(text) * scale / percent
    except ValueError:
        return None


def decimals(cell, style="us"):
    """How many decimals a cell shows: what a rounded total may differ by."""
    text = p.clean(cell) if isinstance(cell, str) else repr(cell)
    found = re.search(("," if style in ("eu", "space_comma") else r"\.") + r"([0-9]+)", text)
    return len(found[1]) if found else 0


def label(cell):
    if isinstance(cell, float) and cell == int(cell):
        cell = int(cell)
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        cell = cell.date()
    return re.sub(r"\s+", " ", str(cell)).strip(p.SPACES)[:200]
