#!/usr/bin/env python3
"""Turns per second of 16 people who ask about tables they uploaded, beside FastAPI + LangGraph with DuckDB in its own process.

    benches/agent-server/uploads.py --binary target/release/ba-agent --peer .../bench-venv/bin/uvicorn [--clients 16]

Both have the same table, two model rounds and one SQL query a turn, eight turns a conversation, and no query twice. Ours runs
the query in the sandbox, stores every step on disk, audits the answer and asks its model over HTTP; the peer does none of this.
"""
import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "analyst"))
from answers import upload  # noqa: E402

TURNS = 8
QUESTION = re.compile(rb"question (\d+)")


def reply(body):
    """The model: a query for the last question, then the end."""
    asked = list(QUESTION.finditer(body))[-1]
    if b"<tool_result" in body[asked.end() :]:
        action = {"type": "complete", "content": "done"}
    else:
        sql = f"select region, sum(amount) as total from sales where amount > {asked[1].decode()} group by region"
        action = {"type": "tool_call", "content": [{"tool_name": "query_database", "tool_call_id": "call_1", "arguments": {"query": sql}}]}
    text = json.dumps({"task_analysis": "a", "execution_plan": "R1: x(当前)", "current_round": 1, "action": action})
    frames = [{"delta": {"role": "assistant", "content": text}, "finish_reason": None}, {"delta": {}, "finish_reason": "stop"}]
    lines = [json.dumps({"id": "1", "object": "chat.completion.chunk", "model": "m", "choices": [{"index": 0, **f}]}) for f in frames]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()


async def model(reader, writer):
    while head := await reader.readuntil(b"\r\n\r\n"):
        size = re.search(rb"content-length: *(\d+)", head, re.I)
        body = await reader.readexactly(int(size[1])) if size else b""
        answer, kind = (reply(body), "text/event-stream") if size else (b'{"data": []}', "application/json")
        writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(answer)}\r\n\r\n".encode() + answer)
        await writer.drain()


async def serve_model(port):
    async def safely(reader, writer):
        try:
            await model(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    await (await asyncio.start_server(safely, "127.0.0.1", port, limit=1 << 24)).serve_forever()


async def person(port, conversations, first, took):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    for number in range(len(conversations) * TURNS):
        body = json.dumps({"message": f"question {first + number}", "conversation_id": conversations[number // TURNS]}).encode()
        head = f"POST /api/v1/agent/query HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        began = time.perf_counter()
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        rest = await reader.readexactly(int(re.search(rb"content-length: *(\d+)", answer, re.I)[1]))
        took.append(time.perf_counter() - began)
        if b" 200 " not in answer[:20]:
            sys.exit(f"a question failed: {rest[:300]}")


async def crowd(port, clients, conversations):
    took = []
    each = len(conversations) // clients
    parts = [person(port, conversations[n * each : (n + 1) * each], n * 1000, took) for n in range(clients)]
    began = time.perf_counter()
    await asyncio.gather(*parts)
    span = time.perf_counter() - began
    took.sort()
    return len(took) / span, statistics.median(took) * 1000, took[int(len(took) * 0.99)] * 1000


def ready(url):
    for _ in range(300):
        try:
            return urllib.request.urlopen(url, timeout=2).read()
        except OSError:
            time.sleep(0.1)
    sys.exit(f"{url} does not answer")


def ours(binary, table, clients, each, model_port):
    env = {k: v for k, v in os.environ.items() if not k.startswith("BA_")}
    env |= {"BA_MODEL": "openai-compatible:m", "BA_BASE_URL": f"http://127.0.0.1:{model_port}/v1", "BA_API_KEY": "x"}
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:8473", "--data-dir", folder], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            ready("http://127.0.0.1:8473/api/v1/health")
            conversations = [upload("http://127.0.0.1:8473", table) for _ in range(clients * (each + 1))]
            asyncio.run(crowd(8473, clients, conversations[:clients]))
            return asyncio.run(crowd(8473, clients, conversations[clients:]))
        finally:
            server.terminate()
            server.wait()


def theirs(uvicorn, table, clients, each):
    command = [uvicorn, "peer:app", "--host", "127.0.0.1", "--port", "8474", "--no-access-log", "--loop", "uvloop"]
    server = subprocess.Popen(command, cwd=Path(__file__).parent, env={**os.environ, "PEER_TABLE": str(table)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        ready("http://127.0.0.1:8474/openapi.json")
        conversations = [f"c{n}" for n in range(clients * (each + 1))]
        asyncio.run(crowd(8474, clients, conversations[:clients]))
        return asyncio.run(crowd(8474, clients, conversations[clients:]))
    finally:
        server.terminate()
        server.wait()


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--binary", required=True)
    ask.add_argument("--peer", required=True, help="uvicorn of an environment with benches/agent-server/requirements.txt")
    ask.add_argument("--clients", type=int, default=16)
    ask.add_argument("--conversations", type=int, default=4, help="of each person")
    given = ask.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "sales.csv")
        table.write_text("region,amount\n" + "".join(f"r{i % 7},{i}\n" for i in range(20_000)))
        server = subprocess.Popen([sys.executable, __file__, "--model", "8475"])
        try:
            a = ours(os.path.abspath(given.binary), table, given.clients, given.conversations, 8475)
            b = theirs(given.peer, table, given.clients, given.conversations)
        finally:
            server.terminate()
    print(f"| {given.clients} people | turns/s | p50 | p99 |\n|---|---|---|---|")
    for name, row in (("ba-agent", a), ("FastAPI + LangGraph + DuckDB", b)):
        print(f"| {name} | {row[0]:.0f} | {row[1]:.0f} ms | {row[2]:.0f} ms |")
    print(f"| ratio | {a[0] / b[0]:.1f}× | {a[1] / b[1]:.2f}× | {a[2] / b[2]:.2f}× |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--model"]:
        asyncio.run(serve_model(int(sys.argv[2])))
    else:
        main()
