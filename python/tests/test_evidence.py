"""What a call of user code hands over beside its text: tables, checks and variables."""

import json
import os
import subprocess
import sys

import pytest

WORKER = os.path.join(os.path.dirname(__file__), "..")
# Its own process: the worker takes over the streams and the namespace of whatever it runs in.
SERVE = """
import json, os, sys, threading
from ba_worker import usercode
answers = os.fdopen(os.dup(1), "w")
usercode.install()
read_end, write_end = os.pipe()
threading.Thread(target=lambda: [None for _ in iter(lambda: os.read(read_end, 65536), b"")], daemon=True).start()
for line in os.fdopen(os.dup(0)):
    job = {"code": json.loads(line), "limits": {"output_bytes": 10_000}, "allow_list": True}
    answers.write(json.dumps(usercode.run(job, write_end)) + chr(10))
    answers.flush()
"""


@pytest.fixture(scope="module")
def run():
    worker = subprocess.Popen([sys.executable, "-c", SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": WORKER})

    def ask(code):
        worker.stdin.write(json.dumps(code) + "\n")
        worker.stdin.flush()
        return json.loads(worker.stdout.readline())

    yield ask
    worker.stdin.close()
    worker.wait(30)


def test_shown_tables_come_structured(run):
    got = run("import pandas as pd\ndf = pd.DataFrame({'地区': ['a', 'b', 'a'], '销售额': [1, 2, 3]})\n"
              "print('all', df)\nprint({'x': 1, 'y': 2.5})\nprint('words')\ndf.groupby('地区')['销售额'].sum()")
    assert [t["columns"] for t in got["tables"]] == [["地区", "销售额"], ["key", "value"], ["地区", "销售额"]]
    assert got["tables"][2]["rows"] == [["a", 4], ["b", 2]]
    assert got["value"]["table"]["rows"] == [["a", 4], ["b", 2]]


def test_tables_are_capped(run):
    got = run("import pandas as pd\nfor _ in range(50): print(pd.DataFrame({'n': range(5000)}))")
    assert len(got["tables"]) <= 20 and sum(len(t["rows"]) for t in got["tables"]) <= 20_000
    assert got["tables"][0]["shape"] == [5000, 1]


def test_variables_are_named_with_their_shape(run):
    got = run("import pandas as pd\nframe = pd.DataFrame({'a': [1, 2]})\ntotal = 12.5\n_hidden = 1\ndef helper(): pass\nlist(range(3))")
    found = {v["name"]: v for v in got["variables"]}
    assert found["frame"]["about"] == "2 × 1: a" and found["total"]["about"] == "12.5" and found["helper"]["kind"] == "function"
    assert not {"_hidden", "pd", "load", "tables", "check", "print"} & set(found)


def test_check_finds_and_says(run):
    got = run("import pandas as pd\nd = pd.DataFrame({'k': [1, 1, 2], 'v': [1.0, None, 3.0]})\ncheck(d, unique=['k'], not_null=['v'], parts_sum_to={'v': 5})")
    assert {n["code"] for n in got["checks"]} == {"duplicate_key", "blank_values", "parts_do_not_sum"}
    assert run("check(pd.DataFrame({'k': [1, 2], 'v': [2, 3]}), unique=['k'], not_null=['v'], parts_sum_to={'v': 5})")["value"]["repr"] == "[]"
    assert "there are: k, v" in run("check(d, unique=['nothing'])")["error"]["message"]


def test_a_merge_that_multiplies_is_told(run):
    got = run("import pandas as pd\na = pd.DataFrame({'k': [1, 1, 2]})\nb = pd.DataFrame({'k': [1, 1, 3]})\nm = a.merge(b, on='k')")
    assert [n["code"] for n in got["checks"]] == ["join_multiplied"]
    assert run("m = a.drop_duplicates().merge(b.drop_duplicates(), on='k')")["checks"] == []


def test_an_unknown_column_is_answered_with_all(run):
    message = run("import pandas as pd\npd.DataFrame({'地区': [1], '销售额': [2]})['revenue']")["error"]["message"]
    assert "nearest: '销售额'" in message and "columns: 地区, 销售额" in message
