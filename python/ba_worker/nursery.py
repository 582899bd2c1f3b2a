"""Makes the frame of every job ahead of it: namespaces, mounts, and a small pid 1 that collects orphans.

Forked from the zygote before its imports, so that a frame costs a fork of a small process. The worker process that the
zygote forks enters the frame. Nothing of a job ever runs here.
"""

import os
import signal
import socket

from ba_worker import boot, child, frames, linux

_HIDDEN = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC


# Order of a frame's descriptors.
PROCESS, MOUNTS, PIDS, IPC, USER = range(5)


class Nursery:
    """The zygote's end: frames are made one ahead, while the zygote does other things."""

    def __init__(self, config):
        self.control, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.control.close()
                _serve(config, theirs)
            finally:
                os._exit(70)
        theirs.close()
        self._order()

    def _order(self):
        frames.send_json_fds(self.control, {}, [])

    def take(self):
        """Descriptors of a frame: its pid 1, then its namespaces."""
        reply, fds = frames.read_json_fds(self.control)
        if reply is None:
            # Without it the zygote is of no use; the supervisor starts another.
            os._exit(1)
        self._order()
        if "error" in reply:
            raise OSError(reply["error"])
        return fds


def _serve(config, control):
    # Nobody waits for a pid 1: the supervisor watches it by descriptor.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    linux.close_other_fds([0, 1, 2, control.fileno()])
    own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    while True:
        request, _ = frames.read_json_fds(control)
        if request is None:
            os._exit(0)
        try:
            fds = _make(config, own)
        except OSError as error:
            frames.send_json_fds(control, {"error": str(error)}, [])
            continue
        frames.send_json_fds(control, {}, fds)
        for fd in fds:
            os.close(fd)


def _make(config, own):
    ours, theirs = socket.socketpair()
    linux.unshare(linux.CLONE_NEWPID)
    try:
        pid = os.fork()
        if pid == 0:
            try:
                ours.close()
                _first_process(config, theirs)
            finally:
                os._exit(70)
    finally:
        theirs.close()
        linux.setns(own, linux.CLONE_NEWPID)
    with ours:
        pidfd = os.pidfd_open(pid)
        reply, fds = frames.read_json_fds(ours)
        if reply is None or not fds:
            os.close(pidfd)
            raise OSError("a job's frame could not be made")
        return [pidfd, *fds]


def _first_process(config, control):
    """pid 1 of a job: own mounts, then nothing but collecting orphans until it is killed."""
    linux.close_other_fds([0, 1, 2, control.fileno()])
    linux.unshare(linux.CLONE_NEWNS | linux.CLONE_NEWIPC)
    for target in ("/scratch", "/dev/shm"):
        linux.mount("tmpfs", target, "tmpfs", _HIDDEN, f"mode=1777,size={config['tmp_bytes']},nr_inodes=4k")
    proc_self = boot.own_proc()
    linux.mount("tmpfs", "/proc", "tmpfs", _HIDDEN | linux.MS_RDONLY, "size=4k,nr_inodes=2,mode=555")
    # An own user namespace gives the job its own count of processes, apart from all other jobs.
    linux.unshare(linux.CLONE_NEWUSER)
    boot.write_id_maps(proc_self, 1000, 1000)
    namespaces = [os.open(f"ns/{kind}", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc_self) for kind in ("mnt", "pid", "ipc", "user")]
    frames.send_json_fds(control, {}, namespaces)
    linux.close_other_fds([0, 1, 2])
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    child.seal(config)
    while True:
        signal.sigwait([signal.SIGCHLD])
        collect()


def collect():
    """Takes note of every child that has ended."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return
