"""Arranges the zygote's memory so that a fork of it copies little: objects side by side in huge pages, few mappings.

Best effort, and only for speed: where a step is not possible (another allocator, no huge pages) nothing else changes.
"""

import contextlib
import ctypes

_libc = ctypes.CDLL(None, use_errno=True)
_libc.malloc.restype = ctypes.c_void_p
_libc.malloc.argtypes = (ctypes.c_size_t,)
_libc.free.argtypes = (ctypes.c_void_p,)
_libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_HUGE = 2 << 20
_COLLAPSE = 25
_READ_WRITE, _READ_EXECUTE = 3, 5


class _Arenas(ctypes.Structure):
    """PyObjectArenaAllocator."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("context", "take", "give")]


class _Raw(ctypes.Structure):
    """PyMemAllocatorEx."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("context", "malloc", "calloc", "realloc", "free")]


@contextlib.contextmanager
def together():
    """What is imported meanwhile lies in one heap; else each megabyte of objects lands between two libraries."""
    api, before, raw = ctypes.pythonapi, _Arenas(), _Raw()
    # A freed block of this size teaches malloc to take smaller ones from the heap.
    _libc.free(_libc.malloc(_HUGE))
    api.PyMem_GetAllocator(0, ctypes.byref(raw))
    api.PyObject_GetArenaAllocator(ctypes.byref(before))
    api.PyObject_SetArenaAllocator(ctypes.byref(_Arenas(raw.context, raw.malloc, raw.free)))
    try:
        yield
    finally:
        # An arena of the heap that empties later is refused by munmap, for it is not a whole page, and simply stays.
        api.PyObject_SetArenaAllocator(ctypes.byref(before))


def settle():
    """After the imports: fewer mappings, then huge pages."""
    _join_libraries()
    _collapse()


class _Region:
    def __init__(self, line):
        span, self.mode, offset, device, inode, *name = line.split(maxsplit=5)
        self.start, self.end = (int(part, 16) for part in span.split("-"))
        self.offset, self.file = int(offset, 16), name[0].strip() if name else ""

    def goes_on_in(self, other):
        return (
            self.file == other.file
            and self.end == other.start
            and self.offset + self.end - self.start == other.offset
        )


def _regions():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return [_Region(line) for line in maps]


def _join_libraries():
    """A library's constants beside its code, and its relocated data beside the other, need no mapping of their own."""
    regions = _regions()
    for before, region, after in zip(regions, regions[1:], regions[2:]):
        if region.mode != "r--p" or not region.file.startswith("/"):
            continue
        if region.goes_on_in(after) and after.mode == "rw-p":
            protection = _READ_WRITE
        elif (region.goes_on_in(after) and after.mode == "r-xp") or (
            before.goes_on_in(region) and before.mode == "r-xp"
        ):
            protection = _READ_EXECUTE
        else:
            continue
        _libc.mprotect(region.start, region.end - region.start, protection)


def _collapse():
    for region in _regions():
        if region.mode.startswith("rw") and region.file in ("", "[heap]"):
            start, end = -(-region.start // _HUGE) * _HUGE, region.end // _HUGE * _HUGE
            if end > start:
                _libc.madvise(start, end - start, _COLLAPSE)
