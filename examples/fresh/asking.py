"""How the author of the first three sets writes questions and what is expected of their answers."""
import json
import os
import sys

import numpy as np
import pandas as pd

# The folder of the script that is run.
HERE = os.path.dirname(os.path.abspath(sys.argv[0]))
os.makedirs(os.path.join(HERE, "tables"), exist_ok=True)
OUT = []
BATCH = os.path.basename(HERE)


class Pct(float):
    """a share or rate, likely shown as a percentage with one or two decimals"""


def path(name):
    return os.path.join(HERE, "tables", name)


def slack(v):
    a = abs(float(v))
    if a == 0:
        return 0.001
    if isinstance(v, Pct):
        return min(0.02, 0.00051 / a)
    if float(v) == int(v):
        return 0.001
    if a < 10:
        return min(0.02, 0.0051 / a)
    if a < 100:
        return min(0.02, 0.051 / a)
    return 0.001


class Table:
    def __init__(self, key, *files):
        self.key, self.files, self.n, self.b = key, ["tables/" + f for f in files], 0, 0

    def q(self, question, numbers=(), texts=(), lead=None, report=False, tol=None, earlier=None, files=None):
        self.n += 1
        e = {}
        if lead is not None:
            e["lead"] = str(lead)
        nums = list(numbers)
        if nums:
            assert all(np.isfinite(float(x)) for x in nums), question
            e["numbers"] = [round(float(x), 6) for x in nums]
        if len(texts):
            e["texts"] = [str(t) for t in texts]
        e["tolerance"] = round(max([0.001] + [slack(x) for x in nums]) if tol is None else tol, 6)
        e["where"] = "report" if report else "answer"
        o = {"id": f"{self.key}-{self.n}", "split": BATCH,
             "files": ["tables/" + f for f in files] if files else self.files[:1],
             "question": question}
        if earlier:
            o["earlier"] = earlier
        o["expect"] = e
        OUT.append(o)

    def groups(self, question, s, n=None, **k):
        """a breakdown or list: group names and figures anywhere in the report"""
        if n is not None:
            t = s.sort_values(ascending=False)
            assert len(t) > n and t.iloc[n - 1] > t.iloc[n], question
            s = t.head(n)
        assert len(s) <= 12, question
        self.q(question, list(s.values), list(s.index), report=True, **k)

    def trend(self, question, s, **k):
        assert len(s) <= 24, question
        self.q(question, list(s.values), report=True, **k)

    def top(self, question, s, low=False, pct=False, **k):
        t = s.sort_values(ascending=low)
        gap = abs(t.iloc[0] - t.iloc[1]) / abs(t.iloc[0])
        assert gap > 0.004, (question, t.head(3))
        v = t.iloc[0]
        self.q(question, [Pct(v) if pct else v], lead=t.index[0], **k)

    def no(self, question, earlier=None, files=None):
        self.b += 1
        o = {"id": f"{self.key}-beyond-{self.b}", "split": BATCH + "-beyond",
             "files": ["tables/" + f for f in files] if files else self.files[:1], "question": question}
        if earlier:
            o["earlier"] = earlier
        o["expect"] = {"refuse": True}
        OUT.append(o)


def dates(rng, a, b, n, w=None):
    d = pd.date_range(a, b)
    p = np.ones(len(d)) if w is None else np.array([w(x) for x in d], float)
    return pd.to_datetime(np.sort(rng.choice(d.values, n, p=p / p.sum())))


def finish():
    with open(os.path.join(HERE, "questions.jsonl"), "w", encoding="utf-8") as f:
        for o in OUT:
            f.write(json.dumps(o, ensure_ascii=False) + "\n")
    print(len(OUT), sum("refuse" in o["expect"] for o in OUT))
