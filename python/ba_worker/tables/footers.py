"""Lines of a sheet that are no rows of its table: page numbers, signatures, stamps, remarks, rules, repeated headers."""

import re

from .cells import BLANK_WORDS, empty, is_value, label
from .notes import note

# Where these begin a lonely line at the end, the line is a remark.
REMARK = re.compile(
    r"^(?:注\s*[:：\d]|注意|备注|说明|数据来源|资料来源|来源|数据截至|截至|制表|审核|复核|单位|填表|填报|编制|打印|导出|统计口径|口径|联系|负责人|经办|主管|会计|出纳|签[字名]|批准"
    r"|sources?\b|notes?\b|remarks?\b|\*|※|†|export|generated|printed|prepared|report(?:ed)? (?:by|on|date|generated)|created|downloaded|as of|stand\b|quelle|hinweis"
    r"|erstellt|confidential|data source|contact|end of|\(?\d+ rows?|page\b|p\. ?\d|第\s*\d+\s*页|共\s*\d+|총|출처|작성|出典|作成|注記|источник|примечание|--\s*end|<<|ⓒ|©|copyright|run (?:date|time))", re.I)
# Lines of paper: wherever they stand.
PAGE = re.compile(r"^[-—–*\s]*(?:第\s*\d+\s*页(?:\s*[,，/]?\s*共\s*\d+\s*页)?|共\s*\d+\s*页(?:\s*[,，]?\s*第\s*\d+\s*页)?|page\s*:?\s*\d+(?:\s*(?:of|/)\s*\d+)?|seite\s*\d+.*|\d+\s*/\s*\d+\s*页"
                  r"|接下页|承上页|续上页|转下页|continued.*|(?:\*+|-+)\s*end.*)[-—–*\s]*$", re.I)
RULE = re.compile(r"^[-=_—–*~.·\s]{3,}$")
SIGNED = re.compile(r"^[^:：]{1,14}[:：].*$")
DATED = re.compile(r"^(?:19|20)[0-9]{2}\s*[-/.年]")
# Lines about the export itself, which may carry a figure.
ABOUT = re.compile(r"^(?:record(?:s| count)|row count|rows?\b|number of (?:records|rows)|export(?:ed)? (?:time|date|on|by)|generated|print(?:ed)?\b|run (?:date|time)|report date|checksum"
                   r"|记录数|总记录数|条数|导出时间|导出日期|打印时间|打印日期|生成时间|制表时间|统计时间|文件版本)", re.I)
TOTAL_LINE = re.compile(r"^(?:合\s*计|总\s*计|小\s*计|(?:grand |sub)?totals?\b|sum\b|summe|gesamt|итого|합계)", re.I)
SIGNER = re.compile(r"制表|审核|复核|编制|填表|填报|经办|主管|会计|出纳|签字|签名|批准|负责人|日期|打印|导出|prepared|approved|checked|reviewed|date|by\b", re.I)


def paper_line(row):
    """A page number or a rule, wherever it stands."""
    cells = [c for c in row if not empty(c)]
    # Most rows are neither, and one look at their first cell tells.
    if not cells or not isinstance(cells[0], str) or (len(cells) > 2 and cells[0][0] not in "-=_—–*~.· "):
        return False
    cells = [label(c) for c in cells]
    if all(RULE.match(c) for c in cells) and any(len(c) >= 3 for c in cells):
        return True
    return len(cells) <= 2 and all(PAGE.match(c) for c in cells)


def signature(row):
    """`制表人：张三 … 审核：李四`, spread over the columns."""
    cells = [label(c) for c in row if not empty(c)]
    words = [c for c in cells if SIGNED.match(c)]
    if any(re.search(r"_{3,}|…{2,}|\.{6,}", c) for c in cells) and not any(is_value(c) for c in row if not empty(c) and not isinstance(c, str)):
        return True
    rest = [c for c in cells if not SIGNED.match(c)]
    if len(words) >= 2 and not rest and all(len(c) <= 30 for c in words):
        return True
    return bool(words) and all(DATED.match(c) for c in rest) and any(SIGNER.search(c) for c in words)


def cut(rows, width):
    """(rows without what stands under the table, what was cut). Looks from the end upwards."""
    rows, found = _under_a_rule(list(rows), width)
    rows, lines = _tail_of_lines(rows, width)
    found = lines + found[::-1]
    rows, lines = _named_lines(rows)
    found = lines + found
    while rows:
        cells = [c for c in rows[-1] if not empty(c)]
        if not cells:
            rows.pop()
            continue
        after_gap = len(rows) > 1 and all(empty(c) for c in rows[-2])
        if not _is_footer(rows, cells, width, after_gap):
            break
        found.append(" ".join(label(c) for c in cells))
        rows.pop()
    return rows, found[::-1]


def _under_a_rule(rows, width):
    """What stands under the last rule and is narrow is a summary, not data."""
    rules = [i for i, r in enumerate(rows) if i and paper_line(r) and all(RULE.match(label(c)) for c in r if not empty(c))]
    if not rules or width < 3:
        return rows, []
    below = rows[rules[-1] + 1:]
    if not below or any(sum(not empty(c) for c in r) > max(2, width // 2) for r in below) or rules[-1] * 2 < len(rows) - 1:
        return rows, []
    if any(TOTAL_LINE.match(label(next((c for c in r if not empty(c)), ""))) for r in below):
        return rows, []
    return rows[:rules[-1]], [" ".join(label(c) for c in r if not empty(c)) for r in below if any(not empty(c) for c in r)]


def _named_lines(rows):
    """`Operator: | K. Holm` at the end, where no other row begins with a name and a colon."""
    ends = [i for i, r in enumerate(rows) if r and isinstance(r[0], str) and label(r[0]).endswith((":", "：")) and not TOTAL_LINE.match(label(r[0]))]
    at = len(rows)
    while at and at - 1 in ends:
        at -= 1
    if at == len(rows) or at < 2 or any(i < at for i in ends):
        return rows, []
    return rows[:at], [" ".join(label(c) for c in r if not empty(c)) for r in rows[at:]]


def _tail_of_lines(rows, width):
    """A run of lonely lines at the end goes as one when any of them is a remark or a gap parts them from the table."""
    at = len(rows)
    lines = []
    while at > 1:
        cells = [c for c in rows[at - 1] if not empty(c)]
        if cells and not (len(cells) == 1 and isinstance(cells[0], str) and not is_value(cells[0])) and not signature(rows[at - 1]) and not paper_line(rows[at - 1]):
            break
        lines += [label(c) for c in cells]
        at -= 1
    gap = at < len(rows) and all(empty(c) for c in rows[at])
    said = [t for t in lines if REMARK.match(t) or PAGE.match(t) or SIGNED.match(t)]
    alone = len(lines) == 1 and empty(rows[-1][0] if rows and rows[-1] else None) and sum(not empty(r[0]) for r in rows if r) * 10 >= 9 * (len(rows) - 1)
    if at < 1 or width < 3 or not lines or not (gap or said or alone) or _section(rows[:at + 1]):
        return rows, []
    return rows[:at], lines


def _is_footer(rows, cells, width, after_gap):
    if len(rows) <= 1:
        return False
    row = rows[-1]
    if paper_line(row) or signature(row):
        return True
    texts = [label(c) for c in cells]
    if ABOUT.match(texts[0]) and len(cells) <= 2 < width:
        return True
    few = len(cells) <= max(1, width // 3)
    remark = isinstance(cells[0], str) and bool(REMARK.match(texts[0])) and not (len(cells) > 1 and any(is_value(c) for c in cells[1:]))
    if width == 1:
        return remark and after_gap
    if not few or any(is_value(c) and not isinstance(c, str) for c in cells):
        return bool(remark and len(cells) == 2 and width > 2 and all(isinstance(c, str) for c in cells))
    if remark:
        return width >= 3 or after_gap or len(texts[0]) > 12
    lonely = len(cells) == 1 and isinstance(cells[0], str) and not is_value(cells[0])
    long = len(texts[0]) > 30
    return lonely and width >= 3 and (after_gap or long) and not _section(rows)


def _section(rows):
    """A lonely line above which other lonely lines stand between rows heads a section; it is not the table's end."""
    return sum(1 for r in rows[:-1] if sum(not empty(c) for c in r) == 1) >= 3


def drop_paper(rows, header):
    """(kept rows, notes): without page lines in the middle and without the header printed again."""
    wanted = [label(c) for c in header] if header else None
    kept, pages, repeated = [], 0, 0
    for i, row in enumerate(rows):
        if paper_line(row):
            pages += 1
        elif wanted and _same_header(row, wanted):
            repeated += 1
            # The page's title stands above its header.
            while kept and sum(not empty(c) for c in kept[-1]) == 1 and len(wanted) > 2 and not _data_like(kept[-1]):
                kept.pop()
        else:
            kept.append(row)
    notes = []
    if pages:
        notes.append(note("footer_left_out", f"{pages} line(s) of page numbers or rules left out", count=pages, case="lines"))
    if repeated:
        notes.append(note("repeated_header", f"the header is repeated {repeated} time(s) in the rows; left out", count=repeated))
    return kept, notes


def _data_like(row):
    return any(is_value(c) for c in row if not empty(c))


def _same_header(row, wanted):
    at = next((j for j, w in enumerate(wanted) if w), None)
    if at is None or at >= len(row) or empty(row[at]) or label(row[at]) != wanted[at]:
        return False
    texts = ["" if empty(c) else label(c) for c in row]
    texts += [""] * (len(wanted) - len(texts))
    named = [(a, b) for a, b in zip(texts, wanted) if b]
    return len(named) >= 2 and all(a == b for a, b in named)


def sections(rows, width):
    """Names of groups that stand alone on a row above their items: (kept rows, label per kept row or None)."""
    lonely = [i for i, r in enumerate(rows) if sum(not empty(c) for c in r) == 1 and not empty(r[0]) and isinstance(r[0], str)
              and not is_value(r[0]) and label(r[0]) not in BLANK_WORDS]
    if width < 2 or len(lonely) < 2 or lonely[0] != 0 or len(lonely) > len(rows) // 2:
        return rows, None
    # Each is followed by at least one full row, and none is the last.
    if any(i + 1 >= len(rows) or i + 1 in lonely for i in lonely):
        return rows, None
    kept, labels, current, heads = [], [], None, set(lonely)
    for i, r in enumerate(rows):
        if i in heads:
            current = label(r[0]).strip("【】[]<>《》:： ")
        else:
            kept.append(r)
            labels.append(current)
    return kept, labels
