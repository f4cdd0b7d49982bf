"""Base of the support vector machines: the kernel, the rows in memory, and the fit through the dual."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from ..core.blocks import Matrix
from ..core.callers import warn
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.model import Predictor
from ..core.partitions import Partitions
from ..estimator.base import must_have_rows
from ..estimator.guarantees import Guarantee
from ..estimator.kernel import TakesKernel
from ..estimator.parameters import POSITIVE, Interval, StrOptions
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

    def __call__(self, X: Matrix) -> np.ndarray:
        """(N, P)."""
        return self.kernel(X) @ self.coef.T + self.intercept


class Problem(NamedTuple):
    """The input of one dual: rows with their targets and weights."""

    rows: np.ndarray  # their numbers in the block of the task
    y: Any  # 1 or -1 for a pair of classes, numbers, or None
    weight: np.ndarray


class Task(NamedTuple):
    """The input of a fit: rows in memory, the kernel, and the problems."""

    block: Any  # the rows with a positive weight
    places: np.ndarray  # their numbers among all rows
    shape: tuple[int, ...]  # the shape of X
    kernel: Kernel
    problems: tuple[Problem, ...]
    codes: np.ndarray  # the number of the class of each row; zeros without classes
    classes: Any = None
    factors: Any = None  # the weights of the classes


class Result(NamedTuple):
    """The solution of a problem: the coefficients and the intercept of its function."""

    beta: np.ndarray  # of its rows
    intercept: float
    solution: DualSolution
    parameter: float = np.nan  # C of a pair of classes, or epsilon of `NuSVR`


@dataclass(frozen=True, eq=False, kw_only=True)
class SupportFit(Progress):
    """A fit through its duals, as the fitted attributes of scikit-learn; None for those that a machine
    does not have."""

    shape_fit_: tuple[int, ...]
    support_: Annotated[np.ndarray, "int (S,)"]
    support_vectors_: Any  # (S, D), dense or CSR
    dual_coef_: Any  # (P, S), dense or CSR
    intercept_: Annotated[np.ndarray, "(P,)"]
    n_support_: Annotated[np.ndarray, "int (K,)"]
    n_iter_: Any
    converged_: bool
    fit_status_: int
    coef_: Any = None
    classes_: Any = None
    class_weight_: Any = None
    C_: Any = None
    sigmoids_: Any = None
    epsilon_: float | None = None
    offset_: Any = None


def as_matrix(X: Matrix) -> Any:
    """Sparse rows as the matrix type of scikit-learn's attributes; dense rows unchanged."""
    return sp.csr_matrix(X) if sp.issparse(X) else X


def _as_sparse(coef: np.ndarray) -> Any:
    """Coefficients of sparse support vectors: a matrix with an entry for each."""
    P, S = coef.shape
    return sp.csr_matrix((coef.ravel(), np.tile(np.arange(S), P), S * np.arange(P + 1)), shape=(P, S))


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
        "max_iter": [Interval(Integral, -1, None, closed="left")],
    }
    reports_tasks = True
    checkpoint: Any
    _guarantee = Guarantee.always("order", gathers=True)

    @abstractmethod
    def _solve_dual(self, columns: Columns, y: np.ndarray, weight: np.ndarray, record: Record) -> Result:
        """Solve the dual of a problem."""

    def _solve(self, data: Partitions) -> Progress:
        # A dual that max_iter ended is not continued.
        watch = Watch(self, self.checkpoint, data, in_order=True, limited_by="", grows=True)
        with watch.recorded(Duals(None)) as (progress, offer):
            record, task, results = Record(progress, offer), self._task(data), []
            for problem in task.problems:
                columns = self._columns(task.kernel, task.block.X, problem.rows)
                results.append(self._solve_dual(columns, problem.y, problem.weight, record))
                record.reached(None, results[-1].solution.objective)
            return self._finished(task, results)

    def _task(self, data: Partitions) -> Task:
        """The rows with a weight as one block, the kernel, and one problem of all of them."""
        block = data.gather(INSTEAD)
        must_have_rows(block.weight)
        shape, places = block.X.shape, np.flatnonzero(block.weight > 0)
        if len(places) < len(block):
            as_kernel(self.kernel).diagonal(block.X)  # refuses what is not square
            block = block[places]
            block = replace(block, X=block.X[:, places])
        problem = Problem(np.arange(len(block)), block.y, block.weight)
        kernel = self._kernel_of(block.X, block.weight)
        return Task(block, places, shape, kernel, (problem,), np.zeros(len(block), np.int64))

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

    def _finished(self, task: Task, results: list[Result]) -> SupportFit:
        """The fit, in the arrays of scikit-learn; a warning if a dual stopped early."""
        kernel, X = task.kernel, task.block.X
        coef = np.zeros((len(results), len(task.block)))
        for row, problem, result in zip(coef, task.problems, results, strict=True):
            row[problem.rows] = result.beta
        support = np.flatnonzero(coef.any(axis=0))
        support = support[np.argsort(task.codes[support], kind="stable")]
        coef = np.ascontiguousarray(coef[:, support])
        n_support = np.bincount(
            task.codes[support], minlength=1 if task.classes is None else len(task.classes)
        )
        if sp.issparse(X) and not kernel.precomputed:
            columns = KernelColumns(kernel, X[support])
        else:
            columns = KernelColumns.of(kernel, X, support, INSTEAD)
        if kernel.precomputed:
            support = task.places[support]
            columns = columns.replace(points=support)
        model = SupportVectors(columns, support, coef, np.array([result.intercept for result in results]))
        vectors = np.empty((0, 0)) if kernel.precomputed else as_matrix(columns.points)
        sign, dual = self._dual_coef(coef, n_support)
        weights = None
        if isinstance(kernel, Linear):
            points, weights = columns.points, sign * coef
            weights = as_matrix(sp.csr_array(weights) @ points) if sp.issparse(points) else weights @ points
        converged = all(result.solution.violation <= self.tol for result in results)
        if not converged:
            warn(
                f"Solver terminated early (max_iter={self.max_iter}).  Consider pre-processing your data "
                "with StandardScaler or MinMaxScaler.",
                ConvergenceWarning,
            )
        return SupportFit(
            model=model,
            shape_fit_=task.shape,
            support_=support.astype(np.int32),
            support_vectors_=vectors,
            dual_coef_=_as_sparse(dual) if sp.issparse(vectors) else dual,
            intercept_=sign * model.intercept,
            n_support_=n_support.astype(np.int32),
            n_iter_=results[0].solution.n_iter,
            converged_=converged,
            fit_status_=0 if converged else 1,
            coef_=weights,
        )

    def _dual_coef(self, coef: np.ndarray, n_support: np.ndarray) -> tuple[float, np.ndarray]:
        """The sign of the decision function relative to scikit-learn's, and the coefficients of the
        support vectors in scikit-learn's order."""
        return 1.0, coef

    def _kernel_of(self, X: Any, weight: np.ndarray) -> Kernel:
        """The kernel, with the parameters that it computes from the rows."""
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
