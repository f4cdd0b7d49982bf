"""Limit BLAS to one thread during computations, and restore its setting afterwards.

Blocks are the unit of parallelism. BLAS adds in an order that depends on its number of threads, so results
would differ in bits between machines.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import ContextDecorator
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True, eq=False)
class _Library:
    get: Callable[[], int]
    set: Callable[[int], Any]
    per_thread: bool  # whether `set` limits the calling thread only, and not the whole process


@cache
def _libraries() -> tuple[_Library, ...]:
    """The BLAS libraries of NumPy and SciPy."""
    import numpy.linalg  # noqa: F401
    import scipy.linalg  # noqa: F401  # loads a BLAS of its own
    from threadpoolctl import ThreadpoolController

    return tuple(
        _Library(lib.get_num_threads, _setter(lib), _is_per_thread(lib))
        for lib in ThreadpoolController().select(user_api="blas").lib_controllers
    )


def _setter(lib: Any) -> Callable[[int], Any]:
    """Return the function that sets the number of threads of a library.

    From version 3.8 on, the one of threadpoolctl sets OpenBLAS from one thread only, and silently does
    nothing in all others. The library's own function has no such limit.
    """
    if lib.internal_api == "openblas" and not _is_per_thread(lib):
        for prefix in ("", "scipy_"):
            for suffix in ("", "64_", "_64"):
                if setter := getattr(lib.dynlib, f"{prefix}openblas_set_num_threads{suffix}", None):
                    return setter
    return lib.set_num_threads


def _is_per_thread(lib: Any) -> bool:
    """Whether a library has a limit for each thread, as MKL and builds with OpenMP do."""
    return lib.internal_api == "mkl" or getattr(lib, "threading_layer", "") == "openmp"


class OneBlasThread(ContextDecorator):
    """Limits BLAS to one thread while any thread of this process is inside. The last to leave restores it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads_inside = 0
        self._limits: dict[_Library, int] = {}  # limits of the process before the first thread entered
        self._local = threading.local()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def __enter__(self) -> None:
        depth = getattr(self._local, "depth", 0)
        if not depth:
            self._local.limits = {}
            libraries = _libraries()
            with self._lock:
                self._threads_inside += 1
                # Read each time: other code of the process may have changed it since.
                for lib in libraries:
                    if (n := lib.get()) != 1:
                        (self._local.limits if lib.per_thread else self._limits)[lib] = n
                        lib.set(1)
        self._local.depth = depth + 1

    def __exit__(self, *error: object) -> None:
        self._local.depth -= 1
        if not self._local.depth:
            with self._lock:
                self._threads_inside -= 1
                _restore(self._local.limits)
                if not self._threads_inside:
                    _restore(self._limits)

    def __reduce__(self) -> str:
        return "one_blas_thread"  # unpickled as the instance of the other process

    def _after_fork(self) -> None:
        """Reset the count in a forked child, where only the thread that forked exists."""
        self._lock = threading.Lock()
        self._threads_inside = int(getattr(self._local, "depth", 0) > 0)
        if not self._threads_inside:
            _restore(self._limits)


def _restore(limits: dict[_Library, int]) -> None:
    for lib, n in limits.items():
        if lib.get() == 1:  # otherwise other code has changed it since
            lib.set(n)
    limits.clear()


one_blas_thread = OneBlasThread()
