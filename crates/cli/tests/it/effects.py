"""An MCP server whose one tool writes a line into the file of its first argument: an effect that can be counted."""

import json
import os
import sys
import time

FILE = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
TOOLS = [
    {
        "name": "note",
        "description": "Writes a line.",
        "inputSchema": {"type": "object", "properties": {"line": {"type": "string"}}},
    }
]


def answer(request, result):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}) + "\n")
    sys.stdout.flush()


for line in sys.stdin:
    request = json.loads(line)
    method = request.get("method")
    if method == "initialize":
        version = request["params"]["protocolVersion"]
        info = {"name": "effects", "version": "1"}
        answer(request, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})
    elif method == "tools/list":
        answer(request, {"tools": TOOLS})
    elif method == "tools/call":
        os.write(FILE, (request["params"]["arguments"]["line"] + "\n").encode())
        time.sleep(0.2)
        answer(request, {"content": [{"type": "text", "text": "written"}], "isError": False})
