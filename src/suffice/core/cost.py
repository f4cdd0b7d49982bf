"""Memory cost, estimated before allocation. The error for too much says what to do instead."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

# Files with the limit and the usage of a cgroup, and the name of the page cache in its statistics, which the
# system frees when memory is short.
FILES_V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
FILES_V2 = ("memory.max", "memory.current", "inactive_file")


def afford(numbers: float, what: str, instead: str) -> None:
    """Raise a MemoryError if an array of this many numbers needs more than a quarter of the memory.

    It is a quarter since a fit holds several arrays of this size at once.

    >>> afford(1e15, "the moments of 30000000 features", "use fewer features.")
    Traceback (most recent call last):
    MemoryError: the moments of 30000000 features take 8e+06 GB, and ...: use fewer features.
    """
    memory, limit = memory_limit()
    if 8 * numbers > memory / 4:
        raise MemoryError(f"{what} take {8e-9 * numbers:.3g} GB, and {limit} {1e-9 * memory:.3g}: {instead}")


@cache  # the limit of a process seldom changes, and every pass reads it
def memory_limit(root: Path = Path("/")) -> tuple[float, str]:
    """Return the bytes of memory that this process may use, and a description of the limit.

    It is the smallest of the memory of the machine and the limits of its cgroups (containers, batch jobs).
    """
    limits = [(physical_memory(), "this machine has")]
    for folder, (limit, *_) in cgroups(root):
        if (text := _text(folder / limit)).isdigit():
            limits.append((float(text), f"the limit of its cgroup ({folder / limit}) is"))
    return min(limits, key=lambda found: found[0])


def free_memory(root: Path = Path("/")) -> float:
    """Bytes of free memory for this process, as far as the system reports it."""
    free = physical_memory() / 2
    for line in _text(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            free = 1024.0 * int(line.split()[1])
    for folder, (limit, used, reclaimable) in cgroups(root):
        most, taken = _text(folder / limit), _text(folder / used)
        if most.isdigit() and taken.isdigit():
            statistics = dict(line.split(maxsplit=1) for line in _text(folder / "memory.stat").splitlines())
            free = min(free, float(most) - float(taken) + float(statistics.get(reclaimable, 0)))
    return max(free, 0.0)


def return_freed_memory() -> None:
    """Return freed memory to the system.

    glibc keeps what its threads have freed, which after a pass over files can be as much as the pass needs.
    """
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(0)


def physical_memory() -> float:
    """Bytes of memory of this machine; infinite if the system does not report it."""
    return (
        os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else float("inf")
    )


def cgroups(root: Path) -> Iterator[tuple[Path, tuple[str, str, str]]]:
    """Iterate over the folders of the memory cgroup of this process and its parents, with their file names.

    In a container the path may be that of the host, while the cgroup of the container is mounted at the top.
    Folders that do not exist are read as empty files.
    """
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        top = root / "sys/fs/cgroup" / ("memory" if controllers else "")
        own = top / path.lstrip("/")
        for folder in (own, *own.parents):
            if folder.is_relative_to(top):
                yield folder, FILES_V1 if controllers else FILES_V2


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
