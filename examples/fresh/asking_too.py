"""How the author of the last three sets writes questions and what is expected of their answers."""
import json
import pathlib
import sys

# The folder of the script that is run.
HERE = pathlib.Path(sys.argv[0]).resolve().parent
T = HERE / "tables"
T.mkdir(exist_ok=True)
SPLIT = HERE.name
OUT = []


def rnd(x):
    return round(float(x), 6)


class Set:
    """Questions on one table (or several files)."""

    def __init__(self, name, *files):
        self.name, self.files, self.n = name, ["tables/" + f for f in files], 0

    def _put(self, question, expect, split, earlier=None, files=None):
        self.n += 1
        o = {"id": f"{self.name}-{self.n}", "split": split, "files": files or self.files, "question": question}
        if earlier:
            o["earlier"] = [earlier] if isinstance(earlier, str) else list(earlier)
        o["expect"] = expect
        OUT.append(o)

    def a(self, question, *nums, texts=(), lead=None, dec=None, tol=0.001, where="answer", earlier=None, files=None):
        nums = [rnd(x) for x in nums]
        assert all(x == x for x in nums), question
        if dec is not None:
            m = [abs(x) for x in nums if x]
            tol = max([tol] + [0.6 * 10.0 ** -dec / x for x in m])
        assert tol <= 0.25, (question, tol, nums)
        e = {}
        if lead is not None:
            e["lead"] = str(lead)
        e["numbers"] = nums
        e["texts"] = [str(t) for t in texts]
        e["tolerance"] = round(tol, 4) if tol > 0.001 else 0.001
        e["where"] = where
        self._put(question, e, SPLIT, earlier, files)

    def top(self, question, s, low=False, gap=0.004, **k):
        s = s.sort_values(ascending=low)
        a, b = s.iloc[0], s.iloc[1]
        assert abs(a - b) > gap * abs(a), ("tie", question, a, b)
        self.a(question, a, lead=s.index[0], texts=[s.index[0]], **k)

    def topm(self, question, s, low=False, **k):
        """best period: the figure only"""
        s = s.sort_values(ascending=low)
        assert abs(s.iloc[0] - s.iloc[1]) > 1e-9, ("tie", question)
        self.a(question, s.iloc[0], **k)

    def by(self, question, s, n=12, low=False, **k):
        s = s.sort_values(ascending=low)
        if len(s) > n:
            assert s.iloc[n - 1] != s.iloc[n], ("tie", question, s.iloc[n])
            s = s.iloc[:n]
        self.a(question, *s.tolist(), texts=list(s.index), where="report", **k)

    def trend(self, question, s, **k):
        assert len(s) <= 24, (question, len(s))
        self.a(question, *s.tolist(), where="report", **k)

    def pct(self, question, x, dec=3, **k):
        self.a(question, x, dec=dec, **k)

    def grow(self, question, new, old, **k):
        g = new / old - 1
        assert g > 0.01, (question, g)
        self.a(question, g, dec=3, **k)

    def no(self, question, earlier=None, files=None):
        self._put(question, {"refuse": True}, SPLIT + "-beyond", earlier, files)


def finish():
    with open(HERE / "questions.jsonl", "w", encoding="utf-8") as f:
        for o in OUT:
            f.write(json.dumps(o, ensure_ascii=False) + "\n")
    n = sum("refuse" not in o["expect"] for o in OUT)
    print(SPLIT, "answerable", n, "beyond", len(OUT) - n)


def ym(s):
    return s.dt.to_period("M")
