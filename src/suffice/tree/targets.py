"""Targets and weights of trees on a grid of integers, whose sums are exact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.special import xlogy

from ..core.values import Value
from ..loops.trees import ENTROPY, GINI, MISCLASSIFICATION, POISSON, SQUARED_ERROR
from ..statistics import class_codes
from ..statistics.bins import grid

CLASS_CRITERIA = {
    "gini": GINI,
    "entropy": ENTROPY,
    "log_loss": ENTROPY,
    "misclassification": MISCLASSIFICATION,
}
NUMBER_CRITERIA = {"squared_error": SQUARED_ERROR, "poisson": POISSON}
WEIGHT_BITS = 52  # so that a sum of weights is a float


@dataclass(frozen=True, eq=False)
class ClassTarget(Value):
    """Classes. A row counts as its weight, times that of its class."""

    criterion: int
    classes: Annotated[np.ndarray, "labels (K,)"]
    class_weight: Annotated[np.ndarray, "(K,)"]
    weight_unit: float  # integers of a unit of weight

    @classmethod
    def of(cls, criterion: str, classes: np.ndarray, totals: np.ndarray, weight: np.ndarray) -> ClassTarget:
        """For classes with these total weights."""
        return cls(CLASS_CRITERIA[criterion], classes, weight, grid(float(totals.dot(weight)), WEIGHT_BITS))

    n_entries = 1  # integers of each row

    @property
    def n_outputs(self) -> int:
        return len(self.classes)

    @property
    def gain_unit(self) -> float:
        """The gain of a split as integers, of a unit of weight times impurity."""
        return self.weight_unit

    def integers(self, rows: Any) -> tuple[np.ndarray, np.ndarray]:
        """The class of each row, and its weight, (N, 1)."""
        k = class_codes(self.classes, rows.y)
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

    def loss(self, value: np.ndarray, group: np.ndarray) -> np.ndarray:
        """One where the class with the largest share is another."""
        return (value.argmax(axis=1) != group).astype(np.float64)


def weighted(weight: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Weights times whole numbers, rounded; exact for whole weights, so that they equal repetition."""
    whole = np.floor(weight)
    exact = whole.astype(np.int64) * np.clip(x, -(2.0**62), 2.0**62).astype(np.int64)
    return exact + np.rint((weight - whole) * x).astype(np.int64)


@dataclass(frozen=True, eq=False)
class NumberTarget(Value):
    """Numbers, less a center."""

    criterion: int
    center: float
    weight_unit: float
    target_unit: float  # integers of a unit of weight times target
    term_unit: float  # and of weight times the term of the impurity that a split does not change

    @classmethod
    def of(cls, criterion: str, low: float, high: float, weight: float) -> NumberTarget:
        """For targets in this range, with this total weight."""
        center = low + 0.5 * (high - low) if criterion == "squared_error" else 0.0
        largest = max(high - center, center - low)
        self = cls(NUMBER_CRITERIA[criterion], center, grid(weight, WEIGHT_BITS), grid(weight * largest), 1.0)
        most = np.abs(self._term(np.array([low - center, high - center, math.exp(-1.0)]))).max()
        return self.replace(term_unit=grid(weight * float(most)))

    n_outputs = 2
    n_entries = 3

    def _term(self, y: np.ndarray) -> np.ndarray:
        return y * y if self.criterion == SQUARED_ERROR else xlogy(y, y)

    @property
    def gain_unit(self) -> float:
        if self.criterion == POISSON:
            return self.target_unit
        return self.target_unit / self.weight_unit * self.target_unit

    def integers(self, rows: Any) -> tuple[np.ndarray, np.ndarray]:
        """The bits of the target of each row; and its weight, weighted target and weighted term, (N, 3)."""
        y = rows.y.astype(np.float64) - self.center
        target, term = np.rint(y * self.target_unit), np.rint(self._term(y) * self.term_unit)
        unit = np.full(len(y), self.weight_unit)
        entry = np.stack([weighted(rows.weight, x) for x in (unit, target, term)], axis=1)
        return (target + 0.0).view(np.int64), entry  # of the two zeros one

    def described(
        self, sums: np.ndarray, pure: np.ndarray, bounds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean, weight and impurity of nodes with these sums."""
        weight, ratio = sums[:, 0] / self.weight_unit, sums[:, 1] / sums[:, 0]
        unit = self.weight_unit / self.target_unit
        impurity = sums[:, 2] / self.term_unit / weight - self._mean_term(ratio * unit)
        mean = np.clip(ratio, *bounds.T) * unit + self.center
        return mean[:, None], weight, np.where(pure, 0.0, np.maximum(impurity, 0.0))

    def numbers(self, group: np.ndarray) -> np.ndarray:
        """The targets from their bits."""
        return group.view(np.float64) / self.target_unit + self.center

    def loss(self, value: np.ndarray, group: np.ndarray) -> np.ndarray:
        """The squared error, or half the Poisson deviance."""
        y = self.numbers(group)
        if self.criterion == SQUARED_ERROR:
            return (y - value[:, 0]) ** 2
        return xlogy(y, y) - xlogy(y, value[:, 0]) - y + value[:, 0]

    def _mean_term(self, mean: np.ndarray) -> np.ndarray:
        return mean * mean if self.criterion == SQUARED_ERROR else xlogy(mean, mean)
