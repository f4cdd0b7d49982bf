"""Ridge regression with a penalty that maximizes the evidence, from moments.

MacKay, "Bayesian interpolation", 1992; Tipping, "Sparse Bayesian learning and the relevance vector machine",
2001.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.linalg import eigh
from scipy.special import xlogy

from ..core.arguments import MaybeArray
from ..core.cost import afford
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..estimator.answers import row_wise
from ..estimator.parameters import NON_NEGATIVE, POSITIVE
from ..estimator.tags import tags
from ..inputs import read_rows
from ..statistics import Moments
from .least_squares import LeastSquares, LinearModel, must_have_one_target
from .normal_equations import EPS
from .precision import line


class Posterior(NamedTuple):
    """The posterior of the coefficients along the eigenvectors, for fixed precisions."""

    coef: np.ndarray  # (D,)
    precision: np.ndarray  # (D,)
    squares: float  # residual sum of squares


@dataclass(frozen=True, eq=False)
class EvidenceRidge(LinearModel):
    """coef ~ N(0, 1 / prior_precision) and y ~ N(X coef + intercept, 1 / noise_precision).

    The precisions have gamma priors, and maximize their posterior density.
    """

    noise_precision: float | None = None  # the initial one, then that of the fit
    prior_precision: float | None = None
    noise_prior: tuple[float, ...] = (0.0, 0.0)  # shape and rate
    weight_prior: tuple[float, ...] = (0.0, 0.0)
    max_iter: int = 300
    tol: float = 1e-3
    covariance: Annotated[Any, "(D, D) or None"] = None  # of the coefficients
    center: Annotated[Any, "(D,) or None"] = None  # mean of the rows, or zero without an intercept
    log_evidence: tuple[float, ...] = ()  # before each iteration and at the end
    n_iter: int = 0

    def estimate(self, s: Moments) -> Self:
        """MacKay's fixed point iteration: gamma is the effective number of the D coefficients that the data
        determine."""
        D, n = self.coef.shape[1], float(s.weight)
        square = self.square(s)
        values, axes = eigh(square[:D, :D])
        values = np.where(values > D * EPS * values.max(initial=0.0), values, 0.0)
        products, total = axes.T @ square[:D, D], float(square[D, D])
        explained = np.divide(products**2, values, out=np.zeros(D), where=values > 0)  # by least squares
        least = total - float(explained.sum())  # residual sum of squares
        # The moments do not determine a smaller one.
        least = least if least > 10.0 * D * EPS * total else 0.0

        def posterior(alpha: float, lambda_: float) -> Posterior:
            precision = np.maximum(alpha * values + lambda_, np.finfo(float).tiny)
            coef = np.where(values > 0, alpha * products / precision, 0.0)
            squares = least + float(explained @ (lambda_ / precision) ** 2)
            return Posterior(coef, precision, max(squares, EPS**2 * total))

        def log_evidence(alpha: float, lambda_: float, p: Posterior) -> float:
            gaussian = xlogy(D, lambda_) + n * np.log(alpha / (2.0 * np.pi)) - np.log(p.precision).sum()
            gaussian -= alpha * p.squares + lambda_ * (p.coef @ p.coef)
            (a, b), (c, d) = self.noise_prior, self.weight_prior
            return float(0.5 * gaussian + xlogy(a, alpha) - b * alpha + xlogy(c, lambda_) - d * lambda_)

        alpha, lambda_ = self.noise_precision, self.prior_precision
        if alpha is None:
            alpha = 1.0 / (float(s.scatter[D, D]) / n + EPS)
        if lambda_ is None:
            lambda_ = 1.0
        scores, before = [], None
        for _ in range(self.max_iter):
            p = posterior(alpha, lambda_)
            scores.append(log_evidence(alpha, lambda_, p))
            gamma = float((alpha * values / p.precision).sum())
            lambda_ = _mode(gamma, float(p.coef @ p.coef), self.weight_prior, lambda_)
            alpha = _mode(n - gamma, p.squares, self.noise_prior, alpha)
            if before is not None and np.abs(axes @ (p.coef - before)).sum() < self.tol:
                break
            before = p.coef
        n_iter, p = len(scores), posterior(alpha, lambda_)
        return self.through(s, (axes @ p.coef)[:, None]).replace(
            noise_precision=alpha,
            prior_precision=lambda_,
            covariance=(axes / p.precision) @ axes.T,
            center=self.fit_intercept * s.mean[:D],
            log_evidence=(*scores, log_evidence(alpha, lambda_, p)),
            n_iter=n_iter,
        )


def _mode(count: float, squares: float, prior: tuple[float, ...], before: float) -> float:
    """The most probable precision of `count` numbers with this sum of squares; `before` if all are equally
    probable."""
    shape, rate = prior
    numerator, denominator = max(count, 0.0) + 2.0 * shape, squares + 2.0 * rate
    return numerator / denominator if denominator > 0 else before


class BayesianRidge(LeastSquares):
    """Bayesian ridge regression: precisions of noise and coefficients are learnt. The data is read once.

    The parameters and attributes are those of scikit-learn's class. The rows may be sparse or anywhere.

    Parameters
    ----------
    max_iter : int, default=300
        Maximum number of iterations.
    tol : float, default=1e-3
        Stopping criterion. The iterations stop when the sum of absolute changes of the coefficients is less
        than tol.
    alpha_1 : float, default=1e-6
        Shape of the gamma prior of `alpha_`, the precision of the noise.
    alpha_2 : float, default=1e-6
        Rate (inverse scale) of the gamma prior of `alpha_`.
    lambda_1 : float, default=1e-6
        Shape of the gamma prior of `lambda_`, the precision of the coefficients.
    lambda_2 : float, default=1e-6
        Rate (inverse scale) of the gamma prior of `lambda_`.
    alpha_init : float, default=None
        Initial value of `alpha_`. If None, it is one over the variance of y.
    lambda_init : float, default=None
        Initial value of `lambda_`. If None, it is 1.
    compute_score : bool, default=False
        Whether to store the log marginal likelihood of each iteration.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    copy_X : bool, default=True
        Ignored: `X` is never modified.
    verbose : bool, default=False
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Posterior mean of the coefficients.
    intercept_ : float
        Intercept.
    alpha_ : float
        Precision of the noise.
    lambda_ : float
        Precision of the coefficients.
    sigma_ : ndarray of shape (n_features, n_features)
        Posterior covariance of the coefficients.
    scores_ : ndarray of shape (n_iter_ + 1,)
        Log marginal likelihood before each iteration and at the end; empty if `compute_score` is False.
    n_iter_ : int
        Number of iterations.
    X_offset_ : ndarray of shape (n_features,)
        Mean of the rows, which is subtracted from them; zero without an intercept.
    X_scale_ : ndarray of shape (n_features,)
        Ones: features are not scaled.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : EvidenceRidge
        The fitted model.
    statistics_ : Moments
        The moments of rows and targets. `partial_fit` adds to them; the order of rows does not matter.

    See Also
    --------
    BayesianLinearRegression : Any Gaussian prior, the uncertainty of the intercept, and posterior samples.
    Ridge : A fixed penalty.
    RidgeCV : Chooses the penalty by cross-validation.

    Notes
    -----
    The coefficients w have the prior :math:`N(0, λ^{-1} I)`, and the noise is :math:`N(0, α^{-1})`. With the
    eigenvalues s_k of the Gram matrix of the N centred rows, each iteration computes the posterior mean and

    .. math::

        γ = ∑_k \\frac{α s_k}{λ + α s_k}, \\quad
        λ = \\frac{γ + 2 λ_1}{‖w‖^2 + 2 λ_2}, \\quad
        α = \\frac{N - γ + 2 α_1}{‖y - X w‖^2 + 2 α_2}.

    The Gram matrix has the squares of the singular values of the rows, of which those less than
    :math:`10^{-8}` of the largest are rounding errors: standardize features of different scales.

    References
    ----------
    * MacKay (1992), "Bayesian interpolation", Neural Computation 4.
    * Tipping (2001), "Sparse Bayesian learning and the relevance vector machine", Journal of Machine Learning
      Research 1.

    Examples
    --------
    >>> from suffice.linear_model import BayesianRidge
    >>> model = BayesianRidge().fit([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [0.0, 1.0, 2.0])
    >>> model.predict([[1.0, 1.0]]).round(4)
    array([1.])
    >>> mean, std = model.predict([[1.0, 1.0]], return_std=True)
    >>> float(std[0]) < 0.01
    True
    """

    model_: Annotated[EvidenceRidge, "D"]
    positive = False

    preserves_dtype = (*LeastSquares.preserves_dtype, "sigma_")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "tol": [POSITIVE],
        "alpha_1": [NON_NEGATIVE],
        "alpha_2": [NON_NEGATIVE],
        "lambda_1": [NON_NEGATIVE],
        "lambda_2": [NON_NEGATIVE],
        "alpha_init": [None, NON_NEGATIVE],
        "lambda_init": [None, NON_NEGATIVE],
        "compute_score": ["boolean"],
    }
    __sklearn_tags__ = tags(target_tags__multi_output=False)

    def __init__(
        self,
        *,
        max_iter: int = 300,
        tol: float = 1e-3,
        alpha_1: float = 1e-6,
        alpha_2: float = 1e-6,
        lambda_1: float = 1e-6,
        lambda_2: float = 1e-6,
        alpha_init: float | None = None,
        lambda_init: float | None = None,
        compute_score: bool = False,
        fit_intercept: bool = True,
        copy_X: bool = True,
        verbose: Any = False,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.alpha_1 = alpha_1
        self.alpha_2 = alpha_2
        self.lambda_1 = lambda_1
        self.lambda_2 = lambda_2
        self.alpha_init = alpha_init
        self.lambda_init = lambda_init
        self.compute_score = compute_score
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.verbose = verbose

    def _start(self, data: Partitions, classes: MaybeArray = None) -> EvidenceRidge:
        D = self.n_features_in_
        afford(D**2, f"the moments of {D} features", "use fewer.")
        noise, prior = (None if x is None else float(x) for x in (self.alpha_init, self.lambda_init))
        return EvidenceRidge(
            np.zeros((1, D)),
            np.zeros(1),
            fit_intercept=self.fit_intercept,
            noise_precision=noise,
            prior_precision=prior,
            noise_prior=(float(self.alpha_1), float(self.alpha_2)),
            weight_prior=(float(self.lambda_1), float(self.lambda_2)),
            max_iter=int(self.max_iter),
            tol=float(self.tol),
        )

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model, s = progress.model, progress.statistics
        must_have_one_target(model, s)
        self._flat_target = True
        return {
            **super()._fitted(progress),
            "alpha_": model.noise_precision,
            "lambda_": model.prior_precision,
            "sigma_": model.covariance,
            "scores_": np.array(model.log_evidence if self.compute_score else ()),
            "n_iter_": model.n_iter,
            "X_offset_": model.center,
            "X_scale_": np.ones(len(model.center)),
        }

    @row_wise
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predictive mean of the target of each row, and optionally its standard deviation, noise included.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.
        return_std : bool, default=False
            Whether to also return the standard deviations. As in scikit-learn, the intercept is certain.

        Returns
        -------
        ndarray of shape (n_samples,), or two of them

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        rows = read_rows(self, X)
        mean = line(self, rows, X)
        if not return_std:
            return mean
        off = (rows.toarray() if hasattr(rows, "toarray") else rows) - self.X_offset_
        variance = np.einsum("nd,de,ne->n", off, self.sigma_, off, optimize=True) + 1.0 / self.alpha_
        return mean, np.sqrt(variance).astype(mean.dtype)
