"""Inner loops: their compilation, the cache of their machine code, and their NumPy forms for small data."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property, update_wrapper
from types import FunctionType
from typing import Any

import numpy as np

from ..core.progress import waiting
from ..core.small import is_small

CACHED = True  # machine code is kept

# Examples that Python visits one by one in a few milliseconds, in NumPy forms that do.
MOST_VISITS = 1 << 11

log = logging.getLogger("suffice")
_lock = threading.RLock()


class Loop:
    """A function that Numba compiles when it is first called with large data.

    It may have a NumPy form beside it, which computes the same of small data without a compiler, to rounding:

        @jit
        def total(x): ...

        @total.small
        def _(x):
            return x.sum()

    The form that runs depends on the data alone: see `core.small`. A NumPy form that would take long returns
    NotImplemented, also by the data alone, and the compiled form runs. If both forms have the same bits, the
    loop is `exact`: once it is compiled, that form runs for any data.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.py_func, self.options = function, options
        self.numpy: Any = None  # the NumPy form, if there is one
        self.limit: int | None = None
        self.exact = False
        self._dispatcher: Any = None
        update_wrapper(self, function)

    def small(self, form: Callable[..., Any], limit: int | None = None) -> Callable[..., Any]:
        """Decorate the NumPy form. If data of other than the usual size is small for it, `limit` in bytes."""
        self.numpy, self.limit = form, limit
        return form

    def small_exact(self, form: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate the NumPy form that has the same bits as the compiled one."""
        self.exact = True
        return self.small(form)

    def __call__(self, *arguments: Any) -> Any:
        if self.exact and self._dispatcher is not None and self._dispatcher.overloads:
            return self._dispatcher(*arguments)
        if self.numpy is not None and is_small(arguments, self.limit):
            with np.errstate(all="ignore"):  # as compiled code
                out = self.numpy(*arguments)
            if out is not NotImplemented:
                return out
        return (self._dispatcher or self.dispatcher)(*arguments)

    @property
    def dispatcher(self) -> Any:
        """The compiled form.

        Numba keeps the machine code in NUMBA_CACHE_DIR, beside the source or in the user's cache folder: in
        the first of them that it may write to. Where it may write to none, as in a read-only container, each
        process compiles the loops that it uses.
        """
        with _lock:
            if self._dispatcher is None:
                waiting("importing Numba", begins=True)
                try:
                    from numba import njit
                finally:
                    waiting("importing Numba", begins=False)

                _log_compilation()
                jit = njit(nogil=True, error_model="numpy", **self.options)
                dispatcher = jit(_calling(self.py_func, lambda loop: loop.dispatcher))
                if CACHED:
                    with suppress(RuntimeError):  # "cannot cache function ...: no locator available"
                        dispatcher.enable_caching()
                self._dispatcher = dispatcher
            return self._dispatcher

    @cached_property
    def python(self) -> Callable[..., Any]:
        """The function as Python runs it, with the NumPy forms of the loops that it calls."""
        return _calling(self.py_func, lambda loop: loop.numpy or loop.python)

    @property
    def signatures(self) -> list[Any]:
        """The types of arguments for which there is machine code."""
        return self._dispatcher.signatures if self._dispatcher else []


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Loop]:
    """Decorator of a loop that releases the GIL, with these options of Numba."""
    return lambda function: Loop(function, options)


def _calling(function: Any, form: Callable[[Loop], Any]) -> Any:
    """The function with one form of the loops that it calls."""
    names = set(function.__code__.co_names)
    loops = {k: form(v) for k, v in function.__globals__.items() if k in names and isinstance(v, Loop)}
    return update_wrapper(FunctionType(function.__code__, {**function.__globals__, **loops}), function)


@cache
def _log_compilation() -> None:
    """Log each loop that is compiled, once for each signature. What is read from the cache is not."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            function = event.data["dispatcher"].py_func
            if function.__module__.startswith("suffice."):
                types = ", ".join(map(str, event.data["args"]))
                log.info("Compiling %s.%s(%s).", function.__module__, function.__qualname__, types)
                waiting(f"compiling {function.__qualname__}", begins=True)

        def on_end(self, event: Any) -> None:
            function = event.data["dispatcher"].py_func
            if function.__module__.startswith("suffice."):
                waiting(f"compiling {function.__qualname__}", begins=False)

    event.register("numba:compile", Listener())
