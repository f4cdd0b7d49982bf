"""Least squares and ridge regression from the moments of rows and targets: the data is read once.

Li ch. 1; Hoerl and Kennard, "Ridge regression", 1970.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigvalsh
from sklearn.base import MultiOutputMixin

from ..core.cost import afford
from ..core.door import has_flat_target, read_rows
from ..core.estimator import OnePass
from ..core.model import Model
from ..core.parameters import AT_LEAST_1, N_JOBS, NON_NEGATIVE, Numbers, StrOptions
from ..core.partitions import Partitions
from ..fitting.linear_algebra import solve_positive
from ..fitting.non_negative import solve_non_negative
from ..fitting.scores import Regressor
from ..statistics import Moments, moments


@dataclass(frozen=True, eq=False)
class LinearModel(Model):
    """y = X coef' + intercept, fitted by min |y - X coef' - intercept|^2 + alpha |coef|^2."""

    coef: Annotated[np.ndarray, "(T, D)"]
    intercept: Annotated[np.ndarray, "(T,)"]
    alpha: Annotated[Any, "number or real (T,)"] = 0.0
    fit_intercept: bool = True
    positive: bool = False

    def predict(self, X: Any) -> np.ndarray:
        return X @ self.coef.T + self.intercept

    def summarize(self, block: Any) -> Moments:
        return moments(columns_of(block), block.weight)

    def estimate(self, s: Moments) -> Self:
        D = self.coef.shape[1]
        square = self.square(s)
        A, B = square[:D, :D], square[:D, D:]  # X'X and X'y
        alpha = np.broadcast_to(self.alpha, B.shape[1:])
        if (alpha == alpha[0]).all():
            coef = self._solve(A, B, alpha[0])
        else:
            columns = [self._solve(A, B[:, [t]], a) for t, a in enumerate(alpha)]
            coef = np.concatenate(columns, axis=1)
        mean = s.mean if self.fit_intercept else np.zeros_like(s.mean)
        return self.replace(coef=coef.T, intercept=mean[D:] - mean[:D] @ coef)

    def square(self, s: Moments) -> np.ndarray:
        """Products of columns, about their means or, without an intercept, about the origin."""
        return s.scatter if self.fit_intercept else s.scatter + s.weight * np.outer(s.mean, s.mean)

    def _solve(self, A: np.ndarray, B: np.ndarray, alpha: float) -> np.ndarray:
        A = A + alpha * np.eye(len(A))
        if self.positive:
            return solve_non_negative(A, B)
        return solve_positive(A, B)


def columns_of(block: Any) -> Any:
    """Features and targets side by side, (N, D + T), dense or CSR."""
    X, y = block.X, block.y if block.y.ndim == 2 else block.y[:, None]
    return sp.hstack([X, y], format="csr") if sp.issparse(X) else np.hstack([X, y])


def must_have_one_target(model: LinearModel, s: Moments) -> None:
    if (targets := len(s.mean) - model.coef.shape[1]) > 1:
        raise ValueError(f"There are {targets} targets, expected one: pass one at a time.")


class LeastSquares(MultiOutputMixin, Regressor, OnePass):
    """What linear regressions from moments share."""

    model_: Annotated[Any, "D"]
    fit_intercept: bool
    positive: bool

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def _start(self, data: Partitions, classes: Any = None) -> Any:
        D = self.n_features_in_
        afford(D**2, f"the moments of {D} features", "use fewer, or an iterative method.")
        return LinearModel(np.zeros((1, D)), np.zeros(1), self._alpha(), self.fit_intercept, self.positive)

    def _alpha(self) -> Any:
        return 0.0

    def _fitted(self, model: Any, s: Moments) -> dict[str, Any]:
        flat = self._flat_target
        intercept = model.intercept[0] if flat else model.intercept
        return {
            "coef_": model.coef[0] if flat else model.coef,
            "intercept_": intercept if self.fit_intercept else 0.0,
        }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows and targets: one pass over the data.

        Parameters
        ----------
        X : array, CSR matrix, table, Parquet scan or distributed data set
            The rows. See `suffice.rows` for tables that hold their target and weight.
        y : array of shape (n_samples,) or (n_samples, n_targets), optional
            Targets, if they are not a column of the table.
        sample_weight : array, optional
            Weights of the rows: two is the row twice, zero is its absence.

        Returns
        -------
        self
        """
        self._flat_target = has_flat_target(X, y)
        return super().fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those already seen; the result is that of one `fit` to all of them."""
        self._flat_target = has_flat_target(X, y)
        return self._add(X, y, sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """The expected target of each row."""
        X = read_rows(self, X)
        return X @ self.coef_.T + self.intercept_

    def log_likelihood(
        self, X: Any, y: Any, *, precision: float | None = None, sample_weight: Any = None
    ) -> float:
        """Sum of log N(y | prediction, 1 / precision), with the best precision if none is given."""
        residual = np.asarray(y) - self.predict(X)
        weight = np.ones(len(residual)) if sample_weight is None else np.asarray(sample_weight)
        squares = float(weight @ residual**2)
        total = float(weight.sum())
        precision = total / squares if precision is None else precision
        return 0.5 * (total * np.log(precision / (2.0 * np.pi)) - precision * squares)


class LinearRegression(LeastSquares):
    """Ordinary least squares, from moments: the data is read once, wherever it is.

    The solution is exact. Features that depend on others to eight digits are told apart no more, since
    moments hold squares; of all solutions the shortest is then taken.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is an intercept.
    copy_X : bool, default=True
        Ignored: the data is never changed.
    tol : float, default=1e-6
        Ignored: there is no iteration.
    n_jobs : int, default=None
        Ignored: see `suffice.threads`.
    positive : bool, default=False
        Whether coefficients must not be negative.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.
    rank_ : int
        Rank of the centred rows.
    singular_ : ndarray of shape (n_features,)
        Their singular values.
    model_ : LinearModel
        The fitted model.
    statistics_ : Moments
        The moments of rows and targets, to which `partial_fit` adds.

    Examples
    --------
    >>> from suffice.linear_model import LinearRegression
    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.predict([[3.0]])
    array([7.])
    """

    model_: Annotated[LinearModel, "T, D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "fit_intercept": ["boolean"],
        "copy_X": ["boolean"],
        "tol": [NON_NEGATIVE],
        "n_jobs": N_JOBS,
        "positive": ["boolean"],
    }

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive

    def _fitted(self, model: LinearModel, s: Moments) -> dict[str, Any]:
        D = model.coef.shape[1]
        values = np.maximum(eigvalsh(model.square(s)[:D, :D])[::-1], 0.0)
        rank = int((values > D * np.finfo(np.float64).eps * values[0]).sum())
        return {**super()._fitted(model, s), "rank_": rank, "singular_": np.sqrt(values)}


class Ridge(LeastSquares):
    """Least squares with a squared penalty, from moments: the data is read once, wherever it is.

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default=1.0
        Strength of the penalty ``alpha * |coef|^2``; the intercept is not penalised.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    copy_X : bool, default=True
        Ignored: the data is never changed.
    max_iter : int, default=None
        Ignored: there is no iteration.
    tol : float, default=1e-4
        Ignored: there is no iteration.
    solver : str, default='auto'
        Ignored: the solution is exact.
    positive : bool, default=False
        Whether coefficients must not be negative.
    random_state : int, default=None
        Ignored: nothing is random.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.
    n_iter_ : int
        Always 1: there is no iteration.
    solver_ : str
        Always 'cholesky'.
    model_ : LinearModel
        The fitted model.
    statistics_ : Moments
        The moments of rows and targets, to which `partial_fit` adds.

    Examples
    --------
    >>> from suffice.linear_model import Ridge
    >>> Ridge(alpha=2.0).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]).coef_
    array([1.])
    """

    model_: Annotated[LinearModel, "T, D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [NON_NEGATIVE, Numbers(0)],
        "fit_intercept": ["boolean"],
        "copy_X": ["boolean"],
        "max_iter": [AT_LEAST_1, None],
        "tol": [NON_NEGATIVE],
        "solver": [StrOptions({"auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"})],
        "positive": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    def _alpha(self) -> Any:
        return np.array(self.alpha, dtype=np.float64)

    def _fitted(self, model: LinearModel, s: Moments) -> dict[str, Any]:
        coef = model.coef[0] if len(model.coef) == 1 else model.coef  # flat for a column of targets too
        return {**super()._fitted(model, s), "coef_": coef, "n_iter_": 1, "solver_": "cholesky"}
