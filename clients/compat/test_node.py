"""Runs the tests of clients for Node against the same server."""

import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def test_node_clients(server):
    run = subprocess.run(["node", "--test", "clients.test.mjs"], cwd=HERE, env=dict(os.environ, BA_URL=server), capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
