"""Compilation of inner loops, and the cache of their machine code."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numba import njit

PLAIN = os.environ.get("SUFFICE_PLAIN_MATH", "") not in ("", "0")  # see `fast_math`


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Numba's decorator for a loop that releases the GIL.

    Numba keeps the machine code in NUMBA_CACHE_DIR, beside the source or in the user's cache folder: in the
    first of them that it may write to. Where it may write to none, as in a read-only container, each process
    compiles the loops that it uses. With plain mathematics all do: a file of machine code does not say which
    of two functions a loop calls.
    """

    def decorate(loop: Callable[..., Any]) -> Any:
        dispatcher = njit(nogil=True, error_model="numpy", **options)(loop)
        if not PLAIN:
            with suppress(RuntimeError):  # "cannot cache function ...: no locator available"
                dispatcher.enable_caching()
        return dispatcher

    return decorate
