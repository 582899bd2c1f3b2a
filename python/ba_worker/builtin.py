"""Calls a function of this package by its dotted name. Refuses names outside the package."""

import importlib
import re

from ba_worker import frames, usercode

_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")


def find(name):
    if not _NAME.fullmatch(name):
        raise LookupError(f"no built-in function {name!r}")
    module, _, function = name.rpartition(".")
    try:
        return getattr(importlib.import_module(f"ba_worker.{module}"), function)
    except (ImportError, AttributeError) as error:
        raise LookupError(f"no built-in function {name!r}: {error}") from error


def run(job, control):
    output = usercode.Output(control, job["limits"]["output_bytes"])

    def progress(fraction, message=""):
        output.flush()
        frames.write_json(control, {"progress": {"fraction": fraction, "message": str(message)[:500]}})

    meter = usercode.Meter()
    value, error = None, None
    with output.redirected():
        try:
            value = find(job["builtin"])(job["args"], progress)
        except BaseException as raised:
            error = usercode.describe(raised, full=True)
    return {"value": value, "error": error, "dropped": output.dropped, **meter.read()}
