"""Generated reports through every format, read back by other libraries: no row lost, no chart missing, nothing live that was text.

`reports.py 56` writes them all and prints a line per format with times; pytest (test_report.py) runs a few of each kind.
"""

import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
ECHARTS = os.path.join(HERE, "../../web/node_modules/echarts/dist/echarts.min.js")

from ba_worker import report  # noqa: E402

ZH = ["华东", "华南", "华北", "西南", "西北", "东北", "华中"]
EN = ["North", "South", "East", "West", "Central", "Coast", "Inland"]
KINDS = ("plain", "long", "wide", "charts", "emoji", "maths", "hostile", "formulas", "conversation", "proofs")


def option(rng, names, kind):
    values = [rng.randint(10, 9000) for _ in names]
    if kind == "pie":
        return {"title": {"text": "share"}, "series": [{"type": "pie", "radius": ["40%", "70%"], "data": [{"name": n, "value": v} for n, v in zip(names, values)]}]}
    if kind == "scatter":
        return {"xAxis": {}, "yAxis": {}, "series": [{"type": "scatter", "name": "p", "data": [[i, v] for i, v in enumerate(values)]}]}
    if kind == "radar":
        return {"radar": {"indicator": [{"name": n, "max": 9000} for n in names]}, "series": [{"type": "radar", "data": [{"value": values, "name": "r"}]}]}
    series = [{"type": kind, "name": f"s{i}", "data": [rng.randint(10, 9000) for _ in names], **({"stack": "a"} if kind == "bar" and i else {})} for i in range(2)]
    return {"title": {"text": f"{kind} {names[0]}"}, "legend": {}, "tooltip": {}, "xAxis": {"type": "category", "data": names}, "yAxis": {}, "series": series}


class Made:
    """A report and what must be found in its files."""

    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        self.kind, self.zh = KINDS[seed % len(KINDS)], (seed // len(KINDS)) % 2 == 0
        self.names = ZH if self.zh else EN
        self.keys, self.charts, self.text, self.parts = [], 0, [], []
        for part in range(3 if self.kind == "conversation" else 1):
            self.parts.append(self.part(part, rng))
        self.given = {"title": "各地区销售报告" if self.zh else "Sales by region", "conversation_id": "conv_0123456789ab", "made_at": "2026-01-02 03:04 UTC", "echarts": os.path.abspath(ECHARTS), "parts": self.parts}

    def table(self, rng, rows, columns, tag):
        head = ["名称" if self.zh else "Name", *(f"{'列' if self.zh else 'Col'}{i}" for i in range(1, columns))]
        lines = ["| " + " | ".join(head) + " |", "|" + "---|" * columns]
        for i in range(rows):
            key = f"K{tag}{i}{rng.choice(self.names)}"
            self.keys.append(key)
            lines.append("| " + " | ".join([key, *(f"{rng.uniform(-500, 90000):,.2f}" for _ in range(columns - 1))]) + " |")
        return "\n".join(lines)

    def script(self, rng, number):
        self.charts += 1
        drawn = json.dumps(option(rng, self.names, rng.choice(["bar", "line", "pie", "scatter", "radar"])), ensure_ascii=False)
        return f'<div id="c{number}" style="height:320px"></div>\n<script>\nconst chart{number} = echarts.init(document.getElementById("c{number}"));\nchart{number}.setOption({drawn});\nwindow.addEventListener("resize", () => chart{number}.resize());\n</script>\n'

    def part(self, index, rng):
        said = "华东销售额最高。" if self.zh else "East leads in sales."
        self.text.append(said)
        body = [f"# {'结论' if self.zh else 'Findings'} {index + 1}", said]
        metadata = {"model": "test:model", "audit": None}
        if self.kind == "long":
            body.append(self.table(rng, 420, 5, "L"))
        elif self.kind == "wide":
            body.append(self.table(rng, 24, 31, "W"))
        elif self.kind == "charts":
            body += [self.script(rng, n) for n in range(9)] + ["{{CHART:1}}"]
            self.charts += 1
            metadata["charts"] = [{"index": 1, "tool_call_id": "call_1", "title": "t", "option": option(rng, self.names, "bar")}]
        elif self.kind == "emoji":
            body += ["😀🎉🚀📈 👨‍👩‍👧 ✅ ❤️ 🇨🇳 ① ㎡ № ™ ∑ ≥ € ₿ Привет Ελλάδα עברית ไทย", self.table(rng, 5, 3, "E")]
        elif self.kind == "maths":
            body += [r"$$\frac{\partial f}{\partial x} = \sqrt{a^2+b^2}$$", r"where $\sigma_i = \frac{1}{n}\sum_{k=1}^n x_k$ costs $5 to $7", r"$$\begin{pmatrix} 1 & 2 \end{pmatrix}$$", r"$$\text{增长率} = \frac{a}{b}$$"]
        elif self.kind == "hostile":
            body += ["<div><script>while(true){}</script></div>", "<div><script>echarts.init(document.getElementById('z')).setOption({series:[{type:'nonesuch'", "</script></div>",
                     "<p onclick=alert(1)>click<iframe src=http://192.0.2.1/></iframe><img src=x onerror=alert(2)></p>", "{{CHART:9}} ![p](../../etc/passwd)", "#include(\"x\") #import \"@preview/x:1\": * \\ $ * _ @ <x> ]", "x" * 900, self.table(rng, 4, 3, "H")]
        elif self.kind == "formulas":
            body += ["| 名称 | 值 |\n|---|---|\n| =1+1 | 3 |\n| +cmd | 4 |\n| -2+3 | 5 |\n| @SUM(A1) | 6 |\n| =HYPERLINK(\"http://x\") | 7 |\n| 合计 | 25 |"]
        else:
            body.append(self.table(rng, rng.randint(3, 12), rng.randint(2, 6), f"P{index}x"))
            body.append(self.script(rng, 1))
        response = "\n\n".join(body)
        if self.kind == "proofs":
            at = response.index(said)
            response = response[:at] + "14,000 999 " + response[at:]
            metadata["audit"] = {"proven": 1, "derived": 0, "given": 0, "unproven": 1, "mismatch": 0, "figures": [
                {"text": "14,000", "start": at, "end": at + 6, "state": "proven", "proof": {"tool_call_id": "call_1", "row": 0, "column": "v"}},
                {"text": "999", "start": at + 7, "end": at + 10, "state": "unproven"}]}
        rows = [[name, rng.randint(1, 9999)] for name in self.names]
        return {"run_id": f"run_{index}", "question": "各地区销售额？" if self.zh else "Sales by region?", "asked_at": "2026-01-01 00:00 UTC", "answer": {"response": response, "metadata": metadata},
                "calls": [{"tool_call_id": "call_1", "tool_name": "query_database", "arguments": {"query": "SELECT 1 AS v", "connection": "primary"}, "success": True},
                          {"tool_call_id": "call_2", "tool_name": "run_python", "arguments": {"code": "total = 41 + 1\nprint(total)"}, "success": True}],
                "evidence": [{"sources": [{"id": "call_1", "kind": "tool", "body": {"shape": "table", "columns": ["k", "v"], "rows": rows, "total_rows": len(rows)}}]}],
                "code": [{"code_id": "code_a", "language": "python", "description": "sum", "code": "print('求和')"}]}


def squeezed(text):
    return re.sub(r"[\s\u200b\xad]+", "", text)


def write(made, form, folder):
    os.chdir(folder)
    with open("in.json", "w", encoding="utf-8") as file:
        json.dump(made.given, file, ensure_ascii=False)
    result = report.make({"input": "in.json", "format": form, "out": "out"}, lambda *_: None)
    assert "error" not in result, result
    left = [name for name in os.listdir(".") if name.endswith(".part")]
    assert not left, left
    return result["file"]


def check(made, form, path):
    READ[form](made, path)


def rows_in(made, text):
    flat = squeezed(text)
    lost = [key for key in made.keys if squeezed(key) not in flat]
    assert not lost, f"{len(lost)} of {len(made.keys)} rows lost, first {lost[:3]}"
    for said in made.text:
        assert squeezed(said) in flat, said


def read_pdf(made, path):
    text = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, check=True).stdout.decode()
    rows_in(made, text)
    caption = "图" if made.zh else "Chart"
    for number in range(1, made.charts + 1):
        assert re.search(rf"{caption}\s*{number}\b", text), f"chart {number}"
    assert "\ufffd" not in text and "□" not in text
    if made.kind == "proofs":
        assert ("未证实" if made.zh else "unproven") in text


def read_docx(made, path):
    import docx

    file = docx.Document(path)
    cells = [cell for table in file.tables for row in table._tbl.tr_lst for cell in ("".join(t.text or "" for t in c.iter("{http://schemas.openxmlformats.org/wordprocessingml/2006/main}t")) for c in row.tc_lst)]
    rows_in(made, "\n".join([*(p.text for p in file.paragraphs), *cells]))
    assert len(file.inline_shapes) >= made.charts
    assert any(p.style.name.startswith("Heading") for p in file.paragraphs)


def read_pptx(made, path):
    from pptx import Presentation

    deck = Presentation(path)
    native = pictures = 0
    texts = []
    for slide in deck.slides:
        assert slide.has_notes_slide
        for shape in slide.shapes:
            native += shape.has_chart
            pictures += shape.shape_type == 13
            if shape.has_text_frame:
                texts.append(shape.text_frame.text)
            if shape.has_table:
                texts += [cell.text for row in shape.table.rows for cell in row.cells]
            assert shape.left >= 0 and shape.left + shape.width <= deck.slide_width + 9525, "outside the slide"
    assert native + pictures >= made.charts, (native, pictures)
    if made.kind not in ("long", "wide"):
        rows_in(made, "\n".join(texts))


def read_xlsx(made, path):
    import openpyxl

    book = openpyxl.load_workbook(path)
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.value is not None]
    rows_in(made, "\n".join(str(c.value) for c in cells))
    for cell in cells:
        if cell.data_type == "f":
            assert re.fullmatch(r"=(?:SUM|SUBTOTAL)\((?:109,)?[A-Z]+2:[A-Z]+\d+\)", cell.value), cell.value
    if made.kind == "formulas":
        texts = [c.value for c in cells if c.data_type == "s"]
        assert all(t in texts for t in ("=1+1", "+cmd", "-2+3", "@SUM(A1)"))
        assert any(c.data_type == "f" and c.value == "=SUM(B2:B6)" for c in cells), "a total that adds up is live"
    radar = sum("radar" in str(p["answer"]["response"]) for p in made.parts)
    assert sum(len(sheet._charts) for sheet in book) >= (1 if made.charts and not radar else 0)


def read_html(made, path):
    import lxml.html

    with open(path, encoding="utf-8") as file:
        text = file.read()
    root = lxml.html.fromstring(text)
    for script in root.iter("script"):
        assert script.get("src") is None
    assert not root.xpath("//iframe|//@onclick|//@onerror|//link|//base")
    assert all(src.startswith("data:") for src in root.xpath("//img/@src"))
    for script in root.xpath("//script|//style"):
        script.drop_tree()
    rows_in(made, root.text_content())
    assert len(root.xpath("//figure[contains(@class,'chart')]")) == made.charts


def read_md(made, path):
    pictures = []
    if path.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            pictures = [n for n in archive.namelist() if n.endswith(".png")]
            text = archive.read(next(n for n in archive.namelist() if n.endswith(".md"))).decode()
            for name in pictures:
                assert archive.read(name).startswith(b"\x89PNG") and name in text
    else:
        text = open(path, encoding="utf-8").read()
    rows_in(made, text.replace("\\", ""))
    assert len(pictures) == made.charts


def read_ipynb(made, path):
    import nbformat

    with zipfile.ZipFile(path) as archive, tempfile.TemporaryDirectory() as folder:
        archive.extractall(folder)
        name = next(n for n in archive.namelist() if n.endswith(".ipynb"))
        book = nbformat.reads(archive.read(name).decode(), as_version=4)
        nbformat.validate(book)
        code = "\n\n".join(cell["source"] for cell in book.cells if cell["cell_type"] == "code")
        ran = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
        assert ran.returncode == 0 and "42" in ran.stdout, ran.stderr[-2000:]
        rows_in(made, "\n".join(cell["source"] for cell in book.cells).replace("\\", ""))


READ = {"pdf": read_pdf, "docx": read_docx, "pptx": read_pptx, "xlsx": read_xlsx, "html": read_html, "md": read_md, "ipynb": read_ipynb}


def main(count):
    failed, times = [], {form: [] for form in READ}
    for seed in range(count):
        made = Made(seed)
        for form in READ:
            with tempfile.TemporaryDirectory() as folder:
                began = time.monotonic()
                try:
                    path = write(made, form, folder)
                    times[form].append(time.monotonic() - began)
                    check(made, form, os.path.join(folder, path))
                except AssertionError as error:
                    failed.append(f"report {seed} ({made.kind}) as {form}: {error}")
                    print(failed[-1], flush=True)
                os.chdir("/")
    for form, spent in times.items():
        print(f"{form}: {len(spent)} written, median {sorted(spent)[len(spent) // 2]:.2f} s, longest {max(spent):.2f} s")
    print(f"{count * len(READ) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 56))
