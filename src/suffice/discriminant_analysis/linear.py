"""Linear discriminant analysis: Gaussian classes with a shared covariance.

Fisher, "The use of multiple measurements in taxonomic problems", 1936; Hastie, Tibshirani and Friedman,
"The Elements of Statistical Learning", section 4.3; Ledoit and Wolf, "Honey, I shrunk the sample
covariance matrix", 2004.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.linalg import eigh, lstsq, svd
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray
from ..core.blocks import Rows
from ..core.callers import warn
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..core.statistics import Statistics
from ..estimator.answers import row_wise
from ..estimator.guarantees import Guarantee
from ..estimator.parameters import AT_LEAST_1, SHARE, HasMethods, Numbers, StrOptions
from ..families import FullGaussian, Gaussian, Labelled, TiedGaussian
from ..families.mixture import GroupStatistics
from ..fitting.linear_algebra import signs
from ..inputs import read_rows
from ..naive_bayes.generative import GenerativeClassifier
from ..statistics import Moments


@dataclass(frozen=True, eq=False)
class DiscriminantFit(Progress):
    """The model of the classes, and what more is known of the covariances of each class and of all rows."""

    of_covariances: Any = None  # fourth moments (K + 1,) if shrinkage='auto', or estimates (K + 1, D, D)


class Discriminant(GenerativeClassifier):
    """Base class of linear and quadratic discriminant analysis: priors, shrinkage, decisions."""

    priors: Any
    shrinkage: Any
    covariance_estimator: Any
    solver: str

    def _prior(self, K: int) -> Any:
        if self.covariance_estimator is not None:
            if self.solver == "svd":
                raise ValueError(
                    "covariance_estimator is not supported with solver='svd' (covariance estimator is not "
                    "supported with svd solver): use solver='eigen'."
                )
            if self.shrinkage:
                raise ValueError(
                    "covariance_estimator and shrinkage parameters are not None. Only one of the two can be "
                    "set."
                )
        if self.shrinkage is not None and self.solver == "svd":
            raise NotImplementedError("shrinkage is not supported with solver='svd': use solver='eigen'.")
        if self.priors is None:
            return None
        priors = np.array(self.priors, dtype=np.float64)
        if (priors < 0).any():
            raise ValueError(f"priors must be non-negative; got {priors.tolist()}.")
        if not np.isclose(priors.sum(), 1.0):
            warn("The priors do not sum to 1. Renormalizing.", UserWarning)
        return priors / (priors.sum() or 1.0)

    def _guarantee(self) -> Guarantee:
        return Guarantee(gathers=self.covariance_estimator is not None)

    def _solve(self, data: Partitions, classes: MaybeArray = None) -> Progress:
        start = self._start(data, classes)
        s = data.fold(Labelled.summarize, start)
        of_covariances = None
        if self.shrinkage == "auto":  # needs fourth moments about the means, so one more pass
            of_covariances = data.fold(_fourth_moments, start, s.component).value
        elif self.covariance_estimator is not None:
            of_covariances = self._by_estimator(start, data)
        model = self._estimated(start, s).model
        return DiscriminantFit(model, statistics=s, of_covariances=of_covariances)

    def _by_estimator(self, start: Labelled, data: Partitions) -> np.ndarray:
        """Covariances of the classes by `covariance_estimator`, and last that of all rows: (K + 1, D, D)."""
        rows = data.gather("use shrinkage, which does not need all rows of a class at once.")
        if (rows.weight != 1.0).any():
            raise ValueError("covariance_estimator takes rows without weights: use shrinkage, or drop them.")
        codes = start.codes(rows.y)
        covariances = []
        for X in (*(rows.X[codes == k] for k in range(len(start.classes))), rows.X):
            self.covariance_estimator.fit(X)
            if not hasattr(self.covariance_estimator, "covariance_"):
                name = type(self.covariance_estimator).__name__
                raise ValueError(
                    f"{name} does not have a covariance_ attribute: use one of sklearn.covariance."
                )
            covariances.append(np.atleast_2d(self.covariance_estimator.covariance_))
        return np.stack(covariances)

    def partial_fit(
        self, X: Any, y: MaybeArray = None, classes: MaybeArray = None, sample_weight: MaybeArray = None
    ) -> Self:
        """Update the model with more rows. The result equals one `fit` to all rows.

        `classes` are all classes. The first call needs them.
        """
        if self.shrinkage == "auto" or self.covariance_estimator is not None:
            raise ValueError(
                "partial_fit does not support shrinkage='auto', which reads the data twice, or "
                "covariance_estimator, which needs all rows: pass shrinkage as a number, or call fit."
            )
        return super().partial_fit(X, y, classes, sample_weight)

    def _estimated(self, start: Labelled, s: GroupStatistics) -> Progress:
        if len(start.classes) < 2:
            raise ValueError("The number of classes has to be greater than one; got 1 class.")
        return super()._estimated(start, s)

    def _class_covariances(self, progress: DiscriminantFit) -> np.ndarray:
        """Maximum likelihood covariances, with shrinkage, (K, D, D)."""
        s, shrinkage = progress.statistics, self.shrinkage
        if self.covariance_estimator is not None:
            return progress.of_covariances[:-1]
        covariances = s.component.variance
        if shrinkage is None:
            return covariances
        if shrinkage != "auto":
            return np.stack([_shrunk(C, shrinkage) for C in covariances])
        of_classes = zip(covariances, s.weight, progress.of_covariances[:-1], strict=True)
        return np.stack([_ledoit_wolf(*of_class) for of_class in of_classes])

    @row_wise
    def decision_function(self, X: Any) -> np.ndarray:
        """Joint log density log p(x, c) up to a constant. For two classes, the second minus the first.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        joint = self.predict_joint_log_proba(X)
        return joint[:, 1] - joint[:, 0] if joint.shape[1] == 2 else joint


@dataclass(frozen=True, eq=False)
class _Values(Statistics):
    value: Annotated[np.ndarray, "(K,)"]


def _fourth_moments(model: Labelled, by_class: Moments, block: Rows) -> _Values:
    """Sums of |z|^4 of the standardized rows: by class, and last over all rows."""
    total, K = by_class.total(), len(by_class.mean)
    codes = model.codes(block.y)

    def fourth(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        Z = (block.X - mean) ** 2 / np.where(variance > 0, variance, 1.0)
        return block.weight * Z.sum(axis=1) ** 2

    spread = np.diagonal(by_class.variance, axis1=1, axis2=2)
    within = fourth(by_class.mean[codes], spread[codes])
    overall = fourth(total.mean, np.diag(total.variance))
    return _Values(np.append(np.bincount(codes, within, minlength=K), overall.sum()))


def _must_differ_within_classes(s: GroupStatistics) -> None:
    """Refuse classes in which all rows are equal: they have no covariance."""
    within = np.diagonal(s.component.variance, axis1=-2, axis2=-1)
    rounding = (4.0 * np.finfo(np.float64).eps * np.abs(s.component.mean)) ** 2  # of means
    if (within <= rounding.max(axis=0)).all():
        raise ValueError(
            "The rows of each class are equal, so the covariance within classes is zero. The number of "
            "samples must be more than the number of classes: LinearDiscriminantAnalysis needs rows of "
            "one class that differ."
        )


def _shrunk(C: np.ndarray, share: float) -> np.ndarray:
    return (1.0 - share) * C + share * np.trace(C) / len(C) * np.eye(len(C))


def _ledoit_wolf(C: np.ndarray, n: float, fourth: float) -> np.ndarray:
    """C with Ledoit-Wolf shrinkage, in standard units."""
    D, size = len(C), np.sqrt(np.diag(C))
    size = np.where(size > 0, size, 1.0)
    units = np.outer(size, size)
    S = C / units
    distance = ((S - np.trace(S) / D * np.eye(D)) ** 2).sum() / D
    error = min((fourth / n - (S**2).sum()) / (n * D), distance)
    return _shrunk(S, error / distance if error else 0.0) * units


def _scores(prior: np.ndarray, means: np.ndarray, solve: Callable[..., np.ndarray]) -> dict[str, Any]:
    """Coefficients of log p(x, c) in x, and in x minus the mean, which are accurate far from the origin."""
    mean = prior @ means
    coef, common = solve(means - mean), solve(mean[None])[0]
    intercept = np.log(prior) - 0.5 * ((means - mean) * coef).sum(axis=1)
    return {
        "_about_mean": (mean, coef, intercept),
        "coef_": coef + common,
        "intercept_": intercept - coef @ mean - 0.5 * mean @ common,
    }


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Discriminant):
    """Linear discriminant analysis, for classification and dimensionality reduction.

    Parameters
    ----------
    solver : {'svd', 'lsqr', 'eigen'}, default='svd'
        'svd' drops directions of zero variance within classes. 'lsqr' solves for the coefficients. 'eigen'
        solves the eigenproblem of the scatter between and within classes. 'lsqr' and 'eigen' support
        shrinkage.
    shrinkage : float or 'auto', default=None
        Shrinkage of the covariance towards a multiple of the identity, between 0 and 1. 'auto' is Ledoit-Wolf
        shrinkage, which takes one more pass.
    priors : array of shape (n_classes,), default=None
        Prior probabilities of the classes. If None, the class frequencies are used.
    n_components : int, default=None
        Number of components of `transform`. If None, min(n_classes - 1, n_features).
    store_covariance : bool, default=False
        Whether to compute `covariance_` with solver 'svd'. The others always do.
    tol : float, default=1e-4
        Threshold of 'svd': directions in which standardized rows have a smaller singular value are dropped.
    covariance_estimator : estimator, default=None
        Estimates the covariances by `fit` and `covariance_`, as those of sklearn.covariance do, instead of
        `shrinkage`. All rows of a class are then gathered in memory. Not for solver 'svd'.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    priors_ : ndarray of shape (n_classes,)
        Prior probabilities of the classes.
    means_ : ndarray of shape (n_classes, n_features)
        Class means.
    xbar_ : ndarray of shape (n_features,)
        Mean of the class means ('svd').
    coef_ : ndarray of shape (n_classes, n_features) or (1, n_features)
        Coefficients of the decision function.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Intercepts of the decision function.
    scalings_ : ndarray of shape (n_features, rank)
        The projection ('svd' and 'eigen').
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Fraction of the variance between classes explained by each component ('svd' and 'eigen').
    covariance_ : ndarray of shape (n_features, n_features)
        Covariance within classes. Only if ``store_covariance=True`` or the solver is not 'svd'.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Labelled
        The fitted model.
    statistics_ : GroupStatistics
        The moments of the classes. `partial_fit` adds to them.

    See Also
    --------
    QuadraticDiscriminantAnalysis : A covariance for each class.
    suffice.naive_bayes.ClassConditional : Other densities, mixtures, rows without labels.
    suffice.linear_model.LogisticRegression : A linear classifier without a model of the rows.

    Notes
    -----
    The score of a class c with mean μ_c and prior π_c is linear in x:

    .. math::

        δ_c(x) = x^T Σ^{-1} μ_c - \\frac{1}{2} μ_c^T Σ^{-1} μ_c + \\log π_c.

    References
    ----------
    * Fisher (1936), "The use of multiple measurements in taxonomic problems", Annals of Eugenics 7.
    * Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, 2nd edition, Springer,
      section 4.3.
    * Ledoit and Wolf (2004), "Honey, I shrunk the sample covariance matrix", Journal of Portfolio Management
      30.

    Examples
    --------
    >>> from suffice.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> LinearDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2]).predict([[-0.8, -1]])
    array([1])
    """

    preserves_dtype = (
        *("coef_", "intercept_", "means_", "xbar_", "scalings_", "covariance_", "explained_variance_ratio_"),
        *("transform", "decision_function"),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"svd", "lsqr", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), SHARE, None],
        "priors": [Numbers(), None],
        "n_components": [AT_LEAST_1, None],
        "store_covariance": ["boolean"],
        "covariance_estimator": [HasMethods("fit"), None],
    }

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def _family(self, data: Partitions, K: int) -> Gaussian:
        # Classes that do not count as often as they occur, or shrink apart, are summed apart.
        stored = self.solver != "svd" or self.store_covariance
        fitted_apart = self.shrinkage == "auto" or self.covariance_estimator is not None
        apart = stored and (self.priors is not None or fitted_apart)
        return (FullGaussian if apart else TiedGaussian).start(K, self.n_features_in_)

    coef_: Annotated[np.ndarray, "(K, D) or (1, D)"]
    intercept_: Annotated[np.ndarray, "(K,) or (1,)"]
    _max_components: int

    def _fitted(self, progress: DiscriminantFit) -> dict[str, Any]:  # type: ignore[override]
        model, s = progress.model, progress.statistics
        K, D = s.component.mean.shape
        most = min(K - 1, D)
        count = most if self.n_components is None else self.n_components
        if count > most:
            raise ValueError(
                f"n_components cannot be larger than min(n_features, n_classes - 1)={most}; got {count}."
            )
        _must_differ_within_classes(s)
        fitted = {"classes_": model.classes, "priors_": model.prior, "means_": s.component.mean}
        with np.errstate(divide="ignore"):  # a class that was named, and not seen yet
            fitted |= getattr(self, f"_{self.solver}")(model.prior, progress)
        if (ratio := fitted.get("explained_variance_ratio_")) is not None:
            fitted["explained_variance_ratio_"] = ratio[:count]
        if K == 2:
            fitted["coef_"] = np.diff(fitted["coef_"], axis=0)
            fitted["intercept_"] = np.diff(fitted["intercept_"])
        return {**fitted, "_max_components": count}

    def _within(self, prior: np.ndarray, progress: DiscriminantFit) -> np.ndarray:
        moments = progress.statistics.component
        if moments.pooled:
            return _shrunk(moments.variance, self.shrinkage or 0.0)
        return np.tensordot(prior, self._class_covariances(progress), axes=1)

    def _lsqr(self, prior: np.ndarray, progress: DiscriminantFit) -> dict[str, Any]:
        within, means = self._within(prior, progress), progress.statistics.component.mean
        return {"covariance_": within} | _scores(prior, means, lambda Y: lstsq(within, Y.T)[0].T)

    def _eigen(self, prior: np.ndarray, progress: DiscriminantFit) -> dict[str, Any]:
        within, s = self._within(prior, progress), progress.statistics
        means, share = s.component.mean, s.weight / s.weight.sum()
        delta = means - share @ means
        total = s.component.variance if s.component.pooled else np.tensordot(share, s.component.variance, 1)
        total = total + (delta * share[:, None]).T @ delta
        if self.covariance_estimator is not None:
            total = progress.of_covariances[-1]
        elif self.shrinkage == "auto":
            total = _ledoit_wolf(total, s.weight.sum(), progress.of_covariances[-1])
        else:
            total = _shrunk(total, self.shrinkage or 0.0)
        values, vectors = eigh(total - within, within)
        order = np.argsort(values)[::-1]
        vectors = vectors[:, order] * signs(vectors[:, order].T)
        fitted = {
            "covariance_": within,
            "explained_variance_ratio_": values[order] / values.sum(),
            "scalings_": vectors,
        }
        return fitted | _scores(prior, means, lambda Y: Y @ vectors @ vectors.T)

    def _svd(self, prior: np.ndarray, progress: DiscriminantFit) -> dict[str, Any]:
        s = progress.statistics
        C, means, share = s.component.variance, s.component.mean, s.weight / s.weight.sum()
        C = C if s.component.pooled else np.tensordot(share, C, axes=1)
        K, xbar = len(means), prior @ means
        size = np.sqrt(np.diag(C))
        size = np.where(size > 0, size, 1.0)
        values, vectors = eigh(C / np.outer(size, size))
        spread = np.sqrt(np.maximum(values[::-1], 0.0))
        keep = spread > self.tol
        scalings = vectors[:, ::-1][:, keep] / size[:, None] / spread[keep]
        between = np.sqrt(s.weight.sum() * prior / max(K - 1, 1))[:, None] * (means - xbar) @ scalings
        _, strength, rotation = svd(between, full_matrices=False)
        keep = strength > self.tol * strength[0]
        scalings = scalings @ rotation.T[:, keep]
        scalings = scalings * signs(scalings.T)
        coef = (means - xbar) @ scalings @ scalings.T
        intercept = np.log(prior) - 0.5 * ((means - xbar) * coef).sum(axis=1)
        fitted = {
            "xbar_": xbar,
            "_about_mean": (xbar, coef, intercept),
            "explained_variance_ratio_": strength**2 / ((strength**2).sum() or 1.0),
            "scalings_": scalings,
            "coef_": coef,
            "intercept_": intercept - coef @ xbar,
        }
        return fitted | ({"covariance_": self._within(prior, progress)} if self.store_covariance else {})

    def _scores(self, X: Any) -> np.ndarray:
        mean, coef, intercept = self._about_mean
        return (X - mean).dot(coef.T) + intercept

    @row_wise
    def decision_function(self, X: Any) -> np.ndarray:
        """Linear scores from `coef_` and `intercept_`. For two classes, the second minus the first.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        check_is_fitted(self)
        if len(self.classes_) == 2:
            return super().decision_function(X)
        return read_rows(self, X) @ self.coef_.T + self.intercept_

    @row_wise
    def transform(self, X: Any) -> np.ndarray:
        """Project the rows on the directions of maximum class separation.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        if self.solver == "lsqr":
            raise NotImplementedError("transform not implemented for 'lsqr' solver (use 'svd' or 'eigen').")
        X = read_rows(self, X)
        if self.solver == "svd":
            X = X - self.xbar_
        return (X @ self.scalings_)[:, : self._max_components]

    @property
    def _n_features_out(self) -> int:
        return self._max_components
