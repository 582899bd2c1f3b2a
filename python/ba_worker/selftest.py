"""Tries what must be impossible, inside a real job, and reports how each attempt ended.

Every probe returns text when it was denied and raises `Allowed` when it was not. Runs with the
import allow-list off: the confinement alone must hold.
"""

import ctypes
import errno
import os
import socket

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class Allowed(Exception):
    pass


def _refused(result, what):
    if result >= 0:
        raise Allowed(f"{what} succeeded")
    return errno.errorcode.get(ctypes.get_errno(), "?")


def _raises(action, what):
    try:
        action()
    except OSError as error:
        return errno.errorcode.get(error.errno, type(error).__name__)
    raise Allowed(f"{what} succeeded")


def probe_host_file(args):
    return _raises(lambda: open(args["secret"], "rb").close(), "reading a host file")


def probe_shadow(_args):
    return _raises(lambda: open("/etc/shadow", "rb").close(), "reading /etc/shadow")


def probe_proc(_args):
    return _raises(lambda: open("/proc/1/environ", "rb").close(), "reading /proc")


def probe_write_root(_args):
    return _raises(lambda: open("/written", "wb").close(), "writing outside the working folder")


def probe_list_root(_args):
    # Mounts and seccomp allow it: only Landlock is in the way.
    return _raises(lambda: os.listdir("/"), "listing the root folder")


def probe_network(_args):
    return _raises(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM), "an internet socket")


def probe_unix_socket(_args):
    return _raises(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM), "a unix socket")


def probe_execute(_args):
    return _raises(lambda: os.execv("/usr/bin/env", ["env"]), "running a program")


def probe_user_namespace(_args):
    return _refused(_libc.unshare(0x10000000), "a new user namespace")


def probe_mount(_args):
    return _refused(_libc.mount(b"none", b"/scratch", b"tmpfs", 0, None), "mounting")


def probe_ptrace(_args):
    return _refused(_libc.ptrace(0, 0, None, None), "tracing")


def probe_setuid(_args):
    return _refused(_libc.setresuid(0, 0, 0), "becoming root")


def probe_bpf(_args):
    return _refused(_libc.syscall(ctypes.c_long(321 if os.uname().machine == "x86_64" else 280), 0, 0, 0), "bpf")


def probe_io_uring(_args):
    return _refused(_libc.syscall(ctypes.c_long(425), 1, 0), "io_uring")


def probe_kill_parent(_args):
    return _raises(lambda: os.kill(1, 9) or _alive(), "killing pid 1")


def _alive():
    # The kernel drops the signal silently; Landlock may refuse it first. Being here is the proof.
    raise OSError(errno.EPERM, "ignored")


def probe_symlink(_args):
    return _raises(lambda: os.symlink("/etc/shadow", "link"), "making a symbolic link")


def probe_memory(args):
    try:
        block = bytearray(args["memory"] + (1 << 30))
    except MemoryError:
        return "MemoryError"
    raise Allowed(f"{len(block)} bytes")


def probe_environment(_args):
    leaked = [name for name in os.environ if name.startswith(("BA_", "AWS_", "OPENAI", "ANTHROPIC"))]
    if leaked:
        raise Allowed(", ".join(leaked))
    return f"{len(os.environ)} harmless variables"


def probe_descriptors(_args):
    opened = []
    for fd in range(256):
        try:
            os.fstat(fd)
        except OSError:
            continue
        opened.append(fd)
    # The three standard ones and the wire to the supervisor.
    if len(opened) > 4:
        raise Allowed(f"descriptors {opened}")
    return f"{len(opened)} open"


def run(args, _progress):
    witnesses = []
    for name, probe in sorted(globals().items()):
        if not name.startswith("probe_"):
            continue
        try:
            detail, denied = probe(args), True
        except Allowed as error:
            detail, denied = str(error), False
        witnesses.append({"name": name[len("probe_") :], "denied": denied, "detail": detail})
    return witnesses
