"""Copies the memory that a first job writes to before the job comes.

A forked child shares its parent's pages and pays for a fault at each first write: thousands of them for one chart.
The zygote watches once, in a child of its own, which pages typical work touches; every later child fetches just
those in one go. Best effort: a kernel without it (before 5.14) or without /proc/self/pagemap costs speed, nothing else.
"""

import ctypes
import os
import pickle

_PAGE = os.sysconf("SC_PAGE_SIZE")
_POPULATE_READ, _POPULATE_WRITE = 22, 23
# Two spans with so few cold pages between them are cheaper as one.
_GAP = 2

_libc = ctypes.CDLL(None, use_errno=True)
_libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_spans = []


def learn(work):
    """Runs `work` in a child and notes which of this process's pages it read or wrote."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read_end)
        try:
            before = _regions()
            work()
            with os.fdopen(write_end, "wb") as out:
                pickle.dump(_touched(before), out)
        finally:
            os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as answer:
        data = answer.read()
    os.waitpid(pid, 0)
    _spans[:] = pickle.loads(data) if data else []


def fetch():
    """In a child: whether the pages known to be needed are now its own."""
    done = False
    for start, length, advice in _spans:
        # A span that is no longer mapped as it was is skipped by the kernel with an error.
        done |= _libc.madvise(start, length, advice) == 0
    return done


def _regions():
    """Start, end and whether writable of everything that can be read, but for what the kernel itself maps."""
    found = []
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            span, mode, _, _, _, *name = line.split(maxsplit=5)
            if mode[0] == "r" and not (name and name[0].startswith("[v")):
                start, end = (int(part, 16) for part in span.split("-"))
                found.append((start, end, mode[1] == "w"))
    return found


def _touched(regions):
    """Spans of own pages to be written and of file pages to be mapped: start, length, advice."""
    import numpy

    spans = []
    with open("/proc/self/pagemap", "rb", buffering=0) as pagemap:
        for start, end, writable in regions:
            pagemap.seek(start // _PAGE * 8)
            entries = numpy.frombuffer(pagemap.read((end - start) // _PAGE * 8), dtype=numpy.uint64)
            present, of_file, alone = (entries >> numpy.uint64(bit) & numpy.uint64(1) == 1 for bit in (63, 61, 56))
            # What the child still shares with its parent was not written: it is mapped more than once.
            spans += _joined(start, present & alone & ~of_file & writable, _POPULATE_WRITE)
            spans += _joined(start, present & of_file, _POPULATE_READ)
    return spans


def _joined(start, pages, advice):
    import numpy

    hot = numpy.flatnonzero(pages)
    if not len(hot):
        return []
    groups = numpy.split(hot, numpy.flatnonzero(numpy.diff(hot) > _GAP) + 1)
    return [(start + int(g[0]) * _PAGE, int(g[-1] - g[0] + 1) * _PAGE, advice) for g in groups]
