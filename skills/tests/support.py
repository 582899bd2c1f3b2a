"""Loads a skill's script the way run_python does: its text is executed, and its functions are there."""

import pathlib
import types

ROOT = pathlib.Path(__file__).resolve().parent.parent


def script(skill, name):
    path = ROOT / skill / "scripts" / f"{name}.py"
    module = types.ModuleType(name)
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
    return module
