"""Kernels, and their sums, products, scaling, exponentials, normalization and centering.

Schölkopf and Smola, "Learning with Kernels", 2002, ch. 13; Li 7.3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Annotated, Any, Self

import numpy as np

from ..core.blocks import dense
from ..core.values import Value

PIECE = 64  # rows of the Gram matrices whose diagonals are computed by default


class Kernel(Value, ABC):
    """A kernel k(x, z). Called with rows, it returns their Gram matrix.

    ``k + l``, ``k * l`` and ``2 * k`` are kernels, too.

    Examples
    --------
    >>> from suffice.kernels import RBF, Linear, Normalized
    >>> kernel = 0.5 * RBF(gamma=0.1) + Normalized(Linear())
    >>> kernel([[0.0, 1.0], [1.0, 1.0]], [[0.0, 2.0]]).round(4)
    array([[1.4524],
           [1.1165]])
    """

    @abstractmethod
    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        """Return the Gram matrix k(x_n, z_m), (N, M). If `Z` is None, it is `X`."""

    def diagonal(self, X: Any) -> np.ndarray:
        """Return k(x_n, x_n), (N,)."""
        pieces = [X[a : a + PIECE] for a in range(0, n_rows(X), PIECE)]
        return np.concatenate([np.empty(0), *(self(piece).diagonal() for piece in pieces)])

    def with_rows(self, X: Any, weight: Any = None) -> Self:
        """Return the kernel adapted to the training rows. Estimators call it in `fit`; see `Centered`."""
        parts = {k: v.with_rows(X, weight) for k, v in self.fields().items() if isinstance(v, Kernel)}
        return self.replace(**parts) if parts else self

    @property
    def precomputed(self) -> bool:
        """Whether X is a Gram matrix."""
        return any(part.precomputed for part in self.fields().values() if isinstance(part, Kernel))

    @property
    def of_strings(self) -> bool:
        """Whether rows are strings or sequences of symbols."""
        return any(part.of_strings for part in self.fields().values() if isinstance(part, Kernel))

    def __add__(self, other: Any) -> Kernel:
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, float(other)) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__


KernelLike = Kernel | Callable[..., Any] | str  # what `as_kernel` takes


def must_be_finite(K: Any) -> None:
    """Raise a ValueError if a Gram matrix, or its largest entry, is not finite."""
    if not np.isfinite(K).all():
        raise ValueError(
            "The kernel matrix has NaN or infinite entries, or some too large for float32: leave out NaN, or "
            "scale features."
        )


def n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


@dataclass(frozen=True)
class Sum(Kernel):
    """k(x, z) + l(x, z). Written ``k + l``."""

    left: Kernel
    right: Kernel

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        return self.left(X, Z) + self.right(X, Z)

    def diagonal(self, X: Any) -> np.ndarray:
        return self.left.diagonal(X) + self.right.diagonal(X)


@dataclass(frozen=True)
class Product(Kernel):
    """k(x, z) l(x, z). Written ``k * l``."""

    left: Kernel
    right: Kernel

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        return self.left(X, Z) * self.right(X, Z)

    def diagonal(self, X: Any) -> np.ndarray:
        return self.left.diagonal(X) * self.right.diagonal(X)


@dataclass(frozen=True)
class Scaled(Kernel):
    """c k(x, z). Written ``c * k``. If c is negative, it is not positive definite."""

    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        if not np.isfinite(self.factor):
            raise ValueError(f"The factor of a kernel must be finite; got {self.factor}.")

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        return self.factor * self.kernel(X, Z)

    def diagonal(self, X: Any) -> np.ndarray:
        return self.factor * self.kernel.diagonal(X)


@dataclass(frozen=True)
class Exponential(Kernel):
    """exp k(x, z).

    Examples
    --------
    >>> from suffice.kernels import Exponential, Linear
    >>> Exponential(Linear())([[0.0], [1.0]]).round(4)
    array([[1.    , 1.    ],
           [1.    , 2.7183]])
    """

    kernel: Kernel

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        return np.exp(self.kernel(X, Z))

    def diagonal(self, X: Any) -> np.ndarray:
        return np.exp(self.kernel.diagonal(X))


@dataclass(frozen=True)
class Normalized(Kernel):
    """k(x, z) / sqrt(k(x, x) k(z, z)): the cosine of the angle in feature space.

    It is zero where k(x, x) or k(z, z) is zero, e.g. for strings that are too short for `Subsequences`.

    Examples
    --------
    >>> from suffice.kernels import Linear, Normalized
    >>> Normalized(Linear())([[3.0, 4.0]], [[5.0, 0.0], [0.0, 0.0]])
    array([[0.6, 0. ]])
    """

    kernel: Kernel

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        length = self._inverse_length(X)
        other = length if Z is None else self._inverse_length(Z)
        return self.kernel(X, Z) * length[:, None] * other

    def diagonal(self, X: Any) -> np.ndarray:
        return (self._inverse_length(X) > 0).astype(np.float64)

    def _inverse_length(self, X: Any) -> np.ndarray:
        square = self.kernel.diagonal(X)
        if (square < 0).any():
            raise ValueError(
                f"Normalized needs k(x, x) >= 0; got {square.min()} of {self.kernel}. The kernel is not "
                "positive definite."
            )
        return 1.0 / np.sqrt(np.where(square > 0, square, np.inf))


@dataclass(frozen=True, eq=False)
class Centered(Kernel):
    """The kernel of rows that are centered in feature space, ``phi(x) - mean``.

    The mean is that of `points`. If they are None, it is the mean of the rows of a Gram matrix ``k(X)``, or
    the weighted mean of the training rows of an estimator with this kernel.

    Examples
    --------
    >>> from suffice.kernels import Centered, Linear
    >>> Centered(Linear())([[1.0], [3.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """

    kernel: Kernel
    points: Annotated[Any, "labels (M, ...) or None"] = None
    weight: Annotated[Any, "real (M,) or None"] = None

    def with_rows(self, X: Any, weight: Any = None) -> Self:
        if self.points is not None:
            return self
        points = np.asarray(dense(X))
        return self.replace(kernel=self.kernel.with_rows(X, weight), points=points, weight=weight)

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        if self.points is None and Z is None:
            K = self.kernel(X)
            row = K.mean(axis=1)
            return K - row[:, None] - K.mean(axis=0) + row.mean()
        if self.points is None:
            raise ValueError(
                "Centered has no points to center at: use Centered(kernel, points=X), or leave out Z."
            )
        means = self._means(X)
        other = means if Z is None else self._means(Z)
        return self.kernel(X, Z) - means[:, None] - other + self._mean

    def diagonal(self, X: Any) -> np.ndarray:
        if self.points is None:
            return self(X).diagonal()
        return self.kernel.diagonal(X) - 2.0 * self._means(X) + self._mean

    def _means(self, X: Any) -> np.ndarray:
        """Return the mean of k(x, points) for each row, (N,)."""
        return np.average(self.kernel(X, self.points), axis=1, weights=self.weight)

    @cached_property
    def _mean(self) -> float:
        return float(np.average(self._means(self.points), weights=self.weight))
