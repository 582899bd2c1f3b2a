"""Runs jobs in the live process of a conversation; a failed call leaves the state as it was.

The first call runs in place. Each later call of user code runs in a fork: on success the fork becomes the
live process, on failure it dies and the old one goes on. Functions of this package change nothing and run in place.
The supervisor trusts none of this.
"""

import os
import select
import signal

from ba_worker import builtin, frames, usercode, warm


def serve(confinement, control):
    used = False
    while True:
        job = frames.read_json(control)
        if job is None:
            os._exit(0)
        if "warm" in job:
            warm.ahead()
            continue
        if "run" not in job:
            # A cancellation that came too late: nothing runs, the state is what it is.
            frames.write_json(control, {"restored": job.get("cancel", 0)})
            continue
        job = job["run"]
        if used and "code" in job:
            ticket = run_in_fork(confinement, control, job)
            if ticket is not None:
                frames.write_json(control, {"restored": ticket})
            continue
        used = True
        perform(confinement, control, job, lambda ok: None)


def perform(confinement, control, job, before_result):
    """Runs one job and sends its result; returns whether it succeeded."""
    try:
        confinement.close(job["limits"])
        # From here on a death is the job's own doing; before, the supervisor tries another process.
        frames.write_json(control, {"began": job.get("ticket")})
        if "code" in job:
            result = usercode.run(job, control)
        else:
            result = builtin.run(job, control)
    except BaseException as error:
        result = {"error": usercode.describe(error, full=True)}
    ok = result.get("error") is None
    before_result(ok)
    if ok:
        # Nothing may go on working between two calls; the old live process goes too.
        kill_all_others()
    frames.write_json(control, {"result": result, "ticket": job.get("ticket")})
    return ok


def run_in_fork(confinement, control, job):
    """None in the fork that became the live process; in the old one, after a failure, the ticket to answer."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read_end)
        ok = False
        try:
            # The old process must know before the supervisor can send the next job.
            ok = perform(confinement, control, job, lambda ok: ok and os.write(write_end, b"+"))
        finally:
            if not ok:
                os._exit(1)
        os.close(write_end)
        return None
    os.close(write_end)
    ticket = watch(control, read_end, os.pidfd_open(pid))
    os.close(read_end)
    return ticket


def watch(control, read_end, pidfd):
    """Waits for the fork to succeed (then exits) or to die or be cancelled (then returns)."""
    ticket = 0
    poll = select.poll()
    poll.register(read_end, select.POLLIN)
    poll.register(pidfd, select.POLLIN)
    poll.register(control, select.POLLIN)
    while True:
        ready = {fd for fd, _ in poll.poll()}
        if read_end in ready:
            if os.read(read_end, 1) == b"+":
                os._exit(0)
            poll.unregister(read_end)
        if pidfd in ready:
            break
        if control in ready and read_end not in ready:
            request = frames.read_json(control)
            if request is None:
                os._exit(0)
            if "cancel" in request:
                ticket = request["cancel"]
                break
    os.close(pidfd)
    end_everything_else()
    return ticket


def kill_all_others():
    """Kills all other processes of this namespace, never pid 1."""
    try:
        os.kill(-1, signal.SIGKILL)
    except OSError:
        pass


def end_everything_else():
    kill_all_others()
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return
