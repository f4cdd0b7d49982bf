"""Ridge regression with a penalty chosen by cross-validation, from moments.

Leaving out one row takes one more pass for all penalties: the error of a row that is left out follows from
its residual and its leverage. Allen, "The relationship between variable selection and data augmentation and a
method for prediction", 1974; Golub, Heath and Wahba, "Generalized cross-validation", 1979.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from sklearn import get_config
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV
from sklearn.utils import check_scalar

from ..core.arguments import MaybeArray
from ..core.blocks import Matrix, Rows
from ..core.callers import warn
from ..core.loop import Progress
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.statistics import Parts, Statistics, tree_sum
from ..estimator.base import must_have_rows
from ..estimator.guarantees import Exempt, Guarantee
from ..estimator.parameters import POSITIVE, StrOptions
from ..estimator.routing import CrossValidated, Routed
from ..fitting.folds import Folds
from ..statistics import Moments
from .coordinate_descent import fold_moments
from .least_squares import LeastSquares, LinearModel, Ridge
from .normal_equations import EPS
from .refinement import refined
from .targets import targets_of

TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class LeftOut(Statistics):
    """Squared errors of rows that are left out, times their weights, by penalty and target."""

    rows: float
    squares: Annotated[np.ndarray, "(A, T)"]


@dataclass(frozen=True, eq=False)
class LeaveOneOut(Model):
    """Ridge regressions with several penalties, in the eigenvectors of the scatter of the rows."""

    mean: Annotated[np.ndarray, "(D,)"]  # zero without an intercept
    level: Annotated[np.ndarray, "(T,)"]  # the prediction at the mean
    axes: Annotated[np.ndarray, "(D, R)"]
    inverse: Annotated[np.ndarray, "(A, R)"]  # one over eigenvalue plus penalty
    coef: Annotated[np.ndarray, "(A, T, R)"]
    constant: float  # of the leverage: one over the total weight, or zero without an intercept
    # Whether least squares go through all rows: then `inverse` is that of least squares minus that with the
    # penalty. Residuals, and one minus leverages, are its products, without cancellation.
    saturated: bool = False

    @classmethod
    def of(cls, start: LinearModel, s: Moments, alphas: np.ndarray, rows: int) -> LeaveOneOut:
        D = start.coef.shape[1]
        square, center = start.square(s), start.fit_intercept * s.mean
        values, axes = eigh(square[:D, :D])
        keep = values > 100.0 * D * EPS * values.max(initial=0.0)
        values, axes = values[keep], axes[:, keep]
        inverse, saturated = 1.0 / (values + alphas[:, None]), rows == len(values) + start.fit_intercept
        if saturated:
            inverse *= alphas[:, None] / values
        coef = inverse[:, None, :] * (axes.T @ square[:D, D:]).T
        constant = float(start.fit_intercept) / float(s.weight)
        return cls(center[:D], center[D:], axes, inverse, coef, constant, saturated)

    def errors(self, block: Rows) -> np.ndarray:
        """Errors of the predictions of each row by a fit to all other rows, (N, A, T)."""
        Z = np.asarray(block.X @ self.axes) - self.mean @ self.axes
        residual, left = np.tensordot(Z, self.coef, (1, 2)), Z**2 @ self.inverse.T
        if self.saturated:
            return residual / np.maximum(block.weight[:, None] * left, TINY)[:, :, None]
        residual = (targets_of(block) - self.level)[:, None] - residual
        left = 1.0 - block.weight[:, None] * (self.constant + left)
        return residual / np.maximum(left, EPS)[:, :, None]

    def summarize(self, block: Rows) -> LeftOut:
        return LeftOut(float(len(block)), np.einsum("n,nat->at", block.weight, self.errors(block) ** 2))

    def estimate(self, s: LeftOut) -> Self:
        """The model itself: its errors choose the penalty."""
        return self


@dataclass(frozen=True, eq=False)
class RidgeChoice(Progress):
    """A fit with the penalty that was chosen."""

    alpha_: Any = None
    best_score_: Any = None
    cv_results_: Any = None


def _moments_and_rows(start: LinearModel, block: Rows) -> Parts:
    """The moments, and the number of rows."""
    return Parts((start.summarize(block), int(np.count_nonzero(block.weight))))


class _Predictions(RegressorMixin, BaseEstimator):
    """An estimator that returns predictions computed before, since a scorer takes an estimator."""

    def predict(self, X: Matrix) -> Any:
        return X


class RidgeCV(CrossValidated, LeastSquares):
    """Ridge regression with a penalty chosen by cross-validation, from moments.

    By default, one row is left out at a time. Its error follows from its residual and its leverage, so that
    the data is read twice for all penalties: once for the moments, and once for the errors.

    Parameters
    ----------
    alphas : float or array of shape (n_alphas,), default=(0.1, 1.0, 10.0)
        The penalties to try, as in :class:`Ridge`.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    scoring : str or callable, default=None
        None: minus the mean squared error if `cv` is None, else R^2. Other scores take rows in memory.
    cv : int, splitter or iterable, default=None
        None: one row is left out at a time, with its weight. Else as in :class:`ElasticNetCV`: of a splitter,
        keep the copies of a row in one fold, e.g. by groups, for weights to be repetitions.
    gcv_mode : {'auto', 'svd', 'eigen'}, default=None
        Ignored: the eigenvectors of the scatter of the rows are used.
    store_cv_results : bool, default=False
        Whether to keep the errors of all rows in `cv_results_`. For rows in memory, and ``cv=None``.
    alpha_per_target : bool, default=False
        Whether to choose a penalty for each target, if ``cv=None``.

    Attributes
    ----------
    cv_results_ : ndarray of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
        Squared errors of rows that were left out, times their weights; with `scoring`, their predictions.
        Only if ``store_cv_results=True``.
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients, fitted to all rows with the best penalty.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.
    alpha_ : float or ndarray of shape (n_targets,)
        The best penalty.
    best_score_ : float or ndarray of shape (n_targets,)
        Its score.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : LinearModel
        The fitted model.
    statistics_ : Moments
        The moments of rows and targets.

    See Also
    --------
    Ridge : A given penalty.
    ElasticNetCV : Absolute and squared penalties.

    Notes
    -----
    With the residual :math:`r_n` and the leverage :math:`h_n` of row n in the fit to all rows, the error of
    row n in the fit to all others is

    .. math::

        \\frac{r_n}{1 - h_n}, \\qquad h_n = \\frac{1}{N} + (x_n - \\bar x)^T (S + α I)^{-1} (x_n - \\bar x).

    With a weight :math:`w_n`, the leverage is :math:`w_n h_n`: a row is left out with all of its weight, as
    in scikit-learn. So whole weights are repetitions whose copies are left out together, e.g. by
    ``cv=LeaveOneGroupOut()``. If you repeat rows and leave out one copy at a time, the other copies remain
    in the fit, and the errors are smaller.

    References
    ----------
    * Allen (1974), "The relationship between variable selection and data augmentation and a method for
      prediction", Technometrics 16.
    * Golub, Heath and Wahba (1979), "Generalized cross-validation as a method for choosing a good ridge
      parameter", Technometrics 21.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.linear_model import RidgeCV
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> y = X @ [1.0, 2.0, 3.0]
    >>> model = RidgeCV(alphas=[0.01, 1.0, 100.0]).fit(X, y)
    >>> float(model.alpha_), model.coef_.round(2)
    (0.01, array([1., 2., 3.]))
    """

    exempt = (
        Exempt("memory", "The errors of the rows are part of the answer.", lambda e: e.store_cv_results),
    )

    model_: Annotated[LinearModel, "T, D"]
    positive: bool = False
    preserves_dtype = (*LeastSquares.preserves_dtype, "cv_results_")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alphas": ["array-like", POSITIVE],
        "scoring": [str, callable, None],
        "cv": ["cv_object"],
        "gcv_mode": [StrOptions({"auto", "svd", "eigen"}), None],
        "store_cv_results": ["boolean"],
        "alpha_per_target": ["boolean"],
    }

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        gcv_mode: str | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target

    @property
    def counts_rows(self) -> bool:
        """Folds are runs of rows, and the metadata of a scorer is by row: rows of weight zero count."""
        return self.cv is not None or self.scoring is not None

    def _guarantee(self) -> Guarantee:
        return Guarantee("rounding" if self.cv is None else "order")

    def _check_options(self) -> None:
        self._alphas()
        if self.cv is not None and (self.store_cv_results or self.alpha_per_target):
            name = "store_cv_results" if self.store_cv_results else "alpha_per_target"
            raise ValueError(f"cv!=None and {name}=True are incompatible: use cv=None.")

    def _check_solver(self, X: Any) -> None:
        if self.gcv_mode == "svd" and sp.issparse(X):
            warn(
                "The 'svd' mode is not supported for sparse X, and will raise an error in scikit-learn 1.11: "
                "use gcv_mode='eigen'.",
                FutureWarning,
            )

    def _solve(self, data: Partitions, classes: MaybeArray = None, routed: Any = None) -> Progress:
        alphas, start = self._alphas(), self._start(data)
        if self.cv is None:
            s, results = self._left_out(data, start, alphas, routed.for_scorer)
        elif self.scoring is None:
            folds = routed.folds(data, self.cv)
            s, results = self._folded(data.map(Folds.number, folds), folds, start, alphas)
        else:
            s, results = data.fold(LinearModel.summarize, start), self._searched(routed)
        model, _ = refined(start.replace(alpha=results["alpha_"]), s, data)
        return RidgeChoice(model, statistics=s, **results)

    def _alphas(self) -> np.ndarray:
        """The penalties, checked."""
        if np.ndim(self.alphas) > 1:
            raise ValueError(f"alphas has shape {np.shape(self.alphas)}, expected an array of 1 axis.")
        alphas = np.atleast_1d(np.asarray(self.alphas, dtype=object))
        allowed = "neither" if self.cv is None else "left"
        for place, alpha in enumerate(alphas):
            name = f"alphas[{place}]" if len(alphas) > 1 else "alphas"
            check_scalar(alpha, name, Real, min_val=0.0, include_boundaries=allowed)
        return alphas.astype(np.float64)

    def _left_out(
        self, data: Partitions, start: LinearModel, alphas: np.ndarray, for_scorer: dict[str, Any]
    ) -> tuple[Moments, Any]:
        """The moments, and the best penalty by errors of rows that are left out, one at a time."""
        s, rows = data.fold(_moments_and_rows, start).parts
        must_have_rows(s.weight)
        each = LeaveOneOut.of(start, s, alphas, rows)
        results: dict[str, Any] = {}
        if self.scoring is None:
            sums = data.fold(LeaveOneOut.summarize, each)
            scores = -sums.squares / sums.rows  # (A, T)
        if self.scoring is not None or self.store_cv_results:
            block = data.gather("use scoring=None and store_cv_results=False.")
            block = block.piece(0, len(block), 0)
            errors, y = each.errors(block), targets_of(block)
            shown = block.weight[:, None, None] * errors**2
            if self.scoring is not None:
                shown = y[:, None] - errors
                if "sample_weight" in for_scorer:
                    for_scorer["sample_weight"] = block.weight
                scores = self._scored(shown, y, for_scorer)
            if self.store_cv_results:
                shown = np.swapaxes(shown, 1, 2)
                results["cv_results_"] = shown[:, 0] if self._flat_target else shown
        if not self.alpha_per_target or scores.shape[1] == 1:
            best = int(np.argmax(scores.mean(axis=1)))
            return s, {**results, "alpha_": alphas[best], "best_score_": float(scores[best].mean())}
        place = np.argmax(scores, axis=0)
        return s, {**results, "alpha_": alphas[place], "best_score_": scores.max(axis=0)}

    def _scored(self, predictions: np.ndarray, y: np.ndarray, params: dict[str, Any]) -> np.ndarray:
        """Return the score of predictions (N, A, T) by penalty, and by target with `alpha_per_target`."""
        scorer = partial(check_scoring(self, self.scoring), _Predictions(), **params)
        if self.alpha_per_target:
            return np.array(
                [
                    [scorer(p, t) for p, t in zip(part.T, y.T, strict=True)]
                    for part in np.swapaxes(predictions, 0, 1)
                ]
            )
        flat = self._flat_target
        return np.array(
            [
                [scorer(part[:, 0], y[:, 0]) if flat else scorer(part, y)]
                for part in np.swapaxes(predictions, 0, 1)
            ]
        )

    def _folded(
        self, data: Partitions, folds: Folds, start: LinearModel, alphas: np.ndarray
    ) -> tuple[Moments, Any]:
        """The moments, and the best penalty by R^2 on the folds that are left out."""
        sums = data.fold(fold_moments, folds.n_folds)
        must_have_rows(sums.weight)
        trained, tested = sums.splits(folds.trained, folds.tested)
        models = [[start.replace(alpha=a).estimate(s) for a in alphas] for s in trained]
        scores = [[r2_of_moments(m, s) for m in each] for each, s in zip(models, tested, strict=True)]
        mean = np.mean(scores, axis=0)
        best = int(np.argmax(mean))
        return tree_sum(sums.present), {"alpha_": alphas[best], "best_score_": float(mean[best])}

    def _searched(self, fit: Routed) -> dict[str, Any]:
        """The best penalty by a score that needs the predictions, for rows in memory."""
        weighted = {} if fit.sample_weight is None else {"sample_weight": fit.sample_weight}
        ridge = Ridge(fit_intercept=self.fit_intercept)
        if get_config()["enable_metadata_routing"]:
            ridge.set_fit_request(sample_weight=True)
        search = GridSearchCV(
            ridge,
            {"alpha": self._alphas()},
            cv=self.cv,
            scoring=check_scoring(self, self.scoring),
        )
        search.fit(fit.X, fit.y, **weighted, **fit.params)
        return {"alpha_": search.best_params_["alpha"], "best_score_": float(search.best_score_)}

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model = progress.model
        coef = model.coef[0] if len(model.coef) == 1 else model.coef  # flat for a column of targets too
        return {**super()._fitted(progress), "coef_": coef}


def r2_of_moments(model: LinearModel, s: Moments) -> float:
    """R^2 on rows with these moments, the mean over the targets."""
    T = len(model.coef)
    direction = np.hstack([-model.coef, np.eye(T)])
    bias = direction @ s.mean - model.intercept
    squares = np.einsum("td,de,te->t", direction, s.scatter, direction) + s.weight * bias**2
    total = np.diag(s.scatter)[-T:]
    share = squares / np.where(total > 0, total, 1.0)
    return float(np.where(total > 0, 1.0 - share, squares == 0).mean())
