"""Timeouts of folds on a cluster, and retries of tasks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_seconds: ContextVar[float] = ContextVar("task_timeout", default=600.0)


@contextmanager
def task_timeout(seconds: float) -> Iterator[None]:
    """Context manager: set the timeout in seconds of folds that make no progress on a cluster.

    The default is 600 s. If no task of a fold ends within this time, the missing ones are submitted once
    more. They are stateless, so the bits are the same. If again none ends, the fold raises a TimeoutError
    that names the missing blocks.

    >>> import suffice
    >>> with suffice.task_timeout(3600):
    ...     pass
    """
    if not seconds > 0:
        raise ValueError(f"task_timeout takes a positive number of seconds; got {seconds}.")
    token = _seconds.set(float(seconds))
    try:
        yield
    finally:
        _seconds.reset(token)


def seconds() -> float:
    return _seconds.get()


def in_order(
    n: int,
    ended: Callable[[list[int], float], Collection[int]],
    again: Callable[[list[int]], Any],
    what: Callable[[list[int]], str],
    look: str,
) -> Iterator[int]:
    """Yield the indices of n tasks in order, each when it has ended. All clusters use it.

    `ended(numbers, seconds)` waits up to `seconds` for one of these tasks, and returns those that have ended.
    `again(numbers)` submits them once more. `what(numbers)` describes them for the error if none ends, and
    `look` is its advice.
    """
    span = seconds()
    known: set[int] = set()
    sent = False
    for number in range(n):
        while number not in known:
            if now := ended([number], span) or ended(
                left := [m for m in range(number, n) if m not in known], 0.0
            ):
                known |= set(now)
                sent = False
            elif not sent:
                again(left)
                sent = True
            else:
                raise TimeoutError(
                    f"No task has ended for {span:g} seconds, nor for {span:g} more after those "
                    f"missing were sent again: {what(left)} are waited for. {look} "
                    f"Inside `with suffice.task_timeout({10 * span:g}):` a fit waits longer."
                )
        known.discard(number)
        yield number


def blocks_of(runs: list[int], length: int) -> str:
    """Return a description of the blocks of some runs."""
    shown = [f"{m * length} to {(m + 1) * length - 1}" if length > 1 else f"{m}" for m in runs[:8]]
    return f"blocks {', '.join(shown)}" + (f" and {len(runs) - 8} other tasks" if len(runs) > 8 else "")
