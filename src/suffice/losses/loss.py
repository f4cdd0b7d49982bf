"""Losses of a target y and raw scores f, with their derivatives in f: what fits minimize.

A loss is a value: the loss of a row, its gradient and curvature, the raw scores of a prediction (the link of
generalized linear models), what raw scores predict (its inverse), and the targets that it allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.values import Value


@dataclass(frozen=True)
class Domain:
    """Numbers from `low` on, or above it."""

    low: float
    above: bool = False

    def outside(self, y: np.ndarray) -> np.ndarray:
        """Which numbers are outside."""
        return y <= self.low if self.above else y < self.low


@dataclass(frozen=True, eq=False)
class Loss(Value):
    """A loss of a target and K raw scores; of N rows, y is (N,) and f is (N, K)."""

    domain: ClassVar[Domain | None] = None  # of the targets; None if all numbers are allowed
    n_outputs: ClassVar[int] = 1
    constant: ClassVar[bool] = True  # whether the curvature is 1
    largest: ClassVar[tuple[float, float] | None] = None  # gradient and curvature, where they are bounded
    leaf: ClassVar[str] = "step"  # the value of a leaf: a Newton step, or a "quantile" of the residuals
    level: ClassVar[float] = 0.5  # of that quantile
    factor: ClassVar[float] = 1.0  # of the loss that GradientBoosting reports, as scikit-learn does

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """The loss of each row, (N,)."""
        raise NotImplementedError

    def derivatives(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Gradient and curvature of each row, (N, K); None if the curvature is constant."""
        raise NotImplementedError

    def evaluate(self, y: np.ndarray, f: np.ndarray, value: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        """Fill in the loss (N,), gradient and curvature (N, K) of rows; without a curvature, h is (N, 0)."""
        value[:] = self.value(y, f)
        g[:], curvature = self.derivatives(y, f)
        if curvature is not None:
            h[:] = curvature

    def evaluated(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss (N,), gradient and curvature (N, K) of each row; a constant curvature is (N, 0)."""
        N, K = f.shape
        out = np.empty(N), np.empty((N, K)), np.empty((N, 0 if self.constant else K))
        self.evaluate(y, f, *out)
        return out

    def baseline(self, mean: np.ndarray) -> np.ndarray:
        """The raw scores (..., K) of predictions: of numbers (..., 1), or of the shares of the classes."""
        return mean

    def predicted(self, f: np.ndarray) -> np.ndarray:
        """The predicted numbers, or the probabilities of classes, of raw scores."""
        return f[:, 0]
