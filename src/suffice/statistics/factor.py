"""Triangular (QR) factor of centred rows by TSQR. It keeps the digits that a scatter matrix loses by
squaring.

Two factors are merged by factoring their stacked rows: Demmel, Grigori, Hoemmen and Langou,
"Communication-optimal parallel and sequential QR and LU factorizations", 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from scipy.linalg import qr

from ..core.statistics import Statistics


@dataclass(frozen=True, eq=False)
class Factor(Statistics):
    """Weight and mean of rows, and R with R'R their scatter about that mean."""

    weight: float
    mean: Annotated[np.ndarray, "(D,)"]
    R: Annotated[np.ndarray, "(M, D)"]

    def __add__(self, other: Self) -> Self:
        weight = self.weight + other.weight
        share = other.weight / weight if weight else 0.0
        delta = other.mean - self.mean
        between = np.sqrt(self.weight * share) * delta
        rows = np.concatenate([self.R, other.R, between[None]])
        return self.replace(weight=weight, mean=self.mean + share * delta, R=triangle(rows))

    def __mul__(self, factor: float) -> Self:
        return self.replace(weight=self.weight * factor, R=self.R * np.sqrt(factor))

    __rmul__ = __mul__

    @property
    def scatter(self) -> np.ndarray:
        return self.R.T @ self.R


def factor(X: np.ndarray, weight: np.ndarray) -> Factor:
    """The triangular factor of the rows of X."""
    total = float(weight.sum())
    mean = weight.dot(X) / (total or 1.0)
    return Factor(total, mean, triangle((X - mean) * np.sqrt(weight)[:, None]))


def triangle(rows: np.ndarray) -> np.ndarray:
    """The triangular factor, with as few rows as possible."""
    if len(rows) <= rows.shape[1]:
        return rows
    return qr(rows, mode="r", overwrite_a=True, check_finite=False)[0][: rows.shape[1]]
