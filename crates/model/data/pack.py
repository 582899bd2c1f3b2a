"""Packs a `.tiktoken` file (lines of a token in base64 and its rank) as README.md says, to standard output."""
import base64, pathlib, sys

rows = [line.split() for line in pathlib.Path(sys.argv[1]).read_text().splitlines() if line]
tokens = [base64.b64decode(token) for token, _ in rows]
assert [int(rank) for _, rank in rows] == list(range(len(tokens))), "ranks are wanted without a gap"
sys.stdout.buffer.write(bytes(map(len, tokens)) + b"".join(tokens))
