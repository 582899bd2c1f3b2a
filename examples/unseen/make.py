#!/usr/bin/env python3
"""Makes the second evaluation set: twelve tables of other trades (tables.py), questions as their owners would ask them,
and answers computed here by pandas, on a path that shares nothing with the analyst's SQL.

Usage: python3 examples/unseen/make.py          (needs pandas)
Eight tables drawn at random (fixed seed) are for development, four are locked: the rules were improved with the failures
of the first eight only. Five more (third.py) were written later, when the locked ones had been opened, and scored once; then four more (fourth.py).
Questions that cannot be answered from their table expect a refusal.
"""
import json
import random
from pathlib import Path

import pandas as pd

import chinese
import english
import fourth
import tables
import third

HERE = Path(__file__).parent


def split_of(names):
    """Which tables are locked away: drawn, not chosen."""
    names = sorted(names)
    locked = set(random.Random(20241115).sample(names, len(names) // 3))
    return {n: "locked" if n in locked else "develop" for n in names}


def number(value):
    return round(float(value), 6)


class Asker:
    """Collects the questions about one table."""

    def __init__(self, file, out):
        self.file, self.out, self.count = file, out, 0

    def __call__(self, question, lead=None, numbers=(), texts=(), where="answer", earlier=()):
        expect = {"numbers": [number(n) for n in numbers], "texts": [str(t) for t in texts], "where": where}
        if lead is not None:
            expect["lead"] = str(lead)
        self.add(question, expect, earlier, "")

    def no(self, question, earlier=()):
        """A question this table cannot answer."""
        self.add(question, {"refuse": True}, earlier, "-beyond")

    def add(self, question, expect, earlier, suffix):
        self.count += 1
        row = {"id": f"{Path(self.file).stem}-{self.count}", "suffix": suffix, "files": [f"tables/{self.file}"], "question": question, "expect": expect}
        if earlier:
            row["earlier"] = list(earlier)
        self.out.append(row)


def main():
    for make in tables.ALL + third.ALL + fourth.ALL:
        make()
    out = []
    for file, ask in {**english.ASK, **chinese.ASK}.items():
        ask(Asker(file, out), pd.read_csv(tables.TABLES / file, keep_default_na=True))
    split = split_of({Path(r["files"][0]).name for r in out})
    for name, later in [("third", third), ("fourth", fourth)]:
        for file, ask in later.ASK.items():
            ask(Asker(file, out), pd.read_csv(tables.TABLES / file))
            split[file] = name
    with open(HERE / "questions.jsonl", "w", encoding="utf-8") as f:
        for row in out:
            row["split"] = split[Path(row["files"][0]).name] + row.pop("suffix")
            f.write(json.dumps(row, ensure_ascii=False) + "\n")
    counts = pd.Series([r["split"] for r in out]).value_counts()
    print(counts.to_string())


if __name__ == "__main__":
    main()
