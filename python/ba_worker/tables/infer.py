"""Decides, from a sample of a column's text, what the column is and the SQL that converts it.

A plan never loses a value: text that the plan cannot convert is either a known blank, or is kept in a
companion `<name>_raw` column, or the column stays text.
"""

import re
from dataclasses import dataclass, field

from . import patterns as p

ZONED_TIME = "TIMESTAMP WITH TIME ZONE"
DATES = ("DATE", "TIMESTAMP", ZONED_TIME)
DATE_HEADER = re.compile(r"日期|时间|date|day|time|日$", re.I)
FAIL_SHARE = 0.10
DATE_START = re.compile("|".join(f"(?:{pattern})" for _, pattern, _ in p.DATE_PARTS))
ALWAYS = set(p.NULL_ALWAYS)
IN_VALUES = set(p.NULL_IN_VALUES)
CURRENCY = re.compile(p.CURRENCY)
SUFFIX = re.compile(r"(?<=[0-9.]) ?([^0-9\s.,()%+'-][^0-9\s.,()%+'-]{0,3}|m2)-?\)?$")
NOT_NUMBER = re.compile(r"[^0-9.,eE]")
EXPONENT = re.compile(r"[0-9][eE][-+]?[0-9]")
COMPILED = {}


@dataclass
class Plan:
    """How one column is converted. `expr(x)` gives the SQL of the typed value of the text expression `x`."""

    kind: str = "VARCHAR"
    expr: object = None
    native: str | None = None
    # How its dates or times are written. The CSV reader is told, or it would drop the zone of one that has a zone.
    formats: tuple = ()
    unit: str | None = None
    guesses: list = field(default_factory=list)
    keep_raw: bool = False
    style: str | None = None
    ambiguous_style: bool = False
    blanks: bool = False
    trim: bool = False

    def sql(self, x):
        """The typed value of the text expression `x`."""
        if self.kind == "VARCHAR":
            return text_sql(x, self.trim)
        return f"CASE WHEN {blank_sql(x, True)} THEN NULL ELSE {self.expr(clean_sql(x))} END"

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

    def failed_sql(self, x):
        """True where the text says something that the typed value does not."""
        return f"(NOT {blank_sql(x, True)} AND {self.expr(clean_sql(x))} IS NULL)"


def trim_sql(x):
    """Trimming is slow; a look at both ends tells that most values need none."""
    spaces = ", ".join(p.sql_text(c) for c in p.SPACES)
    return f"if(left({x}, 1) IN ({spaces}) OR right({x}, 1) IN ({spaces}), trim({x}, {p.sql_text(p.SPACES)}), {x})"


def clean_sql(x):
    """Only text with characters of more than one byte can hold full-width digits and signs."""
    half = f"translate({x}, {p.sql_text(p.FULLWIDTH)}, {p.sql_text(p.HALFWIDTH)})"
    return f"if(strlen({x}) = length({x}), {trim_sql(x)}, trim({half}, {p.sql_text(p.SPACES)}))"


def blank_sql(x, in_values):
    marks = p.NULL_ALWAYS + (p.NULL_IN_VALUES if in_values else [])
    inside = ", ".join(p.sql_text(m) for m in marks)
    return f"({x} IS NULL OR {trim_sql(x)} IN ({inside}))"


def text_sql(x, trim):
    value = trim_sql(x) if trim else x
    return f"CASE WHEN {blank_sql(x, False)} THEN NULL ELSE {value} END"


def compiled(pattern):
    found = COMPILED.get(pattern)
    if found is None:
        found = COMPILED[pattern] = p.python_pattern(pattern)
    return found


def matches(pattern, values):
    fits = compiled(pattern).fullmatch
    return [v for v in values if fits(v)]


# Compiled once, before any fork: together they cost more than the plan of a table.
for _pattern in [p.ZONED, *(d for _, d, _ in p.DATE_PARTS), *(p.number_pattern(s) for s in p.STYLES), *(d for _, d in p.STYLES.values())]:
    compiled(_pattern)


def acceptable(values, good):
    """Whether what does not fit is so little, and so wordy, that it may sit in a companion column."""
    fitting = set(good)
    bad = [v for v in values if v not in fitting]
    if not bad:
        return True
    if any(c.isdigit() for v in bad for c in v):
        return False
    return len(good) >= 4 and (len(bad) <= 2 or len(bad) <= FAIL_SHARE * len(values)) and len(bad) < len(good)


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


def decide(sample, header, style_hint=None):
    """The plan for a column, from sample texts (with repetitions) and its header."""
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
    text = Plan(trim=trim, guesses=["spaces around text removed"] if trim else [])
    if not values:
        return text
    for attempt in (_boolean, _dates, _numbers):
        plan = attempt(values, header, style_hint)
        if plan is None:
            continue
        if in_values and plan.kind != "VARCHAR":
            plan.guesses.append("read as empty: " + ", ".join(f"`{m}`" for m in sorted(in_values)[:5]))
            plan.native = None
        if trim or any(p.half(v) != v for v in odd):
            plan.native = None
        if plan.keep_raw:
            plan.native = None
        if plan.kind == "VARCHAR":
            plan.trim, plan.guesses = trim, plan.guesses + text.guesses
        return plan
    return text


def _boolean(values, header, _hint):
    lowered = {v.lower() for v in values}
    if lowered <= {"true", "false"}:
        return Plan("BOOLEAN", lambda x: f"TRY_CAST({x} AS BOOLEAN)", native="BOOLEAN")
    return None


def _dates(values, header, _hint):
    zoned = matches(p.ZONED, values)
    if len(zoned) == len(values):
        # The cast would take a time without a zone for one in UTC.
        return Plan(ZONED_TIME,
                    lambda x: f"CASE WHEN regexp_full_match({x}, {p.sql_text(p.ZONED)}) THEN TRY_CAST({x} AS TIMESTAMPTZ) END",
                    guesses=["times with a zone kept as UTC"])
    if zoned and all(DATE_START.match(v) for v in values):
        return Plan(guesses=["times with and without a zone are mixed: kept as text"])
    formats, good, has_time, guesses, simple = [], [], False, [], True
    if not any(DATE_START.match(v) for v in values):
        return None
    for name, date_pattern, fmt in p.DATE_PARTS:
        found = matches(date_pattern, values)
        if found:
            resolved, notes = _resolve(name, fmt, found)
            formats.append(resolved)
            guesses += notes
            good += found
            simple = simple and name in ("ymd-", "ymd/")
        if name.startswith("ym") and not name.startswith("ymd"):
            if found:
                guesses.append("months read as their first day")
            continue
        # Only what goes on after the date can end with a time: in most columns nothing does.
        whole = set(found)
        longer = [v for v in values if v not in whole and compiled(date_pattern).match(v)]
        for time_pattern, time_fmt in p.TIME_PARTS if longer else ():
            for sep in ("T", " ", ""):
                timed = matches(date_pattern + sep + time_pattern, longer) if sep or "时" in time_pattern or "年" in date_pattern else []
                if not timed:
                    continue
                dates_only = [re.split(r"[T ]" if sep else r"(?<=[日号])", v)[0] for v in timed]
                resolved, notes = _resolve(name, fmt, dates_only)
                guesses += notes
                formats.append(resolved + sep + _spaced(time_fmt, timed))
                good += timed
                has_time = True
                simple = simple and name in ("ymd-", "ymd/") and "%p" not in time_fmt
    # A bad date such as 2024-02-30 is found later, when the whole column is converted.
    if not good or not acceptable(values, good):
        return None
    if formats == ["%Y%m%d"] and len(set(values)) < 2 and not DATE_HEADER.search(header or ""):
        return None
    kind = "TIMESTAMP" if has_time else "DATE"
    unique = list(dict.fromkeys(formats))
    if any(f != "%Y-%m-%d" for f in unique) and not simple:
        guesses.append("dates written as " + ", ".join(_shown(f) for f in unique))
    tail = "::TIMESTAMP" if has_time else "::DATE"
    native = kind if simple and len(good) == len(values) and len(unique) == 1 else None
    fmts = p.sql_list(unique)
    return Plan(kind, lambda x: f"try_strptime({x}, {fmts}){tail}", native=native, formats=tuple(unique),
                guesses=list(dict.fromkeys(guesses)), keep_raw=len(good) < len(values))


def _spaced(time_fmt, timed):
    if "%p" in time_fmt and not any(re.search(r"\d [AaPp][Mm]$", v) for v in timed):
        return time_fmt.replace(" %p", "%p")
    return time_fmt


def _shown(fmt):
    for code, word in (("%Y", "YYYY"), ("%m", "MM"), ("%d", "DD"), ("%H", "hh"), ("%M", "mm"), ("%S", "ss"), ("%y", "YY"),
                       ("%f", "fff"), ("%b", "Mon"), ("%B", "Month"), ("%I", "hh"), ("%p", "AM/PM")):
        fmt = fmt.replace(code, word)
    return f"`{fmt}`"


def _resolve(name, fmt, found):
    """The format of a date shape; where day and month could be swapped, the values decide."""
    if fmt:
        return fmt, []
    if name == "dby":
        return ("%d-%b-%Y" if "-" in found[0] else "%d %b %Y"), []
    sep = "-" if name == "xxy-" else "/"
    year = "%y" if name == "xx2/" else "%Y"
    parts = [v.split(sep) for v in found]
    if any(int(a[0]) > 12 for a in parts):
        return f"%d{sep}%m{sep}{year}", []
    if any(int(a[1]) > 12 for a in parts):
        return f"%m{sep}%d{sep}{year}", []
    return f"%m{sep}%d{sep}{year}", ["day and month could be swapped: read as month first"]


def _numbers(values, header, style_hint):
    currency = any(CURRENCY.search(v) for v in values)
    percent = any(v.rstrip("-)").endswith(("%", "‰")) for v in values)
    suffixes = set() if percent else _suffixes(values)
    style, good = _style(values, currency, percent, suffixes, style_hint)
    if not good or not acceptable(values, good):
        return None
    bare = [NOT_NUMBER.sub("", v) for v in good]
    digits = [b for b in bare if b.isdigit()]
    if not (currency or percent or suffixes) and any(len(d) > 1 and d[0] == "0" for d in digits):
        return None
    if any(len(d) > 18 for d in digits):
        return Plan(guesses=["long digit strings kept as text"])
    return _number_plan(values, good, header, style, currency, percent, suffixes)


def _suffixes(values):
    tails = set()
    for v in values:
        found = SUFFIX.search(v)
        if found:
            tails.add(found[1])
    scales = tails & set(p.SCALES)
    units = tails & set(p.UNITS)
    if tails - scales - units or len(units) > 1 or (units and scales and units != {"元"}):
        return set()
    return tails


def _style(values, currency, percent, suffixes, hint):
    found = {s: matches(p.number_pattern(s, currency, percent, suffixes), values) for s in p.STYLES}
    best = max(len(g) for g in found.values())
    order = [hint, "us"] if hint else ["us"]
    for style in [*order, "eu", "space", "space_comma", "swiss"]:
        if style and len(found[style]) == best:
            return style, found[style]
    return "us", found["us"]


def _number_plan(values, good, header, style, currency, percent, suffixes):
    group, decimal = p.STYLES[style]
    plain = matches(r"[-+]?[0-9]+", good)
    has_fraction = percent or bool(suffixes & set(p.SCALES)) or any(
        compiled(decimal).search(v) or EXPONENT.search(v) for v in good)
    kind = "DOUBLE" if has_fraction else "BIGINT"
    plan = Plan(kind, style=style, keep_raw=len(good) < len(values))
    plain_decimal = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
    if len(plain) == len(values):
        plan.native = "BIGINT"
    elif not (currency or percent or suffixes) and len(matches(plain_decimal, good)) == len(values):
        plan.native = "DOUBLE"
    if plan.native:
        # Much cheaper than the pattern, which matters for thousands of columns.
        plan.expr = _plain_number_sql(kind)
    else:
        plan.expr = _number_sql(kind, style, currency, percent, suffixes)
    plan.ambiguous_style = style == "us" and any("," in v for v in good) and not any("." in v for v in good)
    if percent:
        plan.unit = "%"
        plan.guesses.append("percentages read as fractions (12% is 0.12)")
    elif currency:
        plan.unit = next(m[0] for v in good if (m := CURRENCY.search(v)))
    elif suffixes:
        scales = sorted(suffixes & set(p.SCALES))
        plan.unit = "元" if any("元" in s for s in suffixes) else next(iter(sorted(suffixes - set(scales))), None)
        if scales:
            plan.guesses.append("multiplied out: " + ", ".join(f"{s} ×{p.SCALES[s]:.0f}" for s in scales))
    if style != "us":
        plan.guesses.append({"eu": "`.` groups thousands, `,` is the decimal sign", "space": "spaces group thousands",
                             "space_comma": "`,` is the decimal sign", "swiss": "apostrophes group thousands"}[style])
    elif any("," in v for v in good):
        plan.guesses.append("`,` groups thousands")
    if any(v.startswith("(") for v in good):
        plan.guesses.append("numbers in parentheses read as negative")
    return _serial_dates(plan, values, header) or plan


def _serial_dates(plan, values, header):
    """Excel's day numbers, when the header says that the column holds dates."""
    if not DATE_HEADER.search(header or "") or plan.unit or plan.style != "us":
        return None
    try:
        numbers = [float(v) for v in values]
    except ValueError:
        return None
    if not numbers or not all(20000 <= n <= 80000 for n in numbers):
        return None
    timed = any(n != int(n) for n in numbers)
    # Milliseconds, because a float day carries no more.
    stamp = "(TIMESTAMP '1899-12-30' + to_milliseconds(round(TRY_CAST({x} AS DOUBLE) * 86400000)::BIGINT))"
    kind = "TIMESTAMP" if timed else "DATE"
    return Plan(kind, lambda x: stamp.format(x=x) + f"::{kind}", guesses=["Excel day numbers read as dates"])


def _plain_number_sql(kind):
    if kind == "DOUBLE":
        return lambda x: f"TRY_CAST({x} AS DOUBLE)"
    return lambda x: f"CASE WHEN regexp_full_match({x}, '[-+]?[0-9]+') THEN TRY_CAST({x} AS BIGINT) END"


def _number_sql(kind, style, currency, percent, suffixes):
    pattern = p.number_pattern(style, currency, percent, suffixes)
    group, decimal = p.STYLES[style]

    def expr(x):
        n = x
        if currency:
            n = f"regexp_replace({n}, {p.sql_text(p.CURRENCY)}, '', 'g')"
        units = [s for s in suffixes if s not in p.SCALES]
        if units:
            joined = "|".join(re.escape(u) for u in sorted(units, key=len, reverse=True))
            n = f"regexp_replace({n}, {p.sql_text(f'(?:{joined})(-?[)]?)$')}, '\\1')"
        n = f"regexp_replace({n}, {p.sql_text(group)}, '', 'g')"
        if decimal == ",":
            n = f"replace({n}, ',', '.')"
        n = f"regexp_replace({n}, '^[(](.*)[)]$|^(.+)-$', '-\\1\\2')"
        if percent:
            value = (f"CASE WHEN contains({n}, '‰') THEN TRY_CAST(trim(replace({n}, '‰', '')) AS DOUBLE) / 1000 "
                     f"WHEN contains({n}, '%') THEN TRY_CAST(trim(replace({n}, '%', '')) AS DOUBLE) / 100 "
                     f"ELSE TRY_CAST({n} AS DOUBLE) END")
        elif suffixes & set(p.SCALES):
            cases = " ".join(
                f"WHEN ends_with({n}, {p.sql_text(s)}) THEN TRY_CAST(trim(replace({n}, {p.sql_text(s)}, '')) AS DOUBLE) * {p.SCALES[s]:.0f}"
                for s in sorted(suffixes & set(p.SCALES), key=len, reverse=True))
            value = f"CASE {cases} ELSE TRY_CAST(trim({n}) AS DOUBLE) END"
        else:
            value = f"TRY_CAST(trim({n}) AS {kind})"
        return f"CASE WHEN regexp_full_match({x}, {p.sql_text(pattern)}) THEN {value} END"

    return expr
