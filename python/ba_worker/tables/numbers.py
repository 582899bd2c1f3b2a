"""Numbers as people write them: the plan of a column of figures with its signs, groups, units and scales."""

import re

from . import dates, units
from . import patterns as p
from .notes import note, warn

CURRENCY = re.compile(p.CURRENCY)
SUFFIX = re.compile(r"(?<=[0-9.]) ?([^0-9\s.,()%+'-][^0-9\s.,()%+'-]{0,5}|m2)-?\)?$")
NOT_NUMBER = re.compile(r"[^0-9.,eE]")
EXPONENT = re.compile(r"[0-9][eE][-+]?[0-9]")
LOST_DIGITS = re.compile(r"[0-9](?:\.[0-9]+)?[eE]\+?(?:1[5-9]|2[0-9])")
VERSION_NAMED = re.compile(r"版本|固件|firmware|version|\bver\b|release|build", re.I)
CODE_NAMED = re.compile(r"\bhs\b|heading|tariff|税号|税则|编码|条款|clause|\bcode", re.I)
ID_NAMED = re.compile(r"编号|号码|单号|订单号|卡号|账号|证号|流水|\bid\b|_id$|^id|code|no\.?$|number|sku|编码", re.I)


def plan(values, header, style_hint, make):
    """The plan for texts that are numbers; None when they are none."""
    if VERSION_NAMED.search(header or "") and all(re.fullmatch(r"v?[0-9]+(?:\.[0-9]+)*", v) for v in values):
        return make(notes=[])
    if CODE_NAMED.search(header or "") and any("." in v for v in values) and all(re.fullmatch(r"[0-9]{2,}(?:\.[0-9]{2,})*", v) for v in values):
        return make(notes=[])
    lost = [v for v in values if LOST_DIGITS.fullmatch(v)]
    if lost and (ID_NAMED.search(header or "") or len(lost) * 2 > len(values)):
        return make(notes=[warn("digits_lost", f"digits were lost before the upload ({', '.join(lost[:3])}): a spreadsheet wrote long numbers in short; "
                                "different ones may look the same", examples=lost[:3])])
    currency = any(CURRENCY.search(v) for v in values)
    percent = any(v.rstrip("-)").endswith(("%", "‰")) for v in values)
    suffixes = set() if percent else _suffixes(values)
    style, good = _style(values, currency, percent, suffixes, style_hint)
    if not good or not p.acceptable(values, good):
        return None
    digits = [b for b in (NOT_NUMBER.sub("", v) for v in good) if b.isdigit()]
    if not (currency or percent or suffixes) and (any(len(d) > 1 and d[0] == "0" for d in digits) or any(re.match(r"0[0-9]+\.", v) for v in good)):
        return None
    if any(len(d) > 18 for d in digits):
        return make(notes=[note("long_digits_text", "long digit strings kept as text")])
    return _made(values, good, header, style, currency, percent, suffixes, make)


def _suffixes(values):
    tails = set()
    for v in values:
        found = SUFFIX.search(v)
        if found:
            tails.add(found[1])
    known = {t for t in tails if t in p.SCALES or t in p.UNITS}
    # Words nobody listed are units too where a space parts them from the number: `12 Dr`, `850 kWh`. `12A` is a code.
    strange = tails - known
    spaced = len(tails) <= 5 and all(t.isalpha() for t in strange) and all(re.search(r"[0-9] [^\W\d]", v) for v in values if _tail(v) in strange)
    return tails if spaced else set()


def _tail(value):
    found = SUFFIX.search(value)
    return found[1] if found else None


def _style(values, currency, percent, suffixes, hint):
    found = {s: p.matches(p.number_pattern(s, currency, percent, suffixes), values) for s in p.STYLES}
    best = max(len(g) for g in found.values())
    order = [hint, "us"] if hint else ["us"]
    for style in [*order, "eu", "indian", "space", "space_comma", "swiss"]:
        if style and len(found[style]) == best:
            return style, found[style]
    return "us", found["us"]


def _made(values, good, header, style, currency, percent, suffixes, make):
    _, decimal = p.STYLES[style]
    scales = sorted(suffixes & set(p.SCALES))
    plain = p.matches(r"[-+]?[0-9]+", good)
    fraction = percent or bool(scales) or any(p.compiled(decimal).search(v) or EXPONENT.search(v) for v in good)
    kind = "DOUBLE" if fraction else "BIGINT"
    plain_decimal = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
    native = None
    if len(plain) == len(values):
        native = "BIGINT"
    elif style == "us" and not (currency or percent or suffixes) and len(p.matches(plain_decimal, good)) == len(values):
        native = "DOUBLE"
    if native:
        serial = dates.serial(values, header, make)
        if serial:
            return serial
        # Much cheaper than the pattern, which matters for thousands of columns.
        made = make(kind, _plain_sql(kind), native=native)
    else:
        made = make(kind, _value_sql(kind, style, currency, percent, suffixes), stage=_bare_sql(style, currency, suffixes))
    made.style, made.keep_raw = style, len(good) < len(values)
    commas = any("," in v for v in good)
    dots = any("." in v for v in good)
    made.ambiguous_style = style == "us" and commas and not dots
    # 1.234 is a thousand in German and a fraction in English.
    made.dotted = style == "us" and dots and not commas and all(re.fullmatch(r"[-+(]?[^0-9]*[0-9]{1,3}(?:\.[0-9]{3})+\D*", v) for v in good if "." in v)
    twins = _twins(good) if native == "DOUBLE" else None
    if twins:
        made.notes.append(warn("same_number", f"{twins[0]} and {twins[1]} are the same number; if they are versions or codes, read the column as text", examples=list(twins)))
    made.notes += _said(values, good, style, percent, suffixes, scales)
    _units(made, good, currency, percent, suffixes, scales)
    return made


def _twins(good):
    """Two short writings of one number, as versions have: 1.1 and 1.10."""
    if not all(re.fullmatch(r"[0-9]{1,2}\.[0-9]{1,2}", v) for v in good):
        return None
    seen = {}
    for v in good:
        other = seen.setdefault(float(v), v)
        if other != v:
            return other, v
    return None


def _said(values, good, style, percent, suffixes, scales):
    said = []
    if percent:
        said.append(note("percent_fraction", "percentages read as fractions (12% is 0.12)"))
        bare = [v for v in good if not v.rstrip("-)").endswith(("%", "‰"))]
        if bare:
            said.append(warn("percent_mixed", f"some values have no percent sign ({', '.join(bare[:3])}) and are taken as they stand", examples=bare[:3]))
    if scales:
        said.append(note("scales", "multiplied out: " + ", ".join(f"{s} ×{p.SCALES[s]:.0f}" for s in scales), scales=scales))
        bare = [v for v in good if not SUFFIX.search(v)]
        if bare and not suffixes - set(scales):
            said.append(warn("scales_mixed", f"some values have no {scales[0]} ({', '.join(bare[:3])}) and are taken as they stand", scale=scales[0], examples=bare[:3]))
    words = {"eu": "`.` groups thousands, `,` is the decimal sign", "space": "spaces group thousands", "space_comma": "`,` is the decimal sign",
             "swiss": "apostrophes group thousands", "indian": "`,` groups lakhs and thousands"}
    if style != "us":
        said.append(note("decimal_comma" if "decimal" in words[style] else "thousands", words[style], **({"case": "eu"} if style == "eu" else {})))
    elif any("," in v for v in good):
        said.append(note("thousands", "`,` groups thousands"))
    if any(v.startswith("(") for v in good):
        said.append(note("parentheses_negative", "numbers in parentheses read as negative"))
    return said


def _units(made, good, currency, percent, suffixes, scales):
    """The column's unit; with several, the numbers stand and each one's unit is kept beside it."""
    if percent:
        made.unit = "%"
        return
    if not currency and not suffixes:
        return
    found = {}
    for v in good:
        prefix, tail = CURRENCY.search(v), SUFFIX.search(v)
        word = prefix[0] if prefix else tail[1] if tail and tail[1] not in scales else ("元" if tail and "元" in tail[1] else None)
        if word:
            found.setdefault(units.currency_class(word) if units.is_currency(word) else word, word)
    if len(found) > 1:
        kinds = sorted(found)
        money = all(units.is_currency(w) for w in found.values())
        code, name = ("currency_mixed", "currencies") if money else ("unit_mixed", "units")
        made.notes.append(warn(code, f"several {name} in one column ({', '.join(kinds[:6])}): do not add them up; sum within each", **{name: kinds}))
        made.companion = ("currency" if money else "unit", _unit_sql(suffixes))
    elif found:
        made.unit = next(iter(found.values()))


def _unit_sql(suffixes):
    words = sorted((s for s in suffixes if s not in p.SCALES), key=len, reverse=True)
    tail = f"(?:{'|'.join(re.escape(w) for w in words)})" if words else None
    pattern = p.CURRENCY + (f"|{tail}-?[)]?$" if tail else "")
    return lambda v: f"nullif(regexp_extract({v}, {p.sql_text(pattern)}), '')"


def _plain_sql(kind):
    if kind == "DOUBLE":
        return lambda v, _: f"TRY_CAST({v} AS DOUBLE)"
    return lambda v, _: f"CASE WHEN regexp_full_match({v}, '[-+]?[0-9]+') THEN TRY_CAST({v} AS BIGINT) END"


def _bare_sql(style, currency, suffixes):
    """The text of the number alone: no currency, unit or group signs, the sign in front."""
    group, decimal = p.STYLES[style]

    def stage(v):
        n = v
        if currency:
            n = f"regexp_replace({n}, {p.sql_text(p.CURRENCY)}, '', 'g')"
        words = [s for s in suffixes if s not in p.SCALES]
        if words:
            joined = "|".join(re.escape(u) for u in sorted(words, key=len, reverse=True))
            n = f"regexp_replace({n}, {p.sql_text(f'(?:{joined})(-?[)]?)$')}, '\\1')"
        n = f"regexp_replace({n}, {p.sql_text(group)}, '', 'g')"
        if decimal == ",":
            n = f"replace({n}, ',', '.')"
        return f"trim(regexp_replace(trim({n}), '^[(](.*)[)]$|^(.+)-$', '-\\1\\2'))"

    return stage


def _value_sql(kind, style, currency, percent, suffixes):
    pattern = p.number_pattern(style, currency, percent, suffixes)

    def expr(v, n):
        if percent:
            value = (f"CASE WHEN contains({n}, '‰') THEN TRY_CAST(trim(replace({n}, '‰', '')) AS DOUBLE) / 1000 "
                     f"WHEN contains({n}, '%') THEN TRY_CAST(trim(replace({n}, '%', '')) AS DOUBLE) / 100 "
                     f"ELSE TRY_CAST({n} AS DOUBLE) END")
        elif suffixes & set(p.SCALES):
            cases = " ".join(
                f"WHEN ends_with({n}, {p.sql_text(s)}) THEN TRY_CAST(trim(replace({n}, {p.sql_text(s)}, '')) AS DOUBLE) * {p.SCALES[s]:.0f}"
                for s in sorted(suffixes & set(p.SCALES), key=len, reverse=True))
            value = f"CASE {cases} ELSE TRY_CAST({n} AS DOUBLE) END"
        else:
            value = f"TRY_CAST({n} AS {kind})"
        return f"CASE WHEN regexp_full_match({v}, {p.sql_text(pattern)}) THEN {value} END"

    return expr
