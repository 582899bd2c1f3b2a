"""A loopback server that speaks ClickHouse's HTTP interface with ClickHouse's own engine behind it (the package `chdb`).

    python serve.py FOLDER PORT

The engine parses, plans, limits and refuses: settings of the address are given to it with one SET, as the server does, and every
answer and error is its own text. What is ours is the HTTP around it: the account is checked here, a request is a process of its
own (so that `readonly` of one cannot be lifted by the next), and requests wait for each other. Only for tests.
"""

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

PASSWORDS = {"reader": "s3cret-word", "strict": "s3cret-word", "locked": "s3cret-word"}
# What the account's profile says about `readonly`.
PROFILES = {"reader": 0, "strict": 2, "locked": 1}

SEED = [
    "CREATE DATABASE shop",
    "CREATE TABLE shop.sales (id UInt64 COMMENT '编号', region LowCardinality(String), amount Decimal(20, 4) COMMENT '金额（元）', "
    "at DateTime('Asia/Shanghai')) ENGINE = MergeTree ORDER BY id COMMENT '销售明细'",
    "INSERT INTO shop.sales SELECT number + 1, ['华东', '华北'][number % 2 + 1], number / 4, toDateTime('2024-01-02 08:00:00', 'Asia/Shanghai') "
    "+ number FROM numbers(5000)",
    "CREATE VIEW shop.by_region AS SELECT region, sum(amount) AS total FROM shop.sales GROUP BY region",
]


def connect(folder):
    import chdb

    return chdb.connect(folder)


def literal(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def execute(request):
    """In the process of one request: prints the engine's answer, or its error and ends with 1."""
    connection = connect(request["folder"])
    try:
        profile = PROFILES[request["user"]]
        if profile:
            connection.query(f"SET readonly = {profile}")
        if request["settings"]:
            connection.query("SET " + ", ".join(f"{name} = {literal(value)}" for name, value in request["settings"]))
        answer = connection.query(request["sql"], request["format"], params=dict(request["params"]))
    except Exception as error:
        sys.stdout.write(str(error))
        sys.stdout.flush()
        return 1
    sys.stdout.buffer.write(answer.bytes())
    sys.stdout.flush()
    return 0


class Handler(BaseHTTPRequestHandler):
    one_at_a_time = threading.Lock()
    folder = ""

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        user = self.headers.get("X-ClickHouse-User", "default")
        if PASSWORDS.get(user) != self.headers.get("X-ClickHouse-Key"):
            return self.answer(403, f"Code: 516. DB::Exception: {user}: Authentication failed. (AUTHENTICATION_FAILED)".encode())
        request = {"folder": self.folder, "user": user, "sql": body, "format": "TSV", "settings": [], "params": []}
        for name, value in parse_qsl(urlsplit(self.path).query, keep_blank_values=True):
            if name == "default_format":
                request["format"] = value
            elif name == "database":
                request["settings"].insert(0, ("database", value))
            elif name.startswith("param_"):
                request["params"].append((name[len("param_"):], value))
            else:
                request["settings"].append((name, value))
        with self.one_at_a_time:
            done = subprocess.run([sys.executable, __file__, "--request"], input=json.dumps(request).encode(), capture_output=True)
        self.answer(200 if done.returncode == 0 else 500, done.stdout)

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    if sys.argv[1] == "--request":
        sys.exit(execute(json.load(sys.stdin)))
    if sys.argv[1] == "--seed":
        connection = connect(sys.argv[2])
        for statement in SEED:
            connection.query(statement)
        connection.close()
        return
    Handler.folder = sys.argv[1]
    # Its own process: the engine of this one would keep the folder to itself.
    subprocess.run([sys.executable, __file__, "--seed", sys.argv[1]], check=True)
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()


if __name__ == "__main__":
    main()
