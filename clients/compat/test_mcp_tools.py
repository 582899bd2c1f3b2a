"""Tools of real MCP servers, one for Python and one for Node, called by a model that follows a script (SPEC I2)."""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = [("clock.convert_time", {"source_timezone": "Asia/Shanghai", "time": "16:30", "target_timezone": "Europe/Paris"}), ("all.get-sum", {"a": 20, "b": 22})]


class Model(BaseHTTPRequestHandler):
    """Calls both tools, then repeats what they said."""

    asked = []

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        Model.asked.append(request)
        last = json.dumps(request["messages"][-1], ensure_ascii=False)
        action = {"type": "tool_call", "content": [{"tool_name": n, "tool_call_id": f"call_{i}", "arguments": a} for i, (n, a) in enumerate(CALLS)]}
        if "tool_result" in last:
            action = {"type": "complete", "content": "The sum is 42." if "42" in last and "16:30" in last else last}
        turn = json.dumps({"task_analysis": "t", "execution_plan": "R1: x", "current_round": 1, "action": action})
        body = json.dumps({"id": "1", "object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": turn}, "finish_reason": "stop"}]})
        chunk = json.dumps({"id": "1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"role": "assistant", "content": turn}, "finish_reason": "stop"}]})
        streamed = request.get("stream")
        payload = (f"data: {chunk}\n\ndata: [DONE]\n\n" if streamed else body).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if streamed else "application/json")
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def do_GET(self):
        self.send_error(404)

    def log_message(self, *_):
        pass


def test_tools_of_real_servers_answer_a_model(tmp_path):
    model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    everything = os.path.join(HERE, "node_modules/@modelcontextprotocol/server-everything/dist/index.js")
    (tmp_path / "ba-agent.toml").write_text(
        f'[mcp.clock]\ncommand = "{sys.executable}"\nargs = ["-m", "mcp_server_time"]\ntools = ["convert_time"]\n\n'
        f'[mcp.all]\ncommand = "node"\nargs = ["{everything}"]\ntools = ["get-sum", "echo"]\n',
        encoding="utf-8",
    )
    env = dict(os.environ, BA_MODEL="openai-compatible:scripted", BA_BASE_URL=f"http://127.0.0.1:{model.server_port}/v1", BA_API_KEY="none")
    run = subprocess.run([os.environ["BA_AGENT_BIN"], "ask", "--json", "what is 20 + 22?"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)["data"]
    assert answer["response"] == "The sum is 42.", answer["response"]
    assert answer["metadata"]["audit"]["unproven"] == 0, "what another program's tool said is evidence"
    prompt = json.dumps(Model.asked[0]["messages"][0])
    assert "clock.convert_time" in prompt and "all.get-sum" in prompt and "get-tiny-image" not in prompt
