"""The loops that are compiled when the package is built, of the level of instructions that the CPU has.

The sources in `native/` are compiled for v2, v3 (AVX2) and v4 (AVX-512) of x86-64, and once for another
architecture. All levels give the same bits. The environment variable SUFFICE_CPU chooses one, to see that.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from . import _cpu  # type: ignore[attr-defined]

ALL = ("v2", "v3", "v4") if _cpu.level() != "base" else ("base",)
LEVELS = ALL[: ALL.index(_cpu.level()) + 1]  # that this CPU has
LEVEL = os.environ.get("SUFFICE_CPU") or LEVELS[-1]


def _loops() -> Any:
    if LEVEL not in LEVELS:
        raise ImportError(f"SUFFICE_CPU is {LEVEL!r}: set one that this CPU has, {', '.join(LEVELS)}.")
    return import_module(f"._{LEVEL}", __package__)


loops = _loops()
