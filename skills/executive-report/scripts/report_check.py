"""报告自查：每个数字都要有出处，结论要在前，变化要有口径。只定义函数，不读写文件。"""

import re
import unicodedata

NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?\s*(?:%|％|个?百分点|万亿|亿|万|千|[kKmMbB]\b)?")
SCALE = {"万亿": 1e12, "亿": 1e8, "万": 1e4, "千": 1e3, "k": 1e3, "m": 1e6, "b": 1e9}
DATE = re.compile(r"\d{4}\s*年(?:\s*\d{1,2}\s*月(?:\s*\d{1,2}\s*日)?)?|\d{1,2}\s*月\s*\d{1,2}\s*日|\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?|\bQ[1-4]\b|\b\d{4}Q[1-4]\b|\d{1,2}\s*月(?:份)?")
CODE = re.compile(r"```.*?```|`[^`]*`|<script.*?</script>|<[^>]+>", re.DOTALL | re.IGNORECASE)
ORDINAL = re.compile(r"(?:第\s*\d+|[#（(]\s*\d+\s*[)）.]|^\s*\d+[.、)）]|[A-Za-z_]\w*\d\w*|\d+\s*(?:天|日|周|个月|年|期|名|强|类|层|步|条|项|张|点|大))", re.MULTILINE)


def numbers(text):
    """正文中的数字（不含代码、日期、序号、期数），还原单位：“1.2亿” -> 120000000，“15%” -> 0.15。"""
    text = unicodedata.normalize("NFKC", text).replace("−", "-")
    for pattern in (CODE, DATE, ORDINAL):
        text = pattern.sub(" ", text)
    found = []
    for match in NUMBER.finditer(text):
        raw = match.group().strip()
        digits = re.match(r"[-+]?[\d,]*\.?\d+", raw).group()
        unit = raw[len(digits):].strip()
        value = float(digits.replace(",", ""))
        decimals = len(digits.split(".")[1]) if "." in digits else 0
        factor = 0.01 if unit in ("%", "百分点", "个百分点") else SCALE.get(unit.lower(), 1.0)
        found.append({"原文": raw, "值": value * factor, "精度": 0.5 * 10 ** -decimals * factor})
    return found


def untraced(report, facts):
    """报告中找不到出处的数字。facts 是本次计算得到的全部数值（列表、字典、表格都可以）。

    按报告写出的精度比较：写“15.2%”时，0.1518 与 0.1524 都算有出处；也接受相反数（“下降 3%”对应 -0.03）。
    """
    known = list(_flat(facts))
    missing = []
    for number in numbers(report):
        slack = number["精度"] * 1.0001 + 1e-12
        if not any(abs(number["值"] - k) <= slack or abs(number["值"] + k) <= slack for k in known):
            missing.append(number["原文"])
    return missing


def _flat(facts):
    if isinstance(facts, bool) or facts is None or isinstance(facts, str):
        return
    if isinstance(facts, (int, float)):
        yield float(facts)
    elif isinstance(facts, dict):
        for value in facts.values():
            yield from _flat(value)
    elif hasattr(facts, "to_numpy"):
        for value in facts.to_numpy().ravel().tolist():
            yield from _flat(value)
    elif hasattr(facts, "__iter__"):
        for value in facts:
            yield from _flat(value)
    elif hasattr(facts, "__float__"):
        yield float(facts)


HEDGED = ["大幅", "显著", "明显", "较好", "较差", "一定程度", "有所", "基本", "相关"]


def check(report, facts=None):
    """返回 [(严重度, 问题)]：先查数字，再查结构与用词。"""
    problems = []
    if facts is not None:
        missing = untraced(report, facts)
        if missing:
            problems.append(("高", f"没有出处的数字: {'、'.join(dict.fromkeys(missing))}"))
    lines = [l.strip() for l in report.splitlines() if l.strip()]
    head = " ".join(l for l in lines if not l.startswith("#"))[:160]
    if not numbers(head):
        problems.append(("高", "开头两句没有数字：先给结论与关键数"))
    if re.search(r"(增长|下降|上升|提高|降低|减少|增加)", report) and not re.search(r"(同比|环比|较(?![好差为大小高低多少])|比上|相比|对比|vs|YoY|MoM|目标|预算|基线)", report, re.IGNORECASE):
        problems.append(("高", "说了变化，没有说与什么相比"))
    for word in HEDGED:
        for match in re.finditer(word, report):
            around = report[max(0, match.start() - 30): match.end() + 40]
            if not numbers(around) and not re.search(r"p\s*[<=＜]", around):
                problems.append(("中", f"“{word}”附近没有数字: …{around.strip()[:40]}…"))
                break
    if not re.search(r"(建议|下一步|行动|应当|recommend|next step)", report, re.IGNORECASE):
        problems.append(("中", "没有建议或下一步"))
    if not re.search(r"(口径|数据来源|数据截至|范围|方法|假设|局限|source|as of)", report, re.IGNORECASE):
        problems.append(("中", "没有说明数据范围与口径"))
    long = [l for l in lines if len(l) > 300 and not l.startswith("|")]
    if long:
        problems.append(("低", f"{len(long)} 个段落超过 300 字，拆成要点"))
    return problems
