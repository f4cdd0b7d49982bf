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
LOG_SECONDS = 10.0  # between lines of a file, where a line cannot be overwritten

_shown: Display | None = None  # one for the process: all its threads count rows


@contextmanager
def progress(file: TextIO | None = None) -> Iterator[None]:
    """Context manager: show the progress of fits and predictions, in rows read by each pass.

    One line shows the method that runs, the pass and its iteration (the last one is `n_iter_`), the rows read
    so far and in total, and the estimated time until the end of the pass. The total is known in the first
    pass for rows in memory and for local Parquet files, and from the second pass over the same data
    otherwise.

    Words in parentheses say what the pass does: it seeds, stratifies, gathers rows in memory, or caches them
    for the next passes. If several transformers of a `ColumnTransformer` share a pass, their names are shown;
    if several fits of a search do, the number of fits.

    Every pass is shown, also those of `predict` with ``to="folder"``. On Ray and Dask, tasks are counted
    instead of rows; Spark shows its own progress. For the iterations of a fit, see scikit-learn's callbacks.

    Parameters
    ----------
    file : file object, default=None
        File to which the line is written. If None, the standard error stream. In a terminal or a notebook the
        line is overwritten; elsewhere a new line is written every ten seconds.

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
    """The line that shows the running method: its passes, and the rows of the current pass."""

    def __init__(self, file: TextIO) -> None:
        self.file, self.lock = file, threading.Lock()
        self.over = file.isatty() or "ipykernel" in sys.modules
        self.name, self.began, self.drawn, self.width = "", 0.0, 0.0, 0
        self.passes, self.in_pass, self.unit, self.done, self.pass_began = 0, False, "rows", 0, 0.0
        self.what: list[str] = []  # words for what the pass does
        self.shared_by = ""  # the fits that share the passes
        self.iteration = 0
        self.thread = 0  # id of the thread that runs the method
        self.total: int | None = None
        self.totals: dict[int, int] = {}  # rows of a complete pass, by the id of the data

    def start(self, name: str) -> None:
        self.name, self.began, self.drawn, self.passes = name, time.monotonic(), time.monotonic(), 0
        self.iteration, self.shared_by, self.thread = 0, "", threading.get_ident()
        self.totals.clear()

    def start_pass(self, f: Any, data: Any, unit: str, total: int | None) -> None:
        self.in_pass, self.passes, self.pass_began = True, self.passes + 1, time.monotonic()
        self.what = [word for word in (self.shared_by, getattr(f, "stage", "")) if word]
        self.unit, self.done = unit, 0
        if id(data) in self.totals:
            self.total = self.totals[id(data)]
        else:
            self.total = rows_known(data) if total is None else total

    def advance(self, n: int) -> None:
        with self.lock:
            self.done += n
            self._redraw()

    def _redraw(self) -> None:
        now = time.monotonic()
        if now - self.drawn >= (REDRAW_SECONDS if self.over else LOG_SECONDS):
            self.drawn = now
            self._draw()

    def _draw(self, end: str = "") -> None:
        now = time.monotonic()
        parts = [f"{self.name}: pass {self.passes}"]
        if self.iteration:
            parts[0] += f", iteration {self.iteration}"
        if self.what:
            parts[0] += f" ({', '.join(dict.fromkeys(self.what))})"
        known = self.total is not None and self.total >= self.done
        of = f" of {self.total:,}" if known else ""
        parts += [f"{self.done:,}{of} {self.unit}", span(now - self.began)]
        if known and self.in_pass and 0 < self.done < (self.total or 0):
            left = (now - self.pass_began) * ((self.total or 0) / self.done - 1.0)
            parts += [f"about {span(left, 0)} left in this pass"] if left >= 0.5 else []
        line = ", ".join(parts)
        if self.over:
            self.file.write("\r" + line.ljust(self.width) + end)
        else:
            self.file.write(line + "\n")
        self.width = len(line)
        self.file.flush()

    def finish(self) -> None:
        """Write the final state, if there was a pass."""
        with self.lock:
            if self.passes:
                self._draw("\n")
        self.name, self.width = "", 0


def span(seconds: float, digits: int = 1) -> str:
    """Format a duration in seconds, minutes or hours."""
    if seconds < 59.5:
        return f"{seconds:.{digits}f} s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(int(minutes), 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds:02.0f} s"


def rows_known(data: Any) -> int | None:
    """Return the number of rows of blocks in memory, or of batches if it is known before they are read."""
    if isinstance(data, tuple):
        return sum(rows_of(block) or 0 for block in data)
    return getattr(data, "n_rows", None)


def rows_of(block: Any) -> int | None:
    """Return the number of rows of a block, or of a numbered batch that becomes a block.

    The block may have fewer: a training part drops rows, and the examples of a block may be sequences.
    """
    if isinstance(block, tuple):
        return getattr(block[-1], "num_rows", None)
    return len(block) if hasattr(block, "__len__") else None


def at_iteration(n: int) -> None:
    """Set the iteration that the next passes belong to. Ignored in other threads than that of the method:
    fits that share passes run in threads, each with its own iterations."""
    if _shown is not None and _shown.thread == threading.get_ident():
        _shown.iteration = n


def in_this_pass(word: str) -> None:
    """Add a word for what the current pass also does, e.g. "caching"."""
    if _shown is not None and _shown.in_pass:
        _shown.what.append(word)


@contextmanager
def shared_by(fits: str) -> Iterator[None]:
    """Context manager: passes are shared by these fits, e.g. "numbers, categories" or "12 fits"."""
    display = _shown
    if display is None:
        yield
        return
    before, display.shared_by = display.shared_by, fits if not display.shared_by else display.shared_by
    try:
        yield
    finally:
        display.shared_by = before


def shown(method: F) -> F:
    """Decorator: show the passes of a method under its name, unless a method that is shown calls it."""

    @wraps(method)
    def call(self: Any, *args: Any, **more: Any) -> Any:
        with showing(f"{type(self).__name__}.{method.__name__}"):
            return method(self, *args, **more)

    return call  # type: ignore[return-value]


@contextmanager
def showing(name: str) -> Iterator[None]:
    """Context manager: show the passes under this name, unless another name is shown."""
    display = _shown
    if display is None or display.name:
        yield
        return
    display.start(name)
    try:
        yield
    finally:
        display.finish()


@contextmanager
def one_pass(
    f: Callable[..., Any], data: Any, unit: str = "rows", total: int | None = None
) -> Iterator[Callable[[int], None]]:
    """Context manager: show one pass of `f` over the data, and yield the function that counts its rows.

    A pass inside another, such as the prediction for one block, is not shown.
    """
    display = _shown
    if display is None or display.in_pass or not display.name:
        yield _uncounted
        return
    display.start_pass(f, data, unit, total)
    try:
        yield display.advance
        display.totals[id(data)] = display.done
    finally:
        display.in_pass = False


def counted(count: Callable[[int], None], results: Iterable[Any]) -> Iterator[Any]:
    """Iterate over the results of tasks, and count each."""
    for result in results:
        count(1)
        yield result


def _uncounted(n: int) -> None:
    pass


def stage(name: str) -> Callable[[F], F]:
    """Decorator: set the word by which the passes that fold a function are shown."""

    def named(f: F) -> F:
        f.stage = name  # type: ignore[attr-defined]
        return f

    return named
