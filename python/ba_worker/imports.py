"""Tells the model, by name, which modules it may import. Help, not a wall: the confinement is the wall."""

import builtins
import sys

LIBRARIES = (
    "json csv datetime math statistics random pandas numpy scipy statsmodels openpyxl xlrd xlsxwriter "
    "sklearn matplotlib seaborn plotly duckdb pyarrow"
).split()
HARMLESS = (
    "__future__ abc array ast base64 binascii bisect calendar cmath codecs collections colorsys contextlib copy "
    "dataclasses decimal difflib enum fractions functools graphlib gzip hashlib heapq hmac html io itertools "
    "keyword locale logging numbers operator pathlib pprint python_calamine queue re reprlib secrets string "
    "struct textwrap time timeit tempfile traceback types typing unicodedata uuid warnings zipfile zlib zoneinfo "
    "dateutil mpl_toolkits patsy PIL xml warnings"
).split()
ALLOWED = frozenset(LIBRARIES) | frozenset(HARMLESS)

_original = builtins.__import__
_enabled = False
_user_code = False


class ImportRefused(ImportError):
    pass


def refusal(name):
    return (
        f"import of '{name}' is refused in run_python. Allowed libraries: {', '.join(LIBRARIES)}; "
        "and harmless standard modules such as re, collections, itertools, functools, decimal, io, time, "
        "calendar, string, textwrap, typing, dataclasses, pathlib. Files are read and written by name in the "
        "working folder."
    )


def _from_library(frame):
    """Libraries live in real files; user code and what it passes to exec do not."""
    name = frame.f_code.co_filename
    return name.startswith(("/", "<frozen ", "<__array_function__"))


def _guarded(name, globals=None, locals=None, fromlist=(), level=0):
    if _enabled and level == 0:
        top = name.partition(".")[0]
        if top not in ALLOWED and not _from_library(sys._getframe(1)):
            raise ImportRefused(refusal(name))
    return _original(name, globals, locals, fromlist, level)


def install():
    builtins.__import__ = _guarded


def enter(restricted):
    """User code starts to run."""
    global _enabled, _user_code
    _enabled, _user_code = bool(restricted), True


def leave():
    global _enabled, _user_code
    _enabled = _user_code = False


def user_code_runs():
    return _user_code
