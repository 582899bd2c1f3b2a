"""First process: enters namespaces, starts the zygote, then stays as the mount broker.

The broker is the only process that still sees the host's files. It obeys the supervisor alone,
reads nothing that a job wrote, and does one thing: attach a named host path inside a job's
mount namespace. It never runs user code.
"""

import os
import signal
import socket
import stat
import sys

from ba_worker import frames, linux, rootfs

# KILL: without it the kernel does not even deliver the zygote's parent-death signal, its user being another.
_CAP_DAC_READ_SEARCH, _CAP_KILL, _CAP_SYS_CHROOT, _CAP_SYS_ADMIN = 2, 5, 18, 21


def write_id_maps(proc_self, uid, gid, inside=1000):
    """Maps one user and one group; `proc_self` is a descriptor of this process's /proc folder."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{inside} {uid} 1"),
        ("gid_map", f"{inside} {gid} 1"),
    ):
        fd = os.open(name, os.O_WRONLY | os.O_CLOEXEC, dir_fd=proc_self)
        os.write(fd, text.encode())
        os.close(fd)


def own_proc():
    return os.open("/proc/self", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def enter_user_namespace(flags, uid, gid):
    proc_self = own_proc()
    linux.unshare(linux.CLONE_NEWUSER | flags)
    write_id_maps(proc_self, uid, gid)
    os.close(proc_self)


def drop_to(uid):
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    # Without this the id maps of the next user namespace belong to root and cannot be written.
    linux.prctl(linux.PR_SET_DUMPABLE, 1)


def start_zygote(config, zygote_fd, broker, as_root):
    """Runs in a child of the broker; returns only in the zygote itself."""
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    broker.close()
    linux.close_other_fds([0, 1, 2, zygote_fd])
    linux.unshare(linux.CLONE_NEWNS)
    linux.mount("none", "/", "none", linux.MS_REC | linux.MS_PRIVATE)
    rootfs.build(config)
    rest = linux.CLONE_NEWPID | linux.CLONE_NEWNET | linux.CLONE_NEWIPC | linux.CLONE_NEWUTS
    if as_root:
        uid = config["job_uid"]
        drop_to(uid)
        enter_user_namespace(linux.CLONE_NEWNS | rest, uid, uid)
    else:
        linux.unshare(rest)
    socket.sethostname("sandbox")
    pid = os.fork()
    if pid:
        # Again: changing ids clears it.
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        linux.close_other_fds([0, 1, 2])
        _, status = os.waitpid(pid, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    from ba_worker import zygote

    zygote.serve(config, socket.socket(fileno=zygote_fd))


def attach(request, namespace, home):
    """Mounts host paths into a job's namespace, by descriptor, never following a link."""
    trees = []
    try:
        for item in request["mounts"]:
            tree = linux.open_tree(item["path"])
            trees.append(tree)
            attributes = linux.ATTR_NOSUID | linux.ATTR_NODEV | linux.ATTR_NOEXEC
            linux.restrict_tree(tree, attributes | (linux.ATTR_RDONLY if item["read_only"] else 0))
        linux.setns(namespace, linux.CLONE_NEWNS)
        try:
            for item, tree in zip(request["mounts"], trees):
                attach_one(tree, item["target"], item["read_only"])
        finally:
            linux.setns(home, linux.CLONE_NEWNS)
            os.chdir("/")
    finally:
        for tree in trees:
            os.close(tree)


def attach_one(tree, target, read_only):
    job = os.open("/job", os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if target:
            place = os.open(target, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=job)
        else:
            place = os.dup(job)
        try:
            mode = os.fstat(place).st_mode
            if target and not stat.S_ISREG(mode):
                raise OSError(f"{target} is not a plain file")
            linux.attach_tree(tree, place)
        finally:
            os.close(place)
    finally:
        os.close(job)


def broker_loop(broker, zygote_pid):
    home = os.open("/proc/self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    while True:
        request, fds = frames.read_json_fds(broker)
        if request is None:
            os.kill(zygote_pid, signal.SIGKILL)
            os._exit(0)
        reply = {"id": request.get("id")}
        try:
            attach(request, fds[0], home)
            reply["ok"] = True
        except (OSError, IndexError, KeyError) as error:
            reply["error"] = str(error)
        finally:
            for fd in fds:
                os.close(fd)
        frames.send_json_fds(broker, reply, [])


def main():
    broker = socket.socket(fileno=os.dup(0))
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    # Whoever started the server may have left descriptors open for it.
    linux.close_other_fds([0, 1, 2, broker.fileno()])
    config, fds = frames.read_json_fds(broker)
    as_root = config["job_uid"] is not None
    try:
        if as_root:
            linux.unshare(linux.CLONE_NEWNS)
        else:
            enter_user_namespace(linux.CLONE_NEWNS, os.geteuid(), os.getegid())
        # Slave, not private: file systems that the host mounts later stay reachable.
        linux.mount("none", "/", "none", linux.MS_REC | (1 << 19))
    except OSError as error:
        frames.send_json_fds(broker, {"error": str(error), "stage": "namespaces"}, [])
        return 1
    pid = os.fork()
    if pid == 0:
        try:
            start_zygote(config, fds[0], broker, as_root)
        except BaseException as error:
            zygote = socket.socket(fileno=fds[0])
            frames.send_json_fds(zygote, {"error": f"{type(error).__name__}: {error}", "stage": "zygote"}, [])
        os._exit(1)
    os.close(fds[0])
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    if as_root:
        linux.drop_capabilities((_CAP_DAC_READ_SEARCH, _CAP_KILL, _CAP_SYS_CHROOT, _CAP_SYS_ADMIN))
    frames.send_json_fds(broker, {"ok": True}, [])
    broker_loop(broker, pid)
    return 0


if __name__ == "__main__":
    sys.exit(main())
