"""Random parts of examples: stratified by class, or with all examples of a group in one part.

Each example has a number from 0 to 1, a hash of its values or of its group. Without strata, the number alone
determines its part. With strata, the boundaries between the parts are quantiles of the numbers of each class,
which are found by counting: a first pass counts the numbers of each class in `BINS` bins, and further passes
divide the bins that contain a boundary, until it is exact to `SPARE` rows. So the parts do not depend on the
order of the rows, on blocks or on engines.

Kohavi, "A study of cross-validation and bootstrap for accuracy estimation and model selection", 1995.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

import numpy as np

from ..core.blocks import Rows
from ..core.hashing import as_numbers, example_hashes, row_hashes, uniforms
from ..core.partitions import Partitions
from ..core.progress import stage
from ..core.randomness import Purpose
from ..core.statistics import Statistics
from ..core.values import Value
from .shared import Divided

BITS = 12  # bits of the numbers that one pass resolves
BINS = 1 << BITS
LEVELS = 4  # maximum number of passes: only equal rows have numbers that are equal to 48 bits
SPARE = 2  # rows by which a boundary may miss its quantile, since fewer are not worth another pass
MOST_CLASSES = 10_000
MOST_GROUPS = 1_000_000


class Drawing(Protocol):
    """Protocol of objects that draw a number for each example of a block, and encode labels as numbers."""

    @property
    def purpose(self) -> Purpose: ...

    @property
    def seed(self) -> tuple[int, ...]: ...

    def numbers(self, block: Any) -> np.ndarray:
        """Return a number from 0 to 1 for each example, equal within a group."""

    def labels(self, block: Any) -> np.ndarray:
        """Return the class of each example as a number."""


def _bits(label: np.ndarray) -> np.ndarray:
    """Return an integer for each label; equal labels have equal integers."""
    return (np.asarray(label, np.float64) + 0.0).view(np.uint64)  # adding zero turns -0.0 into 0.0


def _integers(number: np.ndarray) -> np.ndarray:
    return (number * 2.0 ** (BITS * LEVELS)).astype(np.uint64)


@dataclass(frozen=True, eq=False)
class Strata(Value):
    """The boundaries between the parts, for each class."""

    label: Annotated[np.ndarray, "int (C,)"]  # uint64, sorted
    boundary: Annotated[np.ndarray, "int (C, S)"]  # uint64, sorted within a class
    n_passes: int  # passes over the data that were needed

    def parts(self, number: np.ndarray, label: np.ndarray) -> np.ndarray:
        """Return the part of each example, which is the number of boundaries up to its number."""
        place = _places(self.label, label)
        return (_integers(number)[:, None] >= self.boundary[place]).sum(axis=1)

    @classmethod
    def of(cls, data: Partitions, drawing: Drawing, shares: Sequence[float]) -> Strata:
        """Return the boundaries below which each class has these shares."""
        s = data.fold(_first_counts, drawing)
        size = s.counts.sum(axis=(1, 2))
        # Rounded at random for each class: otherwise the only rows of rare classes would all be in one part.
        chance = uniforms(row_hashes(s.label.astype(np.float64)[:, None], drawing.purpose, *drawing.seed))
        wanted = np.floor(np.outer(size, shares) + chance[:, None]).astype(np.int64)
        start, below = np.zeros(wanted.shape, np.uint64), np.zeros(wanted.shape, np.int64)
        counts = np.broadcast_to(s.counts, (*wanted.shape, BINS))
        for level in range(LEVELS):
            before = np.concatenate([np.zeros((*wanted.shape, 1), np.int64), counts.cumsum(axis=2)], axis=2)
            before += below[..., None]
            bin = np.minimum((before <= wanted[..., None]).sum(axis=2) - 1, BINS - 1)
            low, high = (np.take_along_axis(before, (bin + i)[..., None], 2)[..., 0] for i in (0, 1))
            width = np.uint64(1 << BITS * (LEVELS - 1 - level))
            end = np.minimum(high - wanted, wanted - low)  # error in rows at the nearer end of the bin
            start, below = start + bin.astype(np.uint64) * width, low
            if end.max(initial=0) <= SPARE or level == LEVELS - 1:
                break
            counts = data.fold(_next_counts, drawing, s.label, start, level + 1).counts
        boundary = np.where(high - wanted < wanted - low, start + width, start)
        return cls(s.label, boundary, level + 1)


def _places(known: np.ndarray, label: np.ndarray) -> np.ndarray:
    bits = _bits(label)
    place = np.minimum(np.searchsorted(known, bits), len(known) - 1)
    if len(bits) and not (known[place] == bits).all():
        raise ValueError("The data has changed: it has values that it did not have when it was divided.")
    return place


@dataclass(frozen=True, eq=False)
class LabelCounts(Statistics):
    """Counts of rows by class and by bin of their numbers."""

    label: Annotated[np.ndarray, "int (C,)"]
    counts: Annotated[np.ndarray, "int (C, S, B)"]

    def __add__(self, other: LabelCounts) -> LabelCounts:
        label, place = np.unique(np.concatenate([self.label, other.label]), return_inverse=True)
        _must_be_classes(len(label))
        counts = np.zeros((len(label), *self.counts.shape[1:]), np.int64)
        np.add.at(counts, place, np.concatenate([self.counts, other.counts]))
        return LabelCounts(label, counts)


def _must_be_classes(n: int) -> None:
    if n > MOST_CLASSES:
        raise ValueError(
            f"Stratified parts are for classes, and this column has more than {MOST_CLASSES} values: "
            "stratify by another column, e.g. one of intervals, or do without."
        )


@stage("stratifying")
def _first_counts(drawing: Drawing, block: Any) -> LabelCounts:
    number = drawing.numbers(block)
    label, place = np.unique(_bits(drawing.labels(block)), return_inverse=True)
    _must_be_classes(len(label))
    bin = (_integers(number) >> np.uint64(BITS * (LEVELS - 1))).astype(np.int64)
    counts = np.bincount(place * BINS + bin, minlength=len(label) * BINS)
    return LabelCounts(label, counts.reshape(len(label), 1, BINS))


@stage("stratifying")
def _next_counts(
    drawing: Drawing, known: np.ndarray, start: np.ndarray, level: int, block: Rows
) -> LabelCounts:
    """Count the rows in the bins that contain a boundary, by class, boundary and narrower bin."""
    place, number = _places(known, drawing.labels(block)), _integers(drawing.numbers(block))
    counts = np.zeros((*start.shape, BINS), np.int64)
    shift = np.uint64(BITS * (LEVELS - level))
    inner = (number >> np.uint64(BITS * (LEVELS - 1 - level))) & np.uint64(BINS - 1)
    for s in range(start.shape[1]):
        inside = number >> shift == start[place, s] >> shift
        np.add.at(counts[:, s], (place[inside], inner[inside].astype(np.int64)), 1)
    return LabelCounts(known, counts)


@dataclass(frozen=True, eq=False)
class GroupParts(Value):
    """The part of each group."""

    group: Annotated[np.ndarray, "int (G,)"]  # uint64, sorted
    part: Annotated[np.ndarray, "int (G,)"]
    n_passes: int = 1

    def parts(self, number: np.ndarray, label: np.ndarray) -> np.ndarray:
        """Return the part of each example, by the number of its group."""
        return self.part[_places(self.group, number)]

    @classmethod
    def of(cls, data: Partitions, drawing: Drawing, shares: Sequence[float]) -> GroupParts:
        """Assign groups to parts, so that each part has about its share of the rows of each class.

        It takes one pass. From the largest to the smallest, each group goes to the part with the fewest rows
        of its classes, relative to the share of the part.
        """
        s = data.fold(_group_counts, drawing)
        group, place = np.unique(s.group, return_inverse=True)
        label, code = np.unique(s.label, return_inverse=True)
        counts = np.zeros((len(group), len(label)))
        counts[place, code] = s.rows
        size = counts.sum(axis=0)
        share = np.diff([0.0, *shares, 1.0])
        load, part = np.zeros((len(share), len(label))), np.zeros(len(group), np.int64)
        for g in np.lexsort((group, -counts.max(axis=1))):  # ties by group, and not by the order of rows
            # The part in which the sum of squared loads of the classes, relative to the share, grows least.
            growth = ((load + counts[g] / 2.0) @ (counts[g] / size**2)) / share
            part[g] = growth.argmin()
            load[part[g]] += counts[g]
        return cls(group, part)


@dataclass(frozen=True, eq=False)
class GroupCounts(Statistics):
    """Counts of rows by group and class."""

    group: Annotated[np.ndarray, "int (M,)"]
    label: Annotated[np.ndarray, "int (M,)"]
    rows: Annotated[np.ndarray, "int (M,)"]

    def __add__(self, other: GroupCounts) -> GroupCounts:
        names = ("group", "label", "rows")
        return GroupCounts.of(*(np.concatenate([getattr(self, n), getattr(other, n)]) for n in names))

    @classmethod
    def of(cls, group: np.ndarray, label: np.ndarray, rows: np.ndarray) -> GroupCounts:
        pairs, place = np.unique(np.stack([group, label], axis=1), axis=0, return_inverse=True)
        if len(pairs) > MOST_GROUPS:
            raise ValueError(
                f"StratifiedGroupKFold divides up to {MOST_GROUPS} pairs of a group and a class: use "
                "GroupKFold, which needs no list of the groups."
            )
        total = np.zeros(len(pairs), np.int64)
        np.add.at(total, place.ravel(), rows)
        return cls(pairs[:, 0], pairs[:, 1], total)


@stage("stratifying")
def _group_counts(drawing: Drawing, block: Any) -> GroupCounts:
    label = drawing.labels(block)
    return GroupCounts.of(_bits(drawing.numbers(block)), _bits(label), np.ones(len(label), np.int64))


@dataclass(frozen=True)
class RowDrawing:
    """Numbers of rows in arrays: hashes of the features and the target, which is their class."""

    purpose: Purpose
    seed: tuple[int, ...]

    def numbers(self, block: Rows) -> np.ndarray:
        return uniforms(example_hashes(block, self.purpose, *self.seed))

    def labels(self, block: Rows) -> np.ndarray:
        return as_numbers(block.y)


def divide_stratified(drawing: Drawing, strata: Strata, block: Rows) -> Divided:
    """Divide a block into parts that are stratified by class."""
    return Divided(
        block, lambda: strata.parts(drawing.numbers(block), drawing.labels(block)).astype(np.int16)
    )
