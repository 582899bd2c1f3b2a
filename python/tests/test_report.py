"""One report of each kind through every format, and bad input one by one. `reports.py` has the readers."""

import json
import os

import pytest
import report_corpus as reports
from ba_worker import report
from ba_worker.report import marks, notebook, pictures, segments, series
from ba_worker.report.cells import of_text
from ba_worker.report.document import Document

CHARTED = pytest.mark.skipif(not os.path.exists(reports.ECHARTS), reason="the page's packages are not installed")


@CHARTED
@pytest.mark.parametrize("form", reports.READ)
@pytest.mark.parametrize("seed", [0, 2, 4, 5, 6, 7, 8, 21, 10, 11], ids=lambda seed: reports.KINDS[seed % 12])
def test_every_format_holds_every_row_and_chart(seed, form, tmp_path):
    made = reports.Made(seed)
    path = reports.write(made, form, tmp_path)
    reports.check(made, form, os.path.join(tmp_path, path))


def test_a_long_table_goes_on_in_the_next_cell_under_its_header(monkeypatch):
    monkeypatch.setattr(notebook, "MAX_CELL", 60)
    rows = "".join(f"| {n} | x |\n" for n in range(20))
    cells = notebook.pieces(f"text\n\n| k | v |\n|---|---|\n{rows}\nend")
    assert all(len(cell) <= 60 for cell in cells) and len(cells) > 3
    assert all(cell.startswith("| k | v |\n|---|---|\n") for cell in cells[1:-1])
    assert [line for cell in cells for line in cell.splitlines() if line.endswith("| x |")] == rows.splitlines()


def given(response, **metadata):
    part = {"run_id": "run_1", "question": "q?", "answer": {"response": response, "metadata": metadata}, "calls": [], "evidence": [], "code": []}
    return {"title": "t", "parts": [part], "echarts": os.path.abspath(reports.ECHARTS)}


def notes(document):
    return [block["text"] for part in document.parts for block in part["blocks"] if block["k"] == "note"]


def test_an_unknown_format_and_an_empty_report_are_refused(tmp_path):
    os.chdir(tmp_path)
    with open("in.json", "w", encoding="utf-8") as file:
        json.dump({"parts": []}, file)
    assert report.make({"input": "in.json", "format": "exe", "out": "o"}, print)["error"]["code"] == "UNKNOWN_FORMAT"
    assert report.make({"input": "in.json", "format": "pdf", "out": "o"}, print)["error"]["code"] == "EMPTY"
    assert sorted(os.listdir(".")) == ["in.json"]


@pytest.mark.parametrize("form", report.FORMATS)
def test_a_writer_that_fails_leaves_nothing(form, tmp_path, monkeypatch):
    import importlib

    writer = importlib.import_module(f"ba_worker.report.{report.FORMATS[form]}")

    def half(doc, out, progress):
        with open(out, "w", encoding="utf-8") as file:
            file.write("half")
        raise MemoryError

    monkeypatch.setattr(writer, "write", half)
    os.chdir(tmp_path)
    with open("in.json", "w", encoding="utf-8") as file:
        json.dump(given("hello"), file)
    with pytest.raises(MemoryError):
        report.make({"input": "in.json", "format": form, "out": "o"}, lambda *_: None)
    assert os.listdir(".") == ["in.json"]


def test_figures_keep_their_marks_through_markdown_and_never_enter_code():
    text = "涨了 **18.2%**，见 `18.2%` 与\n\n```\n18.2%\n```"
    at = [text.index("18.2%"), text.index("`18.2%`") + 1]
    figures = [{"text": "18.2%", "start": a, "end": a + 5, "state": "unproven"} for a in at]
    document = Document(given(text, audit={"unproven": 2, "figures": figures}))
    runs = document.parts[0]["blocks"][0]["runs"]
    assert [run.get("fig") for run in runs if run["t"] == "18.2%" and run.get("b")] == [0]
    assert all("fig" not in run for run in runs if run.get("c"))
    assert not marks.PRIVATE.search(json.dumps(document.parts[0]["blocks"], ensure_ascii=False))


def test_html_is_read_into_blocks_and_nothing_of_it_passes():
    document = Document(given('<div onclick="x()"><h2>T</h2><p>a <b>b</b> <a href="javascript:x()">c</a></p><iframe src="http://x"></iframe><table><tr><th>h</th></tr><tr><td>1</td></tr></table></div>'))
    blocks = document.parts[0]["blocks"]
    assert [block["k"] for block in blocks] == ["heading", "para", "table"]
    assert "javascript" not in json.dumps(blocks)


def test_a_missing_and_a_huge_picture_are_named_in_place(tmp_path):
    asked = given("![a](a.png) ![b](b.png)")
    asked["pictures"] = {"b.png": {"size": 100 << 20}}
    said = notes(Document(asked))
    assert "a.png" in said[0] and "100.0 MB" in said[1]


BAR = "echarts.init(document.getElementById('%s')).setOption({xAxis:{data:['a']},yAxis:{%s},series:[{type:'bar',data:[3]}]})"


def drawn(*scripts):
    """What the scripts of one region draw, in order."""
    html = "".join(f"<div id='b{i}'></div><script>{script}</script>" for i, script in enumerate(scripts))
    document = Document(given(html))
    document.draw_all(lambda *_: None)
    return [bool(block.get("_svg")) for _, block in document.charts], [block["error"] for _, block in document.charts]


@CHARTED
def test_a_script_without_end_costs_its_chart_only():
    shown, errors = drawn("const data = 1; " + BAR % ("b0", ""), "echarts; while (true) {}", "data; " + BAR % ("b2", ""))
    assert shown == [True, False, True] and errors[1]


@CHARTED
def test_a_formatter_without_end_costs_its_chart_only():
    shown, errors = drawn(BAR % ("b0", ""), BAR % ("b1", "axisLabel:{formatter(){while(true){}}}"), BAR % ("b2", ""))
    assert shown == [True, False, True] and errors[1]


@CHARTED
def test_a_script_that_throws_or_does_not_parse_costs_its_chart_only():
    shown, errors = drawn(BAR % ("b0", ""), BAR % ("b1", "") + "; nonesuch.x()", "echarts.init(", BAR % ("b3", ""))
    assert shown == [True, True, False, True] and errors[2]


@pytest.mark.parametrize("form", ["pdf", "docx", "pptx", "html"])
def test_a_hundred_megabytes_of_pictures_are_a_document_that_names_those_left_out(form, tmp_path):
    from PIL import Image

    os.chdir(tmp_path)
    asked = given("\n\n".join(f"![](p{i}.bmp)" for i in range(5)))
    for i in range(5):
        Image.linear_gradient("L").resize((2700, 2700)).convert("RGB").save(f"f{i}.bmp")
    asked["pictures"] = {f"p{i}.bmp": {"path": f"f{i}.bmp", "size": os.path.getsize(f"f{i}.bmp")} for i in range(5)}
    assert sum(p["size"] for p in asked["pictures"].values()) > 100 << 20
    assert [name for name in ("p0.bmp", "p1.bmp", "p2.bmp", "p3.bmp", "p4.bmp") if any(name in note for note in notes(Document(asked)))] == ["p2.bmp", "p3.bmp", "p4.bmp"]
    with open("in.json", "w", encoding="utf-8") as file:
        json.dump(asked, file)
    made = report.make({"input": "in.json", "format": form, "out": "o"}, lambda *_: None)
    assert 10_000 < made["bytes"] < 30 << 20, made


@CHARTED
def test_a_chart_that_cannot_be_drawn_leaves_its_reason_and_its_data():
    asked = given("{{CHART:1}} {{CHART:2}}", charts=[{"index": 1, "option": {"xAxis": {"data": ["甲"]}, "yAxis": {}, "series": [{"type": "bar", "name": "n", "data": [7], "label": {"formatter": 5}, "encode": 9}]}}])
    asked["echarts"] = "nonesuch.js"
    for form in ("md", "html"):
        document = Document(asked)
        document.draw_all(lambda *_: None)
        assert "ECharts" in document.charts[0][1]["error"]
        assert document_text(form, document).count("7") >= 1
    assert any("2" in note for note in notes(Document(asked)))


def document_text(form, document):
    from ba_worker.report import markdown, page

    writer = (markdown if form == "md" else page).Writer(document)
    return writer.blocks(document.parts[0]["blocks"])


def test_visitors_see_the_answer_and_not_how_it_was_found(tmp_path):
    made = reports.Made(9)
    seen = {}
    for audience in ("owner", "visitors", "visitors_with_sources"):
        made.given["audience"] = audience
        with open(tmp_path / reports.write(made, "html", tmp_path), encoding="utf-8") as file:
            seen[audience] = file.read()
    for text in seen.values():
        assert "华东销售额最高。" in text and "999<sup>?</sup>" in text
    hidden = ("conv_0123456789ab", "SELECT 1 AS v", "total = 41 + 1", "求和", "call_1")
    assert not [word for word in hidden if word in seen["visitors"]]
    assert [word for word in hidden if word in seen["visitors_with_sources"]] == ["SELECT 1 AS v", "total = 41 + 1", "求和"]
    assert "conv_0123456789ab" in seen["owner"]


@CHARTED
def test_a_formatter_of_the_report_draws_as_on_the_page():
    document = Document(given("<div id='b'></div><script>echarts.init(document.querySelector('#b')).setOption({xAxis:{data:['a']},yAxis:{axisLabel:{formatter:v=>v+' 元'}},series:[{type:'bar',data:[3]}]})</script>"))
    document.draw_all(lambda *_: None)
    assert " 元" in document.charts[0][1]["_svg"]


def test_an_option_gives_its_data_by_axis_and_by_dataset():
    by_axis = series.read({"xAxis": {"data": ["a", "b"]}, "yAxis": {}, "series": [{"type": "bar", "name": "n", "data": [1, {"value": 2}]}]})
    by_dataset = series.read({"dataset": {"source": [["k", "n"], ["a", 1], ["b", 2]]}, "xAxis": {"type": "category"}, "yAxis": {}, "series": [{"type": "bar"}]})
    for found in (by_axis, by_dataset):
        assert found["categories"] == ["a", "b"] and found["series"][0]["values"] == [1, 2] and found["series"][0]["name"] == "n"
    assert series.read({"series": [{"type": "sankey"}]}) is None


@pytest.mark.parametrize("text, value, shown", [("1,234.50", 1234.5, "#,##0.00"), ("12.5%", 0.125, "0.0%"), ("-3", -3, "0"), ("¥5", 5, '"¥"0'), ("007", "007", None), ("=1+1", "=1+1", None), ("2024-02-30", "2024-02-30", None)])
def test_cells_are_typed_as_they_are_shown(text, value, shown):
    assert (of_text(text).value, of_text(text).format) == (value, shown)


def test_numbers_of_a_column_have_the_same_decimals_and_other_columns_are_left_alone():
    text = "| k | a | b | c |\n|---|---|---|---|\n| x | 2,187,356.5 | 1 | 5% |\n| y | 1,960,140.45 | 2 | 2.5% |\n| z |  | 3 | - |"
    rows = Document(given(text)).parts[0]["blocks"][0]["rows"]
    assert [["".join(run["t"] for run in cell) for cell in row][1:] for row in rows] == [["2,187,356.50", "1", "5%"], ["1,960,140.45", "2", "2.5%"], ["", "3", "-"]]


def test_money_is_not_mathematics_and_unknown_formulas_stay_readable():
    runs = Document(given("from $5 to $7, and $x^2$")).parts[0]["blocks"][0]["runs"]
    assert [run["math"] for run in runs if "math" in run] == ["x^2"]
    assert pictures.formula(r"\begin{pmatrix}1\end{pmatrix}") is None


def test_regions_of_html_are_cut_as_on_the_page():
    text = "a\n\n<div>\n\nb\n\n</div>\n<script>if (1 < 2) {}</script>\n\n```html\n<div>\n```\n"
    assert [kind for kind, *_ in segments.split(text)] == ["prose", "html", "prose"]


def test_the_theme_is_the_page_s():
    here = os.path.join(os.path.dirname(__file__), "../..")
    page = open(os.path.join(here, "web/src/chart/theme.ts"), encoding="utf-8").read()
    palette = page[page.index("PALETTE = [") :].split("]")[0].split("[")[1]
    for name in ("engine.js", "live.js"):
        assert palette in open(os.path.join(os.path.dirname(report.__file__), name), encoding="utf-8").read()


# SPEC D5
@pytest.mark.parametrize("engine", ["openpyxl", "xlsxwriter"])
def test_text_of_a_data_frame_never_becomes_a_formula(engine, tmp_path):
    import openpyxl
    import pandas
    from ba_worker import workbooks

    workbooks.install()
    path = tmp_path / "a.xlsx"
    pandas.DataFrame({"=h": ["=1+1", "plain", "-x"]}).to_excel(path, engine=engine)
    cells = [cell for row in openpyxl.load_workbook(path).active.iter_rows() for cell in row]
    assert not [cell.value for cell in cells if cell.data_type == "f"]
    assert {"'=1+1", "plain", "-x"} <= {cell.value for cell in cells}
