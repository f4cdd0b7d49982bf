"""Kernels between rows and support rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

from ..core.values import Value


@dataclass(frozen=True, eq=False)
class Kernel(Value):
    """Kernel of rows with the support rows."""

    rows: Annotated[Any, "(M, D) or int (M,)"]  # if precomputed, their places among its columns
    kernel: Any
    gamma: float | None = None
    degree: float = 3
    coef0: float = 1

    def __call__(self, X: Any) -> np.ndarray:
        if not X.shape[0] or not self.rows.shape[0]:
            return np.zeros((X.shape[0], self.rows.shape[0]))
        if callable(self.kernel):
            return np.asarray(self.kernel(X, self.rows), dtype=np.float64)
        if self.kernel == "precomputed":
            return np.asarray(X[:, self.rows], dtype=np.float64)
        params = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return pairwise_kernels(X, self.rows, metric=self.kernel, filter_params=True, **params)
