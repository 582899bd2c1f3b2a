"""Length-framed messages: one byte of kind, four of length, the payload. Descriptors ride on the first byte."""

import array
import json
import math
import os
import socket
import struct

_HEADER = struct.Struct("<cI")
JSON, STDOUT, STDERR = b"J", b"O", b"E"
MAX_FRAME = 64 << 20


def pack(kind, payload):
    return _HEADER.pack(kind, len(payload)) + payload


def write(fd, kind, payload):
    """Plain `write`, because the confined process may not use socket calls."""
    view = memoryview(pack(kind, payload))
    while view:
        view = view[os.write(fd, view) :]


def write_json(fd, value):
    try:
        text = json.dumps(value, ensure_ascii=False, default=str, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        text = json.dumps(plain(value), ensure_ascii=False)
    write(fd, JSON, text.encode("utf-8", "replace"))


def plain(value, depth=0):
    """What JSON can hold: no infinities, no odd keys, no cycles."""
    if depth > 50:
        return "…"
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item, depth + 1) for item in value]
    return str(value)


def _read_exactly(fd, size):
    parts = bytearray()
    while len(parts) < size:
        part = os.read(fd, min(size - len(parts), 1 << 20))
        if not part:
            return None
        parts += part
    return bytes(parts)


def read_json(fd):
    """The next message, or None at the end."""
    header = _read_exactly(fd, _HEADER.size)
    if header is None:
        return None
    kind, size = _HEADER.unpack(header)
    if kind != JSON or size > MAX_FRAME:
        raise ValueError("malformed frame")
    payload = _read_exactly(fd, size)
    return None if payload is None else json.loads(payload)


def read_json_fds(sock):
    """The next message with the descriptors that came with it, or (None, [])."""
    fds = array.array("i")
    header, ancillary, _flags, _addr = sock.recvmsg(_HEADER.size, socket.CMSG_SPACE(64 * fds.itemsize))
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    if not header:
        return None, []
    if len(header) < _HEADER.size:
        header += _read_exactly(sock.fileno(), _HEADER.size - len(header)) or b""
    kind, size = _HEADER.unpack(header)
    payload = _read_exactly(sock.fileno(), size)
    return (None, []) if payload is None else (json.loads(payload), list(fds))


def send_json_fds(sock, value, fds):
    data = pack(JSON, json.dumps(value).encode())
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    sent = sock.sendmsg([data], rights)
    if sent < len(data):
        sock.sendall(data[sent:])
