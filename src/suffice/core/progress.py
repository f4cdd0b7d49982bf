"""Progress of the passes over the data: the line that `suffice.progress` shows."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TextIO, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

REDRAW_SECONDS = 0.1
LOG_SECONDS = 10.0  # where a line cannot be drawn over, as in a log file

_shown: Display | None = None  # of the process, whose threads all count


@contextmanager
def progress(file: TextIO | None = None) -> Iterator[None]:
    """Context manager: show the progress of fits and predictions, in rows read by each pass.

    One line tells the method that runs, the pass, its rows so far and, from the second pass over the same
    data, of how many. Every pass is shown: those that seed or sample, those of the iterations, and those of
    `predict`, also with ``to="folder"``. On Ray and Dask it counts tasks instead of rows; Spark shows its own
    progress. For the iterations of a fit, see scikit-learn's callbacks.

    Parameters
    ----------
    file : file object, default=None
        Where the line is written. If None, the standard error stream. In a terminal or a notebook the line is
        drawn over; elsewhere a new one is written every ten seconds.

    Examples
    --------
    >>> import sys, numpy as np, suffice
    >>> from suffice.linear_model import LinearRegression
    >>> with suffice.progress():
    ...     model = LinearRegression().fit(np.eye(3), [1.0, 2.0, 3.0])
    """
    global _shown
    before, _shown = _shown, Display(file or sys.stderr)
    try:
        yield
    finally:
        _shown = before


class Display:
    """The line of the method that runs: its passes, and the rows of the present one."""

    def __init__(self, file: TextIO) -> None:
        self.file, self.lock = file, threading.Lock()
        self.over = file.isatty() or "ipykernel" in sys.modules
        self.name, self.began, self.drawn, self.width = "", 0.0, 0.0, 0
        self.passes, self.in_pass, self.what, self.unit, self.done = 0, False, "", "rows", 0
        self.total: int | None = None
        self.totals: dict[int, int] = {}  # rows of a complete pass, by data

    def start(self, name: str) -> None:
        self.name, self.began, self.drawn, self.passes = name, time.monotonic(), time.monotonic(), 0
        self.totals.clear()

    def advance(self, n: int) -> None:
        with self.lock:
            self.done += n
            now = time.monotonic()
            if now - self.drawn >= (REDRAW_SECONDS if self.over else LOG_SECONDS):
                self.drawn = now
                self._draw()

    def _draw(self, end: str = "") -> None:
        of = f" of {self.total:,}" if self.total is not None and self.total >= self.done else ""
        what = f" ({self.what})" if self.what else ""
        seconds = time.monotonic() - self.began
        line = f"{self.name}: pass {self.passes}{what}, {self.done:,}{of} {self.unit}, {seconds:.1f} s"
        if self.over:
            self.file.write("\r" + line.ljust(self.width) + end)
        else:
            self.file.write(line + "\n")
        self.width = len(line)
        self.file.flush()

    def finish(self) -> None:
        """The last state stays, if there was a pass."""
        with self.lock:
            if self.passes:
                self._draw("\n")
        self.name = ""


def shown(method: F) -> F:
    """Decorator: show the passes of a method under its name, unless another method that is shown calls it."""

    @wraps(method)
    def call(self: Any, *args: Any, **more: Any) -> Any:
        display = _shown
        if display is None or display.name:
            return method(self, *args, **more)
        display.start(f"{type(self).__name__}.{method.__name__}")
        try:
            return method(self, *args, **more)
        finally:
            display.finish()

    return call  # type: ignore[return-value]


@contextmanager
def one_pass(
    f: Callable[..., Any], data: Any, unit: str = "rows", total: int | None = None
) -> Iterator[Callable[[int], None]]:
    """Show one pass of `f` over the data, and yield the function that counts its rows.

    A pass inside another, as of a prediction for one block, is not shown.
    """
    display = _shown
    if display is None or display.in_pass or not display.name:
        yield _uncounted
        return
    display.in_pass, display.passes, display.what = True, display.passes + 1, getattr(f, "stage", "")
    display.unit, display.done, display.total = unit, 0, display.totals.get(id(data), total)
    try:
        yield display.advance
        display.totals[id(data)] = display.done
    finally:
        display.in_pass = False


def counted(count: Callable[[int], None], results: Iterable[Any]) -> Iterator[Any]:
    """The results of tasks, each counted as it comes."""
    for result in results:
        count(1)
        yield result


def _uncounted(n: int) -> None:
    pass


def stage(name: str) -> Callable[[F], F]:
    """Decorator of functions that are folded: what the line calls their passes."""

    def named(f: F) -> F:
        f.stage = name  # type: ignore[attr-defined]
        return f

    return named
