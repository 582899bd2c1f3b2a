"""The lines around a table that belong to it: a caption or a unit above it becomes its title rows."""

import re

NUMBERED = r"(?:续?表|附表|图表)\s*[\d一二三四五六七八九十]|(?:table|tab\.|exhibit)\s*[\dA-Z]"
IN_UNITS = r"[（(【\[]?\s*(?:单位|金额单位|units?|in\s+(?:thousands|millions|billions))\b"
CAPTION = re.compile(rf"^\s*(?:{NUMBERED}|{IN_UNITS})", re.I)
UNIT = re.compile(r"单位|\bunits?\b|\bin (?:thousands|millions|billions)\b", re.I)
LONGEST = 120


def above(lines):
    """The captions among the last two non-blank lines before a table, in their order."""
    near = [t.strip() for t in lines if t.strip()][-2:]
    return [t for t in near if len(t) <= LONGEST and (CAPTION.match(t) or (UNIT.search(t) and len(t) <= 40))]


def title(found):
    """What a table is called by its captions; None when they only tell the unit."""
    named = [t for t in found if CAPTION.match(t) and not UNIT.match(t.lstrip("（(【["))]
    return named[0][:60] if named else None
