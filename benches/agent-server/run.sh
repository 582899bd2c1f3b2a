#!/usr/bin/env bash
# Turns per second of the server beside FastAPI + LangGraph, in one run. Needs Python 3; keeps its packages in a cache.
set -euo pipefail
cd "$(dirname "$0")/../.."
venv="${XDG_CACHE_HOME:-$HOME/.cache}/ba-agent/bench-venv"
if [ ! -x "$venv/bin/uvicorn" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet -r benches/agent-server/requirements.txt
fi
exec cargo bench -p ba-server --bench turns -- --peer "$venv/bin/uvicorn" "$@"
