"""Statistics: the sums of a model over the examples, and the fixed order of summation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

from .blas import one_blas_thread
from .values import Value

T = TypeVar("T")


class Statistics(Value):
    """A frozen dataclass that adds field by field and scales by a number.

    Fields are floats, float64 arrays, statistics, or tuples of these. The zero is the summary of an
    empty block. A class whose fields do not simply add (centred moments, sketches) refines `__add__`.
    """

    # Whether the fields are integers, whose sum has the same bits in any order. Then a fold calls
    # ``f(..., block, onto=total)``, which adds the block to the total, possibly in place, and returns it.
    any_order: ClassVar[bool] = False

    def __add__(self, other: Self) -> Self:
        return self.replace(
            **{name: _add(mine, getattr(other, name)) for name, mine in self.fields().items()}
        )

    def __mul__(self, factor: float) -> Self:
        return self.replace(**{name: _scale(mine, factor) for name, mine in self.fields().items()})

    __rmul__ = __mul__


@dataclass(frozen=True, eq=False)
class Parts(Statistics):
    """Several statistics of the same rows, each added on its own."""

    parts: tuple[Any, ...]


def _add(a: Any, b: Any) -> Any:
    if isinstance(a, tuple):
        return tuple(_add(*pair) for pair in zip(a, b, strict=True))
    return a + b


def _scale(a: Any, factor: float) -> Any:
    return tuple(_scale(part, factor) for part in a) if isinstance(a, tuple) else a * factor


@one_blas_thread  # some statistics are added by a factorization, e.g. triangular factors
def add(a: T, b: T) -> T:
    return a + b  # type: ignore[operator]


def tree_sum(terms: Iterable[T], add: Callable[[T, T], T] = add) -> T:
    """Sum in the order of the carries of binary counting.

    The order depends on the positions of the terms alone, not on their time of arrival. An aligned run of 2^g
    terms is a subtree, so summing the runs first gives the same bits. At most log2(n) + 1 partial sums are
    held.

    >>> tree_sum(["a", "b", "c", "d", "e"], add=lambda a, b: f"({a}{b})")
    '(((ab)(cd))e)'
    """
    partial: list[T] = []
    for n, term in enumerate(terms):
        while n & 1:
            n, term = n >> 1, add(partial.pop(), term)
        partial.append(term)
    if not partial:
        raise ValueError("There is nothing to sum: the data has no rows.")
    while len(partial) > 1:
        last = partial.pop()
        partial.append(add(partial.pop(), last))
    return partial[0]
