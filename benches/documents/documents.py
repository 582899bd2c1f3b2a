#!/usr/bin/env python3
"""What documents cost: a conversation of the offline analyst as PDF (time, pages) and in the other formats, and whether two at once
disturb a question that is being answered meanwhile.

Usage: benches/documents/documents.py --binary target/release/ba-agent [--turns 12]
The memory of the worker by itself is printed by `python/tests/report_corpus.py --alone pdf`.
"""
import argparse
import concurrent.futures
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "analyst"))
from answers import ask, make_table, questions, start, upload  # noqa: E402


def document(url, conversation, form):
    begin = time.perf_counter()
    with urllib.request.urlopen(f"{url}/api/v1/conversations/{conversation}/report?format={form}", timeout=180) as answer:
        return time.perf_counter() - begin, answer.read()


def processor_seconds(root):
    """Spent by a process and all below it, those that have ended included."""
    children, used = {}, {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(entry))
        used[int(entry)] = sum(map(int, fields[11:15]))
    total, waiting = 0, [root]
    while waiting:
        one = waiting.pop()
        total += used.get(one, 0)
        waiting += children.get(one, [])
    return total / os.sysconf("SC_CLK_TCK")


def main():
    given = argparse.ArgumentParser()
    given.add_argument("--binary", required=True)
    given.add_argument("--turns", type=int, default=12)
    given = given.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "orders.csv")
        make_table(table, 20_000)
        server, url = start(given.binary, os.path.join(folder, "data"))
        try:
            told, beside = upload(url, table), upload(url, table)
            asked = [q for q, *_ in questions()]
            for question in asked[: given.turns]:
                ask(url, told, question)
            times, before = [], processor_seconds(server.pid)
            for _ in range(5):
                spent, pdf = document(url, told, "pdf")
                times.append(spent)
            used = (processor_seconds(server.pid) - before) / len(times)
            Path(folder, "a.pdf").write_bytes(pdf)
            facts = subprocess.run(["pdfinfo", Path(folder, "a.pdf")], capture_output=True, text=True).stdout
            pages = next(line.split()[1] for line in facts.splitlines() if line.startswith("Pages"))
            print(f"PDF of {given.turns} answers, {pages} pages: median {statistics.median(times):.2f} s, longest {max(times):.2f} s, {used:.2f} s of processor time, {len(pdf) >> 10} KB")
            for form in ("docx", "pptx", "xlsx", "html", "md", "ipynb"):
                spent, body = document(url, told, form)
                print(f"{form}: {spent:.2f} s, {len(body) >> 10} KB")
            alone = [ask(url, beside, q)[0] for q in asked[:8]]
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                during, made = [], []
                for question in asked[8:16]:
                    two = [pool.submit(document, url, told, "pdf") for _ in range(2)]
                    during.append(ask(url, beside, question)[0])
                    made += [one.result()[0] for one in two]
            print(f"a question: alone median {statistics.median(alone) * 1000:.0f} ms; while two PDFs are made {statistics.median(during) * 1000:.0f} ms, longest {max(during) * 1000:.0f} ms")
            print(f"those PDFs: median {statistics.median(made):.2f} s, longest {max(made):.2f} s")
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
