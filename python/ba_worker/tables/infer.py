"""Decides, from a sample of a column's text, what the column is and the SQL that converts it.

A plan never loses a value: text that the plan cannot convert is either a known blank, or is kept in a
companion `<name>_raw` column, or the column stays text.
"""

import re
from dataclasses import dataclass, field

from . import dates, numbers
from . import patterns as p
from .notes import note, warn

ZONED_TIME, DATES = dates.ZONED_TIME, dates.KINDS
ALWAYS = set(p.NULL_ALWAYS)
IN_VALUES = set(p.NULL_IN_VALUES)


@dataclass
class Plan:
    """How one column is converted, in stages: `clean` text, then `stage` of it, then `expr(clean, stage)`.

    Each stage is a projection of its own, so that no text is cleaned twice.
    """

    kind: str = "VARCHAR"
    expr: object = None
    native: str | None = None
    # How its dates or times are written. The CSV reader is told, or it would drop the zone of one that has a zone.
    formats: tuple = ()
    unit: str | None = None
    notes: list = field(default_factory=list)
    keep_raw: bool = False
    style: str | None = None
    ambiguous_style: bool = False
    # Every dot is followed by three digits: thousands in some countries.
    dotted: bool = False
    trim: bool = False
    stage: object = None
    # (suffix of the name, SQL of the clean text): kept beside the values.
    companion: tuple | None = None

    def clean_sql(self, x):
        """Blank, or the text without the dress that carries no meaning."""
        if self.kind == "VARCHAR":
            value = trim_sql(x) if self.trim else x
            return f"CASE WHEN {blank_sql(x, False)} THEN NULL ELSE {value} END"
        # Only text with characters of more than one byte can hold full-width digits and signs.
        half = f"translate({x}, {p.sql_text(p.FULLWIDTH)}, {p.sql_text(p.HALFWIDTH)})"
        cleaned = f"if(strlen({x}) = length({x}), {trim_sql(x)}, trim({half}, {p.sql_text(p.SPACES)}))"
        return f"CASE WHEN {blank_sql(x, True)} THEN NULL ELSE {cleaned} END"

    def stage_sql(self, v):
        return self.stage(v) if self.stage else None

    def value_sql(self, v, n):
        return v if self.kind == "VARCHAR" else self.expr(v, n)

    def native_sql(self, x):
        """The value as the CSV reader typed it. DuckDB rounds `1.5` to an integer in silence, so it is read as the wider
        type and checked."""
        if self.kind == "BIGINT":
            return f"if({x} <> trunc({x}) OR abs({x}) >= 9e15, error('not whole'), {x}::BIGINT)"
        return x

    @property
    def reader_type(self):
        """The type to declare to the CSV reader."""
        return {"BIGINT": "DOUBLE"}.get(self.native, self.native) or "VARCHAR"


_SPACE = r"[ \t\r\n\x{a0}\x{3000}\x{feff}\x{200b}]"


def trim_sql(x):
    """Trimming is slow; a look at both ends tells that most values need none."""
    return f"if(ascii({x}) NOT BETWEEN 33 AND 126 OR ascii(right({x}, 1)) NOT BETWEEN 33 AND 126, trim({x}, {p.sql_text(p.SPACES)}), {x})"


def _blank(marks):
    return p.sql_text(f"{_SPACE}*(?:{'|'.join(re.escape(m) for m in marks)}){_SPACE}*")


_BLANK = {False: _blank(p.NULL_ALWAYS), True: _blank(p.NULL_ALWAYS + p.NULL_IN_VALUES)}


def blank_sql(x, in_values):
    """One pattern. DuckDB makes a hash join of every `IN` list, and 45 columns of them take a gigabyte."""
    return f"({x} IS NULL OR (strlen({x}) <= 40 AND regexp_full_match({x}, {_BLANK[in_values]})))"


_SHAPE = str.maketrans("012345678ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "9" * 9 + "a" * 52)


def representatives(values):
    """A few values of every shape: enough to decide, however long the sample is."""
    if len(values) <= 400:
        return values
    seen, out = {}, []
    for v, shape in zip(values, _shapes(values)):
        left = seen.get(shape)
        if left is None:
            left = 400 if "/" in shape or "-" in shape else 40
        if left:
            seen[shape] = left - 1
            out.append(v)
            if len(out) >= 4000:
                break
    return out


def _shapes(values):
    """Each value with its digits and letters made alike; all at once, which is many times faster than one by one."""
    shapes = "\n".join(values).translate(_SHAPE).split("\n")
    return shapes if len(shapes) == len(values) else [v.translate(_SHAPE) for v in values]


def _odd(texts):
    """The texts that cleaning changes, and perhaps others. Mostly none, which one look at all of them together shows."""
    joined = "\n".join(texts)
    if joined.isascii() and joined.count("\n") == len(texts) - 1 and not any(s in joined for s in " \t\r"):
        return []
    return [v for v in texts if v.strip(p.SPACES) != v or not v.isascii()]


def decide(sample, header, style_hint=None, choice=None):
    """The plan for a column, from sample texts (with repetitions) and its header. `choice`: what a person said it is."""
    given = [v for v in sample if v is not None]
    different = set(given)
    odd = _odd(different)
    texts = given
    if odd:
        cleaned = {v: p.clean(v) for v in odd}
        texts = [cleaned.get(v, v) for v in given]
        different = {cleaned.get(v, v) for v in different}
    in_values = IN_VALUES & different
    present = [t for t in texts if t not in ALWAYS] if ALWAYS & different else texts
    values = representatives([t for t in present if t not in in_values] if in_values else present)
    trim = any(v != v.strip(p.SPACES) for v in odd)
    text = Plan(trim=trim, notes=[note("spaces_trimmed", "spaces around text removed")] if trim else [])
    if not values or choice == "text":
        return text
    for attempt in _attempts(style_hint, choice):
        plan = attempt(values, header)
        if plan is not None:
            return _finished(plan, text, in_values, odd, trim)
    text.notes += _doubts(values, header, choice)
    return text


def _attempts(style_hint, choice):
    every = {"boolean": lambda v, _: _boolean(v), "date": lambda v, h: dates.plan(v, h, Plan),
             "number": lambda v, h: numbers.plan(v, h, style_hint, Plan)}
    if choice == "number":
        return [every["number"]]
    if choice == "date":
        return [every["date"], lambda v, _: dates.serial(v, "date", Plan)]
    return list(every.values())


def _finished(plan, text, in_values, odd, trim):
    if in_values and plan.kind != "VARCHAR":
        marks = sorted(in_values)[:5]
        plan.notes.append(note("read_as_empty", "read as empty: " + ", ".join(f"`{m}`" for m in marks), marks=marks))
        plan.native = None
    if trim or any(p.half(v) != v for v in odd) or plan.keep_raw:
        plan.native = None
    if plan.kind == "VARCHAR":
        plan.trim, plan.notes = trim, plan.notes + text.notes
    return plan


def _doubts(values, header, choice):
    """A column of text that looks as if it were something else is said to be text."""
    if choice:
        return [warn("mixed_types", f"not all values are a {choice}; kept as text", examples=values[:3])]
    dated = sum(bool(dates.START.match(v)) for v in values)
    named = dates.NAMED.search(header or "") and sum(any(c.isdigit() for c in v) for v in values) * 2 > len(values)
    years = dates.MONTH_NAMED.search(header or "") and len(p.matches(r".*(?:19|20)[0-9]{2}.*", values)) * 2 > len(values)
    if dated * 2 > len(values) or named or years:
        return [warn("dates_not_read", f"looks like dates that could not all be read ({', '.join(values[:2])}); kept as text", examples=values[:3])]
    plain = set(p.matches(r"[-+]?[0-9][0-9,]*(?:\.[0-9]+)?", values))
    hedged = p.matches(r"(?:约|近|超|大约|[~≈<>≥≤]|about |ca\.? ?)?[-+]?[0-9][0-9,.]*(?:\+|以上|左右|余)?", values)
    codes = any(v[0] == "0" and v.isdigit() and len(v) > 1 for v in plain)
    if len(hedged) * 2 > len(values) and not codes:
        rest = [v for v in values if v not in plain]
        if rest:
            return [warn("mixed_types", f"{len(plain)} of {len(values)} values seen are numbers, others are not ({', '.join(rest[:3])}); kept as text",
                         fit=len(plain), present=len(values), examples=rest[:3])]
    return []


def _boolean(values):
    lowered = {v.lower() for v in values}
    if lowered <= {"true", "false"}:
        return Plan("BOOLEAN", lambda v, _: f"TRY_CAST({v} AS BOOLEAN)", native="BOOLEAN")
    return None
