"""What support vector machines have in common: the kernel, the rows in memory, and the machines."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar

import numpy as np

from ..core.values import Value
from ..estimator.base import Estimator
from ..estimator.guarantees import Guarantee
from ..estimator.parameters import Interval, StrOptions
from ..kernels import Kernel, KernelColumns, as_kernel, is_precomputed
from ..statistics import moments

INSTEAD = "use LinearSVC, which sums over the rows where they are."


@dataclass(frozen=True, eq=False)
class SupportVectors(Value):
    """Functions of a row: weighted sums of its kernels with the support vectors, and an intercept."""

    kernel: Annotated[KernelColumns, "S, D"]  # with the support vectors
    support: Annotated[np.ndarray, "int (S,)"]  # their places in the data
    coef: Annotated[np.ndarray, "(P, S)"]
    intercept: Annotated[np.ndarray, "(P,)"]

    def __call__(self, X: Any) -> np.ndarray:
        """(N, P)."""
        return self.kernel(X) @ self.coef.T + self.intercept


class SupportVectorMachine(Estimator):
    """Base class of the machines that are fitted through their dual."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [str, callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "shrinking": ["boolean"],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "verbose": ["verbose"],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
    }

    def _guarantee(self) -> Guarantee:
        return Guarantee("order", gathers=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    def _kernel_of(self, X: Any, weight: np.ndarray) -> Kernel:
        """The kernel, with what it takes from the rows."""
        params = None
        if isinstance(self.kernel, str):
            params = {"gamma": self._width(X, weight), "degree": self.degree, "coef0": self.coef0}
        kernel = as_kernel(self.kernel, params).with_rows(X, weight)
        if kernel.precomputed:
            kernel.diagonal(X)  # refuses what is not square
        return kernel

    def _width(self, X: Any, weight: np.ndarray) -> float:
        """gamma: 'scale' is one over the number of features times the variance of all numbers."""
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        if self.gamma == "auto":
            return 1.0 / X.shape[1]
        m = moments(X, weight, "diagonal")
        variance = float((m.scatter / m.weight).mean() + m.mean.var())
        return 1.0 / (X.shape[1] * variance) if variance > 0.0 else 1.0
