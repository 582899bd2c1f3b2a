"""Random messy tables against the truth of their generator: any mixture of titles, units, dressed numbers, blanks, groups,
totals, footers, encodings and line ends. A wrong figure without a warning fails; so does a crash.

    python messy.py [COUNT] [FIRST SEED]
"""

import json
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import corpus  # noqa: E402

REGIONS = {"zh": ["华东", "华南", "华北", "西南", "东北", "西北"], "en": ["East", "West", "North", "South", "Centre", "Overseas"]}
ITEMS = {"zh": ["手机", "电脑", "键盘", "显示器", "耳机", "鼠标", "平板"], "en": ["Phone", "Laptop", "Keyboard", "Monitor", "Headset", "Mouse", "Tablet"]}
HEADER = {"zh": ["地区", "产品", "金额", "数量"], "en": ["Region", "Item", "Amount", "Qty"]}
TITLES = {"zh": ["某某公司销售报表", "2024年一季度汇总表"], "en": ["Sales report", "Quarterly summary"]}
FOOTERS = {"zh": ["制表人：张三", "注：数据未经审计", "第 1 页 共 1 页", "打印时间：2024-05-01 10:00"], "en": ["Source: ERP", "Page 1 of 1", "Exported on 2024-05-01 by admin", "*** End of report ***"]}
TOTAL = {"zh": ["合计", "总计", "总 计"], "en": ["Total", "Grand Total", "TOTAL:"]}
SUB = {"zh": "{}小计", "en": "{} Total"}


def make(seed):
    """(bytes of a CSV, truth)."""
    r = random.Random(seed)
    lang = r.choice(["zh", "en"])
    groups = r.sample(REGIONS[lang], r.randint(2, 5))
    rows = [(g, item, round(r.uniform(-200 if r.random() < 0.1 else 5, 9000), 2), r.randint(1, 400))
            for g in groups for item in r.sample(ITEMS[lang], r.randint(2, 5))]
    if r.random() < 0.3:
        at = r.randrange(len(rows))
        rows[at] = (*rows[at][:2], None, rows[at][3])
    dress, delimiter = _dress(r)
    lines = _lines(r, lang, groups, rows, dress)
    widest = 4
    if r.random() < 0.3:
        lines = [[t] + [""] * (widest - 1) for t in r.sample(TITLES[lang], r.randint(1, 2))] + lines
    if r.random() < 0.4:
        lines += [[""] * widest] if r.random() < 0.6 else []
        lines += [[t] + [""] * (widest - 1) for t in r.sample(FOOTERS[lang], r.randint(1, 2))]
    end = r.choice(["\n", "\r\n", "\r\n", "\r"])
    text = end.join(delimiter.join(_quoted(c, delimiter) for c in line) for line in lines) + (end if r.random() < 0.9 else "")
    codec = r.choice(["utf-8", "utf-8-sig", "gb18030" if lang == "zh" else "utf-8", "utf-16"])
    sums = {}
    for g, _, amount, _ in rows:
        sums[g] = round(sums.get(g, 0) + (amount or 0), 2)
    head = HEADER[lang]
    checks = [{"kind": "count", "value": len(rows)}, {"kind": "sum", "column": head[2], "value": round(sum(x[2] or 0 for x in rows), 2)},
              {"kind": "sum", "column": head[3], "value": sum(x[3] for x in rows)},
              {"kind": "group_sum", "by": head[0], "column": head[2], "value": sums}]
    return text.encode(codec), {"file": f"messy_{seed}.csv", "trait": "mixture", "why": f"seed {seed}", "tables": 1, "checks": checks}


def _quoted(cell, delimiter):
    return '"' + cell.replace('"', '""') + '"' if delimiter in cell or '"' in cell or "\n" in cell else cell


def _dress(r):
    """How amounts are written: (function, delimiter of the file)."""
    kind = r.choice(["plain", "thousands", "currency", "german", "suffix", "brackets", "space", "fullwidth"])
    def thousands(v):
        return f"{v:,.2f}"
    def german(v):
        return f"{v:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".")
    if kind == "german":
        return german, ";"
    delimiter = r.choice([",", ",", "\t", ";", "|"])
    return {"plain": lambda v: f"{v:.2f}", "thousands": thousands, "currency": lambda v: ("-" if v < 0 else "") + f"¥{abs(v):,.2f}",
            "suffix": lambda v: f"{v:.2f}元", "brackets": lambda v: f"({-v:,.2f})" if v < 0 else thousands(v),
            "space": lambda v: f" {v:.2f} ", "fullwidth": lambda v: f"{v:.2f}".translate(str.maketrans("0123456789.", "０１２３４５６７８９．"))}[kind], delimiter


def _lines(r, lang, groups, rows, dress):
    lines = [list(HEADER[lang])]
    if r.random() < 0.2:
        lines.append(["", "", "元", "件"] if lang == "zh" else ["", "", "(USD)", "(pcs)"])
    first_only, subtotals, grand = r.random() < 0.35, r.random() < 0.35, r.random() < 0.5
    gaps, repeat = r.random() < 0.2, r.random() < 0.15
    # What is not known is written so, and adds nothing.
    blank = r.choice(["", "-", "N/A", "无"])
    for g in groups:
        own = [x for x in rows if x[0] == g]
        for i, (_, item, amount, qty) in enumerate(own):
            amount = dress(amount) if amount is not None else blank
            lines.append(["" if first_only and i else g, item, amount, str(qty)])
        if subtotals:
            lines.append([SUB[lang].format(g), "", dress(round(sum(x[2] or 0 for x in own), 2)), str(sum(x[3] for x in own))])
        if gaps:
            lines.append(["", "", "", ""])
        if repeat and g != groups[-1]:
            lines.append(list(HEADER[lang]))
    if grand:
        label = r.choice(TOTAL[lang])
        place = ["", ""]
        place[0 if r.random() < 0.7 else 1] = label
        lines.append([*place, dress(round(sum(x[2] or 0 for x in rows), 2)), str(sum(x[3] for x in rows))])
    return lines


def main():
    count, first = (int(a) for a in (sys.argv[1:] + ["400", "0"][len(sys.argv) - 1:]))
    outcomes = {}
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "files"))
        for seed in range(first, first + count):
            data, truth = make(seed)
            path = os.path.join(folder, "files", truth["file"])
            with open(path, "wb") as f:
                f.write(data)
            outcome, wrong, _ = corpus.judge(truth, folder)
            os.remove(path)
            outcomes.setdefault(outcome, []).append(seed)
            if outcome == corpus.SILENT:
                print(f"seed {seed}: {json.dumps(wrong, ensure_ascii=False)[:300]}")
    silent = len(outcomes.get(corpus.SILENT, []))
    right = len(outcomes.get(corpus.RIGHT, []))
    print(", ".join(f"{len(s)} {o}" for o, s in outcomes.items()) + "; not right: " + str([s for o, ss in outcomes.items() if o != corpus.RIGHT for s in ss][:20]))
    few = right * 100 < 95 * count
    print(f"{count - silent} passed, {silent + few} failed")
    sys.stdout.flush()
    os._exit(1 if silent or few else 0)


if __name__ == "__main__":
    main()
