"""The process that runs a job: forked from the zygote, it enters the frame that was made for it (see `nursery`).

Everything here happens before any user code: namespaces, limits, no capabilities, seccomp; Landlock follows when the
job's folder has been mounted.
"""

import os
import resource
import signal

from ba_worker import frames, linux, rootfs


def seal(config):
    """Gives up every privilege. What runs afterwards is treated as hostile."""
    none = (0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, none)
    resource.setrlimit(resource.RLIMIT_MEMLOCK, none)
    resource.setrlimit(resource.RLIMIT_MSGQUEUE, none)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    resource.setrlimit(resource.RLIMIT_STACK, (16 << 20, 64 << 20))
    resource.setrlimit(resource.RLIMIT_NPROC, (config["tasks"], config["tasks"]))
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    linux.drop_capabilities()
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    for program in config["seccomp"]:
        linux.install_seccomp(program)


def main(config, control_fd, mounts, ipc, user):
    """Enters the namespaces behind the descriptors, gives up everything, and serves."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    linux.close_other_fds([0, 1, 2, control_fd, mounts, ipc, user])
    score = os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
    os.write(score, b"500")
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    linux.setns(mounts, linux.CLONE_NEWNS)
    linux.setns(ipc, linux.CLONE_NEWIPC)
    linux.setns(user, linux.CLONE_NEWUSER)
    linux.close_other_fds([0, 1, 2, control_fd])
    seal(config)
    from ba_worker import runner, warm

    warm.reseed()
    confinement = Confinement(config)
    frames.write_json(control_fd, {"ready": True})
    runner.serve(confinement, control_fd)


class Confinement:
    """The part that waits for the job: its folder is mounted only then."""

    def __init__(self, config):
        self.config = config
        self.baseline = config["baseline"]
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
