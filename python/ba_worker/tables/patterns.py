"""The shapes of numbers, dates and blanks that people type, as regular expressions valid in Python and in RE2.

The same pattern decides in Python on a sample and in SQL on every row, so both always agree.
"""

import re

NULL_ALWAYS = ["", "NULL", "null", "NaN", "nan", "N/A", "n/a", "#N/A", "#VALUE!", "#REF!", "#DIV/0!", "#NAME?", "#NULL!",
               "#NUM!", "#SPILL!", "#CALC!", "None", "<NA>"]
EXCEL_ERRORS = {"#N/A", "#VALUE!", "#REF!", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#SPILL!", "#CALC!"}
# Blank only in a column that is otherwise numbers or dates: `NA` may be a region, `-` a rating.
NULL_IN_VALUES = ["NA", "na", "-", "--", "---", "—", "——", "–", "/", "\\", ".", "?", "none", "无", "暂无", "空", "缺失", "(空)",
                  "未知", "null.", "nil", "NIL", "Null", "N.A.", "*", "$ -", "$-", "¥ -", "¥-", "￥-", "￥ -", "€ -", "€-", "- €", "£ -", "£-"]

FULLWIDTH = "０１２３４５６７８９．，％－（）：／＋　−–"
HALFWIDTH = "0123456789.,%-():/+ --"
_TO_HALF = str.maketrans(FULLWIDTH, HALFWIDTH)

SPACES = " \t\r\n\u00a0\u3000\ufeff\u200b"

CURRENCY = r"(?:US\$|HK\$|NT\$|A\$|C\$|S\$|R\$|[¥￥$€£₩₹₽]|RMB|CNY|USD|EUR|GBP|JPY|HKD|TWD|KRW|CHF|AUD|CAD|SGD|INR|人民币|美元|欧元|港币|港元|日元|英镑|Rs\.?)"
SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "bn": 1e9, "mn": 1e6, "千元": 1e3, "万元": 1e4, "百万元": 1e6, "千万元": 1e7, "亿元": 1e8, "千万": 1e7, "百万": 1e6, "万": 1e4, "亿": 1e8}
UNITS = ["元", "块", "kg", "g", "t", "吨", "千克", "公斤", "克", "件", "个", "台", "套", "箱", "盒", "瓶", "包", "米", "m", "km", "公里",
         "cm", "mm", "㎡", "m²", "m2", "平方米", "平米", "人", "次", "天", "小时", "分钟", "秒", "升", "L", "ml", "℃", "°C", "岁", "笔", "单",
         "户", "家", "辆", "张", "份", "h", "min", "s", "ms", "GB", "MB", "KB", "kWh", "度", "pcs", "人次", "人民币", "美元", "欧元", "USD",
         "CNY", "RMB", "EUR", "GBP", "JPY", "HKD", "TWD", "KRW", "CHF", "AUD", "CAD", "SGD", "INR", "€", "£", "$", "¥", "₩", "日元", "港币", "港元", "英镑", "円", "원", "руб.", "руб",
         "TB", "°F", "mg", "lb", "lbs", "oz", "hours", "hour", "hrs", "hr", "days", "day", "mins", "minutes", "units", "只", "条", "支", "斤", "千瓦时", "万吨", "ha", "亩"]

STYLES = {
    "us": (r",", r"\."),
    "indian": (r",", r"\."),
    "eu": (r"\.", r","),
    "space": (r"[ \x{a0}\x{202f}]", r"\."),
    "space_comma": (r"[ \x{a0}\x{202f}]", r","),
    "swiss": (r"['’]", r"\."),
}


def python_pattern(pattern):
    """RE2 writes `\\x{a0}`, Python writes the character."""
    return re.compile(re.sub(r"\\x\{([0-9a-f]+)\}", lambda m: chr(int(m[1], 16)), pattern))


def number_pattern(style, currency=False, percent=False, suffixes=()):
    """One number in the given style, with the decorations the column was seen to use."""
    group, decimal = STYLES[style]
    groups = rf"[0-9]{{1,2}}(?:,[0-9]{{2}})*,[0-9]{{3}}" if style == "indian" else rf"[0-9]{{1,3}}(?:{group}[0-9]{{3}})+"
    body = rf"(?:[0-9]+|{groups})(?:{decimal}[0-9]*)?|{decimal}[0-9]+"
    body = rf"(?:{body})(?:[eE][-+]?[0-9]+)?"
    head = rf"(?:{CURRENCY} ?)?" if currency else ""
    tail = ""
    if percent:
        tail = r" ?[%‰]?"
    elif suffixes:
        tail = " ?(?:" + "|".join(re.escape(s) for s in sorted(suffixes, key=len, reverse=True)) + ")?"
    signed = rf"{head}[-+]?{head}{body}{tail}|{head}{body}{tail}-"
    return rf"(?:{signed}|{head}\({head}{body}{tail}\))"


DATE_PARTS = [
    ("ymd-", r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}", "%Y-%m-%d"),
    ("ymd/", r"[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}", "%Y/%m/%d"),
    ("ymd.", r"[0-9]{4}\.[0-9]{1,2}\.[0-9]{1,2}", "%Y.%m.%d"),
    ("ymd年", r"[0-9]{4}年[0-9]{1,2}月[0-9]{1,2}日", "%Y年%m月%d日"),
    ("ymd号", r"[0-9]{4}年[0-9]{1,2}月[0-9]{1,2}号", "%Y年%m月%d号"),
    ("ymd8", r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])", "%Y%m%d"),
    ("dmy.", r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}", "%d.%m.%Y"),
    ("xxy/", r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}", None),
    ("xxy-", r"[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}", None),
    ("xx2/", r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{2}", None),
    ("dby", r"[0-9]{1,2}[- ][A-Za-z]{3}[- ][0-9]{4}", None),
    ("bdy", r"[A-Za-z]{3} [0-9]{1,2}, [0-9]{4}", "%b %d, %Y"),
    ("Bdy", r"[A-Z][a-z]{3,8} [0-9]{1,2}, [0-9]{4}", "%B %d, %Y"),
    ("ym-", r"[0-9]{4}-[0-9]{1,2}", "%Y-%m"),
    ("ym/", r"[0-9]{4}/[0-9]{1,2}", "%Y/%m"),
    ("ym年", r"[0-9]{4}年[0-9]{1,2}月", "%Y年%m月"),
]
TIME_PARTS = [
    (r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}\.[0-9]{1,6}", "%H:%M:%S.%f"),
    (r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}", "%H:%M:%S"),
    (r"[0-9]{1,2}:[0-9]{2}", "%H:%M"),
    (r"[0-9]{1,2}:[0-9]{2}:[0-9]{2} ?[AaPp][Mm]", "%I:%M:%S %p"),
    (r"[0-9]{1,2}:[0-9]{2} ?[AaPp][Mm]", "%I:%M %p"),
    (r"[0-9]{1,2}时[0-9]{1,2}分[0-9]{1,2}秒", "%H时%M分%S秒"),
    (r"[0-9]{1,2}时[0-9]{1,2}分", "%H时%M分"),
]
ZONED = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[-+][0-9]{2}(?::?[0-9]{2})?)"


FAIL_SHARE = 0.10
_COMPILED = {}


def compiled(pattern):
    found = _COMPILED.get(pattern)
    if found is None:
        found = _COMPILED[pattern] = python_pattern(pattern)
    return found


def matches(pattern, values):
    fits = compiled(pattern).fullmatch
    return [v for v in values if fits(v)]


# Compiled once, before any fork: together they cost more than the plan of a table.
for _pattern in [ZONED, *(d for _, d, _ in DATE_PARTS), *(number_pattern(s) for s in STYLES), *(d for _, d in STYLES.values())]:
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


def half(text):
    return text if text.isascii() else text.translate(_TO_HALF)


def clean(text):
    return half(text).strip(SPACES)


def sql_text(value):
    """A SQL string literal."""
    return "'" + value.replace("'", "''") + "'"


def sql_list(values):
    return "[" + ", ".join(sql_text(v) for v in values) + "]"


def quote(name):
    """A quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
