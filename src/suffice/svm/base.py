"""What support vector machines have in common: the kernel, the rows in memory, and the machines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from ..core.callers import warn
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.model import Predictor
from ..estimator.base import must_have_rows
from ..estimator.guarantees import Guarantee
from ..estimator.kernel import TakesKernel
from ..estimator.parameters import CHECKPOINT, POSITIVE, Interval, StrOptions
from ..fitting.dual import Columns, Duals, DualSolution, Record
from ..kernels import Kernel, KernelColumns, Linear, as_kernel
from ..statistics import moments

INSTEAD = "use KernelMachine(loss=, landmarks=1000) or LinearSVC, which sum over the rows where they are."


@dataclass(frozen=True, eq=False)
class SupportVectors(Predictor):
    """Functions of a row: weighted sums of its kernels with the support vectors, and an intercept."""

    kernel: Annotated[KernelColumns, "S, D"]  # with the support vectors
    support: Annotated[np.ndarray, "int (S,)"]  # their places in the data
    coef: Annotated[np.ndarray, "(P, S)"]
    intercept: Annotated[np.ndarray, "(P,)"]

    def __call__(self, X: Any) -> np.ndarray:
        """(N, P)."""
        return self.kernel(X) @ self.coef.T + self.intercept


def as_matrix(X: Any) -> Any:
    """Sparse rows as scikit-learn's attributes have them; others as they are."""
    return sp.csr_matrix(X) if sp.issparse(X) else X


class SupportVectorMachine(TakesKernel):
    """Base class of the machines that are fitted through their dual."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [str, callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "shrinking": ["boolean"],
        "cache_size": [POSITIVE],
        "verbose": ["verbose"],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
        "checkpoint": CHECKPOINT,
    }
    checkpoint: Any

    def _guarantee(self) -> Guarantee:
        return Guarantee("order", gathers=True)

    @contextmanager
    def _record(self, data: Any) -> Iterator[Record]:
        """Context manager: callbacks, and the checkpoint of the duals of a fit."""
        # A dual that max_iter ended is not continued.
        watch = Watch(self, self.checkpoint, data, in_order=True, limited_by="", grows=True)
        with watch.recorded(Duals(None)) as (progress, offer):
            yield Record(progress, offer)

    def _gathered(self, data: Any) -> tuple[Any, np.ndarray]:
        """The rows with a weight as one block, and their places among all rows."""
        block = data.gather(INSTEAD)
        must_have_rows(block.weight)
        self.shape_fit_ = block.X.shape
        places = np.flatnonzero(block.weight > 0)
        if len(places) < len(block):
            as_kernel(self.kernel).diagonal(block.X)  # refuses what is not square
            block = block[places]
            block = replace(block, X=block.X[:, places])
        return block, places

    def _columns(self, kernel: Kernel, X: Any, rows: np.ndarray) -> Columns:
        """Columns of the kernel matrix of these rows."""
        points = rows if kernel.precomputed else X[rows]
        if kernel.of_strings:  # which takes far longer to compute than to read: once, and by symmetry half
            N = len(rows)
            afford(N * N, f"the kernels of {N} strings", "fit fewer of them.")
            K = kernel(points)
            return Columns(lambda some, part: K[some, part], K.diagonal, N, int(self.cache_size * 2**20))

        def diagonal() -> np.ndarray:
            return kernel.diagonal(X[rows][:, rows] if kernel.precomputed else points)

        def compute(some: np.ndarray, part: slice) -> np.ndarray:
            return kernel(X[rows[some]], points[part])

        return Columns(compute, diagonal, len(rows), int(self.cache_size * 2**20))

    def _machine(
        self,
        kernel: Kernel,
        X: Any,
        support: np.ndarray,
        places: np.ndarray,
        coef: np.ndarray,
        intercept: Any,
    ) -> SupportVectors:
        """The model of these support vectors. `coef` are (P, N)."""
        if sp.issparse(X) and not kernel.precomputed:
            columns = KernelColumns(kernel, X[support])
        else:
            columns = KernelColumns.of(kernel, X, support, INSTEAD)
        if kernel.precomputed:
            support = places[support]
            columns = columns.replace(points=support)
        return SupportVectors(columns, support, coef, np.asarray(intercept))

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: SupportVectors = progress.model
        precomputed = model.kernel.kernel.precomputed
        vectors = np.empty((0, 0)) if precomputed else as_matrix(model.kernel.points)
        return {"support_": model.support.astype(np.int32), "support_vectors_": vectors}

    def _as_fitted(self, coef: np.ndarray) -> Any:
        """Coefficients of support vectors: sparse if these are, with an entry for each."""
        if not sp.issparse(self.support_vectors_):
            return coef
        P, S = coef.shape
        return sp.csr_matrix((coef.ravel(), np.tile(np.arange(S), P), S * np.arange(P + 1)), shape=(P, S))

    def _set_weights(self, kernel: Kernel, sign: float = 1.0) -> None:
        """The weights of the features, of a linear kernel."""
        self.__dict__.pop("coef_", None)
        if isinstance(kernel, Linear):
            points = self.model_.kernel.points
            coef = sign * self.model_.coef
            self.coef_ = as_matrix(sp.csr_array(coef) @ points) if sp.issparse(points) else coef @ points

    def _set_function(
        self, kernel: Kernel, block: Any, places: np.ndarray, beta: np.ndarray, intercept: float
    ) -> None:
        """The fitted attributes of a machine of one function."""
        support = np.flatnonzero(beta)
        model = self._machine(kernel, block.X, support, places, beta[None, support], [intercept])
        self._publish(Progress(model))
        self.dual_coef_, self.intercept_ = self._as_fitted(self.model_.coef), self.model_.intercept
        self.n_support_ = np.array([len(support)], np.int32)
        self._set_weights(kernel)

    def _must_converge(self, solutions: list[DualSolution]) -> None:
        """Set the state of the fit, and warn if it stopped early."""
        self.converged_ = all(solution.violation <= self.tol for solution in solutions)
        self.fit_status_ = 0 if self.converged_ else 1
        if not self.converged_:
            warn(
                f"Solver terminated early (max_iter={self.max_iter}).  Consider pre-processing your data "
                "with StandardScaler or MinMaxScaler.",
                ConvergenceWarning,
            )

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
