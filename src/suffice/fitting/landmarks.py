"""Landmarks: a few rows whose kernels with a row are its features (the Nyström method).

Landmarks are sampled by hashes of the rows, in one pass: see `seeding`.

Williams and Seeger, "Using the Nyström method to speed up kernel machines", 2001; Drineas and Mahoney, "On
the Nyström method for approximating a Gram matrix", 2005.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from scipy.linalg import eigh

from ..core.cost import afford
from ..core.hashing import row_hashes
from ..core.model import Model
from ..engines.local import map_rows
from ..kernels import Kernel, KernelColumns
from .seeding import NOBODY, SPARE, Sample, draw


@dataclass(frozen=True, eq=False)
class Landmarks(Model):
    """Features of rows whose inner products approximate the kernel: phi(x) = root' k(landmarks, x).

    They are exact for the landmarks.
    """

    size: int  # how many landmarks to sample
    seed: int
    symmetric: bool  # whether `root` is the symmetric one, or has a column for each positive eigenvalue
    columns: Annotated[KernelColumns, "M, D"]
    root: Annotated[np.ndarray, "(M, R)"]  # root root' is the inverse of k(landmarks, landmarks)

    @classmethod
    def to_sample(cls, kernel: Kernel, n_features: int, size: int, seed: int, symmetric: bool) -> Landmarks:
        """Before the rows are read: no landmarks yet."""
        if kernel.precomputed:
            raise ValueError(
                "Landmarks are rows, and a precomputed kernel has none: pass the rows as X, and their kernel "
                "as a Kernel, a name or a function."
            )
        instead = "use fewer landmarks."
        afford(max(size**2, (size + SPARE) * n_features), f"the kernels of {size} landmarks", instead)
        return cls(size, seed, symmetric, KernelColumns(kernel, np.empty((0, n_features))), np.empty((0, 0)))

    def summarize(self, block: Any) -> Sample:
        return draw(self.size + SPARE, self.seed, 0, NOBODY, block)

    def estimate(self, s: Sample) -> Self:
        points = s.first(self.size)
        kernel = self.columns.kernel.with_rows(points)
        root = inverse_root if self.symmetric else inverse_factor
        return self.replace(columns=KernelColumns(kernel, points), root=root(kernel(points)))

    def features(self, X: Any) -> np.ndarray:
        """phi(x) of each row of a block, (N, R)."""
        return self.columns(X).dot(self.root)

    def __call__(self, X: Any) -> np.ndarray:
        """phi(x) of each row in memory, (N, R)."""
        return map_rows(self.features, X)

    def indices(self, X: Any) -> np.ndarray:
        """The index of the first row in memory that equals each landmark, (M,)."""
        hashes = map_rows(lambda rows: row_hashes(rows, 0), X)
        order = np.argsort(hashes, kind="stable")
        return order[np.searchsorted(hashes, row_hashes(self.columns.points, 0), sorter=order)]


def inverse_root(K: np.ndarray) -> np.ndarray:
    """The symmetric inverse square root of a Gram matrix. Eigenvalues below the rounding error are set to it.

    Of a kernel that is not positive definite, it has the signs of the eigenvalues.
    """
    values, Q = eigh(K)
    size = np.maximum(np.abs(values), _rounding(values))
    return (Q * (np.where(values < 0, -1.0, 1.0) / np.sqrt(size))) @ Q.T


def inverse_factor(K: np.ndarray) -> np.ndarray:
    """F with F F' the pseudo-inverse of a Gram matrix: a column for each eigenvalue above rounding."""
    values, Q = eigh(K)
    positive = values > _rounding(values)
    return np.ascontiguousarray(Q[:, positive] / np.sqrt(values[positive]))


def _rounding(values: np.ndarray) -> float:
    """The rounding error of eigenvalues; one if all are zero."""
    return float(len(values) * np.finfo(np.float64).eps * np.abs(values).max(initial=0.0)) or 1.0
