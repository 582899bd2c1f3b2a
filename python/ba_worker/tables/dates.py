"""Dates: the plan of a column of dates, and plain writing for dates that people write in words.

`rewrite` makes `Jan-24`, `5 janv. 2024`, `2024年1月1日 下午1:30` and `令和6年1月5日` plain; what it does not know it leaves alone.
"""

import re

from . import patterns as p
from .notes import note, warn

ZONED_TIME = "TIMESTAMP WITH TIME ZONE"
KINDS = ("DATE", "TIMESTAMP", ZONED_TIME)
NAMED = re.compile(r"日期|时间|date|day\b|time|日$|datum|날짜|일자|日付|дата|fecha", re.I)
STAMPED = re.compile(r"\bts\b|^ts|_ts$|stamp|_at$|created|updated|epoch", re.I)
ZONE = re.compile(r"(?:Z|[-+][0-9]{2}(?::?[0-9]{2})?)$")
UTC = {"Z", "+00", "+0000", "+00:00"}
MONTH_NAMED = re.compile(r"年月|月份|期间|账期|会计期|month|period|yyyymm|mois|monat|^月$|月度", re.I)
START = re.compile("|".join(f"(?:{pattern})" for _, pattern, _ in p.DATE_PARTS))
PLAIN = re.compile(f"(?:{START.pattern})(?:[ T]?[0-9:.]+(?: ?[AaPp][Mm])?(?:Z|[-+][0-9:]+)?|[0-9时分秒]+)?")
MONTHS = {}
for _n, _words in enumerate((
        "jan january janv janvier januar jän jänner enero ene gennaio янв января", "feb february févr fév février fevr fevrier februar febrero febbraio фев февраля",
        "mar march mars märz mrz marzo мар марта", "apr april avr avril abril abr aprile апр апреля", "may mai mayo maggio мая май",
        "jun june juin juni junio giugno июн июня", "jul july juil juillet juli julio luglio июл июля", "aug august août aout agosto ago авг августа",
        "sep sept september septembre septiembre settembre сен сентября", "oct october octobre okt oktober octubre ottobre окт октября",
        "nov november novembre noviembre ноя ноября", "dec december déc décembre decembre dez dezember diciembre dic dicembre дек декабря"), 1):
    for _word in _words.split():
        MONTHS[_word] = _n
_WORD = r"([^\W\d_]{3,10})\.?"
_CLOCK = r"(?:[ T,]+([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?\s*([AaPp][Mm])?)?"
_SHAPES = [
    ("d m y", re.compile(rf"([0-9]{{1,2}})(?:st|nd|rd|th|\.)?[-/ ]{_WORD}[-/ ,]+([0-9]{{4}}|[0-9]{{2}}){_CLOCK}")),
    ("m d y", re.compile(rf"{_WORD}[- ]([0-9]{{1,2}})(?:st|nd|rd|th)?,?[- ]+([0-9]{{4}}){_CLOCK}")),
    ("y m d", re.compile(rf"([0-9]{{4}})[-/ ]{_WORD}[-/ ]([0-9]{{1,2}}){_CLOCK}")),
    ("m y", re.compile(rf"{_WORD}[-/ ,'’]+([0-9]{{4}}|[0-9]{{2}})")),
    ("y m", re.compile(rf"([0-9]{{4}})[-/ ]{_WORD}")),
]
_EAST = re.compile(r"(?:(令和|平成|昭和|民國|民国|R|H)(元|[0-9]{1,3})|([0-9]{4}))\s*[年년./-]\s*([0-9]{1,2})\s*[月월./-]?(?:\s*([0-9]{1,2})\s*[日号일.]?)?"
                   r"(?:\s*[(（][一二三四五六日月火水木金土周星期월화수목금토일]{1,3}[)）])?"
                   r"(?:\s*(上午|下午|凌晨|早上|清晨|中午|晚上|午前|午後|오전|오후|AM|PM)?\s*([0-9]{1,2})\s*[:：时時点시]\s*([0-9]{1,2})?\s*[分분]?(?:[:：]?\s*([0-9]{1,2})\s*[秒초]?)?\s*([AaPp][Mm])?)?")
_ERAS = {"民國": 1911, "民国": 1911, "令和": 2018, "R": 2018, "平成": 1988, "H": 1988, "昭和": 1925}
_AFTERNOON = {"下午", "晚上", "午後", "오후", "PM", "pm", "中午"}
# The day of the week before a date, and the word for year after it.
_AROUND = re.compile(r"^(?:mon|tue|wed|thu|fri|sat|sun|lun|mar|mer|jeu|ven|sam|dim|mo|di|mi|do|fr|sa|so)[a-z]*[.,]* +(?=[0-9]{1,2}[ .-]+[^\W\d])|\s*(?:г\.?|года?)$", re.I)
_SHORT = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{2})")


def rewrite(text):
    """A date written in words as `2024-01-05`, `2024-01-05 13:30` or `2024-01`; None when it is none."""
    text = _AROUND.sub("", p.clean(text))
    if not 5 <= len(text) <= 40 or not any(c.isdigit() for c in text):
        return None
    found = _EAST.fullmatch(text)
    if found:
        return _eastern(found)
    short = _SHORT.fullmatch(text)
    if short:
        return _plain(_century(short[3]), int(short[2]), int(short[1]))
    for shape, pattern in _SHAPES:
        found = pattern.fullmatch(text)
        if found and (made := _western(shape, found.groups())):
            return made
    return None


def _eastern(found):
    era, era_year, year, month, day, half, hour, minute, second, tail = found.groups()
    if year is None:
        year = _ERAS[era] + (1 if era_year == "元" else int(era_year))
    half = half or tail
    return _plain(int(year), int(month), day and int(day), hour and _hour(int(hour), half), minute, second)


def _hour(hour, half):
    if half in _AFTERNOON and hour < 12:
        return hour if half == "中午" and hour >= 11 else hour + 12
    if half and half not in _AFTERNOON and hour == 12:
        return 0
    return hour


def _western(shape, parts):
    order = shape.split()
    fields = dict(zip(order, parts))
    month = MONTHS.get(fields["m"].lower())
    if not month:
        return None
    year = int(fields["y"]) if len(fields["y"]) == 4 else _century(fields["y"])
    clock = parts[3:7] if len(order) == 3 else (None,) * 4
    hour = clock[0] and _hour(int(clock[0]), clock[3] and clock[3].upper())
    return _plain(year, month, int(fields["d"]) if "d" in fields else None, hour, clock[1], clock[2])


def _century(two):
    return 2000 + int(two) if int(two) < 70 else 1900 + int(two)


def _plain(year, month, day=None, hour=None, minute=None, second=None):
    if not (1 <= month <= 12 and 1900 <= year <= 2100 and (day is None or 1 <= day <= 31)):
        return None
    made = f"{year:04d}-{month:02d}" + ("" if day is None else f"-{day:02d}")
    if day is not None and hour is not None and hour != "":
        made += f" {int(hour):02d}:{int(minute or 0):02d}:{int(second or 0):02d}"
    return made


def rewritten(texts):
    """The texts of a column with dates in plain writing, or None where that would not make it a column of dates."""
    present = [t for t in texts if t is not None and p.clean(t) not in p.NULL_ALWAYS and p.clean(t) not in p.NULL_IN_VALUES]
    if not any(rewrite(t) and not PLAIN.fullmatch(p.clean(t)) for t in present[:50]):
        return None
    cache, known = {}, 0
    for t in present:
        if t not in cache:
            made = rewrite(t)
            cache[t] = made if made else (t if START.match(p.clean(t)) else None)
        known += cache[t] is not None
    if known * 10 < len(present) * 9 or len(present) - known > 3 and known * 50 < len(present) * 49:
        return None
    return [cache.get(t) or t if t is not None else None for t in texts]


def plan(values, header, make):
    """The plan for texts that are dates; None when they are none. `make` builds a Plan."""
    zoned = p.matches(p.ZONED, values)
    few = max(2, len(values) // 50)
    rest = len(values) - len(zoned)
    if zoned and rest and len(values) >= 20 and min(len(zoned), rest) <= few and all(START.match(v) for v in values):
        # A few of the other sort are kept beside; they do not make text of the column.
        marked = set(zoned)
        values = [v for v in values if (v in marked) == (len(zoned) > rest)]
        made = plan(values, header, make)
        if made is not None and made.kind in KINDS:
            made.keep_raw = True
            return made
    zones = {ZONE.search(v)[0] for v in zoned}
    if len(zoned) == len(values) and len(zones) == 1 and (zone := next(iter(zones))) not in UTC:
        # Written in one zone, they stay as written: in UTC the last hours of a month would belong to another month.
        cut = len(zone)
        return make("TIMESTAMP", lambda v, _: f"CASE WHEN ends_with({v}, {p.sql_text(zone)}) THEN TRY_CAST(left({v}, length({v}) - {cut}) AS TIMESTAMP) END",
                    formats=(zone,), notes=[note("zone_kept", f"times are in the zone {zone} and kept as written", zone=zone)])
    if len(zoned) == len(values):
        # The cast would take a time without a zone for one in UTC.
        return make(ZONED_TIME, lambda v, _: f"CASE WHEN regexp_full_match({v}, {p.sql_text(p.ZONED)}) THEN TRY_CAST({v} AS TIMESTAMPTZ) END",
                    notes=[note("zoned_utc", "times with a zone kept as UTC")])
    if zoned and all(START.match(v) for v in values):
        return make(notes=[warn("dates_not_read", "times with and without a zone are mixed: kept as text", examples=values[:3], case="zones")])
    if MONTH_NAMED.search(header or "") and len(p.matches(r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])", values)) == len(values):
        return make("DATE", lambda v, _: f"try_strptime({v} || '01', '%Y%m%d')::DATE", formats=("%Y%m",), notes=[_first_days()])
    if not any(START.match(v) for v in values):
        return None
    return _shaped(values, header, make)


def _first_days():
    return note("months_first_day", "months read as their first day")


def _shaped(values, header, make):
    formats, good, has_time, notes, simple = [], [], False, [], True
    for name, date_pattern, fmt in p.DATE_PARTS:
        found = p.matches(date_pattern, values)
        if found:
            resolved, said = _resolve(name, fmt, found)
            formats.append(resolved)
            notes += said
            good += found
            simple = simple and name in ("ymd-", "ymd/")
        if name.startswith("ym") and not name.startswith("ymd"):
            if found:
                notes.append(_first_days())
            continue
        # Only what goes on after the date can end with a time: in most columns nothing does.
        whole = set(found)
        longer = [v for v in values if v not in whole and p.compiled(date_pattern).match(v)]
        for time_pattern, time_fmt in p.TIME_PARTS if longer else ():
            for sep in ("T", " ", ""):
                timed = p.matches(date_pattern + sep + time_pattern, longer) if sep or "时" in time_pattern or "年" in date_pattern else []
                if not timed:
                    continue
                dates_only = [re.split(r"[T ]" if sep else r"(?<=[日号])", v)[0] for v in timed]
                resolved, said = _resolve(name, fmt, dates_only)
                notes += said
                formats.append(resolved + sep + _spaced(time_fmt, timed))
                good += timed
                has_time = True
                simple = simple and name in ("ymd-", "ymd/") and "%p" not in time_fmt
    # A bad date such as 2024-02-30 is found later, when the whole column is converted.
    if not good or not p.acceptable(values, good):
        return None
    if formats == ["%Y%m%d"] and len(set(values)) < 2 and not NAMED.search(header or ""):
        return None
    return _made(values, good, formats, has_time, simple, notes, make)


def _made(values, good, formats, has_time, simple, notes, make):
    kind = "TIMESTAMP" if has_time else "DATE"
    unique = list(dict.fromkeys(formats))
    if any(f != "%Y-%m-%d" for f in unique) and not simple:
        shown = ", ".join(_shown(f) for f in unique)
        notes.append(note("dates_written", f"dates written as {shown}", formats=shown))
    native = kind if simple and len(good) == len(values) and len(unique) == 1 else None
    fmts = p.sql_list(unique)
    once = list({n["code"]: n for n in notes}.values())
    return make(kind, lambda v, _: f"try_strptime({v}, {fmts})::{kind}", native=native, formats=tuple(unique), notes=once,
                keep_raw=len(good) < len(values))


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
    return f"%m{sep}%d{sep}{year}", [warn("day_month_swapped", "day and month could be swapped: read as month first")]


def serial(values, header, make):
    """Excel's day numbers, when the header says that the column holds dates."""
    named, stamped = NAMED.search(header or ""), STAMPED.search(header or "")
    if not named and not stamped:
        return None
    try:
        numbers = [float(v) for v in values]
    except ValueError:
        return None
    epoch = next((unit for unit in (1, 1000) if numbers and all(8e8 * unit <= n <= 4.2e9 * unit for n in numbers)), None)
    if epoch:
        milliseconds = f"(TRY_CAST({{v}} AS DOUBLE) * {1000 // epoch})::BIGINT"
        return make("TIMESTAMP", lambda v, _: f"epoch_ms({milliseconds.format(v=v)})::TIMESTAMP",
                    notes=[note("dates_written", "seconds since 1970 read as times in UTC", case="epoch")])
    if not numbers or not all(20000 <= n <= 80000 for n in numbers):
        return None
    kind = "TIMESTAMP" if any(n != int(n) for n in numbers) else "DATE"
    # Milliseconds, because a float day carries no more.
    return make(kind, lambda v, _: f"(TIMESTAMP '1899-12-30' + to_milliseconds(round(TRY_CAST({v} AS DOUBLE) * 86400000)::BIGINT))::{kind}",
                notes=[note("dates_written", "Excel day numbers read as dates", case="excel")])
