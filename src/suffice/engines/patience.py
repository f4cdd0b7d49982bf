"""Patience: how long a fold on a cluster waits for a task, and what it does then."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_seconds: ContextVar[float] = ContextVar("patience", default=600.0)


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Wait so long, in the folds inside the block, for a cluster on which nothing moves; 600 s if not said.

    When no task of a fold has ended for so long, those still missing are sent once more: they keep no
    state, and the bits are the same whoever ends first. When again none ends, the fold gives up with a
    TimeoutError that names the blocks it waited for.

    >>> import suffice
    >>> with suffice.patience(3600):
    ...     pass
    """
    if not seconds > 0:
        raise ValueError(f"patience({seconds}): there must be some, in seconds.")
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
    """The numbers of n tasks in their order, each when it has ended: the policy of every cluster.

    `ended(numbers, seconds)` waits so long at most for one of these tasks, and says which have ended;
    `again(numbers)` sends them once more; `what(numbers)` is what they are called, and `look` what to look
    at where none ends.
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
                    f"Inside `with suffice.patience({10 * span:g}):` a fit waits longer."
                )
        known.discard(number)
        yield number


def blocks_of(runs: list[int], length: int) -> str:
    """The blocks of some runs of so many blocks each, in words."""
    shown = [f"{m * length} to {(m + 1) * length - 1}" if length > 1 else f"{m}" for m in runs[:8]]
    return f"blocks {', '.join(shown)}" + (f" and {len(runs) - 8} other tasks" if len(runs) > 8 else "")
