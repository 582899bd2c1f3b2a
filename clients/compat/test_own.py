"""Our own package, as a notebook uses it (SPEC I6)."""

import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../python"))
from ba_agent_client import BAAgentError, Client  # noqa: E402
from ba_agent_client.answer import markdown_tables  # noqa: E402
from conftest import RETAIL  # noqa: E402


def test_a_data_frame_and_a_question(server, tmp_path):
    pandas = pytest.importorskip("pandas")
    client = Client(server)
    frame = pandas.DataFrame({"region": ["East", "West", "East"], "amount": [10, 20, 5]})
    answer = client.ask(frame, "total amount by region")
    table = answer.tables[0]
    assert sorted(table.iloc[:, 1]) == [15, 20], table
    assert answer.is_proven and {figure.state for figure in answer.figures} <= {"proven", "derived", "given"}
    assert answer.ask("how many rows are there?").conversation_id == answer.conversation_id
    saved = answer.save(str(tmp_path / "answer.html"))
    assert "East" in open(saved, encoding="utf-8").read()
    with pytest.raises(ValueError, match="pdf"):
        answer.save("answer.exe")


def test_a_file_streamed(server):
    events = list(Client(server).stream(RETAIL, "各地区的销售额是多少？用图表展示"))
    kinds = [kind for kind, _ in events]
    assert kinds[0] == "run.started" and "tool.started" in kinds and kinds[-1] == "answer"
    answer = events[-1][1]
    assert "华东" in answer._repr_markdown_() and answer.questions


def test_refusals_have_a_code(server):
    client = Client(server)
    with pytest.raises(BAAgentError) as refused:
        client.ask("x", conversation_id="conv_000000000000")
    assert refused.value.status == 404
    with pytest.raises(BAAgentError) as refused:
        client.upload(("x.exe", b"MZ"))
    assert refused.value.code == "unsupported_file_type"
    with pytest.raises(BAAgentError) as refused:
        Client("http://127.0.0.1:9").ask("x")
    assert refused.value.code == "unreachable"
    with pytest.raises(TypeError):
        client.ask(3)


def test_tables_of_a_report():
    text = "| a | b |\n|---|---:|\n| x \\| y | 1,234.5 |\n| z | 2 |\n\n```\n| no | table |\n|---|---|\n```\n"
    assert markdown_tables(text) == [(["a", "b"], [["x | y", "1,234.5"], ["z", "2"]])]
