"""Exact weighted quantiles of groups of numbers, by counting: radix selection on the bits of doubles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from ..core.partitions import Partitions
from ..core.statistics import Statistics

FEW_ROWS = 1 << 16  # rows up to which digits have 8 bits: more passes, but smaller counts
TOP = np.uint64(1 << 63)


def ordered_bits(x: np.ndarray) -> np.ndarray:
    """Unsigned integers in the order of the numbers."""
    bits = (x + 0.0).view(np.uint64)  # turns -0.0 into 0.0
    return np.where(bits & TOP, ~bits, bits | TOP)


def number_of_bits(bits: np.ndarray) -> np.ndarray:
    """The numbers of `ordered_bits`."""
    return np.where(bits & TOP, bits ^ TOP, ~bits).view(np.float64)


@dataclass(frozen=True, eq=False)
class DigitCounts(Statistics):
    """The integer weight of each value of the next digit, in each group."""

    count: Annotated[np.ndarray, "int (G, V)"]

    any_order: ClassVar[bool] = True

    @classmethod
    def of(cls, prefix: np.ndarray, shift: int, n_bits: int, numbers: Any, onto: Any = None) -> DigitCounts:
        """The weight of each digit, among the numbers whose bits above it are the prefix of their group. The
        digit begins at bit `shift`."""
        bits, group, weight = ordered_bits(numbers.X[:, 0]), np.asarray(numbers.y), numbers.weight
        if onto is None:
            onto = cls(np.zeros((len(prefix), 1 << n_bits), np.int64))
        if shift + n_bits < 64:
            upper = np.uint64(shift + n_bits)
            same = np.flatnonzero(bits >> upper == prefix[group] >> upper)
            bits, group, weight = bits[same], group[same], weight[same]
        digit = ((bits >> np.uint64(shift)) & np.uint64((1 << n_bits) - 1)).astype(np.int64)
        np.add.at(onto.count.reshape(-1), (group << n_bits) + digit, weight.astype(np.int64))
        return onto


@dataclass(frozen=True, eq=False)
class NextLarger(Statistics):
    """The smallest number of each group that exceeds a bound; infinite if none does."""

    number: Annotated[np.ndarray, "(G,)"]

    def __add__(self, other: Self) -> Self:
        return self.replace(number=np.minimum(self.number, other.number))

    @classmethod
    def of(cls, bound: np.ndarray, numbers: Any) -> NextLarger:
        out, x, group = np.full(len(bound), np.inf), numbers.X[:, 0], np.asarray(numbers.y)
        larger = np.flatnonzero(x > bound[group])
        np.minimum.at(out, group[larger], x[larger])
        return cls(out)


def group_quantiles(numbers: Partitions, n_groups: int, level: float, n_rows: int) -> np.ndarray:
    """A quantile of each group, (G,): the smallest number whose cumulative weight reaches the fraction
    `level`. If it is reached exactly, the mean with the next larger number, so that the median of 1 and 2
    is 1.5. Zero for an empty group.

    The rows of the blocks have a number, its group as their target, and an integer weight. The order of the
    rows and their blocks do not matter, and a weight of two is a repetition.
    """
    n_bits, groups = 8 if n_rows <= FEW_ROWS else 16, np.arange(n_groups)
    prefix, below = np.zeros(n_groups, np.uint64), np.zeros(n_groups, np.int64)
    total, goal, exact = below, np.zeros(n_groups), np.zeros(n_groups, bool)
    for shift in range(64 - n_bits, -1, -n_bits):
        count = numbers.fold(DigitCounts.of, prefix, shift, n_bits).count
        if shift == 64 - n_bits:
            total = count.sum(axis=1)
            goal = np.maximum(level * total, 1.0)
        end = np.cumsum(count, axis=1) + below[:, None]
        digit = np.minimum((end < goal[:, None]).sum(axis=1), end.shape[1] - 1)
        exact = end[groups, digit] == goal
        below = end[groups, digit] - count[groups, digit]
        prefix |= digit.astype(np.uint64) << np.uint64(shift)
    out = np.where(total > 0, number_of_bits(prefix), 0.0)
    if (exact & (total > 0)).any():
        above = numbers.fold(NextLarger.of, out).number
        out = np.where(exact & (total > 0) & np.isfinite(above), 0.5 * out + 0.5 * above, out)
    return out
