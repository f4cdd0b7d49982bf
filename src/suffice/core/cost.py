"""Cost: memory is estimated before it is taken, and a refusal says what to do instead."""

from __future__ import annotations

import os


def afford(numbers: float, what: str, instead: str) -> None:
    """Refuse sums of more numbers than a quarter of the memory holds: a few of them live at once.

    >>> afford(1e15, "the moments of 30000000 features", "use fewer features.")
    Traceback (most recent call last):
    MemoryError: the moments of 30000000 features take 8e+06 GB, and this machine has ...
    """
    if not hasattr(os, "sysconf"):
        return  # a system that does not tell
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if 8 * numbers > memory / 4:
        raise MemoryError(
            f"{what} take {8e-9 * numbers:.3g} GB, and this machine has {1e-9 * memory:.3g}: {instead}"
        )
