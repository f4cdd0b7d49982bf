"""The number of BLAS threads of this process, as its host reads and sets it."""

from __future__ import annotations

from typing import Any

from threadpoolctl import ThreadpoolController


def blas_libraries() -> list[Any]:
    return ThreadpoolController().select(user_api="blas").lib_controllers


def limits() -> list[int]:
    return [lib.num_threads for lib in blas_libraries()]


def set_threads(lib: Any, n: int) -> None:
    """As the host would: from whichever thread this is."""
    if hasattr(lib, "clear_controlling_thread"):
        lib.clear_controlling_thread(force=True)
    lib.set_num_threads(n)
    if hasattr(lib, "clear_controlling_thread"):
        lib.clear_controlling_thread(force=True)
