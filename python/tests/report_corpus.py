"""Generated reports through every format, read back by other libraries (`report_readers.py`).

`report_corpus.py [50] [--keep FOLDER] [--formats docx,md]` writes them all and prints a line per format with times; `--alone FORMAT` writes one of ten pages and prints its time
and memory; pytest (test_report.py) runs one of each kind.
"""

import io
import json
import os
import random
import resource
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
ECHARTS = os.path.join(HERE, "../../web/node_modules/echarts/dist/echarts.min.js")

from ba_worker import report  # noqa: E402
from report_readers import READ  # noqa: E402

ZH = ["华东", "华南", "华北", "西南", "西北", "东北", "华中"]
EN = ["North", "South", "East", "West", "Central", "Coast", "Inland"]
LONG = {True: "内蒙古自治区呼和浩特市新城区门店第{}号", False: "Regional distribution centre no. {} (north-west)"}
KINDS = ("plain", "long", "wide", "charts", "emoji", "maths", "hostile", "formulas", "conversation", "proofs", "mixed", "pictures")
CHARTS = ("bar", "line", "pie", "scatter", "radar", "horizontal", "area", "dataset", "two axes", "days", "heatmap")
# Those that slides and workbooks draw themselves.
NATIVE = {"bar", "line", "pie", "scatter", "horizontal", "area", "dataset", "two axes", "days"}


def option(rng, names, kind):
    values = [rng.randint(10, 9000) for _ in names]
    if kind == "pie":
        return {"title": {"text": "share"}, "series": [{"type": "pie", "radius": ["40%", "70%"], "data": [{"name": n, "value": v} for n, v in zip(names, values)]}]}
    if kind == "scatter":
        return {"xAxis": {}, "yAxis": {}, "series": [{"type": "scatter", "name": "p", "data": [[i, v] for i, v in enumerate(values)]}]}
    if kind == "radar":
        return {"radar": {"indicator": [{"name": n, "max": 9000} for n in names]}, "series": [{"type": "radar", "data": [{"value": values, "name": "r"}]}]}
    if kind == "horizontal":
        labels = [LONG[names is ZH].format(i) for i in range(12)]
        return {"title": {"text": labels[0] * 2}, "xAxis": {"type": "value"}, "yAxis": {"type": "category", "data": labels}, "series": [{"type": "bar", "name": "v", "data": [rng.randint(-500, 9_000_000) for _ in labels], "label": {"show": True, "position": "right"}}]}
    if kind == "area":
        return {"legend": {"data": ["a"]}, "xAxis": {"type": "category", "boundaryGap": False, "data": names}, "yAxis": {"name": "金额（万元）"}, "series": [{"type": "line", "name": "a", "areaStyle": {}, "data": [v * 12345 for v in values]}]}
    if kind == "dataset":
        return {"dataset": {"source": [["k", "a", "b"], *([n, v, v / 3] for n, v in zip(names, values))]}, "legend": {}, "xAxis": {"type": "category"}, "yAxis": {}, "series": [{"type": "bar"}, {"type": "bar"}]}
    if kind == "two axes":
        return {"legend": {}, "xAxis": {"type": "category", "data": names}, "yAxis": [{"name": "销售额"}, {"name": "增长率"}],
                "series": [{"type": "bar", "name": "amount", "data": values}, {"type": "line", "name": "growth", "yAxisIndex": 1, "data": [v / 9000 for v in values]}]}
    if kind == "days":
        days = [f"2024-{1 + i // 28:02}-{1 + i % 28:02}" for i in range(90)]
        return {"title": {"text": "daily", "subtext": "2024"}, "dataZoom": [{"type": "slider"}], "xAxis": {"type": "category", "data": days, "axisLabel": {"rotate": 45}}, "yAxis": {}, "series": [{"type": "line", "name": "d", "data": [rng.randint(0, 100) for _ in days]}]}
    if kind == "heatmap":
        return {"xAxis": {"type": "category", "data": names}, "yAxis": {"type": "category", "data": ["Q1", "Q2"]}, "visualMap": {"min": 0, "max": 9000, "orient": "horizontal", "left": "center", "bottom": 0},
                "series": [{"type": "heatmap", "data": [[i, j, rng.randint(0, 9000)] for i in range(len(names)) for j in range(2)], "label": {"show": True}}]}
    series = [{"type": kind, "name": f"s{i}", "data": [rng.randint(10, 9000) for _ in names], **({"stack": "a"} if kind == "bar" and i else {})} for i in range(2)]
    return {"title": {"text": f"{kind} {names[0]}"}, "legend": {}, "tooltip": {}, "xAxis": {"type": "category", "data": names}, "yAxis": {}, "series": series}


def picture(rng, width=900, height=500):
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    for i in range(9):
        draw.rectangle([60 + i * 90, height - 40 - rng.randint(20, 400), 120 + i * 90, height - 40], fill="#2f6fde")
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


class Made:
    """A report and what must be found in its files."""

    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        self.seed, self.kind, self.zh = seed, KINDS[seed % len(KINDS)], (seed // len(KINDS)) % 2 == 0
        self.names = ZH if self.zh else EN
        self.keys, self.charts, self.native, self.text, self.notes, self.parts, self.files, self.pictures = [], 0, 0, [], [], [], {}, {}
        self.doubtful = "999" if self.kind == "proofs" else None
        for part in range(3 if self.kind == "conversation" else 1):
            self.parts.append(self.part(part, rng))
        self.given = {"title": "各地区销售报告" if self.zh else "Sales by region", "conversation_id": "conv_0123456789ab", "made_at": "2026-01-02 03:04 UTC", "echarts": os.path.abspath(ECHARTS),
                      "parts": self.parts, "pictures": self.pictures}

    def table(self, rng, rows, columns, tag):
        head = ["名称" if self.zh else "Name", *(f"{'列' if self.zh else 'Col'}{i}" for i in range(1, columns))]
        lines = ["| " + " | ".join(head) + " |", "|" + "---|" * columns]
        for i in range(rows):
            key = f"K{tag}{i}{rng.choice(self.names)}"
            self.keys.append(key)
            lines.append("| " + " | ".join([key, *(f"{rng.uniform(-500, 90000):,.2f}" for _ in range(columns - 1))]) + " |")
        return "\n".join(lines)

    def chart(self, rng, number, kind=None):
        kind = kind or rng.choice(CHARTS)
        self.charts += 1
        self.native += kind in NATIVE
        return option(rng, self.names, kind)

    def script(self, rng, number, kind=None):
        drawn = json.dumps(self.chart(rng, number, kind), ensure_ascii=False)
        return f'<div id="c{number}" style="height:320px"></div>\n<script>\nconst chart{number} = echarts.init(document.getElementById("c{number}"));\nchart{number}.setOption({drawn});\nwindow.addEventListener("resize", () => chart{number}.resize());\n</script>\n'

    def body(self, rng, metadata, index):
        """What is special about this kind."""
        if self.kind == "long":
            return [self.table(rng, 5000 if self.seed >= 24 else 420, 5, "L")]
        if self.kind == "wide":
            return [self.table(rng, 24, 31, "W")]
        if self.kind == "charts":
            body = [self.script(rng, n, CHARTS[n]) for n in range(9)] + ["{{CHART:1}}"]
            metadata["charts"] = [{"index": 1, "tool_call_id": "call_1", "title": "t", "option": self.chart(rng, 9, CHARTS[9 + self.seed // 12 % 2])}]
            return body
        if self.kind == "emoji":
            return ["😀🎉🚀📈 👨‍👩‍👧 ✅ ❤️ 🇨🇳 ① ㎡ № ™ ∑ ≥ € ₿ Привет Ελλάδα עברית ไทย 𠮷 龘 ｱ", self.table(rng, 5, 3, "E"), "| 😀 | 值 |\n|---|---|\n| 🚀 up | 1 |\n| 📉 **down** | 2 |"]
        if self.kind == "maths":
            return [r"$$\frac{\partial f}{\partial x} = \sqrt{a^2+b^2}$$", r"where $\sigma_i = \frac{1}{n}\sum_{k=1}^n x_k$ costs $5 to $7", r"$$\begin{pmatrix} 1 & 2 \end{pmatrix}$$", r"$$\text{增长率} = \frac{a}{b}$$", r"\[ x \le y \] and \( \alpha^{2} \)"]
        if self.kind == "hostile":
            return ["<div><script>while(true){}</script></div>", "<div><script>echarts.init(document.getElementById('z')).setOption({series:[{type:'nonesuch'", "</script></div>",
                    "<p onclick=alert(1)>click<iframe src=http://192.0.2.1/></iframe><img src=x onerror=alert(2)></p>", "{{CHART:9}} ![p](../../etc/passwd)", "#include(\"x\") #import \"@preview/x:1\": * \\ $ * _ @ <x> ]", "x" * 900, self.table(rng, 4, 3, "H")]
        if self.kind == "formulas":
            return ["| 名称 | 值 |\n|---|---|\n| =1+1 | 3 |\n| +cmd | 4 |\n| -2+3 | 5 |\n| @SUM(A1) | 6 |\n| =HYPERLINK(\"http://x\") | 7 |\n| 合计 | 25 |"]
        if self.kind == "pictures":
            self.files.update({"p1.png": picture(rng), "p2.png": b"\x89PNG broken", "p3.png": picture(rng, 300, 2600)})
            self.pictures.update({"图 1.png": {"path": "p1.png", "size": 1}, "b.png": {"path": "p2.png", "size": 1}, "tall.png": {"path": "p3.png", "size": 1}, "huge.png": {"size": 100 << 20}})
            self.notes += ["b.png", "gone.png", "huge.png", "100.0 MB"]
            return ["![](<图 1.png>)", "![b](b.png)", "![tall](tall.png)", "![gone](gone.png)", "![huge](huge.png)", self.table(rng, 6, 4, "I")]
        if self.kind == "mixed":
            return ["## 一、Overview 概览", "- **增长** up 12% 🚀\n  - nested 嵌套\n    - deeper $x^2$\n- second\n\n1. one\n2. two", "> 引用 quote\n> > 更深", "---", self.table(rng, 40, 9, "M"), self.script(rng, 1), "### 代码", "```sql\nSELECT 地区, SUM(销售额)\nFROM t -- 注释\n```",
                    self.script(rng, 2, "horizontal"), self.table(rng, 12, 16, "N"), "~~gone~~ *it* `code` [link](https://example.org/a) <b>bold</b>", "$$\\bar{x} = \\frac{1}{n}\\sum x_i$$"]
        return [self.table(rng, rng.randint(3, 12), rng.randint(2, 6), f"P{index}x"), self.script(rng, 1)]

    def part(self, index, rng):
        said = "华东销售额最高。" if self.zh else "East leads in sales."
        self.text.append(said)
        metadata = {"model": "test:model", "audit": None}
        response = "\n\n".join([f"# {'结论' if self.zh else 'Findings'} {index + 1}", said, *self.body(rng, metadata, index)])
        if self.kind == "proofs":
            at = response.index(said)
            response = response[:at] + "14,000 999 " + response[at:]
            metadata["audit"] = {"proven": 1, "derived": 0, "given": 0, "unproven": 1, "mismatch": 0, "figures": [
                {"text": "14,000", "start": at, "end": at + 6, "state": "proven", "proof": {"tool_call_id": "call_1", "row": 0, "column": "v"}},
                {"text": "999", "start": at + 7, "end": at + 10, "state": "unproven"}]}
        rows = [[name, rng.randint(1, 9999)] for name in self.names]
        return {"run_id": f"run_{index}", "question": "各地区销售额？" if self.zh else "Sales by region?", "asked_at": "2026-01-01 00:00 UTC", "answer": {"response": response, "metadata": metadata},
                "calls": [{"tool_call_id": "call_1", "tool_name": "query_database", "arguments": {"query": "SELECT 1 AS v", "connection": "primary"}, "success": True},
                          {"tool_call_id": "call_3", "tool_name": "query_database", "arguments": {"query": "SELECT k, v FROM sales", "connection": "erp"}, "success": True},
                          {"tool_call_id": "call_2", "tool_name": "run_python", "arguments": {"code": "total = 41 + 1\nprint(total)"}, "success": True}],
                "evidence": [{"sources": [{"id": "call_1", "kind": "tool", "body": {"shape": "table", "columns": ["k", "v"], "rows": rows, "total_rows": len(rows)}},
                                           {"id": "call_3", "kind": "tool", "body": {"shape": "table", "columns": ["k", "v"], "rows": [["007", 1], ["=1+1", None]], "total_rows": 2}}]}],
                "code": [{"code_id": "code_a", "language": "python", "description": "sum", "code": "print('求和')"}]}


def write(made, form, folder):
    os.chdir(folder)
    for name, data in made.files.items():
        with open(name, "wb") as file:
            file.write(data)
    with open("in.json", "w", encoding="utf-8") as file:
        json.dump(made.given, file, ensure_ascii=False)
    result = report.make({"input": "in.json", "format": form, "out": "out"}, lambda *_: None)
    assert "error" not in result, result
    left = [name for name in os.listdir(".") if name.endswith(".part")]
    assert not left, left
    return result["file"]


def check(made, form, path):
    READ[form](made, path)


def one(seed, form, keep):
    """One report in one format; (seconds, what is wrong)."""
    made = Made(seed)
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        try:
            path = write(made, form, folder)
            spent = time.monotonic() - began
            if keep:
                os.replace(os.path.join(folder, path), os.path.join(keep, f"{seed:02}-{made.kind}-{'zh' if made.zh else 'en'}.{form}" + (".zip" if path.endswith(".zip") else "")))
                path = os.path.join(keep, f"{seed:02}-{made.kind}-{'zh' if made.zh else 'en'}.{form}" + (".zip" if path.endswith(".zip") else ""))
            check(made, form, os.path.join(folder, path))
            return spent, None
        except AssertionError as error:
            return time.monotonic() - began, f"report {seed} ({made.kind}) as {form}: {error}"
        finally:
            os.chdir("/")


def alone(form):
    """A report of ten pages, as the only work of this process; run it twice, for the first time reads packages from the disk."""
    made = Made(0)
    for seed in (9, 10, 0, 1, 8):
        made.parts += Made(seed).parts
    made.given["parts"] = made.parts
    with tempfile.TemporaryDirectory() as folder:
        began, used = time.monotonic(), time.process_time()
        size = os.path.getsize(os.path.join(folder, write(made, form, folder)))
        spent, used = time.monotonic() - began, time.process_time() - used
        os.chdir("/")
    print(f"{form}: {spent:.2f} s ({used:.2f} s of processor time), {size >> 10} KB, {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB at most")


def main(count, keep, forms):
    failed = []
    for form in forms:
        times = []
        for seed in range(count):
            spent, wrong = one(seed, form, keep)
            times.append(spent)
            if wrong:
                failed.append(wrong)
                print(wrong, flush=True)
        print(f"{form}: {count} written, median {sorted(times)[count // 2]:.2f} s, longest {max(times):.2f} s", flush=True)
    print(f"{count * len(forms) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if "--alone" in arguments:
        sys.exit(alone(arguments[-1]))
    kept = os.path.abspath(arguments.pop(arguments.index("--keep") + 1)) if "--keep" in arguments else None
    if kept:
        os.makedirs(kept, exist_ok=True)
        arguments.remove("--keep")
    chosen = arguments.pop(arguments.index("--formats") + 1).split(",") if "--formats" in arguments else list(READ)
    sys.exit(main(int(arguments[0]) if arguments and arguments[0].isdigit() else 50, kept, chosen))
