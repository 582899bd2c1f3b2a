"""One job's process tree: a reaper as pid 1, and the live process that runs the work.

Everything here happens before any user code: own mounts, own user namespace, limits, no
capabilities, seccomp; Landlock follows when the job's folder has been mounted.
"""

import base64
import os
import resource
import signal
import socket

from ba_worker import boot, frames, linux, rootfs

_HIDDEN = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC


def cover_shared_mounts(config):
    linux.unshare(linux.CLONE_NEWNS | linux.CLONE_NEWIPC)
    for target in ("/scratch", "/dev/shm"):
        linux.mount("tmpfs", target, "tmpfs", _HIDDEN, f"mode=1777,size={config['tmp_bytes']},nr_inodes=4k")


def seal(config, tasks):
    """Gives up every privilege. What runs afterwards is treated as hostile."""
    none = (0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, none)
    resource.setrlimit(resource.RLIMIT_MEMLOCK, none)
    resource.setrlimit(resource.RLIMIT_MSGQUEUE, none)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    resource.setrlimit(resource.RLIMIT_STACK, (16 << 20, 64 << 20))
    resource.setrlimit(resource.RLIMIT_NPROC, (tasks, tasks))
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    linux.drop_capabilities()
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    for program in config["seccomp"]:
        linux.install_seccomp(base64.b64decode(program))


def reap_forever():
    """pid 1: collects orphans, and ends when nobody is left."""
    while True:
        try:
            os.wait()
        except ChildProcessError:
            os._exit(0)


def main(config, control_fd):
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    linux.close_other_fds([0, 1, 2, control_fd])
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)
    cover_shared_mounts(config)
    proc_self_fd = os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    namespace = os.open("/proc/self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    linux.mount("tmpfs", "/proc", "tmpfs", _HIDDEN | linux.MS_RDONLY, "size=4k,nr_inodes=2,mode=555")
    # The supervisor puts this process into its cgroup first; the live process inherits it.
    if frames.read_json(control_fd) is None:
        os._exit(0)
    if os.fork():
        linux.close_other_fds([0, 1, 2])
        seal(config, config["tasks"])
        reap_forever()
    become_live(config, control_fd, proc_self_fd, namespace)


def become_live(config, control_fd, proc_fd, namespace):
    score = os.open("self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC, dir_fd=proc_fd)
    os.write(score, b"500")
    os.close(score)
    # An own user namespace gives the job its own count of processes, apart from all other jobs.
    proc_self = os.open("self", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=proc_fd)
    linux.unshare(linux.CLONE_NEWUSER)
    boot.write_id_maps(proc_self, 1000, 1000)
    baseline = data_bytes(proc_self)
    os.close(proc_self)
    os.close(proc_fd)
    with socket.socket(fileno=os.dup(control_fd)) as control:
        frames.send_json_fds(control, {"namespace": True}, [namespace])
    os.close(namespace)
    seal(config, config["tasks"])
    from ba_worker import runner, warm

    warm.reseed()
    warm.child()
    confinement = Confinement(config, baseline)
    frames.write_json(control_fd, {"ready": True})
    runner.serve(confinement, control_fd)


def data_bytes(proc_self):
    """Private writable memory of this process, the base of the job's memory limit."""
    fd = os.open("status", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc_self)
    text = os.read(fd, 1 << 16).decode()
    os.close(fd)
    for line in text.splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 512 << 20


class Confinement:
    """The part that waits for the job: its folder is mounted only then."""

    def __init__(self, config, baseline):
        self.config = config
        self.baseline = baseline
        devices = [f"/dev/{name}" for name in rootfs.DEVICES if os.path.exists(f"/dev/{name}")]
        self.landlock = linux.Landlock(config["readable"], ["/scratch", "/dev/shm"], devices)

    def close(self, limits):
        if self.landlock is not None:
            most = self.baseline + self.config["memory_limit"]
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))
            os.chdir("/job")
            self.landlock.enter("/job")
            self.landlock = None
        # The hard limits stay: a later call of the conversation may ask for more again.
        self.soft(resource.RLIMIT_DATA, self.baseline + limits["memory"])
        self.soft(resource.RLIMIT_FSIZE, limits["file_bytes"])

    def soft(self, kind, value):
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (value if hard < 0 else min(value, hard), hard))
