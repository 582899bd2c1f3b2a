"""Thin, checked wrappers over the Linux calls that Python lacks. No policy lives here."""

import ctypes
import os
import platform
import struct

_libc = ctypes.CDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long

_MACHINE = platform.machine()
_NR = {
    "x86_64": {"pivot_root": 155, "capset": 126},
    "aarch64": {"pivot_root": 41, "capset": 91},
}.get(_MACHINE, {})
_NR.update(
    open_tree=428,
    move_mount=429,
    close_range=436,
    mount_setattr=442,
    landlock_create_ruleset=444,
    landlock_add_rule=445,
    landlock_restrict_self=446,
)

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
MNT_DETACH = 2

ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV, ATTR_NOEXEC = 1, 2, 4, 8
_AT_SYMLINK_NOFOLLOW = 0x100
_AT_FDCWD, _AT_EMPTY_PATH, _AT_RECURSIVE = -100, 0x1000, 0x8000
_OPEN_TREE_CLONE, _OPEN_TREE_CLOEXEC = 1, os.O_CLOEXEC
_MOVE_F_EMPTY, _MOVE_T_EMPTY = 0x04, 0x40

PR_SET_DUMPABLE, PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 4, 1, 38
PR_CAPBSET_DROP, PR_CAP_AMBIENT, PR_SET_SECCOMP = 24, 47, 22


def _check(result, what):
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def call(name, *args):
    """A raw system call by name; integers, bytes and None become what the kernel wants."""
    ready = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    return _check(_syscall(ctypes.c_long(_NR[name]), *ready), name)


def unshare(flags):
    _check(_libc.unshare(ctypes.c_int(flags)), "unshare")


def setns(fd, kind):
    _check(_libc.setns(ctypes.c_int(fd), ctypes.c_int(kind)), "setns")


def mount(source, target, kind, flags=0, data=""):
    result = _libc.mount(
        source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode()
    )
    _check(result, f"mount {target}")


def umount(target, flags=MNT_DETACH):
    _check(_libc.umount2(target.encode(), ctypes.c_int(flags)), f"umount {target}")


def pivot_root(new_root, put_old):
    call("pivot_root", new_root.encode(), put_old.encode())


def prctl(option, a=0, b=0, c=0, d=0):
    longs = [ctypes.c_ulong(x) if isinstance(x, int) else x for x in (a, b, c, d)]
    return _check(_libc.prctl(ctypes.c_int(option), *longs), f"prctl {option}")


def close_other_fds(keep):
    """Closes every descriptor except those kept: fork does not honour close-on-exec."""
    low = 0
    for fd in sorted(set(keep)):
        if fd > low:
            call("close_range", low, fd - 1, 0)
        low = fd + 1
    call("close_range", low, 0xFFFFFFFF, 0)


def open_tree(path, recursive=False):
    """A detached copy of the mount at `path`, to be attached somewhere else. A link is not followed."""
    flags = _AT_SYMLINK_NOFOLLOW | _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC | (_AT_RECURSIVE if recursive else 0)
    return call("open_tree", _AT_FDCWD, path.encode(), flags)


def restrict_tree(fd, attributes, recursive=False):
    """Adds mount attributes (read-only, no setuid, no devices, no exec) to a detached tree."""
    attr = struct.pack("=QQQQ", attributes, 0, 0, 0)
    flags = _AT_EMPTY_PATH | (_AT_RECURSIVE if recursive else 0)
    call("mount_setattr", fd, b"", flags, attr, len(attr))


def attach_tree(fd, target_fd):
    call("move_mount", fd, b"", target_fd, b"", _MOVE_F_EMPTY | _MOVE_T_EMPTY)


def bind(source, target, attributes, recursive=False):
    tree = open_tree(source, recursive)
    try:
        restrict_tree(tree, attributes, recursive)
        place = os.open(target, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            attach_tree(tree, place)
        finally:
            os.close(place)
    finally:
        os.close(tree)


def drop_capabilities(keep=()):
    """Empties every capability set, but for the numbers kept in effective and permitted."""
    for number in range(64):
        if number not in keep:
            try:
                prctl(PR_CAPBSET_DROP, number)
            except OSError:
                break
    prctl(PR_CAP_AMBIENT, 4)
    low = sum(1 << n for n in keep if n < 32)
    high = sum(1 << (n - 32) for n in keep if n >= 32)
    header = struct.pack("=Ii", 0x20080522, 0)
    data = struct.pack("=IIIIII", low, low, 0, high, high, 0)
    call("capset", header, data)


def install_seccomp(program):
    """Installs a compiled BPF program (8 bytes per instruction). Needs no-new-privs."""
    buffer = ctypes.create_string_buffer(program, len(program))
    fprog = struct.pack("=HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))
    prctl(PR_SET_SECCOMP, 2, fprog)


_FS_READ = (1 << 2) | (1 << 3)
# Write, truncate, make and remove plain files and folders; no links, devices, sockets, pipes; no execute.
_FS_WRITE = _FS_READ | (1 << 1) | (1 << 4) | (1 << 5) | (1 << 7) | (1 << 8) | (1 << 13) | (1 << 14)
_FS_FILE = (1 << 1) | (1 << 2) | (1 << 14)


def landlock_abi():
    return int(_syscall(ctypes.c_long(_NR["landlock_create_ruleset"]), None, ctypes.c_long(0), ctypes.c_long(1)))


class Landlock:
    """Made ahead of the job, because it costs a few file lookups; `enter` restricts this process for good."""

    def __init__(self, readable, writable, devices):
        abi = landlock_abi()
        if abi < 1:
            raise OSError("Landlock is not available")
        self.handled = (1 << 13) - 1
        if abi >= 2:
            self.handled |= 1 << 13
        if abi >= 3:
            self.handled |= 1 << 14
        if abi >= 5:
            self.handled |= 1 << 15
        attr = struct.pack("=Q", self.handled)
        if abi >= 4:
            attr += struct.pack("=Q", 3)
        if abi >= 6:
            attr += struct.pack("=Q", 3)
        self.ruleset = call("landlock_create_ruleset", attr, len(attr), 0)
        for paths, rights in ((readable, _FS_READ), (writable, _FS_WRITE), (devices, _FS_FILE)):
            for path in paths:
                self._allow(path, rights)

    def _allow(self, path, rights):
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        fitting = rights if os.path.isdir(path) else rights & _FS_FILE
        rule = struct.pack("=Qi", fitting & self.handled, fd)
        call("landlock_add_rule", self.ruleset, 1, rule, 0)
        os.close(fd)

    def enter(self, folder):
        """Nothing but what was named before, and this folder as it is mounted now. Needs no-new-privs."""
        self._allow(folder, _FS_WRITE)
        call("landlock_restrict_self", self.ruleset, 0)
        os.close(self.ruleset)
