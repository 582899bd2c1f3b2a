"""Builds the small read-only root that the zygote and its jobs see, and moves into it.

Holds the interpreter, its packages, the system libraries and five harmless devices. No /etc but
the linker's cache, no /home, no /proc of the host's other mounts, no sockets.
"""

import os
import sys

from ba_worker import linux

SOURCES = "/worker"
DEVICES = ("null", "zero", "full", "random", "urandom")
_READ_ONLY = linux.ATTR_RDONLY | linux.ATTR_NOSUID | linux.ATTR_NODEV
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache", "/etc/localtime")


def covered(path, placed):
    return any(path == p or path.startswith(p + "/") for p in placed)


def place(root, path):
    """Makes the mount point for `path`, as a folder or a file like the original."""
    target = root + path
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o444))
    return target


def bind_sources(root, path, placed):
    """The worker's own code has a fixed place inside, wherever it lies outside."""
    os.makedirs(root + SOURCES)
    linux.bind(path, root + SOURCES, _READ_ONLY, recursive=True)
    placed.append(SOURCES)


def use_bound_sources(path):
    sys.path[:] = [SOURCES if entry == path else entry for entry in sys.path]
    sys.path_importer_cache.clear()
    package = sys.modules["ba_worker"]
    package.__path__ = [SOURCES + "/ba_worker"]


def bind_read_only(root, path, placed):
    if covered(path, placed) or not os.path.exists(path):
        return
    if os.path.islink(path):
        # `/lib -> usr/lib`: keep the link, the target is bound under its own name.
        os.makedirs(os.path.dirname(root + path), exist_ok=True)
        os.symlink(os.readlink(path), root + path)
        return
    linux.bind(path, place(root, path), _READ_ONLY, recursive=True)
    placed.append(path)


def build(config):
    root = config["root_dir"]
    linux.mount("tmpfs", root, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "mode=755,size=1m,nr_inodes=1k")
    placed = []
    for path in (*config["read_only"], *_LIBRARIES):
        bind_read_only(root, path, placed)
    bind_sources(root, config["sources"], placed)
    for folder in ("job", "scratch", "proc", "dev/shm", "old"):
        os.makedirs(f"{root}/{folder}", mode=0o755)
    if not os.path.exists(f"{root}/tmp"):
        # An environment that lies below /tmp keeps its place; everything else finds the usual name.
        os.symlink("scratch", f"{root}/tmp")
    for name in DEVICES:
        if os.path.exists(f"/dev/{name}"):
            linux.bind(f"/dev/{name}", place(root, f"/dev/{name}"), linux.ATTR_NOSUID | linux.ATTR_NOEXEC)
    # Needed to write id maps; every job covers it before it runs anything.
    linux.bind("/proc", f"{root}/proc", linux.ATTR_NOSUID | linux.ATTR_NODEV | linux.ATTR_NOEXEC, recursive=True)
    linux.pivot_root(root, f"{root}/old")
    os.chdir("/")
    linux.umount("/old")
    os.rmdir("/old")
    linux.mount("tmpfs", "/", "none", linux.MS_REMOUNT | linux.MS_BIND | linux.MS_RDONLY | linux.MS_NOSUID | linux.MS_NODEV)
    use_bound_sources(config["sources"])
    config["readable"] = placed
