"""Imports everything once, then forks a child per request. Never runs user code itself."""

import base64
import gc
import importlib
import os
import select
import signal
import socket

from ba_worker import child, frames, linux, memory, nursery

PRELOAD = (
    "json csv datetime math statistics random decimal fractions re collections itertools functools io time "
    "calendar string textwrap typing dataclasses pathlib uuid hashlib base64 zoneinfo tempfile sqlite3 "
    "numpy pandas pyarrow pyarrow.parquet pyarrow.csv duckdb scipy scipy.stats scipy.optimize scipy.signal scipy.interpolate "
    "scipy.cluster.hierarchy statsmodels.api statsmodels.formula.api statsmodels.tsa.api "
    "matplotlib matplotlib.pyplot matplotlib.dates matplotlib.ticker seaborn plotly plotly.graph_objects plotly.express plotly.io "
    "openpyxl openpyxl.chart xlrd xlsxwriter python_calamine pypdf"
).split()


def preload(config):
    with memory.together():
        import_all(config)
    gc.collect()
    gc.freeze()
    memory.settle()
    from ba_worker import warm

    warm.learn()
    if len(os.listdir("/proc/self/task")) != 1:
        raise RuntimeError("a preloaded module started a thread; forking would not be safe")


def import_all(config):
    for name in PRELOAD:
        importlib.import_module(name)
    # All that a child needs: what it had to import itself would cost every job.
    importlib.import_module("ba_worker.runner")
    from ba_worker import charts, usercode, warm, workbooks

    charts.install_fonts()
    usercode.install()
    workbooks.install()
    for name in config.get("builtins", ()):
        module = importlib.import_module(f"ba_worker.{name}")
        if hasattr(module, "warm"):
            module.warm()
    warm.once()
    warm.reseed()


def fork_child(config, request, fds, frame, own_pid_namespace, control):
    """Forks the worker process of a job into its frame."""
    try:
        linux.setns(frame[nursery.PIDS], linux.CLONE_NEWPID)
        pid = os.fork()
        if pid == 0:
            try:
                control.detach()
                child.main(config, fds[0], frame[nursery.MOUNTS], frame[nursery.IPC], frame[nursery.USER])
            finally:
                os._exit(70)
    except OSError:
        signal.pidfd_send_signal(frame[nursery.PROCESS], signal.SIGKILL)
        raise
    finally:
        linux.setns(own_pid_namespace, linux.CLONE_NEWPID)
    worker = os.pidfd_open(pid)
    frames.send_json_fds(control, {"id": request["id"]}, [frame[nursery.PROCESS], worker, frame[nursery.MOUNTS]])
    os.close(worker)


def serve(config, control):
    # This is only for what the imports want to write (font cache); every job covers it with its own.
    linux.mount("tmpfs", "/scratch", "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "size=64m,mode=1777")
    config["seccomp"] = [base64.b64decode(program) for program in config["seccomp"]]
    frames_ahead = nursery.Nursery(config)
    preload(config)
    config["baseline"] = memory_of_self("VmData:")
    own_pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    wake_read, wake_write = socket.socketpair()
    wake_read.setblocking(False)
    wake_write.setblocking(False)
    signal.set_wakeup_fd(wake_write.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    frames.send_json_fds(control, {"ready": True, "resident": memory_of_self("RssAnon:")}, [])
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(wake_read, select.POLLIN)
    while True:
        for fd, _ in poll.poll():
            if fd == wake_read.fileno():
                try:
                    wake_read.recv(4096)
                except BlockingIOError:
                    pass
                nursery.collect()
                continue
            request, fds = frames.read_json_fds(control)
            if request is None:
                os._exit(0)
            try:
                frame = frames_ahead.take()
                fds += frame
                fork_child(config, request, fds, frame, own_pid_namespace, control)
            except OSError as error:
                frames.send_json_fds(control, {"id": request["id"], "error": str(error)}, [])
            for item in fds:
                os.close(item)


def memory_of_self(field):
    """A line of this process's status, in bytes: what every child starts with and does not pay for."""
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            if line.startswith(field):
                return int(line.split()[1]) * 1024
    return 0
