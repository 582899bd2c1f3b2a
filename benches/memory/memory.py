"""Memory of the server process (VmRSS): idle, and while it answers turns of the offline analyst on an uploaded table.

    python3 benches/memory/memory.py target/release/ba-agent [turns]

Every tenth turn begins a new conversation with an upload of its own. Prints the figure every fifty turns; the workers of the
sandbox are other processes and are not counted.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

QUESTIONS = ("各地区的销售额合计", "按月的销售额趋势", "销售额最高的产品", "一共有多少行", "平均销售额是多少")
BOUNDARY = "----ba-memory"


def field(pid, name):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next((int(line.split()[1]) // 1024 for line in status if line.startswith(name)), 0)


def call(base, path, body, kind="application/json"):
    request = urllib.request.Request(base + path, data=body, headers={"Content-Type": kind})
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.load(answer)["data"]


def upload(base, number):
    rows = "\n".join(f"2024-{1 + i % 12:02d}-03,{'华东 华北 华南'.split()[i % 3]},产品{i % 7},{100 + i * number % 977}" for i in range(400))
    part = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="sales.csv"\r\nContent-Type: text/csv\r\n\r\n'
    body = (part + "日期,地区,产品,销售额\n" + rows + f"\r\n--{BOUNDARY}--\r\n").encode()
    return call(base, "/api/v1/files/upload", body, f"multipart/form-data; boundary={BOUNDARY}")["conversation_id"]


def address(server):
    """The first line that the server prints names where it listens."""
    for line in server.stdout:
        found = re.search(r"http://[0-9.:]+", line)
        if found:
            return found.group()
    raise SystemExit("the server did not start")


def measure(server, turns):
    base = address(server)
    time.sleep(20)
    print(f"| turns | VmRSS | of it anonymous |\n|---|---|---|\n| idle, 20 s after the start | {field(server.pid, 'VmRSS:')} MB | {field(server.pid, 'RssAnon:')} MB |", flush=True)
    conversation = None
    for number in range(turns):
        if number % 10 == 0:
            conversation = upload(base, number + 1)
        question = {"message": QUESTIONS[number % len(QUESTIONS)], "conversation_id": conversation}
        call(base, "/api/v1/agent/query", json.dumps(question).encode())
        if (number + 1) % 50 == 0:
            print(f"| {number + 1} | {field(server.pid, 'VmRSS:')} MB | {field(server.pid, 'RssAnon:')} MB |", flush=True)
    time.sleep(30)
    print(f"| 30 s later | {field(server.pid, 'VmRSS:')} MB | {field(server.pid, 'RssAnon:')} MB |")


def main():
    binary, turns = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 500
    with tempfile.TemporaryDirectory() as folder:
        command = [binary, "serve", "--listen", "127.0.0.1:0", "--data-dir", os.path.join(folder, "data")]
        environment = {**os.environ, "BA_MODEL": "offline"}
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
        try:
            measure(server, turns)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()


if __name__ == "__main__":
    main()
