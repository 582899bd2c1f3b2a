#!/usr/bin/env python3
"""How long the offline analyst takes to answer about a table of 100,000 rows, from the HTTP request to the finished report
(understanding, SQL, chart, xlsx), against cold scripts that compute the same figure from the same CSV with pandas and DuckDB.

Usage: benches/analyst/answers.py --binary target/release/ba-agent [--python …/bin/python] [--rows 100000]
The python must have pandas and duckdb, as the prepared environment has. Every question is asked once: nothing comes from a cache.
"""
import argparse
import csv
import datetime
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

DIMENSIONS = ["region", "product", "channel"]
FIGURES = ["amount", "quantity", "profit"]


def make_table(path, rows):
    rnd = random.Random(42)
    first = datetime.date(2023, 1, 1)
    with open(path, "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f)
        out.writerow(["order_id", "order_date", "region", "product", "channel", "quantity", "amount", "profit"])
        for i in range(rows):
            n = rnd.randint(1, 9)
            amount = round(n * rnd.uniform(5, 90), 2)
            out.writerow([i, first + datetime.timedelta(rnd.randint(0, 729)), rnd.choice(["East", "South", "North", "West"]), f"P{rnd.randint(1, 40):02d}", rnd.choice(["online", "store", "partner"]), n, amount, round(amount * rnd.uniform(0.05, 0.4), 2)])


def questions():
    """(question, pandas expression, SQL): none is asked twice."""
    for f in FIGURES:
        yield f"What is the total {f}?", f"d['{f}'].sum()", f"SELECT sum({f}) FROM t"
        yield f"monthly {f} in 2024", f"d[d.order_date.dt.year == 2024].groupby(d.order_date.dt.month)['{f}'].sum()", f"SELECT date_trunc('month', order_date) m, sum({f}) FROM t WHERE year(order_date) = 2024 GROUP BY m ORDER BY m"
        for g in DIMENSIONS:
            yield f"{f} by {g}", f"d.groupby('{g}')['{f}'].sum()", f"SELECT {g}, sum({f}) s FROM t GROUP BY {g} ORDER BY s DESC"
            yield f"average {f} by {g} in 2023", f"d[d.order_date.dt.year == 2023].groupby('{g}')['{f}'].mean()", f"SELECT {g}, avg({f}) s FROM t WHERE year(order_date) = 2023 GROUP BY {g} ORDER BY s DESC"


def start(binary, folder):
    env = {k: v for k, v in os.environ.items() if not k.startswith("BA_")} | {"BA_MODEL": "offline"}
    server = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:0", "--data-dir", folder], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in server.stdout:
        ready = re.search(r"BA-Agent is ready: (http://\S+)", line)
        if ready:
            return server, ready.group(1).rstrip("/").replace("localhost", "127.0.0.1")
    sys.exit("the server did not start")


def upload(url, path):
    edge = "----table"
    head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{path.name}"\r\nContent-Type: text/csv\r\n\r\n'
    body = head.encode() + path.read_bytes() + f"\r\n--{edge}--\r\n".encode()
    request = urllib.request.Request(f"{url}/api/v1/files/upload", body, {"Content-Type": f"multipart/form-data; boundary={edge}"})
    with urllib.request.urlopen(request) as answer:
        return re.search(r"conv_[0-9a-f]+", answer.read().decode()).group(0)


def ask(url, conversation, question):
    body = json.dumps({"message": question, "conversation_id": conversation}).encode()
    request = urllib.request.Request(f"{url}/api/v1/agent/query", body, {"Content-Type": "application/json"})
    begin = time.perf_counter()
    with urllib.request.urlopen(request, timeout=120) as answer:
        text = answer.read().decode()
    return time.perf_counter() - begin, text


def cold(python, code):
    begin = time.perf_counter()
    subprocess.run([python, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def line(name, seconds, base=None):
    ordered = sorted(seconds)
    p50, p95 = statistics.median(ordered), ordered[int(len(ordered) * 0.95)]
    ratio = f"   {p50 / base:5.2f} × the analyst" if base else ""
    print(f"{name:34} p50 {p50 * 1000:7.0f} ms   p95 {p95 * 1000:7.0f} ms   n {len(ordered)}{ratio}")
    return p50


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--binary", required=True)
    args.add_argument("--python", default=sys.executable)
    args.add_argument("--rows", type=int, default=100_000)
    args = args.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sales.csv"
        make_table(path, args.rows)
        server, url = start(args.binary, str(Path(folder) / "data"))
        try:
            conversation = upload(url, path)
            ask(url, conversation, "data overview")  # The first question of a conversation also warms its tables.
            asked = list(questions())
            answers = []
            for question, _, _ in asked:
                seconds, text = ask(url, conversation, question)
                if "**" not in text:
                    sys.exit(f"no answer to: {question}\n{text[:400]}")
                answers.append(seconds)
        finally:
            server.terminate()
            server.wait()
        pandas = [cold(args.python, f"import pandas as pd\nd = pd.read_csv({str(path)!r}, parse_dates=['order_date'])\nprint({code})") for _, code, _ in asked[:8]]
        duckdb = [cold(args.python, f"import duckdb\nt = duckdb.read_csv({str(path)!r})\nprint(duckdb.sql({sql!r}).fetchall())") for _, _, sql in asked[:8]]
        print(f"{args.rows:,} rows")
        base = line("analyst, request to report", answers)
        line("cold script with pandas", pandas, base)
        line("cold script with DuckDB", duckdb, base)


if __name__ == "__main__":
    main()
