"""Least squares and ridge regression from the moments of rows and targets: the data is read once.

If moments lose too many digits, it is read again: see `refinement`.

Li ch. 1; Hoerl and Kennard, "Ridge regression", 1970.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.linalg import eigvalsh, svdvals
from sklearn.base import BaseEstimator, MultiOutputMixin

from ..core.arguments import MaybeArray, Seed
from ..core.blocks import Matrix, Rows
from ..core.cost import afford
from ..core.loop import Progress
from ..core.model import Model
from ..core.partitions import Partitions
from ..estimator.answers import row_wise
from ..estimator.base import Derived, OnePass
from ..estimator.parameters import AT_LEAST_1, NON_NEGATIVE, Numbers, StrOptions
from ..estimator.scores import Regressor
from ..estimator.tags import tags
from ..inputs import read_rows, source_of
from ..statistics import Factor, Moments, NormalResidual, factor, moments, normal_residual
from .normal_equations import Solution, solve_each, solve_rows, solve_square
from .precision import line
from .refinement import Refined
from .targets import columns_of, penalties, targets_of
from .wide import Spectrum


@dataclass(frozen=True, eq=False)
class LinearModel(Model):
    """y = X coef' + intercept, fitted by min |y - X coef' - intercept|^2 + alpha |coef|^2."""

    coef: Annotated[np.ndarray, "(T, D)"]
    intercept: Annotated[np.ndarray, "(T,)"]
    alpha: Annotated[Any, "number or real (T,)"] = 0.0
    fit_intercept: bool = True
    positive: bool = False

    def predict(self, X: Matrix) -> np.ndarray:
        return X @ self.coef.T + self.intercept

    def coded(self, block: Rows) -> Any:
        """The block with the targets and weights that are fitted."""
        return block

    def summarize(self, block: Rows) -> Moments:
        block = self.coded(block)
        return moments(columns_of(block), block.weight, overwrite=True)

    def factor(self, block: Rows) -> Factor:
        """The triangular factor of the same columns. It is empty for CSR rows, which it would fill."""
        block = self.coded(block)
        if sp.issparse(block.X):
            return factor(columns_of(block[:0]).toarray(), block.weight[:0])
        return factor(columns_of(block), block.weight)

    def residual(self, theta: np.ndarray, block: Rows) -> NormalResidual:
        """The residual of the normal equations at coefficients and intercepts in two parts, (2, T, D + 1)."""
        block = self.coded(block)
        return normal_residual(block.X, targets_of(block), block.weight, theta)

    def estimate(self, s: Moments) -> Self:
        return self.through(s, self.solve(s).x)

    def solve(self, s: Moments | Factor) -> Solution:
        """The coefficients and how to correct them. Targets with the same alpha are solved together."""
        D = self.coef.shape[1]
        T = len(s.mean) - D
        alphas = penalties(self, T)
        offset = np.sqrt(s.weight) * np.abs(s.mean[:D]) if self.fit_intercept else np.zeros(D)

        def of_square(alpha: float, which: np.ndarray) -> Solution:
            A, B = square[:D, :D].copy(), square[:D, D:][:, which]  # X'X and X'y
            A.flat[:: D + 1] += alpha
            return solve_square(A, B, offset, self.positive)

        def of_rows(alpha: float, which: np.ndarray) -> Solution:
            M = np.vstack([rows, np.sqrt(alpha) * np.eye(D, len(s.mean))])
            return solve_rows(M[:, :D], M[:, D:][:, which], offset, self.positive)

        if isinstance(s, Moments):
            square = self.square(s)
            return solve_each(alphas, of_square)
        rows = self.rows(s)
        return solve_each(alphas, of_rows)

    def through(self, s: Moments, coef: np.ndarray) -> Self:
        """The model with these coefficients, (D, T), and the intercept that makes the mean residual zero."""
        D = len(coef)
        mean = s.mean if self.fit_intercept else np.zeros_like(s.mean)
        return self.replace(coef=coef.T, intercept=mean[D:] - mean[:D] @ coef)

    def square(self, s: Moments) -> np.ndarray:
        """Gram matrix of the columns, about their means or, without an intercept, about the origin."""
        return s.scatter if self.fit_intercept else s.scatter + s.weight * np.outer(s.mean, s.mean)

    def rows(self, s: Factor) -> np.ndarray:
        """Rows with this Gram matrix."""
        return s.R if self.fit_intercept else np.vstack([s.R, np.sqrt(s.weight) * s.mean])


def must_have_one_target(model: LinearModel, s: Moments) -> None:
    if (targets := len(s.mean) - model.coef.shape[1]) > 1:
        raise ValueError(f"y has {targets} targets, expected one: fit one target at a time.")


class LeastSquares(MultiOutputMixin, Regressor, OnePass):
    """Base class of linear regressions from moments."""

    model_: Annotated[Any, "D"]
    coef_: Annotated[np.ndarray, "real (D,) or real (T, D)"]
    intercept_: Annotated[Any, "number or real () or real (T,)"]
    fit_intercept: bool
    positive: bool
    preserves_dtype: ClassVar[tuple[str, ...]] = ("coef_", "intercept_")
    __sklearn_tags__ = tags(sparse=True, target_tags__required=True)

    def _start(self, data: Partitions, classes: MaybeArray = None) -> Any:
        D = self.n_features_in_
        afford(D**2, f"the moments of {D} features", "use fewer, or an iterative method.")
        return self._line(data)

    def _line(self, data: Partitions, classes: MaybeArray = None) -> Any:
        """The initial model, whose `summarize` is folded over the data."""
        D = self.n_features_in_
        return LinearModel(np.zeros((1, D)), np.zeros(1), self._alpha(), self.fit_intercept, self.positive)

    def _alpha(self) -> Any:
        return 0.0

    def _check_solver(self, X: Any) -> None:
        """Raise if the solver does not support these rows."""

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Partitions:
        source = source_of(X)
        self._flat_target = source.flat_target(y)
        self._check_solver(X)
        return super()._opened(source, y, sample_weight, reset)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model = progress.model
        flat = self._flat_target
        intercept = model.intercept[0] if flat else model.intercept
        return {
            "coef_": model.coef[0] if flat else model.coef,
            "intercept_": intercept if self.fit_intercept else 0.0,
        }

    def partial_fit(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Update the model with more rows. The result equals one `fit` to all rows.

        Earlier rows cannot be read again, so only sums are used. If features are nearly collinear or far from
        the origin, `fit` is more accurate.
        """
        return self._add(X, y, sample_weight)

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the target of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return line(self, read_rows(self, X), X)

    def log_likelihood(
        self, X: Any, y: ArrayLike, *, precision: float | None = None, sample_weight: MaybeArray = None
    ) -> float:
        """Sum of log N(y | prediction, 1 / precision), by default with the maximum likelihood precision."""
        residual = np.asarray(y) - self.predict(X)
        weight = np.ones(len(residual)) if sample_weight is None else np.asarray(sample_weight)
        squares = float(weight @ residual**2)
        total = float(weight.sum())
        precision = total / squares if precision is None else precision
        return 0.5 * (total * np.log(precision / (2.0 * np.pi)) - precision * squares)


class LinearRegression(Refined, LeastSquares):
    """Ordinary least squares linear regression, from moments: the data is read once.

    The solution is exact to rounding. If moments leave fewer than eleven digits, because features are nearly
    collinear or far from the origin, `fit` reads the data again: iterative refinement with residuals in
    double-double precision corrects the coefficients, and a QR factorization (TSQR) of dense rows replaces
    the moments if these are singular. If features are collinear, the minimum norm solution is returned.
    For more than 1024 features, `fit` to at most 4096 rows that are fewer than the features gathers the rows,
    and solves the dual.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    copy_X : bool, default=True
        Ignored: `X` is never modified.
    tol : float, default=1e-6
        Ignored: the fit does not iterate.
    n_jobs : int, default=None
        Ignored: see `suffice.threads`.
    positive : bool, default=False
        Whether to constrain the coefficients to be non-negative.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.
    rank_ : int
        Rank of the centred rows.
    singular_ : ndarray of shape (n_features,)
        Singular values of the centred rows.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : LinearModel
        The fitted model.
    statistics_ : Moments
        The moments of rows and targets. `partial_fit` adds to them. After a fit to many features, only those
        of each column.

    See Also
    --------
    Ridge : A squared penalty.
    LassoCV : Few features.
    HuberRegressor : Targets with outliers.
    BayesianLinearRegression : The posterior of the coefficients.

    Notes
    -----
    With row weights s_n, the coefficients w and the intercept b minimize the sum of squares

    .. math::

        ∑_n s_n (y_n - x_n^T w - b)^2.

    References
    ----------
    * Björck (1996), Numerical Methods for Least Squares Problems, SIAM.
    * Demmel, Grigori, Hoemmen and Langou (2012), "Communication-optimal parallel and sequential QR and LU
      factorizations", SIAM Journal on Scientific Computing 34.

    Examples
    --------
    >>> from suffice.linear_model import LinearRegression
    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.predict([[3.0]])
    array([7.])
    """

    model_: Annotated[LinearModel, "T, D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {"positive": ["boolean"]}

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

    rank_ = Derived(lambda self: _spectrum(self.model_, self.statistics_)[0])
    singular_ = Derived(lambda self: _spectrum(self.model_, self.statistics_)[1])

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model, s = progress.model, progress.spectrum  # type: ignore[attr-defined]
        fitted = super()._fitted(progress)
        if not isinstance(s, Moments):  # otherwise they are derived from `statistics_`
            fitted["rank_"], fitted["singular_"] = _spectrum(model, s)
        return fitted


def _spectrum(model: LinearModel, s: Moments | Factor | Spectrum) -> tuple[int, np.ndarray]:
    """Rank and singular values of the centred rows."""
    D, least = model.coef.shape[1], np.finfo(np.float64).eps
    if not isinstance(s, Moments):
        values = s.singular if isinstance(s, Spectrum) else svdvals(model.rows(s)[:, :D])
        values = np.concatenate([values, np.zeros(D - len(values))])
    else:
        values = np.sqrt(np.maximum(eigvalsh(model.square(s)[:D, :D])[::-1], 0.0))
        least = np.sqrt(least / D)  # of a square
    return int((values > D * least * values[0]).sum()), values


class Ridge(Refined, LeastSquares):
    """Linear least squares with an l2 penalty (ridge regression), from moments: the data is read once.

    If moments leave fewer than eleven digits, `fit` reads it again, as :class:`LinearRegression` does.
    For more than 1024 features, `fit` to sparse rows, or to rows that are fewer than the features, needs no
    matrix of the features: up to 512 rows are gathered and the dual is solved; for more rows, conjugate
    gradients read the data in each iteration, until the coefficients have eleven digits.

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default=1.0
        Strength of the penalty ``alpha * |coef|^2``. The intercept is not penalized.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    copy_X : bool, default=True
        Ignored: `X` is never modified.
    max_iter : int, default=None
        Ignored: the fit does not iterate.
    tol : float, default=1e-4
        Ignored: the fit does not iterate.
    solver : {'auto', 'svd', 'cholesky', 'lsqr', 'sparse_cg', 'sag', 'saga', 'lbfgs'}, default='auto'
        The solution is exact under each of these names. As in scikit-learn, 'lbfgs' is for non-negative
        coefficients, and only it and 'auto'; 'svd', 'cholesky' and 'saga' fit no intercept to sparse rows.
    positive : bool, default=False
        Whether to constrain the coefficients to be non-negative.
    random_state : int, default=None
        Ignored: the fit is deterministic.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.
    n_iter_ : None
        Always None: the fit does not iterate.
    solver_ : str
        The solver by its name in scikit-learn. The solution is exact under each of them.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : LinearModel
        The fitted model.
    statistics_ : Moments
        The moments of rows and targets. `partial_fit` adds to them. After a fit to many features, only those
        of each column.

    See Also
    --------
    LinearRegression : No penalty.
    ElasticNetCV : Chooses the penalty by cross-validation.
    BayesianLinearRegression : The posterior of the coefficients, and the penalty by the evidence.

    Notes
    -----
    With row weights s_n, the coefficients w minimize

    .. math::

        ∑_n s_n (y_n - x_n^T w - b)^2 + α ‖w‖^2.

    References
    ----------
    * Hoerl and Kennard (1970), "Ridge regression: biased estimation for nonorthogonal problems",
      Technometrics 12.

    Examples
    --------
    >>> from suffice.linear_model import Ridge
    >>> Ridge(alpha=2.0).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]).coef_
    array([1.])
    """

    model_: Annotated[LinearModel, "T, D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [NON_NEGATIVE, Numbers(0)],
        "max_iter": [AT_LEAST_1, None],
        "solver": [StrOptions({"auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"})],
        "positive": ["boolean"],
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
        random_state: Seed = None,
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

    def _check_solver(self, X: Any) -> None:
        self.solver_ = ridge_solver(self, X)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: LinearModel = progress.model
        coef = model.coef[0] if len(model.coef) == 1 else model.coef  # flat for a column of targets too
        return {**super()._fitted(progress), "coef_": coef, "n_iter_": None}


def ridge_solver(estimator: BaseEstimator, X: Any) -> str:
    """The name of the solver, as scikit-learn chooses it. Raises an error for options that the solver does
    not support."""
    name, positive, sparse = estimator.solver, estimator.positive, sp.issparse(X)
    if name == "lbfgs" and not positive:
        raise ValueError("'lbfgs' solver can be used only when positive=True: use solver='auto'.")
    if positive and name not in ("auto", "lbfgs"):
        raise ValueError(f"solver='{name}' does not support positive fitting: use solver='auto' or 'lbfgs'.")
    if sparse and estimator.fit_intercept and name in ("svd", "cholesky", "saga"):
        raise ValueError(
            f"solver='{name}' does not support fitting the intercept on sparse data: use solver='auto', or "
            f"fit_intercept=False."
        )
    if name != "auto":
        return name
    return "lbfgs" if positive else "sparse_cg" if sparse and estimator.fit_intercept else "cholesky"
