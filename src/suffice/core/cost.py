"""Memory cost: it is estimated before allocation, and the error says what to do instead."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

# Of a cgroup: the files with its limit and with what it uses, and how statistics name the page cache, which
# the system gives back when memory is short.
FILES_V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
FILES_V2 = ("memory.max", "memory.current", "inactive_file")


def afford(numbers: float, what: str, instead: str) -> None:
    """Raise a MemoryError for sums that need more than a quarter of the memory: a few of them exist at once.

    >>> afford(1e15, "the moments of 30000000 features", "use fewer features.")
    Traceback (most recent call last):
    MemoryError: the moments of 30000000 features take 8e+06 GB, and ...: use fewer features.
    """
    memory, whose = memory_limit()
    if 8 * numbers > memory / 4:
        raise MemoryError(f"{what} take {8e-9 * numbers:.3g} GB, and {whose} {1e-9 * memory:.3g}: {instead}")


@cache  # a process seldom gets another limit, and this is asked in every pass
def memory_limit(root: Path = Path("/")) -> tuple[float, str]:
    """Bytes of memory for this process: the smallest limit of the machine and of its cgroups (containers,
    batch jobs), with a description of the limit."""
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
    """Give the system the memory that this process has freed. glibc would keep that of its threads, up to as
    much again as a pass over files needs."""
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(0)


def physical_memory() -> float:
    """Bytes of memory of this machine; infinite if the system does not report it."""
    return (
        os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else float("inf")
    )


def cgroups(root: Path) -> Iterator[tuple[Path, tuple[str, str, str]]]:
    """The folders of the memory cgroup of this process and of those around it, with the names of its files.

    In a container the path may be that of the host, and its own cgroup is mounted at the top: folders that
    are not there have no files.
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
