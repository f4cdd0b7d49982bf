"""Bayesian linear regression from moments.

CS181 2.7 and 2.9; Bishop, "Pattern recognition and machine learning", 2006, sections 3.3 to 3.5; MacKay,
"Bayesian interpolation", 1992.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, solve_triangular
from scipy.linalg.lapack import dpocon
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray, Seed
from ..core.cost import afford
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..estimator.answers import row_wise
from ..estimator.parameters import FINITE, POSITIVE, Numbers, StrOptions
from ..estimator.tags import tags
from ..inputs import read_rows
from ..inputs.conversions import LARGEST
from ..statistics import Moments
from .least_squares import LeastSquares, LinearModel, must_have_one_target
from .normal_equations import EPS

STEPS = 1000  # maximum number of fixed-point iterations of the precisions
CLOSE = 1e-10  # tolerance of the relative change of the precisions
LEAST = 1e-12  # of the variance of the targets is noise, at least; and of what is seen is known before


def factorized(precision: np.ndarray) -> tuple[np.ndarray, bool] | None:
    """The Cholesky factor of a matrix; None if the matrix, scaled to a unit diagonal, is too
    ill-conditioned to tell whether it is positive definite."""
    scale = 1.0 / np.sqrt(np.where(precision.diagonal() > 0, precision.diagonal(), 1.0))
    scaled = precision * np.outer(scale, scale)
    try:
        factor, lower = cho_factor(scaled)
    except np.linalg.LinAlgError:
        return None
    if len(scaled):  # a subset of no features has none
        reciprocal, _ = dpocon(factor, np.abs(scaled).sum(axis=0).max())
        if not reciprocal > EPS * len(scaled):
            return None
    return factor / scale, lower


@dataclass(frozen=True, eq=False)
class GaussianWeights(LinearModel):
    """coef ~ N(prior_mean, prior_precision^-1) and y ~ N(X coef + intercept, 1 / noise_precision).

    The prior of the intercept is flat.
    """

    prior_mean: Annotated[Any, "number or real (D,)"] = 0.0
    prior_precision: Annotated[Any, "number or real (D,) or real (D, D)"] = 1.0
    noise_precision: float = 1.0
    learns: tuple[bool, ...] = (False, False)  # the precisions, of weights and of noise
    precision: Annotated[Any, "(D, D) or None"] = None  # of the posterior
    center: Annotated[Any, "(D,) or None"] = None  # mean of the rows, if there is an intercept
    weight: float = 0.0  # of the rows
    log_evidence: float = -np.inf

    def estimate(self, s: Moments) -> Self:
        """Compute the posterior. Learned precisions maximize the evidence (marginal likelihood).

        MacKay's fixed point iteration: gamma is the effective number of the D weights that the data
        determine.
        """
        model = self._posterior(s)
        if not any(self.learns):
            return model
        D = self.coef.shape[1]
        square = self.square(s)
        spread = np.maximum(eigh(square[:D, :D], eigvals_only=True), 0.0)
        rows = s.weight - self.fit_intercept
        for _ in range(STEPS):
            a, b = model.prior_precision, model.noise_precision
            gamma = float((b * spread / (a + b * spread)).sum())
            off = model.coef[0] - self.prior_mean
            if self.learns[0] and spread[-1] > 0:
                a = gamma / max(float(off @ off), LEAST * gamma / (b * spread[-1]))
            if self.learns[1] and square[D, D] > 0:
                b = max(rows - gamma, LEAST * rows) / max(model._squares(s), LEAST * square[D, D])
            change = max(abs(a / model.prior_precision - 1.0), abs(b / model.noise_precision - 1.0))
            model = model.replace(prior_precision=a, noise_precision=b)._posterior(s)
            if change < CLOSE:
                break
        return model

    @property
    def precision_matrix(self) -> np.ndarray:
        """Precision matrix of the prior, (D, D)."""
        D, values = self.coef.shape[1], np.asarray(self.prior_precision, dtype=np.float64)
        return values if values.ndim == 2 else np.diag(np.broadcast_to(values, D))

    def _posterior(self, s: Moments) -> Self:
        D, b = self.coef.shape[1], self.noise_precision
        square, prior = self.square(s), self.precision_matrix
        mean = np.broadcast_to(np.asarray(self.prior_mean, dtype=np.float64), D)
        precision = prior + b * square[:D, :D]
        factor = factorized(precision)
        if factor is None:
            raise ValueError(
                "The columns of X are collinear up to rounding, and prior_precision is too small "
                "relative to their squares: standardize the columns, e.g. with "
                "sklearn.preprocessing.StandardScaler, or raise prior_precision."
            )
        coef = cho_solve(factor, prior @ mean + b * square[:D, D])
        center = s.mean[:D] if self.fit_intercept else np.zeros(D)
        intercept = s.mean[D:] - center @ coef if self.fit_intercept else np.zeros(1)
        posterior = self.replace(coef=coef[None], intercept=intercept, precision=precision, center=center)
        n, off = float(s.weight), coef - mean
        # A flat intercept takes one row's worth of noise with it.
        rows = n - self.fit_intercept
        evidence = 0.5 * rows * np.log(b / (2.0 * np.pi)) - 0.5 * self.fit_intercept * np.log(n)
        evidence += 0.5 * np.linalg.slogdet(prior)[1] - np.log(np.diag(factor[0])).sum()
        with np.errstate(over="ignore"):
            evidence -= 0.5 * (b * posterior._squares(s) + off @ prior @ off)
        if not np.isfinite(evidence):
            raise ValueError(
                f"The log evidence is {evidence:.3g}: the squared distances from prior_mean times "
                "prior_precision overflow, or those of the targets times noise_precision. Lower these "
                "parameters, or divide y by its scale."
            )
        return posterior.replace(weight=n, log_evidence=float(evidence))

    def _squares(self, s: Moments) -> float:
        """Residual sum of squares."""
        direction = np.append(-self.coef[0], 1.0)
        return float(direction @ self.square(s) @ direction)

    def variance(self, X: np.ndarray) -> np.ndarray:
        """Predictive variance of the target of each row."""
        root = np.linalg.cholesky(self.precision)
        of_coef = (solve_triangular(root, np.asarray(X - self.center).T, lower=True) ** 2).sum(axis=0)
        of_intercept = 1.0 / (self.noise_precision * self.weight) if self.fit_intercept else 0.0
        return of_coef + of_intercept + 1.0 / self.noise_precision


class BayesianLinearRegression(LeastSquares):
    """Bayesian linear regression with a Gaussian prior on the coefficients. The data is read once.

    Parameters
    ----------
    prior_mean : float or array of shape (n_features,), default=0.0
        Prior mean of the coefficients.
    prior_precision : float, array or 'evidence', default=1.0
        Prior precision of the coefficients (inverse covariance): a number, or an array of shape (n_features,)
        or (n_features, n_features). 'evidence' chooses the number that maximizes the evidence (marginal
        likelihood).
    noise_precision : float or 'evidence', default=1.0
        Precision of the noise (inverse variance). 'evidence' maximizes the evidence, as above.
    fit_intercept : bool, default=True
        Whether to fit an intercept. Its prior is flat.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Posterior mean of the coefficients, which is also the posterior mode (MAP).
    intercept_ : float
        Posterior mean of the intercept.
    covariance_ : ndarray of shape (n_features, n_features)
        Posterior covariance of the coefficients.
    prior_precision_ : float or ndarray
        Precision of the prior: the parameter, or the value that maximizes the evidence.
    noise_precision_ : float
        Precision of the noise: the parameter, or the value that maximizes the evidence.
    log_evidence_ : float
        Log evidence (log marginal likelihood) of the targets. With an intercept, it is known up to the
        constant of the flat prior.
    model_ : GaussianWeights
        The fitted model.
    statistics_ : Moments
        The moments of rows and targets. `partial_fit` adds to them; the order of rows does not matter.

    See Also
    --------
    Ridge : The mean of the posterior, with a fixed penalty.
    BayesianModelAveraging : Several sets of features.
    model_probabilities : Compares models by their evidence.

    Notes
    -----
    With prior mean m_0, prior precision Λ and noise precision β, the posterior of the coefficients is
    normal:

    .. math::

        S^{-1} = Λ + β X^T X, \\qquad m = S\\, (Λ m_0 + β X^T y).

    References
    ----------
    MacKay, "Bayesian interpolation", 1992.

    Examples
    --------
    >>> from suffice.linear_model import BayesianLinearRegression
    >>> model = BayesianLinearRegression(prior_precision=2.0, noise_precision=4.0, fit_intercept=False)
    >>> model = model.fit([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]], [1.0, 3.0, 4.0, 4.0])
    >>> model.coef_.round(4)
    array([1.2308, 1.0769])
    >>> mean, std = model.predict([[1.0, 4.0]], return_std=True)
    >>> std.round(4)
    array([0.761])
    """

    model_: Annotated[GaussianWeights, "D"]
    positive = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "prior_mean": [FINITE, Numbers()],
        "prior_precision": [POSITIVE, Numbers(), StrOptions({"evidence"})],
        "noise_precision": [POSITIVE, StrOptions({"evidence"})],
    }
    __sklearn_tags__ = tags(target_tags__multi_output=False)

    def __init__(
        self,
        *,
        prior_mean: Any = 0.0,
        prior_precision: Any = 1.0,
        noise_precision: Any = 1.0,
        fit_intercept: bool = True,
    ) -> None:
        self.prior_mean = prior_mean
        self.prior_precision = prior_precision
        self.noise_precision = noise_precision
        self.fit_intercept = fit_intercept

    def _start(self, data: Partitions, classes: MaybeArray = None) -> GaussianWeights:
        D = self.n_features_in_
        afford(D**2, f"the moments of {D} features", "use fewer.")
        precisions = {name: getattr(self, name) for name in ("prior_precision", "noise_precision")}
        learns = tuple(isinstance(value, str) and value == "evidence" for value in precisions.values())
        for (name, value), learnt in zip(precisions.items(), learns, strict=True):
            if not learnt and (isinstance(value, str) or not _is_precision(value, D, name)):
                raise ValueError(
                    f"{name}={value!r} must be positive, or 'evidence' to maximize the evidence."
                )
        if np.shape(self.prior_mean) not in ((), (D,)):
            raise ValueError(
                f"prior_mean has shape {np.shape(self.prior_mean)}, expected a number or {(D,)}."
            )
        if not (np.abs(self.prior_mean) <= LARGEST).all():
            raise ValueError(
                f"prior_mean must be from {-LARGEST:.0e} to {LARGEST:.0e}: the squares of larger numbers "
                "overflow."
            )
        prior, noise = (
            1.0 if learnt else value for value, learnt in zip(precisions.values(), learns, strict=True)
        )
        if learns[1] and np.ndim(prior):
            raise ValueError(
                "noise_precision='evidence' requires prior_precision to be a number or 'evidence'."
            )
        options = 0.0, self.fit_intercept, False, copy(self.prior_mean), copy(prior), noise, learns
        return GaussianWeights(np.zeros((1, D)), np.zeros(1), *options)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model, s = progress.model, progress.statistics
        must_have_one_target(model, s)
        self._flat_target = True
        return {
            **super()._fitted(progress),
            "covariance_": np.linalg.inv(model.precision),
            "prior_precision_": model.prior_precision,
            "noise_precision_": float(model.noise_precision),
            "log_evidence_": model.log_evidence,
        }

    @row_wise
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predictive mean of the target of each row, and optionally its standard deviation, noise included.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.
        return_std : bool, default=False
            Whether to also return the standard deviations.

        Returns
        -------
        ndarray of shape (n_samples,), or two of them

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        mean = X @ self.coef_ + self.intercept_
        if not return_std:
            return mean
        return mean, np.sqrt(self.model_.variance(X.toarray() if hasattr(X, "toarray") else X))

    def log_posterior(self, coef: Any) -> float:
        """Log posterior density of coefficients."""
        check_is_fitted(self)
        off = np.asarray(coef, dtype=np.float64) - self.coef_
        _, log_det = np.linalg.slogdet(self.model_.precision / (2.0 * np.pi))
        return float(0.5 * (log_det - off @ self.model_.precision @ off))

    def sample(self, n_samples: int = 1, *, random_state: Seed = None) -> np.ndarray:
        """Draw coefficients from the posterior, (n_samples, n_features)."""
        check_is_fitted(self)
        drawn = check_random_state(random_state).normal(size=(len(self.coef_), n_samples))
        root = np.linalg.cholesky(self.model_.precision)
        return self.coef_ + solve_triangular(root, drawn, lower=True, trans="T").T


def _is_precision(value: Any, D: int, name: str) -> bool:
    value = np.asarray(value, dtype=np.float64)
    shapes = ((), (D,), (D, D)) if name == "prior_precision" else ((),)
    if value.shape not in shapes:
        raise ValueError(f"{name} has shape {value.shape}, expected one of {shapes}.")
    if value.ndim < 2:
        return bool((value > 0).all() and np.isfinite(value).all())
    return bool(np.array_equal(value, value.T) and (eigh(value, eigvals_only=True) > 0).all())
