"""Functions in the space of a kernel: columns of Gram matrices, and their weighted sums. Li 7.3.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..core.blocks import Matrix, dense
from ..core.cost import afford
from ..core.values import Value
from .base import Kernel, n_rows
from .vectors import as_kernel


@dataclass(frozen=True, eq=False)
class KernelColumns(Value):
    """Columns of a Gram matrix: the kernels of rows with fixed points."""

    kernel: Kernel
    # The indices of the columns if the kernel is precomputed.
    points: Annotated[Any, "(M, D) or int (M,) or strings (M,)"]

    @classmethod
    def of(cls, kernel: Kernel, X: Matrix, support: np.ndarray, instead: str) -> KernelColumns:
        """Return the columns for the rows `support` of X, stored as dense rows.

        `instead` is the advice of the error if there are too many.
        """
        if kernel.precomputed:
            return cls(kernel, support)
        if kernel.of_strings:
            return cls(kernel, X[support, 0])
        afford(len(support) * X.shape[1], f"{len(support)} support vectors", instead)
        return cls(kernel, dense(X[support]))

    def __call__(self, X: Matrix) -> np.ndarray:
        """Return k(x_n, z_m), (N, M)."""
        return self.kernel(X, self.points)


@dataclass(frozen=True, eq=False)
class KernelExpansion(Value):
    """The function f(x) = sum_m coef_m k(x, z_m), an element of the space of the kernel (RKHS).

    Its inner product with k(x, .) is f(x): the reproducing property.

    Parameters
    ----------
    kernel : Kernel, str or callable
        k: a kernel, a name that scikit-learn knows, or a function of two arrays of rows.
    points : array of shape (n_points, n_features), or list of strings
        z.
    coef : array of shape (n_points,)
        Coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.kernels import RBF, KernelExpansion
    >>> f = KernelExpansion(RBF(0.25), np.array([[0.0], [1.0]]), np.array([0.5, -1.0]))
    >>> f([[0.0], [2.0]]).round(4)
    array([-0.2788, -0.5949])
    >>> at_2 = KernelExpansion(RBF(0.25), np.array([[2.0]]), np.ones(1))
    >>> round(f.inner(at_2), 4), round(f.norm, 4)
    (-0.5949, 0.6864)
    """

    kernel: Kernel
    points: Annotated[Any, "labels (M, ...) or None"]
    coef: Annotated[Any, "real (M,)"]

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", as_kernel(self.kernel))
        if np.shape(self.coef) != (n_rows(self.points),):
            raise ValueError(f"coef has shape {np.shape(self.coef)}, expected {(n_rows(self.points),)}.")

    def __call__(self, X: Any) -> np.ndarray:
        """Return f of each row, (N,)."""
        return self.kernel(X, self.points) @ np.asarray(self.coef, dtype=np.float64)

    def inner(self, other: KernelExpansion) -> float:
        """Return the inner product with a function that has the same kernel."""
        if self.kernel != other.kernel:
            raise ValueError(f"The functions have different kernels: {self.kernel} and {other.kernel}.")
        return float(np.asarray(other.coef, dtype=np.float64) @ self(other.points))

    @property
    def norm(self) -> float:
        """The norm, the square root of the inner product with itself."""
        square = self.inner(self)
        largest = float(np.abs(self.coef).sum() ** 2 * self.kernel.diagonal(self.points).max(initial=0.0))
        if square < -1e-12 * largest:  # rounding errors are relative to the largest terms of the sum
            raise ValueError(
                f"The squared norm is {square}: {self.kernel} is not positive definite. See "
                "is_positive_definite."
            )
        return float(np.sqrt(max(square, 0.0)))
