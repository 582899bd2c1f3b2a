"""A real server with the offline analyst, for real client programs."""

import os
import re
import shutil
import subprocess
import tempfile

import pytest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
RETAIL = os.path.join(ROOT, "examples/retail.csv")


@pytest.fixture(scope="session")
def server():
    folder = tempfile.mkdtemp()
    env = dict(os.environ, BA_MODEL="offline")
    command = [os.environ["BA_AGENT_BIN"], "serve", "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    url = None
    for line in process.stdout:
        found = re.search(r"http://\S+", line)
        if found:
            url = found.group(0)
            break
    assert url, "the server did not start"
    yield url
    process.terminate()
    process.wait(timeout=60)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def retail():
    with open(RETAIL, "rb") as file:
        return file.read()
