"""Landmarks of the Nyström method: a few rows; the features of a row are its kernels with them.

Landmarks are sampled by hashes of the rows, in one pass (see `seeding`).

Williams and Seeger, "Using the Nyström method to speed up kernel machines", 2001; Drineas and Mahoney, "On
the Nyström method for approximating a Gram matrix", 2005.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from scipy.linalg import eigh

from ..core.blocks import Matrix, Rows, Sequences
from ..core.cost import afford
from ..core.hashing import row_hashes
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.randomness import Purpose
from ..core.threads import map_rows
from ..kernels import Kernel, KernelColumns
from ..kernels.base import must_be_finite
from .problem import LossModel
from .seeding import NOBODY, SPARE, Sample, draw

NEGATIVE = 1e-5  # negative eigenvalues beyond this fraction of the largest are not rounding errors


@dataclass(frozen=True, eq=False)
class Landmarks(Model):
    """Features of rows whose inner products approximate the kernel: phi(x) = root' k(landmarks, x).

    The approximation is exact for the landmarks.
    """

    size: int  # number of landmarks to sample
    seed: int
    symmetric: bool  # whether `root` is the symmetric one, or has a column for each positive eigenvalue
    columns: Annotated[KernelColumns, "M, D"]
    root: Annotated[np.ndarray, "(M, R)"]  # root root' is the inverse of k(landmarks, landmarks)

    @classmethod
    def to_sample(cls, kernel: Kernel, n_features: int, size: int, seed: int, symmetric: bool) -> Landmarks:
        """Return the model whose `summarize` samples landmarks."""
        if kernel.precomputed:
            raise ValueError(
                "Landmarks are rows, and a precomputed kernel has none: pass the rows as X, and their kernel "
                "as a Kernel, a name or a function."
            )
        if kernel.of_strings:
            raise ValueError(
                f"Landmarks are sampled from rows of numbers, and {kernel} compares strings: use "
                "landmarks=None, the exact solution."
            )
        instead = "use fewer landmarks."
        afford(max(size**2, (size + SPARE) * n_features), f"the kernels of {size} landmarks", instead)
        return cls(size, seed, symmetric, KernelColumns(kernel, np.empty((0, n_features))), np.empty((0, 0)))

    @classmethod
    def all_rows(cls, kernel: Kernel, block: Rows, instead: str) -> tuple[Landmarks, np.ndarray]:
        """Return all rows of a block as landmarks, and their exact features, (N, R)."""
        N = len(block)
        afford(N**2, f"the kernels of {N} rows", instead)
        kernel = kernel.with_rows(block.X, block.weight)
        K, columns = kernel(block.X), KernelColumns.of(kernel, block.X, np.arange(N), instead)
        root = inverse_factor(K)
        return cls(N, 0, False, columns, root), K.dot(root)

    @classmethod
    def of_gram(cls, kernel: Kernel, block: Rows, size: int, seed: int) -> tuple[Landmarks, Sample]:
        """Return landmarks that are columns of a Gram matrix, and the sample of its rows.

        The rows of the Gram matrix are the block.
        """
        kernel = kernel.with_rows(block.X, block.weight)
        K, nothing = kernel(block.X), KernelColumns(kernel, np.empty(0, np.int64))
        start = cls(size, seed, True, nothing, np.empty((0, 0)))
        s = start.summarize(block[np.flatnonzero(block.weight)])
        index = first_equal(s.first(size), block.X)
        root = inverse_root(K[np.ix_(index, index)])
        return start.replace(columns=KernelColumns(kernel, index), root=root), s

    def summarize(self, block: Rows) -> Sample:
        return draw(self.size + SPARE, self.seed, 0, NOBODY, block)

    def estimate(self, s: Sample) -> Self:
        points = s.first(self.size)
        kernel = self.columns.kernel.with_rows(points)
        root = inverse_root if self.symmetric else inverse_factor
        return self.replace(columns=KernelColumns(kernel, points), root=root(kernel(points)))

    def features(self, X: Matrix) -> np.ndarray:
        """Return phi(x) of each row of a block, (N, R)."""
        return self.columns(X).dot(self.root)

    @property
    def mean_squares(self) -> np.ndarray:
        """Return the mean squares of the features over the landmarks, (R,). Features are uncorrelated unless
        `symmetric`."""
        return 1.0 / (len(self.root) * np.einsum("mr,mr->r", self.root, self.root))

    def __call__(self, X: Matrix) -> np.ndarray:
        """Return phi(x) of each row in memory, (N, R)."""
        return map_rows(self.features, X)


def first_equal(points: Any, X: Matrix) -> np.ndarray:
    """Return the index of the first row in memory that equals each point, (M,)."""
    hashes = map_rows(lambda rows: row_hashes(rows, Purpose.IDENTITY), X)
    order = np.argsort(hashes, kind="stable")
    return order[np.searchsorted(hashes, row_hashes(points, Purpose.IDENTITY), sorter=order)]


def inverse_root(K: np.ndarray) -> np.ndarray:
    """Return the symmetric inverse square root of a Gram matrix. Eigenvalues are at least the rounding error.

    For a kernel that is not positive definite, it keeps the signs of the eigenvalues.
    """
    must_be_finite(K)
    values, Q = eigh(K)
    size = np.maximum(np.abs(values), _rounding(values))
    return (Q * (np.where(values < 0, -1.0, 1.0) / np.sqrt(size))) @ Q.T


def inverse_factor(K: np.ndarray) -> np.ndarray:
    """Return F with F F' the pseudo-inverse of a Gram matrix. It has one column for each eigenvalue that is
    larger than the rounding error."""
    must_be_finite(K)
    values, Q = eigh(K)
    if values.min(initial=0.0) < -max(NEGATIVE * values.max(initial=0.0), _rounding(values)):
        raise ValueError(
            f"There are significant negative eigenvalues ({values.min():g}, the largest is "
            f"{values.max():g}): the kernel is not positive definite. See "
            "suffice.kernels.is_positive_definite."
        )
    positive = values > _rounding(values)
    return np.ascontiguousarray(Q[:, positive] / np.sqrt(values[positive]))


def _rounding(values: np.ndarray) -> float:
    """Return the rounding error of eigenvalues; 1 if all are zero."""
    return float(len(values) * np.finfo(np.float64).eps * np.abs(values).max(initial=0.0)) or 1.0


@dataclass(frozen=True)
class Features:
    """Partitions with the features of landmarks. They are computed in each pass, or once if all rows are
    landmarks."""

    data: Partitions
    landmarks: Landmarks | None = None

    def fold(self, f: Callable[..., Any], *shared: Any) -> Any:
        return self.data.fold(_of_features, self.landmarks, f, shared)


def _of_features(
    landmarks: Landmarks | None, f: Callable[..., Any], shared: tuple[Any, ...], block: Rows | Sequences
) -> Any:
    if landmarks is not None:
        return f(*shared, block.replace(X=landmarks.features(block.X)))
    return f(*shared, block)


@dataclass(frozen=True, eq=False)
class LandmarkLoss(LossModel):
    """Loss of a linear model of the features of landmarks, summed over the original rows."""

    landmarks: Annotated[Landmarks, "D"]
    linear: Annotated[Any, "K"]  # LossModel: theta is (P, R), or (P, R + 1) with the intercept last

    @property
    def theta(self) -> Any:
        return self.linear.theta

    def at(self, theta: np.ndarray) -> Self:
        return self.replace(linear=self.linear.at(theta))

    @property
    def curvature(self) -> bool:
        """Whether to sum the Hessian."""
        return self.linear.curvature

    @cached_property
    def of_kernels(self) -> Any:
        """Return the equivalent linear model of the kernels with the landmarks."""
        return self.linear.replace(theta=self._of_kernels(self.theta, self.landmarks.root.T))

    def _of_kernels(self, theta: np.ndarray, root: np.ndarray) -> np.ndarray:
        return np.hstack([theta[:, : len(root)].dot(root), theta[:, len(root) :]])

    def summarize(self, block: Rows) -> Any:
        if self.curvature:
            return self.linear.summarize(block.replace(X=self.landmarks.features(block.X)))
        # The features are not formed: multiplying kernels by the few columns of scores takes less time.
        s = self.of_kernels.summarize(block.replace(X=self.landmarks.columns(block.X)))
        gradient = s.gradient.reshape(len(self.theta), -1)
        return s.replace(gradient=self._of_kernels(gradient, self.landmarks.root).ravel())

    def estimate(self, s: Any) -> Self:
        return self.replace(linear=self.linear.estimate(s))
