"""Units and currencies: as cells, in titles and in headers; and which of them are the same thing."""

import re

MONEY = r"(?:十?百?千?万?亿?元|万元|亿元|千元|百万元|元|角|分|人民币|美元|欧元|日元|港元|港币|韩元|英镑|USD|CNY|RMB|EUR|GBP|JPY|HKD|KRW|US\$|HK\$|NT\$|[¥￥$€£₩₹](?:k|m|bn|'000| million| thousand)?|円|千円|百万円|원|천원|백만원|руб\.?|тыс\.? ?руб\.?)"
OTHER = (r"(?:%|‰|个|件|台|套|箱|盒|瓶|包|只|条|支|张|份|辆|间|家|户|人|人次|人天|万人|万户|万吨|万件|次|笔|单|天|日|小时|分钟|秒|年|月|岁|度|千瓦时|kWh|MWh|kW|吨|千克|公斤|克|斤|kg|g|t|mg|lb|oz"
         r"|米|千米|公里|厘米|毫米|m|km|cm|mm|ft|㎡|m²|m2|平方米|平米|亩|公顷|立方米|m³|升|毫升|L|ml|℃|°C|°F|GB|MB|TB|KB|pcs|pieces|units?|days?|hours?|hrs?|h|min|minutes?|sec|s|ms|persons?|people|headcount|points?|pts|份额|倍|percent|pct)")
UNIT_CELL = re.compile(rf"[(（\[【]?\s*(?:单位[:：]\s*)?({MONEY}|{OTHER}|万|亿|千|百万|thousand|million)(?:[/／每per ]+\S{{1,6}})?\s*[)）\]】]?", re.I)
HEADER_UNIT = re.compile(rf"[(（\[【]\s*(?:单位[:：]\s*)?({MONEY}|{OTHER}|万|亿|千|百万)(?:[/／]\S{{1,6}})?\s*[)）\]】]\s*$|[/／,，]\s*({MONEY}|%|吨|件|人|台|kg)\s*$", re.I)
TITLE_UNIT = re.compile(rf"(?:金额)?单位\s*[:：]?\s*({MONEY}|{OTHER}|万|亿|千|百万)|\(?\b(?:unit|currency|amounts?|figures?|all (?:amounts|figures))s?\s*(?:[:：]|in|are in)\s*({MONEY}|thousands?|millions?|[A-Z]{{3}}(?: ?(?:thousands?|millions?|m|k))?)"
                        rf"|\bin ((?:thousands?|millions?|billions?)(?: of)?(?: (?:{MONEY}|dollars?|euros?|yuan))?|{MONEY} (?:thousands?|millions?)|[A-Z]{{3}} ?(?:'000|k|m|million|thousand|mn|bn))\b|[(（]\s*({MONEY})\s*[)）]|Angaben in ([^,/]{{1,20}})|単位\s*[:：]?\s*({MONEY})|단위\s*[:：]?\s*({MONEY})", re.I)
# Counts are not in the money of the title.
COUNTED = re.compile(r"数$|数量|人数|次数|件数|笔数|户数|台数|天数|份数|比|率|%|年|月|序号|编号|排名|名次|qty|quantity|count|number|units|share|rate|ratio|percent|year|month|no\.|id$|rank|days|hours|people|headcount|staff", re.I)
# A column called like a period holds that period's figure: 一月, 2024年3月, Q2, 上半年, Jan.
PERIOD = re.compile(r"(?:(?:19|20)\d\d\s*年?\s*)?(?:(?:第?[一二三四1-4]季度?|[QＱ][1-4])|(?:[一二三四五六七八九十]{1,2}|0?[1-9]|1[0-2])\s*月份?|[上下]半年|全年|H[12]"
                    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*\.?(?:\s*(?:19|20)?\d\d)?)|(?:19|20)\d\d\s*(?:年度?)?", re.I)
CURRENCY_CLASS = [("CNY", r"^(?:¥|￥|RMB|CNY|人民币|元|块|CN¥)$"), ("USD", r"^(?:\$|US\$|USD|美元|dollars?)$"), ("EUR", r"^(?:€|EUR|欧元|euros?)$"), ("GBP", r"^(?:£|GBP|英镑)$"),
                  ("JPY", r"^(?:JPY|日元|円|JP¥)$"), ("HKD", r"^(?:HK\$|HKD|港元|港币)$"), ("TWD", r"^(?:NT\$|TWD|NTD|新台币)$"), ("KRW", r"^(?:₩|KRW|韩元|원)$"), ("INR", r"^(?:₹|INR|Rs\.?)$"),
                  ("AUD", r"^(?:A\$|AUD)$"), ("CAD", r"^(?:C\$|CAD)$"), ("SGD", r"^(?:S\$|SGD)$"), ("CHF", r"^CHF$"), ("RUB", r"^(?:₽|RUB|руб\.?)$")]


def currency_class(word):
    return next((name for name, pattern in CURRENCY_CLASS if re.match(pattern, word, re.I)), word.upper())


def is_currency(word):
    return any(re.match(pattern, word, re.I) for _, pattern in CURRENCY_CLASS)


def unit_of_cell(text):
    found = UNIT_CELL.fullmatch(text)
    return (found[1] if found else text).strip("()（）[]【】 ")


def unit_of_title(title):
    found = TITLE_UNIT.search(title or "")
    return next((g.strip() for g in found.groups() if g), None) if found else None


def unit_of_name(name):
    found = HEADER_UNIT.search(name)
    return (found[1] or found[2]) if found else None


def takes_title_unit(name):
    """Whether a figure called so may be in the unit of the title."""
    return bool(PERIOD.fullmatch(name.strip())) or not COUNTED.search(name)
