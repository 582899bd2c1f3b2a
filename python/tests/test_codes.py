"""Every sentence the worker says about a file or a result has a code, a known step, and a place in the list the page takes its words from."""

import ast
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from ba_worker.tables import errors, signatures  # noqa: E402

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
with open(os.path.join(ROOT, "web", "src", "i18n", "codes.json"), encoding="utf-8") as f:
    CODES = json.load(f)
TABLES = os.path.join(ROOT, "python", "ba_worker", "tables")
# What is said about a query or an export goes to the model alone.
MODEL_ONLY = {"query.py", "export.py", "keep.py"}


def sources():
    files = [os.path.join(TABLES, n) for n in sorted(os.listdir(TABLES)) if n.endswith(".py") and n not in MODEL_ONLY]
    for path in [*files, os.path.join(TABLES, "..", "checking.py"), os.path.join(TABLES, "..", "leaving.py")]:
        with open(path, encoding="utf-8") as f:
            yield ast.parse(f.read())


def strings(node):
    """The constant texts that an expression can be: itself, or the two of `a if … else b`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    return strings(node.body) + strings(node.orelse) if isinstance(node, ast.IfExp) else []


def calls(*names):
    for tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in names:
                yield node, {k.arg: k.value for k in node.keywords if k.arg}


def test_notes_are_listed():
    said = set()
    for node, given in calls("note", "warn"):
        cases = strings(given["case"]) if "case" in given else []
        said |= {f"{code}.{case}" if case else code for code in strings(node.args[0]) for case in cases or [""]}
    assert len(said) > 70
    assert said - set(CODES["notes"]) == set()


def test_listed_notes_are_said_somewhere():
    literals = {s for tree in sources() for node in ast.walk(tree) for s in strings(node)}
    # Put together, or written by the server itself.
    made = {"blank_rows", "short_rows", "long_rows", "result_truncated"}
    missing = {c for c in CODES["notes"] if not {c.split(".")[0]} & (literals | made) or not set(c.split(".")[1:]) <= literals}
    assert missing == set()


def test_problems_and_steps_are_listed():
    problems, steps = set(), set(errors.STEPS)
    for node, given in calls("TableError"):
        problems |= set(strings(given["said"])) if "said" in given else {c.lower() for c in strings(node.args[0])}
        assert set(strings(given.get("step"))) <= set(errors.STEPS)
    problems |= set(signatures.SORTS.values()) | set(signatures.SORTS_BY_NAME.values())
    problems |= {code for node, _ in calls("_Unfit") for code in strings(node.args[0])}
    assert len(problems) > 50
    assert problems - set(CODES["problems"]) == set()
    assert steps - set(CODES["steps"]) == set()


def test_what_is_no_table_has_a_name_where_its_words_want_one():
    kinds = [(kind, step) for _, kind, step in signatures.BEGINNINGS] + [("a HEIC image", "picture"), ("binary data", "data"), ("an Apple iWork document", "numbers")]
    for kind, step in kinds:
        error = signatures.no_table(kind, step)
        unnamed = {"is_icon", "is_font", "is_binary", "is_rich_text"}
        assert error.said in unnamed or error.values["name"], kind
    assert signatures.no_table("an HDF5 data file", "export").values == {"name": "HDF5"}
