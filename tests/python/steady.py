"""Measures whether a loop's memory stays what it is."""
import ctypes
import gc
import os
import sys

# AddressSanitizer keeps freed memory back for a while: with it only the loop itself is worth something.
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")


def resident():
    """Bytes of this process that are in memory."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(body, times, warm_up=None):
    """By how many bytes `times` calls let the process grow, after as many as the caches need."""
    for _ in range(times // 3 if warm_up is None else warm_up):
        body()
    gc.collect()
    before = resident()
    for _ in range(times):
        body()
    gc.collect()
    return 0 if SANITIZED else resident() - before


class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def in_use():
    """(bytes that C holds, blocks that Python holds, open files, threads) after a collection: exact, unlike the resident size."""
    gc.collect()
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = Mallinfo
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd, sys.getallocatedblocks(), len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))


def slopes(body, times, windows=3):
    """What a call of `body` leaves behind of each of in_use(): the least of some windows of `times` calls, so that a cache that fills up once is none."""
    for _ in range(max(times // 2, 3)):
        body()
    before, least = in_use(), None
    for _ in range(windows):
        for _ in range(times):
            body()
        now = in_use()
        grown = [(n - b) / times for n, b in zip(now, before)]
        least = grown if least is None else [min(a, g) for a, g in zip(least, grown)]
        before = now
    return [0] * len(least) if SANITIZED else least
