"""One answer: its text, tables, charts, files, and the proof of its figures."""

import os
from dataclasses import dataclass, field

FORMATS = ("pdf", "docx", "pptx", "xlsx", "ipynb", "html", "md")


@dataclass
class Figure:
    """A figure of the text: `proven`, `derived`, `given`, `unproven` or `mismatch`, and what proves it."""

    text: str
    state: str
    proof: dict = field(default_factory=dict)


class Answer:
    def __init__(self, client, data):
        self._client, self.data = client, data
        self.text = data["response"]
        self.conversation_id, self.run_id = data["conversation_id"], data["run_id"]
        self.metadata = data["metadata"]

    @property
    def figures(self):
        audit = self.metadata.get("audit") or {}
        return [Figure(f["text"], f["state"], f.get("proof") or {}) for f in audit.get("figures", [])]

    @property
    def is_proven(self):
        """No figure without proof; an answer without figures is proven."""
        return all(figure.state not in ("unproven", "mismatch") for figure in self.figures)

    @property
    def tables(self):
        """The tables of the report: DataFrames where pandas is there, else lists of dictionaries."""
        return [_frame(header, rows) for header, rows in markdown_tables(self.text)]

    @property
    def charts(self):
        return [chart["option"] for chart in self.metadata.get("charts", [])]

    @property
    def files(self):
        return self.metadata.get("download_links", [])

    @property
    def questions(self):
        return self.metadata.get("recommended_questions", [])

    def ask(self, question, *data):
        """The next question of the same conversation."""
        return self._client.ask(*data, question, conversation_id=self.conversation_id)

    def download(self, name, to=None):
        return self._client.download(self.conversation_id, name, to)

    def save(self, path):
        """The answer as a document; the ending of `path` says which kind."""
        kind = os.path.splitext(path)[1].lstrip(".").lower()
        if kind not in FORMATS:
            raise ValueError(f"`{path}` should end in one of: {', '.join(FORMATS)}")
        return self._client.report(self.conversation_id, self.run_id, kind, path)

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<Answer {self.text[:60]!r}>"

    def _repr_markdown_(self):
        return self.text


def markdown_tables(text):
    """(header, rows) of every pipe table, outside fenced code."""
    found, lines, at, fenced = [], text.splitlines(), 0, False
    while at < len(lines):
        line = lines[at].strip()
        fenced ^= line.startswith("```")
        is_rule = at + 1 < len(lines) and set(lines[at + 1].strip()) <= set("|-: ") and "-" in lines[at + 1]
        if fenced or not line.startswith("|") or not is_rule:
            at += 1
            continue
        header, rows, at = _cells(line), [], at + 2
        while at < len(lines) and lines[at].strip().startswith("|"):
            rows.append(_cells(lines[at].strip()))
            at += 1
        found.append((header, rows))
    return found


def _cells(line):
    return [cell.replace("\0", "|").strip() for cell in line.strip("|").replace("\\|", "\0").split("|")]


def _number(cell):
    plain = cell.replace(",", "")
    try:
        return int(plain)
    except ValueError:
        try:
            return float(plain)
        except ValueError:
            return cell


def _frame(header, rows):
    records = [dict(zip(header, row)) for row in rows]
    for name in header:
        values = [_number(record.get(name, "")) for record in records]
        # A column is numbers as a whole, or stays as it was written.
        if values and all(isinstance(value, (int, float)) for value in values):
            for record, value in zip(records, values):
                record[name] = value
    try:
        import pandas
    except ImportError:
        return records
    return pandas.DataFrame(records, columns=header)
