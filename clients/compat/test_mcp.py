"""The reference MCP client against our server, over HTTP and over standard input and output (SPEC I1)."""

import asyncio
import os
import shutil

import pytest
from conftest import RETAIL
from mcp import Client, StdioServerParameters

TOOLS = {"upload", "ask", "list_tables", "describe_table", "query", "run_python", "report"}


def text_of(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


async def walk(client, uploaded):
    """The whole way of an agent: files, tables, SQL, Python, a question with progress, a document, resources."""
    assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
    first = await client.call_tool("upload", uploaded)
    conversation = first.structured_content["conversation_id"]
    assert '"retail"' in text_of(first), text_of(first)
    here = {"conversation_id": conversation}
    assert "地区" in text_of(await client.call_tool("list_tables", here))
    assert "地区" in text_of(await client.call_tool("describe_table", {"table": "retail", **here}))
    counted = await client.call_tool("query", {"sql": "SELECT count(*) AS n FROM retail", **here})
    assert not counted.is_error and "11805" in text_of(counted).replace(",", ""), text_of(counted)
    refused = await client.call_tool("query", {"sql": "DROP TABLE retail", **here})
    assert refused.is_error, text_of(refused)
    shown = await client.call_tool("run_python", {"code": "len(load('retail'))", **here})
    assert "11805" in text_of(shown), text_of(shown)
    heard = []

    async def progress(step, total, message):
        heard.append(message)

    answer = await client.call_tool("ask", {"question": "各地区的销售额是多少？", **here}, progress_callback=progress)
    assert "华东" in text_of(answer) and answer.structured_content["audit"]["unproven"] == 0
    assert any("query_database" in message for message in heard), heard
    made = await client.call_tool("report", {"format": "html", "run_id": answer.structured_content["run_id"], **here})
    link = next(block for block in made.content if block.type == "resource_link")
    page = await client.read_resource(str(link.uri))
    assert "华东" in page.contents[0].text
    assert any(str(item.uri).endswith("/answers/1") for item in (await client.list_resources()).resources)
    return conversation


async def mistakes(client, conversation):
    for name, arguments, said in [
        ("ask", {}, "question"),
        ("query", {"sql": "SELECT 1", "conversation_id": "conv_000000000000"}, "not found"),
        ("query", {"sql": "SELECT 1", "conversation_id": "../.."}, "conv"),
        ("upload", {"filename": "x.exe", "text": "x"}, "upload one of"),
        ("report", {"format": "exe", "conversation_id": conversation}, "pdf"),
        ("nothing", {}, "there are"),
    ]:
        result = await client.call_tool(name, arguments)
        assert result.is_error and said in text_of(result), (name, text_of(result))
    for uri in ["ba://conv_000000000000/files/x", "file:///etc/passwd", f"ba://{conversation}/files/..%2F..%2Fetc%2Fpasswd"]:
        with pytest.raises(Exception, match="not found"):
            await client.read_resource(uri)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_over_http(server, retail, mode):
    async def work():
        async with Client(f"{server}/mcp", mode=mode) as client:
            conversation = await walk(client, {"filename": "retail.csv", "text": retail.decode("utf-8")})
            await mistakes(client, conversation)
            refused = await client.call_tool("upload", {"path": "/etc/passwd"})
            assert refused.is_error and "network" in text_of(refused)

    asyncio.run(asyncio.wait_for(work(), 240))


def test_over_stdio_with_a_folder(tmp_path):
    shutil.copy(RETAIL, tmp_path / "retail.csv")
    (tmp_path / "notes.bin").write_bytes(b"x")
    command = StdioServerParameters(
        command=os.environ["BA_AGENT_BIN"], args=["mcp", "--folder", str(tmp_path), "--data-dir", str(tmp_path / "data")],
        env=dict(os.environ, BA_MODEL="offline"),
    )

    async def work():
        async with Client(command) as client:
            conversation = await walk(client, {"path": "."})
            await mistakes(client, conversation)
            outside = await client.call_tool("upload", {"path": "/etc"})
            assert outside.is_error and "outside" in text_of(outside)
            saved = await client.call_tool("report", {"format": "html", "path": "report.html", "conversation_id": conversation})
            assert not saved.is_error and (tmp_path / "report.html").stat().st_size > 1000

    asyncio.run(asyncio.wait_for(work(), 240))
