"""Measures whether a loop's memory stays what it is."""
import gc
import os

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
