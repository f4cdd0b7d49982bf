"""Targets and weights of trees on a grid of integers, whose sums are exact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.special import xlogy

from ..core.blocks import Rows
from ..core.hashing import row_hashes
from ..core.randomness import Purpose
from ..core.values import Value
from ..estimator.base import must_have_rows
from ..loops.trees import (
    ENTROPY,
    GINI,
    INDICATORS,
    MISCLASSIFICATION,
    POISSON,
    SQUARED_ERROR,
    value_of,
    weight_of,
)
from ..statistics import class_codes
from ..statistics.bins import grid
from ..statistics.histograms import Binned

CLASS_CRITERIA = {
    "gini": GINI,
    "entropy": ENTROPY,
    "log_loss": ENTROPY,
    "misclassification": MISCLASSIFICATION,
}
INDICATOR_CRITERIA = {"gini": SQUARED_ERROR, "entropy": INDICATORS, "log_loss": INDICATORS}
NUMBER_CRITERIA = {"squared_error": SQUARED_ERROR, "poisson": POISSON}
WEIGHT_BITS = 52  # bits of a sum of weights, which a float represents exactly


class ImpurityTarget(Value):
    """A target whose impurity is computed from sums of integers."""

    criterion: int

    def size(self, s: np.ndarray) -> np.ndarray:
        """The integer weight of nodes with these sums (..., O)."""
        return weight_of(s, self.criterion)

    def ordered(self, s: np.ndarray, low: float, high: float) -> np.ndarray:
        """The quantity that a monotonicity constraint orders: the mean target, or the fraction of the
        second class."""
        return value_of(s, self.criterion)


@dataclass(frozen=True, eq=False)
class ClassTarget(ImpurityTarget):
    """Classes. The weight of a row is multiplied by the weight of its class."""

    criterion: int
    classes: Annotated[np.ndarray, "labels (K,)"]
    class_weight: Annotated[np.ndarray, "(K,)"]
    weight_unit: float  # integers of a unit of weight

    @classmethod
    def of(cls, criterion: str, classes: np.ndarray, totals: np.ndarray, weight: np.ndarray) -> ClassTarget:
        """The target of classes with these total weights."""
        return cls(CLASS_CRITERIA[criterion], classes, weight, grid(float(totals.dot(weight)), WEIGHT_BITS))

    n_entries = 1  # integers of each row

    @property
    def n_outputs(self) -> int:
        return len(self.classes)

    @property
    def gain_unit(self) -> float:
        """The number of integers per unit of the gain of a split, weight times impurity."""
        return self.weight_unit

    def integers(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """The class of each row, and its weight, (N, 1)."""
        k = class_codes(self.classes, rows.y.reshape(len(rows)))
        weight = np.rint(rows.weight * self.class_weight[k] * self.weight_unit)
        return k.astype(np.int64), weight.astype(np.int64)[:, None]

    def described(
        self, sums: np.ndarray, pure: np.ndarray, bounds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Shares of the classes, weight and impurity of nodes with these sums."""
        total = sums.sum(axis=1)
        p = sums / total[:, None]
        if self.criterion == GINI:
            impurity = 1.0 - (p**2).sum(axis=1)
        elif self.criterion == ENTROPY:
            impurity = -xlogy(p, p).sum(axis=1) / np.log(2.0)
        else:
            impurity = 1.0 - p.max(axis=1)
        if len(self.classes) == 2 and np.isfinite(bounds).any():
            share = np.clip(p[:, 1], *bounds.T)
            p = np.stack([1.0 - share, share], axis=1)
        return p, total / self.weight_unit, np.where(pure, 0.0, impurity)

    def observed(self, block: Binned) -> np.ndarray:
        """The class of each row of a binned block."""
        return np.asarray(block.y)

    def loss(self, value: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The zero-one loss: 1 where the most frequent class is not the class of the row."""
        return (value.argmax(axis=1) != y).astype(np.float64)

    def totals(self, block: Binned) -> np.ndarray:
        """The integer weight of each class in a binned block."""
        return np.bincount(block.y, block.entry[:, 0], minlength=len(self.classes))

    def balanced(self, totals: np.ndarray) -> np.ndarray:
        """Factors by which classes with these totals have equal weights."""
        return totals.sum() / (len(totals) * np.maximum(totals, 1.0))

    def row_factors(self, factor: np.ndarray, block: Binned) -> np.ndarray:
        """The factor of the class of each row of a binned block."""
        return factor[block.y]


@dataclass(frozen=True, eq=False)
class ClassTargets(ImpurityTarget):
    """Classes of several targets. The weight of a row is multiplied by the weights of its classes.

    Sums are of the indicators of all classes, one target after the other. The Gini index of a target is the
    sum of the variances of its indicators, so that the mean over the targets needs no more.
    """

    criterion: int
    classes: Annotated[tuple[np.ndarray, ...], "T of labels (V_t,)"]
    class_weight: Annotated[tuple[np.ndarray, ...], "T of (V_t,)"]
    weight_unit: float

    @classmethod
    def of(
        cls, criterion: str, classes: tuple[np.ndarray, ...], weight: tuple[np.ndarray, ...], total: float
    ) -> ClassTargets:
        """The targets of classes with these weights, for rows with this total weight."""
        if criterion not in INDICATOR_CRITERIA:
            raise ValueError(
                f"criterion={criterion!r} is for one target, and y has {len(classes)}: use 'gini' or "
                "'entropy'."
            )
        return cls(INDICATOR_CRITERIA[criterion], classes, weight, grid(total, WEIGHT_BITS))

    @property
    def n_outputs(self) -> int:
        return 1 + self.stops[-1]

    n_entries = n_outputs

    @property
    def stops(self) -> list[int]:
        """The end of each target among the indicators."""
        return np.cumsum([len(classes) for classes in self.classes]).tolist()

    def parts(self, x: np.ndarray) -> list[np.ndarray]:
        """Split the last axis of an array, which has an entry for each class, by target."""
        return np.split(x, self.stops[:-1], axis=-1)

    @property
    def gain_unit(self) -> float:
        return self.weight_unit * len(self.classes)

    def integers(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """A hash of the classes of each row; and its weight, and that of its indicators."""
        codes = class_codes_of(self.classes, rows.y)
        w = np.rint(rows.weight * class_factors(self.class_weight, codes) * self.weight_unit)
        entry = np.zeros((len(w), self.n_entries), np.int64)
        entry[:, 0] = w
        first = np.array([1, *(1 + stop for stop in self.stops[:-1])])
        np.put_along_axis(entry, codes + first, entry[:, :1], axis=1)
        return row_hashes(codes.astype(np.float64), Purpose.IDENTITY).view(np.int64), entry

    def described(
        self, sums: np.ndarray, pure: np.ndarray, bounds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Shares of the classes of all targets, weight and mean impurity of nodes with these sums."""
        p, T = sums[:, 1:] / sums[:, :1], len(self.classes)
        if self.criterion == SQUARED_ERROR:
            impurity = 1.0 - (p**2).sum(axis=1) / T
        else:
            impurity = -xlogy(p, p).sum(axis=1) / np.log(2.0) / T
        return p, sums[:, 0] / self.weight_unit, np.where(pure, 0.0, impurity)

    def observed(self, block: Binned) -> np.ndarray:
        """The classes of each row of a binned block, (N, T)."""
        return np.stack([part.argmax(axis=1) for part in self.parts(block.entry[:, 1:])], axis=1)

    def loss(self, value: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The share of the targets for which the class with the largest share is another."""
        best = np.stack([part.argmax(axis=1) for part in self.parts(value)], axis=1)
        return (best != y).mean(axis=1)

    def totals(self, block: Binned) -> np.ndarray:
        return block.entry[:, 1:].sum(axis=0).astype(np.float64)

    def balanced(self, totals: np.ndarray) -> np.ndarray:
        return np.concatenate([t.sum() / (len(t) * np.maximum(t, 1.0)) for t in self.parts(totals)])

    def row_factors(self, factor: np.ndarray, block: Binned) -> np.ndarray:
        return np.where(block.entry[:, 1:] > 0, factor, 1.0).prod(axis=1)


def class_codes_of(classes: tuple[np.ndarray, ...], y: np.ndarray) -> np.ndarray:
    """The class index of each label of several targets, (N, T)."""
    return np.stack([class_codes(c, y[:, t]) for t, c in enumerate(classes)], axis=1).astype(np.int64)


def class_factors(weight: tuple[np.ndarray, ...], codes: np.ndarray) -> np.ndarray:
    """The product of the weights of the classes of each row."""
    return np.prod([w[code] for w, code in zip(weight, codes.T, strict=True)], axis=0)


def class_weighted(classes: tuple[np.ndarray, ...], weight: tuple[np.ndarray, ...], rows: Rows) -> float:
    """The total weight of rows, with those of their classes."""
    return float(rows.weight.dot(class_factors(weight, class_codes_of(classes, rows.y))))


def check_total_weight(total: float) -> None:
    """Raise if the rows have no weight, or more than whole numbers can sum."""
    must_have_rows(total)
    if total > 2.0**WEIGHT_BITS:
        raise ValueError(
            f"The sum of sample_weight is {total:g}, expected at most 2^{WEIGHT_BITS}, since trees sum "
            "weights as whole numbers: divide the weights by a constant."
        )


def weighted(weight: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Weights times whole numbers, rounded; exact for whole weights, so that they equal repetition."""
    floor = np.floor(weight)
    exact = floor.astype(np.int64) * np.clip(x, -(2.0**62), 2.0**62).astype(np.int64)
    return exact + np.rint((weight - floor) * x).astype(np.int64)


@dataclass(frozen=True, eq=False)
class NumberTarget(ImpurityTarget):
    """Numbers, less a center."""

    criterion: int
    center: float
    weight_unit: float
    target_unit: float  # integers of a unit of weight times target
    term_unit: float  # and of weight times the term of the impurity that a split does not change

    @classmethod
    def of(cls, criterion: str, low: float, high: float, weight: float) -> NumberTarget:
        """The target of numbers in this range, for rows with this total weight."""
        center = low + 0.5 * (high - low) if criterion == "squared_error" else 0.0
        largest = max(high - center, center - low)
        self = cls(NUMBER_CRITERIA[criterion], center, grid(weight, WEIGHT_BITS), grid(weight * largest), 1.0)
        most = np.abs(terms(self.criterion, np.array([low - center, high - center, math.exp(-1.0)]))).max()
        return self.replace(term_unit=grid(weight * float(most)))

    n_outputs = 2
    n_entries = 3

    @property
    def gain_unit(self) -> float:
        if self.criterion == POISSON:
            return self.target_unit
        return self.target_unit / self.weight_unit * self.target_unit

    def integers(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """The bits of the target of each row; and its weight, weighted target and weighted term, (N, 3)."""
        y = rows.y.astype(np.float64).reshape(len(rows)) - self.center
        target, term = np.rint(y * self.target_unit), np.rint(terms(self.criterion, y) * self.term_unit)
        unit = np.full(len(y), self.weight_unit)
        entry = np.stack([weighted(rows.weight, x) for x in (unit, target, term)], axis=1)
        return (target + 0.0).view(np.int64), entry  # turns -0.0 into 0.0

    def described(
        self, sums: np.ndarray, pure: np.ndarray, bounds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean, weight and impurity of nodes with these sums."""
        weight, ratio = sums[:, 0] / self.weight_unit, sums[:, 1] / sums[:, 0]
        unit = self.weight_unit / self.target_unit
        impurity = sums[:, 2] / self.term_unit / weight - terms(self.criterion, ratio * unit)
        mean = np.clip(ratio, *bounds.T) * unit + self.center
        return mean[:, None], weight, np.where(pure, 0.0, np.maximum(impurity, 0.0))

    def numbers(self, group: np.ndarray) -> np.ndarray:
        """The targets from their bits."""
        return group.view(np.float64) / self.target_unit + self.center

    def observed(self, block: Binned) -> np.ndarray:
        """The targets of a binned block."""
        return self.numbers(np.asarray(block.y))

    def loss(self, value: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The squared error, or half the Poisson deviance."""
        return losses(self.criterion, y, value[:, 0])


@dataclass(frozen=True, eq=False)
class NumberTargets(ImpurityTarget):
    """Several numbers, less their centers. Splits compare them on one grid; means are of a grid for each."""

    criterion: int
    center: Annotated[np.ndarray, "(T,)"]
    weight_unit: float
    split_unit: float  # integers of a unit of weight times target, for splits
    target_unit: Annotated[np.ndarray, "(T,)"]  # and for the mean of each target
    term_unit: float

    @classmethod
    def of(cls, criterion: str, low: np.ndarray, high: np.ndarray, weight: float) -> NumberTargets:
        """The targets of numbers in these ranges, for rows with this total weight."""
        each = [NumberTarget.of(criterion, *pair, weight) for pair in zip(low, high, strict=True)]
        unit, term = (np.array([getattr(t, name) for t in each]) for name in ("target_unit", "term_unit"))
        center = np.array([t.center for t in each])
        least = math.ldexp(float(term.min()), -math.ceil(math.log2(len(each))))  # of a sum over the targets
        return cls(each[0].criterion, center, each[0].weight_unit, float(unit.min()), unit, least)

    @property
    def n_outputs(self) -> int:
        return 1 + len(self.center)

    @property
    def n_entries(self) -> int:
        return 2 + 2 * len(self.center)

    @property
    def gain_unit(self) -> float:
        unit = self.split_unit * len(self.center)
        return unit if self.criterion == POISSON else unit / self.weight_unit * self.split_unit

    def integers(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """A hash of the targets of each row; and its weight, weighted targets on both grids, and weighted
        term."""
        y = rows.y.astype(np.float64) - self.center
        target, term = np.rint(y * self.target_unit), terms(self.criterion, y).sum(axis=1)
        columns = [np.full(len(y), self.weight_unit), *np.rint(y * self.split_unit).T, *target.T]
        columns.append(np.rint(term * self.term_unit))
        entry = np.stack([weighted(rows.weight, x) for x in columns], axis=1)
        return row_hashes(target, Purpose.IDENTITY).view(np.int64), entry

    def described(
        self, sums: np.ndarray, pure: np.ndarray, bounds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Means, weight and mean impurity of nodes with these sums."""
        weight, mean = sums[:, 0] / self.weight_unit, self._means(sums)
        impurity = sums[:, -1] / self.term_unit / weight - terms(self.criterion, mean).sum(axis=1)
        impurity = np.where(pure, 0.0, np.maximum(impurity, 0.0)) / len(self.center)
        return mean + self.center, weight, impurity

    def _means(self, sums: np.ndarray) -> np.ndarray:
        """The mean targets minus their centers, from the sums of nodes or rows."""
        ratio = sums[:, self.n_outputs : -1] / np.maximum(sums[:, :1], 1)
        return ratio * (self.weight_unit / self.target_unit)

    def observed(self, block: Binned) -> np.ndarray:
        """The targets of a binned block, (N, T)."""
        return self._means(block.entry) + self.center

    def loss(self, value: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The mean over the targets of the squared error, or half the Poisson deviance."""
        return losses(self.criterion, y, value).mean(axis=1)


def terms(criterion: int, y: np.ndarray) -> np.ndarray:
    """The function f whose Jensen gap is the impurity: the mean of f(y) minus f(mean of y)."""
    return y * y if criterion == SQUARED_ERROR else xlogy(y, y)


def losses(criterion: int, y: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """The squared error or half the Poisson deviance of predictions."""
    if criterion == SQUARED_ERROR:
        return (y - mean) ** 2
    return xlogy(y, y) - xlogy(y, mean) - y + mean
