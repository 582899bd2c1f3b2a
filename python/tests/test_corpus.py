"""Reads the corpus of messy files with the worker's own code, without a sandbox: quick to run while changing `tables`."""

import json
import os
import shutil
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
CORPUS = os.path.join(HERE, "..", "..", "crates", "data", "tests", "corpus")

from ba_worker import tables  # noqa: E402

with open(os.path.join(CORPUS, "expected.json"), encoding="utf-8") as f:
    CASES = json.load(f)


# SPEC B3, B4, B5
@pytest.mark.parametrize("case", CASES, ids=[c["file"] for c in CASES])
def test_reads_as_expected(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(os.path.join(CORPUS, "files", case["file"]), tmp_path)
    got = tables.ingest({"path": case["file"], "filename": case["file"]}, lambda fraction, message: None)
    assert got.get("error", {}).get("code") == case["error"], got
    if case["error"]:
        assert case.get("says", "") in got["error"]["message"]
        return
    for field in ("encoding", "lines", "keys"):
        if case[field] is not None:
            assert got[field] == case[field]
    assert len(got["tables"]) == len(case["tables"]), got["tables"]
    for table, want in zip(got["tables"], case["tables"]):
        assert [c["name"] for c in table["columns"]] == want["columns"]
        assert [c["type"] for c in table["columns"]] == want["types"]
        assert table["rows"] == want["count"]
        assert table["preview"] == want["rows"][:20]
        for text in want["notes"]:
            assert any(text in note["text"] for note in table["notes"]), (text, table["notes"])
        units = {c["name"]: c["unit"] for c in table["columns"] if "unit" in c}
        assert units == want["units"]
        if want["name"]:
            assert table["name"] == want["name"]
        assert os.path.exists(table["parquet"])


def test_totals_of_a_large_file_are_doubted_aloud(tmp_path, monkeypatch):
    """Too large for the careful reading: the row stays, and no sum is given without a word."""
    monkeypatch.chdir(tmp_path)
    for sample in (False, True):
        rows = [f"{i},华东,{'x' * 40},1.5\n" for i in range(180_000)]
        rows.insert(10 if sample else 120_000, "0,合计,,270000\n")
        (tmp_path / "big.csv").write_text("id,地区,备注,金额\n" + "".join(rows), encoding="utf-8")
        got = tables.ingest({"path": "big.csv", "filename": "big.csv"}, lambda fraction, message: None)
        notes = [n for n in got["tables"][0]["notes"] if n["code"] == "totals_doubtful"]
        assert notes and notes[0]["level"] == "warn" and notes[0]["values"]["label"] == "合计", got["tables"][0]["notes"]
