"""Lasso and elastic net by coordinate descent on moments: the data is read once for a whole path.

Tibshirani, "Regression shrinkage and selection via the lasso", 1996; Zou and Hastie, "Regularization and
variable selection via the elastic net", 2005; Friedman, Hastie and Tibshirani, "Regularization paths for
generalized linear models via coordinate descent", 2010.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_scalar

from ..core.arguments import MaybeArray, Seed
from ..core.blocks import Rows
from ..core.callers import warn
from ..core.cost import afford
from ..core.loop import Progress
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.statistics import Statistics, tree_sum
from ..estimator.answers import as_float32, is_float32
from ..estimator.guarantees import Guarantee
from ..estimator.parameters import AT_LEAST_1, NON_NEGATIVE, POSITIVE, SHARE, Numbers, StrOptions
from ..estimator.routing import CrossValidated
from ..estimator.tags import tags
from ..fitting.folds import Folds
from ..fitting.linear_algebra import solve_positive
from ..fitting.non_negative import solve_non_negative
from ..inputs import open_rows
from ..statistics import Moments, moments
from .least_squares import LeastSquares, LinearModel, must_have_one_target
from .targets import columns_of


@dataclass(frozen=True, eq=False)
class ElasticNetModel(LinearModel):
    """y = X coef' + intercept, fitted by min |y - X coef' - intercept|^2 / (2 n)
    + alpha (l1_ratio |coef|_1 + (1 - l1_ratio) |coef|^2 / 2)."""

    l1_ratio: float = 0.5
    tol: float = 1e-4
    max_iter: int = 1000
    gap: Annotated[Any, "(T,) or None"] = None  # duality gap
    n_iter: Annotated[Any, "int (T,) or None"] = None
    joint: bool = False  # whether |coef|_1 is of the norms over targets, so that all use the same features

    def estimate(self, s: Moments) -> Self:
        """Coordinate descent from the current coefficients, if there is an l1 penalty."""
        D = self.coef.shape[1]
        square, n = self.square(s), float(s.weight)
        l1, l2 = n * self.alpha * self.l1_ratio, n * self.alpha * (1.0 - self.l1_ratio)
        if l1 == 0.0:
            coef, gap, n_iter = self._solved(square, l2)
        else:
            coef, gap, n_iter = self._descended(square, l1, l2)
        mean = s.mean if self.fit_intercept else np.zeros_like(s.mean)
        intercept = mean[D:] - coef @ mean[:D]
        return self.replace(coef=coef, intercept=intercept, gap=gap / n, n_iter=n_iter)

    def _descended(self, square: np.ndarray, l1: float, l2: float) -> tuple[np.ndarray, ...]:
        """Coefficients, duality gaps and sweeps of coordinate descent, by target."""
        from ..loops.coordinates import descend, descend_jointly

        D = self.coef.shape[1]
        T = len(square) - D
        coef = np.array(np.broadcast_to(self.coef, (T, D)), order="C")
        gap, n_iter, A = np.zeros(T), np.zeros(T, np.int64), np.ascontiguousarray(square[:D, :D])
        if self.joint:
            B, yy, W = square[:D, D:].copy(), float(np.trace(square[D:, D:])), coef.T.copy()
            until = self.tol * yy, self.max_iter
            gap[:], n_iter[:] = descend_jointly(A, B, yy, l1, l2, *until, W, np.empty_like(W))
            return W.T, gap, n_iter
        for t in range(T):
            b, yy = np.ascontiguousarray(square[:D, D + t]), square[D + t, D + t]
            options = l1, l2, self.positive, self.tol * yy, self.max_iter
            gap[t], n_iter[t] = descend(A, b, yy, *options, coef[t], np.empty(D))
        return coef, gap, n_iter

    def _solved(self, square: np.ndarray, l2: float) -> tuple[np.ndarray, ...]:
        """The same results without an l1 penalty: the minimum of a quadratic, in closed form."""
        D = self.coef.shape[1]
        A, B = square[:D, :D] + l2 * np.eye(D), square[:D, D:]
        coef = (solve_non_negative if self.positive else solve_positive)(A, B)
        slope = B - A @ coef
        if self.positive:
            slope = np.where(coef > 0, slope, np.maximum(slope, 0.0))
        gap = 0.5 * np.maximum((slope * solve_positive(A, slope)).sum(axis=0), 0.0)
        if self.joint:
            gap[:] = gap.sum()
        return coef.T, gap, np.ones(B.shape[1], np.int64)

    def error(self, s: Moments) -> float:
        """The mean squared error of one target on rows with these moments."""
        direction = np.append(-self.coef[0], 1.0)
        bias = direction @ s.mean - self.intercept[0]
        return float(direction @ s.scatter @ direction / s.weight + bias**2)

    def largest_alpha(self, s: Moments) -> float:
        """The smallest alpha at which all coefficients are zero, for the first target or for all jointly."""
        if self.l1_ratio == 0:
            raise ValueError(
                "Automatic alpha grid generation is not supported for l1_ratio=0. Please supply a grid by "
                "providing your estimator with the appropriate `alphas=` argument."
            )
        D = self.coef.shape[1]
        slope = self.square(s)[:D, D]
        if self.joint:
            slope = np.sqrt((self.square(s)[:D, D:] ** 2).sum(axis=1))
        most = (slope if self.positive else np.abs(slope)).max(initial=0.0)
        return float(most / (s.weight * self.l1_ratio))

    def path(self, s: Moments, alphas: np.ndarray) -> list[Self]:
        """A model for each alpha, each started from the one before."""
        models, model = [], self
        for alpha in alphas:
            model = model.replace(alpha=float(alpha)).estimate(s)
            models.append(model)
        return models


def grid(model: ElasticNetModel, s: Moments, alphas: Any, eps: float) -> np.ndarray:
    """The alphas of a path, in decreasing order: a grid of `alphas` values, or `alphas` itself."""
    if np.ndim(alphas):
        return np.sort(np.asarray(alphas, dtype=np.float64))[::-1]
    largest, least = model.largest_alpha(s), np.finfo(np.float64).resolution
    if largest <= least:  # as for targets that are all the same
        return np.full(int(alphas), least)
    return np.geomspace(largest, largest * eps, num=int(alphas))


@dataclass(frozen=True, eq=False)
class FoldMoments(Statistics):
    """The moments of rows and targets of each fold; None where a fold has no rows, as in most blocks."""

    folds: tuple[Any, ...]

    @classmethod
    def of(cls, by_fold: dict[int, Moments], n_folds: int) -> FoldMoments:
        return cls(tuple(by_fold.get(f) for f in range(n_folds)))

    def __add__(self, other: Self) -> Self:
        pairs = zip(self.folds, other.folds, strict=True)
        return self.replace(folds=tuple(b if a is None else a if b is None else a + b for a, b in pairs))

    def __mul__(self, factor: float) -> Self:
        return self.replace(folds=tuple(None if fold is None else fold * factor for fold in self.folds))

    __rmul__ = __mul__

    @property
    def present(self) -> list[Moments]:
        return [fold for fold in self.folds if fold is not None]

    def splits(self, trained: np.ndarray, tested: np.ndarray) -> tuple[list[Moments], list[Moments]]:
        """The moments of the rows to fit and of the rows left out, by split, from masks (S, F) of folds."""
        present = np.array([fold is not None for fold in self.folds])
        used = [(a & present, b & present) for a, b in zip(trained, tested, strict=True)]
        used = [(a, b) for a, b in used if a.any() and b.any()]
        if not used:
            raise ValueError(
                f"All rows of non-zero weight are in one fold of {len(present)}: pass a cv whose folds "
                f"divide them."
            )

        def total(mask: np.ndarray) -> Moments:
            return tree_sum([self.folds[f] for f in np.flatnonzero(mask)])

        return [total(a) for a, _ in used], [total(b) for _, b in used]

    @property
    def weight(self) -> float:
        return float(sum(fold.weight for fold in self.present))


def fold_moments(n_folds: int, block: Rows) -> FoldMoments:
    """The moments of each fold. The last column of y holds the fold of each row."""
    fold, rows = block.y[:, -1], block.replace(y=block.y[:, :-1])
    if len(fold) and (fold == fold[0]).all():
        return FoldMoments.of({int(fold[0]): moments(columns_of(rows), rows.weight)}, n_folds)
    parts = {int(f): rows[fold == f] for f in np.unique(fold)}
    by_fold = {f: moments(columns_of(part), part.weight) for f, part in parts.items()}
    return FoldMoments.of(by_fold, n_folds)


@dataclass(frozen=True, eq=False)
class Paths(Model):
    """Elastic nets along regularization paths, with a path for each left-out fold. The best is kept.

    The moments of the folds are sufficient: the training moments are the sum over the other folds.
    """

    net: Annotated[ElasticNetModel, "D"]
    ratios: tuple[float, ...]  # of the penalties
    alphas: Annotated[Any, "number or real (*,) or None"]  # how many, or which
    eps: float  # the last alpha over the first
    trained: Annotated[Any, "bool (S, F) or None"] = None  # whether a split fits to a fold
    tested: Annotated[Any, "bool (S, F) or None"] = None  # whether it leaves it out
    grids: Annotated[Any, "(R, A) or None"] = None  # ratios, alphas
    errors: Annotated[Any, "(R, A, *) or None"] = None  # by fold, of rows left out

    def summarize(self, block: Rows) -> FoldMoments:
        """The moments of each fold. The last column of y holds the fold of each row."""
        return fold_moments(self.trained.shape[1], block)

    def estimate(self, s: FoldMoments) -> Self:
        total = tree_sum(s.present)
        must_have_one_target(self.net, total)
        others, folds = s.splits(self.trained, self.tested)
        grids, errors = [], []
        for ratio in self.ratios:
            net = self.net.replace(l1_ratio=ratio)
            alphas = grid(net, total, self.alphas, self.eps)
            paths = [net.path(other, alphas) for other in others]
            errors.append([[net.error(f) for net in path] for path, f in zip(paths, folds, strict=True)])
            grids.append(alphas)
        mean = np.mean(errors, axis=1)
        r, a = np.unravel_index(np.argmin(mean), mean.shape)
        best = self.net.replace(l1_ratio=self.ratios[r], alpha=float(grids[r][a])).estimate(total)
        return self.replace(net=best, grids=np.array(grids), errors=np.swapaxes(errors, 1, 2))


def enet_path(
    X: Any,
    y: MaybeArray = None,
    sample_weight: MaybeArray = None,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    n_alphas: Any = "deprecated",
    alphas: Any = 100,
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: Any = None,
    verbose: Any = False,
    return_n_iter: bool = False,
    positive: bool = False,
    check_input: bool = True,
    tol: float = 1e-4,
    max_iter: int = 1000,
    **params: Any,
) -> tuple[Any, ...]:
    """Compute the elastic net path by coordinate descent, without an intercept. The data is read once.

    Parameters
    ----------
    X : array, CSR matrix, table, Parquet scan or distributed data set
        The rows.
    y : array of shape (n_samples,) or (n_samples, n_targets), optional
        Targets. Leave out if a column of the table holds them. Several targets use the same features: the
        penalty is on the norm of the coefficients of a feature over the targets.
    sample_weight : array, optional
        Weights of the rows.
    l1_ratio : float, default=0.5
        Share of the l1 penalty, between 0 and 1.
    eps : float, default=1e-3
        Length of the path: the ratio of the smallest to the largest alpha. At the largest, all coefficients
        are zero.
    n_alphas : int, default='deprecated'
        Deprecated, as in scikit-learn: use `alphas`.
    alphas : int or array, default=100
        Number of alphas along the path, or an array of alphas.
    precompute : bool or 'auto', default='auto'
        Ignored: the Gram matrix is always used.
    Xy : array, default=None
        Ignored: it is computed.
    copy_X : bool, default=True
        Ignored: `X` is never modified.
    coef_init : array of shape (n_features,) or (n_targets, n_features), default=None
        Initial coefficients.
    verbose : bool, default=False
        Ignored.
    return_n_iter : bool, default=False
        Whether to return the number of sweeps.
    positive : bool, default=False
        Whether to constrain the coefficients to be non-negative.
    check_input : bool, default=True
        Ignored: the rows are always checked.
    tol : float, default=1e-4
        As in `ElasticNet`.
    max_iter : int, default=1000
        As in `ElasticNet`.
    **params : dict
        ``selection`` and ``random_state`` are ignored; others are refused.

    Returns
    -------
    alphas : ndarray of shape (n_alphas,)
        The alphas along the path, in decreasing order.
    coefs : ndarray of shape (n_features, n_alphas) or (n_targets, n_features, n_alphas)
        Coefficients.
    dual_gaps : ndarray of shape (n_alphas,)
        Duality gaps: upper bounds on the distance of the objective from its minimum.
    n_iters : list of int
        Number of sweeps, if `return_n_iter` is True.

    See Also
    --------
    lasso_path : The l1 penalty alone.

    Examples
    --------
    >>> from suffice.linear_model import enet_path
    >>> alphas, coefs, _ = enet_path([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], [1.0, 3.0, 5.0], alphas=3)
    >>> coefs.round(2)
    array([[0.  , 2.12, 2.33],
           [0.  , 0.56, 0.66]])
    """
    if strange := set(params) - {"selection", "random_state"}:
        raise ValueError(f"Unexpected parameters in params: {sorted(strange)}.")
    if not isinstance(n_alphas, str):
        warn(
            "'n_alphas' was deprecated in 1.9 and will be removed in 1.11 of scikit-learn: use alphas.",
            FutureWarning,
        )
        alphas = n_alphas
    if alphas is None:
        warn(
            "'alphas=None' is deprecated and will be removed in 1.11 of scikit-learn: use alphas=100.",
            FutureWarning,
        )
        alphas = 100
    net = ElasticNet(l1_ratio=l1_ratio, fit_intercept=False, positive=positive, tol=tol, max_iter=max_iter)
    data = open_rows(net, X, y, sample_weight)
    start = net._start(data)
    s = data.fold(LinearModel.summarize, start)
    D = start.coef.shape[1]
    joint = len(s.mean) > D + 1
    if joint and positive:
        raise ValueError("positive=True is not allowed for multi-output (y.ndim != 1)")
    if coef_init is not None:
        coef_init = np.array(coef_init, dtype=np.float64).reshape(len(s.mean) - D, D)
        start = start.replace(coef=coef_init)
    start = start.replace(joint=joint)
    grid_alphas = grid(start, s, alphas, eps)
    path = start.path(s, grid_alphas)
    coefs = np.stack([model.coef if joint else model.coef[0] for model in path], axis=-1)
    result = (
        grid_alphas,
        as_float32(coefs) if is_float32(X) else coefs,
        np.array([model.gap[0] for model in path]),
    )
    return (*result, [int(model.n_iter[0]) for model in path]) if return_n_iter else result


def lasso_path(
    X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None, **options: Any
) -> tuple[Any, ...]:
    """Compute the lasso path by coordinate descent, without an intercept. The data is read once.

    Parameters
    ----------
    X : array, CSR matrix, table, Parquet scan or distributed data set
        The rows.
    y : array of shape (n_samples,) or (n_samples, n_targets), optional
        Targets. Leave out if a column of the table holds them.
    sample_weight : array, optional
        Weights of the rows.
    **options : dict
        As in `enet_path`, without `l1_ratio`.

    Returns
    -------
    alphas : ndarray of shape (n_alphas,)
        The alphas along the path, in decreasing order.
    coefs : ndarray of shape (n_features, n_alphas) or (n_targets, n_features, n_alphas)
        Coefficients.
    dual_gaps : ndarray of shape (n_alphas,)
        Duality gaps: upper bounds on the distance of the objective from its minimum.

    See Also
    --------
    enet_path : Absolute and squared penalties.

    Examples
    --------
    >>> from suffice.linear_model import lasso_path
    >>> lasso_path([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], [1.0, 3.0, 5.0], alphas=[1.0, 0.1])[1].round(2)
    array([[2.  , 2.33],
           [0.  , 0.52]])
    """
    return enet_path(X, y, sample_weight, l1_ratio=1.0, **options)


class _Penalised(LeastSquares):
    """Base class of the elastic nets."""

    tol: float
    max_iter: int
    selection: str

    def _net(self, alpha: float = 0.0, l1_ratio: float = 1.0) -> ElasticNetModel:
        D = self.n_features_in_
        afford(D**2, f"the moments of {D} features", "use fewer.")
        options = self.fit_intercept, self.positive, l1_ratio, self.tol, self.max_iter
        return ElasticNetModel(np.zeros((1, D)), np.zeros(1), alpha, *options)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model, s = progress.model, progress.statistics
        enough = self.tol * np.diag(model.square(s))[model.coef.shape[1] :] / s.weight
        if (model.gap > enough).any():
            warn(
                f"Objective did not converge. You might want to increase the number of iterations. "
                f"{type(self).__name__} did not converge in {self.max_iter} sweeps: the duality gap is "
                f"{model.gap.max():.3g}, expected at most {enough.max():.3g}. Raise max_iter, alpha or tol.",
                ConvergenceWarning,
            )
        one = len(model.coef) == 1  # flat for a column of targets too
        return {
            **super()._fitted(progress),
            "coef_": model.coef[0] if one else model.coef,
            "n_iter_": int(model.n_iter[0]) if one else model.n_iter.tolist(),
            "dual_gap_": float(model.gap[0]) if one else model.gap,
        }

    @property
    def sparse_coef_(self) -> Any:
        """The coefficients as a sparse matrix."""
        return sp.csr_array(np.atleast_2d(self.coef_))


class ElasticNet(_Penalised):
    """Linear regression with combined l1 and l2 penalties (elastic net). The data is read once.

    Minimizes ``|y - X coef|^2 / (2 n) + alpha * (l1_ratio * |coef|_1 + (1 - l1_ratio) * |coef|^2 / 2)``.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalties. The intercept is not penalized.
    l1_ratio : float, default=0.5
        Share of the l1 penalty, between 0 and 1. The l1 penalty sets coefficients to zero.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    precompute : bool, default=False
        Ignored: the Gram matrix is always used.
    max_iter : int, default=1000
        Maximum number of sweeps over the coefficients.
    copy_X : bool, default=True
        Ignored: `X` is never modified.
    tol : float, default=1e-4
        Tolerance of the duality gap, relative to the sum of squared targets.
    warm_start : bool, default=False
        Whether to start from the coefficients of the previous fit.
    positive : bool, default=False
        Whether to constrain the coefficients to be non-negative.
    random_state : int, default=None
        Ignored: the fit is deterministic.
    selection : str, default='cyclic'
        'cyclic' or 'random'. Ignored: coefficients are updated in cyclic order.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.
    n_iter_ : int or list of int
        Number of sweeps over the coefficients, by target.
    dual_gap_ : float or ndarray of shape (n_targets,)
        Duality gap: an upper bound on the distance of the objective from its minimum.
    sparse_coef_ : csr_array of shape (n_targets, n_features)
        The coefficients as a sparse array.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : ElasticNetModel
        The fitted model.
    statistics_ : Moments
        The moments of rows and targets. `partial_fit` adds to them.

    See Also
    --------
    ElasticNetCV : Chooses the penalty by cross-validation.
    Lasso : The absolute penalty alone.
    Ridge : The squared penalty alone.

    Notes
    -----
    With α = `alpha` and ρ = `l1_ratio`, the coefficients w minimize

    .. math::

        \\frac{1}{2 n} ‖y - X w - b‖^2 + α\\, (ρ ‖w‖_1 + \\frac{1 - ρ}{2} ‖w‖^2).

    References
    ----------
    Zou and Hastie, "Regularization and variable selection via the elastic net", 2005.

    Examples
    --------
    >>> from suffice.linear_model import ElasticNet
    >>> model = ElasticNet(alpha=0.1).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], [1.0, 3.0, 5.0])
    >>> model.coef_.round(4)
    array([1.7907, 0.    ])
    """

    model_: Annotated[ElasticNetModel, "T, D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [NON_NEGATIVE],
        "l1_ratio": [SHARE],
        "precompute": ["boolean", "array-like"],
        "positive": ["boolean"],
        "selection": [StrOptions({"cyclic", "random"})],
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: Any = False,
        max_iter: int = 1000,
        copy_X: bool = True,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Seed = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    path = staticmethod(enet_path)

    def fit(
        self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None, check_input: bool = True
    ) -> Self:
        """Fit to rows and targets, in one pass over the data.

        Parameters
        ----------
        X : array, CSR matrix, table, Parquet scan or distributed data set
            The rows. To name the columns of target and weights in a table, see `suffice.rows`.
        y : array of shape (n_samples,) or (n_samples, n_targets), optional
            Targets. Leave out if a column of the table holds them.
        sample_weight : array, optional
            Per-sample weights. A weight of 2 is equivalent to repeating the sample; 0 drops it.
        check_input : bool, default=True
            Ignored: the rows are always checked.

        Returns
        -------
        self
        """
        return self._fit_to(X, y, sample_weight)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        if np.ndim(self.precompute):
            self._check_gram(progress.model, progress.statistics)
        return super()._fitted(progress)

    def _check_gram(self, model: Any, s: Moments) -> None:
        """Compare a Gram matrix from the caller with that of the rows, which is the one that is used."""
        D = model.coef.shape[1]
        spread = np.sqrt(np.diag(s.scatter)[:D] / s.weight)
        if self.fit_intercept and (np.abs(s.mean[:D]) > 1e-5 * spread).any():
            warn("Gram matrix was provided but X was centered to fit intercept: recomputing Gram matrix.")
            return
        gram, ours = np.asarray(self.precompute, dtype=np.float64), model.square(s)[:D, :D]
        if gram.shape == ours.shape:
            gram = gram * (np.trace(ours) / np.trace(gram))  # scikit-learn's weights have mean one
        if gram.shape != ours.shape or not np.allclose(gram, ours, rtol=1e-3, atol=1e-4 * np.abs(ours).max()):
            raise ValueError(
                "Gram matrix passed in via 'precompute' parameter did not pass validation: it is not X'X of "
                "these rows. Leave precompute out."
            )

    def _start(self, data: Partitions, classes: MaybeArray = None) -> ElasticNetModel:
        net = self._net(float(self.alpha), self.l1_ratio)
        if self.warm_start and hasattr(self, "coef_") and np.shape(self.coef_)[-1] == net.coef.shape[1]:
            net = net.replace(coef=np.atleast_2d(np.array(self.coef_, np.float64)))
        return net


class Lasso(ElasticNet):
    """Linear regression with an l1 penalty (the lasso). The data is read once.

    Minimizes ``|y - X coef|^2 / (2 n) + alpha * |coef|_1``.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty. The intercept is not penalized.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    precompute : bool, default=False
        Ignored: the Gram matrix is always used.
    copy_X : bool, default=True
        Ignored: `X` is never modified.
    max_iter : int, default=1000
        Maximum number of sweeps over the coefficients.
    tol : float, default=1e-4
        Tolerance of the duality gap, relative to the sum of squared targets.
    warm_start : bool, default=False
        Whether to start from the coefficients of the previous fit.
    positive : bool, default=False
        Whether to constrain the coefficients to be non-negative.
    random_state : int, default=None
        Ignored: the fit is deterministic.
    selection : str, default='cyclic'
        'cyclic' or 'random'. Ignored: coefficients are updated in cyclic order.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.
    n_iter_ : int or list of int
        Number of sweeps over the coefficients, by target.
    dual_gap_ : float or ndarray of shape (n_targets,)
        Duality gap: an upper bound on the distance of the objective from its minimum.
    sparse_coef_ : csr_array of shape (n_targets, n_features)
        The coefficients as a sparse array.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : ElasticNetModel
        The fitted model.
    statistics_ : Moments
        The moments of rows and targets. `partial_fit` adds to them.

    See Also
    --------
    LassoCV : Chooses the penalty by cross-validation.
    ElasticNet : Absolute and squared penalties.
    BayesianModelAveraging : Probabilities that features matter.

    Notes
    -----
    The coefficients w minimize

    .. math::

        \\frac{1}{2 n} ‖y - X w - b‖^2 + α ‖w‖_1.

    References
    ----------
    Tibshirani, "Regression shrinkage and selection via the lasso", 1996.

    Examples
    --------
    >>> from suffice.linear_model import Lasso
    >>> model = Lasso(alpha=0.1).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], [1.0, 3.0, 5.0])
    >>> model.coef_.round(4)
    array([1.85, 0.  ])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        name: constraints
        for name, constraints in ElasticNet._parameter_constraints.items()
        if name != "l1_ratio"
    }
    l1_ratio = 1.0

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = False,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Seed = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection


class ElasticNetCV(CrossValidated, _Penalised):
    """Elastic net with penalties chosen by cross-validation. One sum over the data serves all paths and
    folds.

    The fold of a row depends on its position among all rows. So rows that are not in memory are read twice:
    once to count them, once to sum.

    Parameters
    ----------
    l1_ratio : float or sequence of float, default=0.5
        Share of the l1 penalty, between 0 and 1. Of several values, cross-validation chooses the best.
    eps : float, default=1e-3
        Length of the path: the ratio of the smallest to the largest alpha. At the largest, all coefficients
        are zero.
    alphas : int or array, default=100
        Number of alphas along the path, or an array of alphas.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    precompute : bool or 'auto', default='auto'
        Ignored: the Gram matrix is always used.
    max_iter : int, default=1000
        Maximum number of sweeps over the coefficients.
    tol : float, default=1e-4
        Tolerance of the duality gap, relative to the sum of squared targets.
    cv : int, splitter or iterable, default=None
        Number of folds (None: 5), a scikit-learn splitter, or pairs of index arrays: the rows to fit, and the
        rows to leave out. As in scikit-learn, a number of folds divides the rows as ``KFold(cv)`` does, into
        contiguous runs of rows, and rows of weight zero are counted. If the rows are sorted, shuffle them by
        ``cv=KFold(5, shuffle=True, random_state=0)``.
    copy_X : bool, default=True
        Ignored: `X` is never modified.
    verbose : bool, default=0
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    n_jobs : int, default=None
        Ignored: see `suffice.threads`.
    positive : bool, default=False
        Whether to constrain the coefficients to be non-negative.
    random_state : int, default=None
        Ignored: the fit is deterministic.
    selection : str, default='cyclic'
        'cyclic' or 'random'. Ignored: coefficients are updated in cyclic order.

    Attributes
    ----------
    alpha_ : float
        The best alpha.
    l1_ratio_ : float
        The best share of the absolute penalty.
    coef_ : ndarray of shape (n_features,)
        Coefficients, fitted to all rows with these.
    intercept_ : float
        Intercept.
    mse_path_ : ndarray of shape (n_l1_ratio, n_alphas, n_folds) or (n_alphas, n_folds)
        Mean squared error on each left-out fold.
    alphas_ : ndarray of shape (n_l1_ratio, n_alphas) or (n_alphas,)
        The alphas along the path, in decreasing order. One path if `alphas` is an array.
    n_iter_ : int
        Number of sweeps over the coefficients.
    dual_gap_ : float
        Duality gap: an upper bound on the distance of the objective from its minimum.
    sparse_coef_ : csr_array of shape (n_targets, n_features)
        The coefficients as a sparse array.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Paths
        The fitted model, with the errors of all paths.
    statistics_ : FoldMoments
        The moments of each fold.

    See Also
    --------
    ElasticNet : A given penalty.
    LassoCV : The absolute penalty alone.
    suffice.plot.CoefficientPathDisplay : Coefficients by the penalty.

    Notes
    -----
    For each α and each ρ of `l1_ratio`, the coefficients w of a fold minimize

    .. math::

        \\frac{1}{2 n} ‖y - X w - b‖^2 + α\\, (ρ ‖w‖_1 + \\frac{1 - ρ}{2} ‖w‖^2).

    The pair with the smallest mean squared error over the folds is refitted to all rows.

    References
    ----------
    Friedman, Hastie and Tibshirani, "Regularization paths for generalized linear models via coordinate
    descent", 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.linear_model import ElasticNetCV
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> y = X @ [3.0, 0.0, 0.0, -2.0, 0.0] + 1.0
    >>> model = ElasticNetCV(l1_ratio=[0.5, 1.0], random_state=0).fit(X, y)
    >>> model.l1_ratio_, model.coef_.round(2)
    (0.5, array([ 2.99,  0.  ,  0.  , -1.99,  0.  ]))
    """

    model_: Annotated[Paths, "D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "l1_ratio": [SHARE, Numbers(0, ndim=1)],
        "eps": [POSITIVE],
        "alphas": [AT_LEAST_1, "array-like"],  # each number is checked in `fit`
        "precompute": [StrOptions({"auto"}), "array-like", "boolean"],
        "cv": ["cv_object"],
        "positive": ["boolean"],
        "selection": [StrOptions({"cyclic", "random"})],
    }
    counts_rows: ClassVar[bool] = True
    path = staticmethod(enet_path)
    __sklearn_tags__ = tags(target_tags__multi_output=False)
    _guarantee = Guarantee.always("order")  # folds are runs of rows

    def __init__(
        self,
        *,
        l1_ratio: Any = 0.5,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        cv: Any = None,
        copy_X: bool = True,
        verbose: Any = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Seed = None,
        selection: str = "cyclic",
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    def _solve(self, data: Partitions, classes: MaybeArray = None, routed: Any = None) -> Progress:
        self._flat_target = True
        start = self._start(data)
        folds = routed.folds(data, 5 if self.cv is None else self.cv)
        start = start.replace(trained=folds.trained, tested=folds.tested)
        return self._estimated(start, data.map(Folds.number, folds).fold(Paths.summarize, start))

    def _start(self, data: Partitions, classes: MaybeArray = None) -> Any:
        if np.ndim(self.alphas) > 1:
            raise ValueError(f"alphas has shape {np.shape(self.alphas)}, expected an array of 1 axis.")
        if np.ndim(self.alphas):
            for place, alpha in enumerate(self.alphas):
                check_scalar(alpha, f"alphas[{place}]", Real, min_val=0.0, include_boundaries="left")
        ratios = tuple(float(ratio) for ratio in np.atleast_1d(self.l1_ratio))
        return Paths(self._net(l1_ratio=ratios[0]), ratios, copy(self.alphas), self.eps)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model, s = progress.model, progress.statistics
        several = np.size(self.l1_ratio) > 1
        return {
            **super()._fitted(Progress(model.net, statistics=tree_sum(s.present))),
            "alpha_": float(model.net.alpha),
            "l1_ratio_": model.net.l1_ratio,
            "alphas_": model.grids if several and not np.ndim(self.alphas) else model.grids[0],
            "mse_path_": model.errors if several else model.errors[0],
        }


class LassoCV(ElasticNetCV):
    """Lasso with a penalty chosen by cross-validation. One sum over the data serves the path and all folds.

    Parameters
    ----------
    eps : float, default=1e-3
        Length of the path: the ratio of the smallest to the largest alpha. At the largest, all coefficients
        are zero.
    alphas : int or array, default=100
        Number of alphas along the path, or an array of alphas.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    precompute : bool or 'auto', default='auto'
        Ignored: the Gram matrix is always used.
    max_iter : int, default=1000
        Maximum number of sweeps over the coefficients.
    tol : float, default=1e-4
        Tolerance of the duality gap, relative to the sum of squared targets.
    copy_X : bool, default=True
        Ignored: `X` is never modified.
    cv : int, splitter or iterable, default=None
        Number of folds (None: 5) or a scikit-learn splitter, as in `ElasticNetCV`.
    verbose : bool, default=False
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    n_jobs : int, default=None
        Ignored: see `suffice.threads`.
    positive : bool, default=False
        Whether to constrain the coefficients to be non-negative.
    random_state : int, default=None
        Ignored: the fit is deterministic.
    selection : str, default='cyclic'
        'cyclic' or 'random'. Ignored: coefficients are updated in cyclic order.

    Attributes
    ----------
    alpha_ : float
        The best alpha.
    l1_ratio_ : float
        Always 1.
    coef_ : ndarray of shape (n_features,)
        Coefficients, fitted to all rows with the best alpha.
    intercept_ : float
        Intercept.
    mse_path_ : ndarray of shape (n_alphas, n_folds)
        Mean squared error on each left-out fold.
    alphas_ : ndarray of shape (n_alphas,)
        The alphas along the path, in decreasing order.
    n_iter_ : int
        Number of sweeps over the coefficients.
    dual_gap_ : float
        Duality gap: an upper bound on the distance of the objective from its minimum.
    sparse_coef_ : csr_array of shape (n_targets, n_features)
        The coefficients as a sparse array.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Paths
        The fitted model, with the errors of all paths.
    statistics_ : FoldMoments
        The moments of each fold.

    See Also
    --------
    Lasso : A given penalty.
    ElasticNetCV : Absolute and squared penalties.
    suffice.plot.CoefficientPathDisplay : Coefficients by the penalty.

    Notes
    -----
    For each α, the coefficients w of a fold minimize

    .. math::

        \\frac{1}{2 n} ‖y - X w - b‖^2 + α ‖w‖_1.

    The α with the smallest mean squared error over the folds is refitted to all rows.

    References
    ----------
    * Tibshirani (1996), "Regression shrinkage and selection via the lasso", Journal of the Royal Statistical
      Society B 58.
    * Friedman, Hastie and Tibshirani (2010), "Regularization paths for generalized linear models via
      coordinate descent", Journal of Statistical Software 33.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.linear_model import LassoCV
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> y = X @ [3.0, 0.0, 0.0, -2.0, 0.0] + 1.0
    >>> LassoCV(random_state=0).fit(X, y).coef_.round(2)
    array([ 2.98,  0.  ,  0.  , -1.99,  0.  ])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        name: constraints
        for name, constraints in ElasticNetCV._parameter_constraints.items()
        if name != "l1_ratio"
    }
    l1_ratio = 1.0
    path = staticmethod(lasso_path)

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        copy_X: bool = True,
        cv: Any = None,
        verbose: Any = False,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Seed = None,
        selection: str = "cyclic",
    ) -> None:
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
