"""The OpenAPI document is valid, and a client generated from it works (SPEC I4)."""

import json
import subprocess
import sys
import urllib.request

from openapi_spec_validator import validate


def test_the_document_is_valid_and_every_answer_has_words(server):
    with urllib.request.urlopen(f"{server}/openapi.json") as answer:
        document = json.load(answer)
    validate(document)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            for status, response in operation["responses"].items():
                assert response.get("description"), (method, path, status)


def test_a_generated_client_asks(server, tmp_path):
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--url", f"{server}/openapi.json", "--meta", "none", "--output-path", str(tmp_path / "generated")]
    made = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert made.returncode == 0, made.stderr + made.stdout
    script = f"""
from generated import Client
from generated.api.health import health
from generated.api.agent import query
from generated.models import QueryRequest
client = Client(base_url={server!r}, timeout=120)
assert health.sync_detailed(client=client).status_code == 200
answer = query.sync(client=client, body=QueryRequest(message="你能做什么？"))
assert answer.success and answer.data.response
"""
    run = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
