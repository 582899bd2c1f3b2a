"""Notebook: the SQL and Python of the answers in order, with their data beside it, as a zip that runs with a plain Python (pandas, duckdb)."""

import json
import re
import zipfile

from . import markdown

MAX_CELL = 200_000
_SETUP = '''\
# {note}
import glob, json, os
import duckdb
import pandas as pd

with open("data/tables.json", encoding="utf-8") as file:
    _files = json.load(file)
_db = duckdb.connect()
for _name, _path in _files.items():
    _db.execute('CREATE VIEW "{{}}" AS SELECT * FROM read_parquet(\\'{{}}\\')'.format(_name.replace('"', '""'), _path.replace("'", "''")))


def load(name):
    """A table of the conversation as a DataFrame."""
    return _db.execute("SELECT * FROM read_parquet(?)", [_files[str(name).removesuffix(".parquet")]]).df()


class _Tables(dict):
    def __missing__(self, name):
        return load(name)


tables = _Tables()


def kept(path):
    """What a database that is not here answered."""
    with open(path, encoding="utf-8") as file:
        return pd.DataFrame(**json.load(file))


def query(sql, **values):
    """A statement over the tables, as a DataFrame."""
    return _db.execute(sql, values or None).df()
'''


def write(doc, out, progress):
    book = Book(doc)
    for part in doc.parts:
        book.part(part)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("requirements.txt", "duckdb\npandas\nnumpy\nmatplotlib\npyarrow\nnotebook\n")
        archive.writestr("data/tables.json", json.dumps(book.tables, ensure_ascii=False, indent=1))
        for name, path in book.files.items():
            archive.write(path, name)
        for name, data in {**book.results, **book.text.files}.items():
            archive.writestr(name, data)
        archive.writestr(f"{doc.name()}.ipynb", json.dumps(book.notebook(), ensure_ascii=False, indent=1))
    return "zip"


def pieces(text):
    """A long text over several cells, which programs show sooner than one; a table that goes on begins with its header again."""
    found, held, size, head = [], [], 0, []
    for line in text.splitlines(keepends=True):
        row = line.startswith("|")
        head = [] if not row else head if len(head) == 2 else [*head, line]
        if held and size + len(line) > MAX_CELL:
            found.append("".join(held))
            held = list(head) if row and len(head) == 2 and line not in head else []
            size = sum(map(len, held))
        held.append(line)
        size += len(line)
    return [*found, "".join(held)]


class Book:
    def __init__(self, doc):
        self.doc, self.cells, self.files, self.tables, self.results, left = doc, [], {}, {}, {}, []
        self.text = markdown.Writer(doc, " **(?)**")  # Notebooks know no footnotes.
        for index, table in enumerate(doc.given.get("tables") or []):
            if "path" not in table:
                left.append(str(table.get("filename")))
                continue
            target = f"data/table_{index + 1}.parquet"
            self.files[target] = table["path"]
            for name in table["names"]:
                self.tables.setdefault(name.removesuffix(".parquet"), target)
        doc.draw_all(lambda *_: None)
        notes = [f"{doc.say('made')} {doc.made}", *(f"⚠ {name}" for name in left)]
        self.say(f"# {doc.title}\n\n" + "\n\n".join(notes))
        self.code(_SETUP.format(note=("需要：pip install -r requirements.txt" if doc.lang == "zh" else "needs: pip install -r requirements.txt")))

    def add(self, kind, text, **more):
        self.cells.append({"cell_type": kind, "id": f"cell-{len(self.cells) + 1}", "metadata": {}, "source": text.splitlines(keepends=True), **more})

    def say(self, text):
        for piece in pieces(text):
            self.add("markdown", piece)

    def code(self, text):
        self.add("code", text, execution_count=None, outputs=[])

    def part(self, part):
        self.say(f"## {self.doc.say('question')} {part['number']}\n\n" + "\n".join(f"> {line}" for line in part["question"].splitlines()))
        results = {t["call"]: t for t in part["tables"]}
        for source in part["sources"]:
            if source["success"] is False or not source["what"] or not source["lang"]:
                continue
            self.say(f"**{source['name']}** {source['tool']} {source['connection']}")
            if source["lang"] == "python":
                self.code(source["what"])
            else:
                self.sql(source, results.get(source["call"]))
        after = [self.doc.say("marked")] * part["marked"] + [f"*{part['summary']}*"] * bool(part["summary"]) + [f"⚠ {note}" for note in part["notes"]]
        self.say("\n\n".join([self.text.blocks(part["blocks"]), *after]))
        for code in part["codes"]:
            self.say(f"**{self.doc.say('code_n', n=code['n'])}** {code.get('description') or ''} (`{code['code_id']}`)\n\n```{code.get('language') or ''}\n{code['code'].rstrip()}\n```")

    def sql(self, source, result):
        name = "result_" + re.sub(r"\W", "_", source["name"]).lower()
        embedded = source["connection"] in ("", "primary", "uploads")
        values = _values(self.doc, source)
        statement = source["what"]
        for key in values:
            statement = re.sub(rf"(?<![:\w]):{re.escape(key)}\b", f"${key}", statement)
        more = f", **{values!r}" if values else ""
        text = f"{name} = query({_literal(statement)}{more})" if embedded else f"# {source['connection']}\nsql_{name} = {_literal(source['what'])}"
        if result is not None:
            # Not CSV: nobody opens this by mistake in a program that would run its cells.
            path = f"data/{name}.json"
            self.results[path] = json.dumps({"columns": result["columns"], "data": result["rows"]}, ensure_ascii=False)
            if not embedded:
                # The database is not here: its answer is.
                text += f"\n{name} = kept({path!r})"
        elif not embedded:
            text += f"\n{name} = pd.DataFrame()"
        self.code(f"{text}\n{name}")

    def notebook(self):
        return {"cells": self.cells, "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}


def _values(doc, source):
    for given in doc.given["parts"]:
        for call in given.get("calls") or []:
            if call.get("tool_call_id") == source["call"] and (call.get("arguments") or {}).get("query") == source["what"]:
                values = call["arguments"].get("params") or call["arguments"].get("parameters") or {}
                return values if isinstance(values, dict) else {}
    return {}


def _literal(text):
    """A readable Python string that means exactly this text."""
    plain = '"""' not in text and "\\" not in text and not text.endswith('"') and text.isprintable() | ("\n" in text)
    return f'"""\n{text}\n"""' if plain and not re.search(r"[\x00-\x08\x0b-\x1f]", text) else repr(text)

