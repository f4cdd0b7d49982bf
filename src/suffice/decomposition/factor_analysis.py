"""Factor analysis and probabilistic PCA: one pass over rows without NaN, or EM.

Joreskog, "Some contributions to maximum likelihood factor analysis", 1967; Tipping and Bishop,
"Probabilistic principal component analysis", 1999; Rubin and Thayer, "EM algorithms for ML factor analysis",
1982.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray, MaybePath, Seed
from ..core.blocks import Rows
from ..core.callers import warn
from ..core.loop import Progress, Watch
from ..core.partitions import Partitions
from ..estimator.answers import row_wise
from ..estimator.base import Iterative, must_have_rows
from ..estimator.guarantees import Exempt
from ..estimator.parameters import AT_LEAST_0, NON_NEGATIVE, Numbers, StrOptions
from ..estimator.scores import mean_score
from ..estimator.tags import tags
from ..families import FactorGaussian, GroupStatistics, Mixture
from ..families.factor import LEAST, best_loadings
from ..families.gaussian import _patterns
from ..fitting.em import advance
from ..fitting.linear_algebra import signs
from ..inputs import map_rows, read_rows
from ..statistics import Moments, describe, moments
from .rotation import RotatedLoadings, identify_loadings, rotate_loadings

SOLVERS = ("direct", "em", "proximal")
ROTATIONS = ("varimax", "quartimax", "promax", "l1", "target")
PRECISION = 1e-12  # error of the mean log-likelihood at which 'direct' stops
ROUNDING = 16.0 * float(np.finfo(np.float64).eps)  # rounding error of the mean log-likelihood


def _of_all(rows: Rows) -> Moments:
    return moments(rows.X, rows.weight)


def named(features: np.ndarray) -> str:
    """Features as the subject of a warning: 'Feature 3 is' or 'Features 3, 5 are'."""
    few = ", ".join(map(str, features[:8])) + (", ..." if len(features) > 8 else "")
    return f"Feature {few} is" if len(features) == 1 else f"Features {few} are"


class FactorModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Iterative):
    """Base class of factor analysis and probabilistic PCA."""

    model_: Annotated[Mixture, "D"]
    mean_: Annotated[np.ndarray, "(D,)"]
    components_: Annotated[np.ndarray, "(F, D)"]
    factor_covariance_: Annotated[np.ndarray, "(F, F)"]
    max_iter_advice: ClassVar[str] = (
        "You might want to increase the number of iterations: raise max_iter or tol, and look at trace_."
    )

    n_components: int | None
    tol: float
    max_iter: int
    solver: str
    alpha: float
    checkpoint: Any
    __sklearn_tags__ = tags(allow_nan=True)

    @abstractmethod
    def _start(self, D: int) -> FactorGaussian:
        """The family from which the iterations start."""

    def _check_options(self) -> None:
        if self.alpha > 0 and self.solver == "direct":
            raise ValueError(
                f"solver='direct' has no penalty; got alpha={self.alpha}: use solver='em' or 'proximal'."
            )

    def _solve(self, data: Partitions) -> Progress:
        family = self._start(self.n_features_in_)
        total = data.fold(_of_all)
        must_have_rows(total.weight)
        if np.isnan(total.scatter).any():
            model, summarize = self._with_holes(family, data)
        else:
            model, summarize = self._complete(family, total)
        model, N = self._started(model, summarize), float(total.weight)
        if not N > 1.0:
            raise ValueError(f"{type(self).__name__} needs at least 2 rows, but n_samples={N:g}.")
        tol = min(self.tol / N, PRECISION) if self.solver == "direct" else self.tol / N
        watch = Watch(self, self.checkpoint, data).limited(self.max_iter)

        def step(progress: Progress) -> Progress:
            s = summarize(progress.model)

            def converged(old: Mixture, new: Mixture, trace: tuple[float, ...]) -> bool:
                enough = tol + ROUNDING * abs(trace[-1]) if tol else 0.0
                if len(trace) < 2 or not abs(trace[-1] - trace[-2]) < enough:
                    return False
                if len(trace) > 20 and len(trace) % 10:  # the distance takes the time of ten steps
                    return False
                return self._remaining(old.component, s.component, trace) < enough

            return advance(progress, s, converged)

        return watch.loop(step, Progress(model))

    def _finish(self, progress: Progress, data: Partitions) -> None:
        self.loglike_ = [value * float(progress.statistics.weight.sum()) for value in progress.trace]
        self._report(progress.statistics.component)

    def _remaining(self, family: Any, s: Moments, trace: tuple[float, ...]) -> float:
        """The distance of the mean log-likelihood from its maximum, given the statistics.

        Small steps are not a sign of a maximum: EM is slow where a noise variance is small. With a penalty,
        the increases are extrapolated as a geometric series (Aitken).
        """
        gain = abs(trace[-1] - trace[-2])
        if self.solver == "direct":  # whose steps are those of Newton's method
            return gain
        if not self.alpha > 0:
            return family.distance_to_maximum(s)
        before = abs(trace[-2] - trace[-3]) if len(trace) > 2 else 0.0
        return gain**2 / (before - gain) if before > gain else (np.inf if gain else 0.0)

    def _started(self, model: Mixture, summarize: Callable[[Mixture], Any]) -> Mixture:
        """The initial model, with the initial values set by the user."""
        return model

    def _complete(self, family: FactorGaussian, s: Moments) -> tuple[Mixture, Callable[[Mixture], Any]]:
        """The initial model, and a function that computes its statistics from the moments of complete
        rows."""
        one = Moments(np.array([s.weight]), s.mean[None], s.scatter[None])
        model = Mixture(np.ones(1), family.replace(mean=one.mean))

        def summarize(mixture: Mixture) -> GroupStatistics:
            value = mixture.component.mean_log_likelihood(one)[0]  # type: ignore[attr-defined]
            return GroupStatistics(float(value * s.weight), one.weight, one)

        return model, summarize

    def _with_holes(
        self, family: FactorGaussian, data: Partitions
    ) -> tuple[Mixture, Callable[[Mixture], Any]]:
        """The initial model, and a function that computes its statistics by a pass over rows with missing
        entries."""
        features = data.fold(describe).features
        lost = np.flatnonzero(features.weight == 0)
        if len(lost):
            warn(f"{named(lost)} constant: all values are missing. The loadings are 0.")
        spread = np.where(features.variance > 0, features.variance, features.variance.max() or 1.0)
        model = Mixture(np.ones(1), family.replace(mean=features.mean[None], noise=spread[None]))

        def summarize(mixture: Mixture) -> GroupStatistics:
            return data.fold(Mixture.summarize, mixture)

        return model, summarize

    def _report(self, s: Moments) -> None:
        """Warn of features whose noise variance is zero."""
        noise, variance = self.model_.component.noise[0], np.diag(s.variance[0])  # type: ignore[attr-defined]
        constant = np.flatnonzero(variance <= (1e-14 * s.mean[0]) ** 2)  # but for rounding
        if len(constant):
            warn(f"{named(constant)} constant: the loadings are 0, and the noise variance is a small number.")
        zero = np.setdiff1d(np.flatnonzero(noise <= 2.0 * LEAST * variance), constant)
        if len(zero) and self.n_components is not None:
            warn(
                f"Heywood case: {named(zero).lower()} explained wholly by the factors, with a noise variance "
                f"at its lower bound, {LEAST:g} of the variance. Use fewer factors, leave out duplicate "
                "features, or set alpha.",
            )

    def _components(self, D: int, default: int, most: int) -> int:
        K = default if self.n_components is None else int(self.n_components)
        if most < K:
            raise ValueError(
                f"n_components={K} must be at most {most} for n_features={D} in {type(self).__name__}."
            )
        return K

    def _rotated(self, L: np.ndarray, psi: np.ndarray) -> RotatedLoadings:
        """The loadings. Without a penalty all rotations have the same likelihood: the one is chosen whose
        factors are independent given the features."""
        turn = np.eye(L.shape[1])
        if not self.alpha > 0:
            scaled = L / np.sqrt(psi)[:, None]
            turn = np.linalg.svd(scaled / (np.abs(scaled).max(initial=0.0) or 1.0), full_matrices=False)[2].T
        return RotatedLoadings(L @ turn, turn.T, np.eye(L.shape[1]))

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        family: Any = progress.model.component
        rotated = self._rotated(family.loadings[0], family.noise[0])
        sign = signs(rotated.loadings.T) if len(rotated.loadings) else np.ones(rotated.loadings.shape[1])
        loadings, phi = rotated.loadings * sign, rotated.factor_covariance * np.outer(sign, sign)
        common = np.einsum("dk,kl,dl->d", loadings, phi, loadings)
        return {
            "components_": np.ascontiguousarray(loadings.T),
            "factor_covariance_": phi,
            "mean_": family.mean[0],
            "communalities_": common / (common + family.noise[0]),
        }

    @row_wise
    def transform(self, X: Any) -> np.ndarray:
        """Expected factors of each row, given its observed features (regression scores).

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return map_rows(lambda rows: self._scores(rows, ridge=1.0), X)

    def scores(self, X: Any, method: str = "regression") -> np.ndarray:
        """Scores of the factors of each row.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows. NaN means not observed.
        method : {'regression', 'bartlett'}, default='regression'
            'regression' is the posterior mean of the factors, as `transform`. 'bartlett' is weighted least
            squares: it does not shrink to zero.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        if method not in ("regression", "bartlett"):
            raise ValueError(f"method must be 'regression' or 'bartlett'; got {method!r}.")
        return map_rows(
            lambda rows: self._scores(rows, ridge=float(method == "regression")), read_rows(self, X)
        )

    def posterior_covariance(self) -> np.ndarray:
        """Covariance of the factors of a row, given all of its features."""
        check_is_fitted(self)
        return np.linalg.inv(self._precision(slice(None), 1.0))

    def _precision(self, seen: Any, ridge: float) -> np.ndarray:
        """L' Psi^-1 L for these features, plus the prior precision of the factors."""
        L, psi = self.components_.T[seen], self.model_.component.noise[0][seen]  # type: ignore[attr-defined]
        return L.T @ (L / psi[:, None]) + ridge * np.linalg.inv(self.factor_covariance_)

    def _scores(self, X: np.ndarray, ridge: float) -> np.ndarray:
        out = np.empty((len(X), len(self.components_)))
        noise = self.model_.component.noise[0]  # type: ignore[attr-defined]
        for rows, observed in _patterns(X):
            seen = slice(None) if observed is None else observed
            scaled = self.components_.T[seen] / noise[seen][:, None]
            A = self._precision(seen, ridge)
            inverse = np.linalg.inv(A) if ridge else np.linalg.pinv(A, hermitian=True)
            out[rows] = (X[rows][:, seen] - self.mean_[seen]) @ (scaled @ inverse)
        return out

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Expected features given factors."""
        check_is_fitted(self)
        return np.asarray(X) @ self.components_ + self.mean_

    def get_covariance(self) -> np.ndarray:
        """Covariance of the features under the model."""
        check_is_fitted(self)
        return self.model_.component.covariances[0].copy()  # type: ignore[attr-defined]

    def get_precision(self) -> np.ndarray:
        """The inverse of `get_covariance`."""
        covariance = self.get_covariance()
        size = np.sqrt(np.diag(covariance))
        factor = cho_factor(covariance / np.outer(size, size), lower=True)
        return cho_solve(factor, np.eye(len(size))) / np.outer(size, size)

    @row_wise
    def score_samples(self, X: Any) -> np.ndarray:
        """Log density log p(x) of each row, of its observed features.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return map_rows(self.model_.log_density, X)

    def score(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """Mean log density of the rows."""
        return mean_score(self, X, sample_weight)

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> np.ndarray:
        """Draw rows from the model."""
        check_is_fitted(self)
        rng = np.random.default_rng(random_state)
        return self.model_.component.sample(np.zeros(n_samples, int), rng)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


class FactorAnalysis(FactorModel):
    """Factor analysis: few factors, and a noise of its own for each feature. NaN means not observed.

    Rows without NaN are read once: the covariance is all that the fit needs. With NaN, each iteration is a
    pass.

    Parameters
    ----------
    n_components : int, default=None
        Number of factors. None is the number of features.
    tol : float, default=1e-2
        Tolerance of 'em' and 'proximal': the increase of the log-likelihood of all rows by a step, and its
        distance from a maximum. 'direct' iterates to 1e-12 of a row at least.
    copy : bool, default=True
        Ignored: `X` is never modified.
    max_iter : int, default=1000
        Maximum number of iterations.
    noise_variance_init : array of shape (n_features,), default=None
        Initial noise variances. None compares several starts, for up to 200 features: see the notes.
    svd_method : {'lapack', 'randomized'}, default='randomized'
        Ignored: eigenvectors are computed from the covariance, exactly.
    iterated_power : int, default=3
        Ignored.
    rotation : {'varimax', 'quartimax', 'promax', 'l1', 'target'}, default=None
        Rotation of the loadings: see `rotate_loadings`.
    random_state : int, RandomState or None, default=0
        Ignored: the fit is deterministic.
    solver : {'direct', 'em', 'proximal'}, default='direct'
        'direct' is Newton's method for the noise variances, with the best loadings for them. 'em' is
        expectation maximization. 'proximal' is a proximal gradient of the loadings.
    alpha : float, default=0.0
        Penalty on the sum of the magnitudes of the loadings, subtracted from the log-likelihood of all rows;
        for 'em' and 'proximal'.
    factor_covariance : {'identity', 'free'}, default='identity'
        'identity': factors are uncorrelated with variance 1, before rotation. 'free': their covariance is a
        parameter, and the loadings of the first `n_components` features are the identity.
    rotation_target : array of shape (n_features, n_components), default=None
        The target of ``rotation='target'``. Entries that are NaN are free.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Loadings of the factors, rotated. The entry of largest magnitude of each is positive.
    noise_variance_ : ndarray of shape (n_features,)
        Noise variance of each feature (uniqueness).
    factor_covariance_ : ndarray of shape (n_components, n_components)
        Covariance of the factors.
    communalities_ : ndarray of shape (n_features,)
        Share of the variance of each feature that the factors explain.
    mean_ : ndarray of shape (n_features,)
        Mean of each feature.
    degrees_of_freedom_ : int
        Number of free entries of a covariance, minus the number of parameters of this one.
    loglike_ : list of float
        Log-likelihood of all rows by iteration, less the penalty.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    trace_ : ndarray of shape (n_iter_,)
        Mean of `loglike_` by row.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Mixture
        The fitted model, a mixture of one `FactorGaussian`.
    statistics_ : GroupStatistics
        The sums of the last pass.

    See Also
    --------
    ProbabilisticPCA : The same noise for each feature.
    PCA : Directions of largest variance.
    FastICA : Independent sources that are not Gaussian.
    rotate_loadings : Rotations of loadings.
    parallel_analysis : Choose the number of factors.
    factor_number_test : Test the number of factors.

    Notes
    -----
    The model of a row is

    .. math::

        x = μ + L f + e, \\qquad f ∼ N(0, I), \\quad e ∼ N(0, Ψ),

    so that the covariance is :math:`L L^T + Ψ` with Ψ diagonal. A Heywood case, a noise variance that is
    zero at the maximum of the likelihood, is reported by a warning.

    The likelihood has local maxima. Up to 200 features, 13 starts are compared on the covariance, without
    another pass over the rows: multiple correlations, constant noises, principal components, and Heywood
    cases of single features. The iterations of all solvers start from the one with the highest maximum.

    References
    ----------
    * Jöreskog (1967), "Some contributions to maximum likelihood factor analysis", Psychometrika 32.
    * Rubin and Thayer (1982), "EM algorithms for ML factor analysis", Psychometrika 47.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.decomposition import FactorAnalysis
    >>> rng = np.random.default_rng(0)
    >>> loadings = np.array([[2.0, 2.0, 2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]])
    >>> X = rng.normal(size=(2000, 2)) @ loadings + 0.5 * rng.normal(size=(2000, 6))
    >>> fa = FactorAnalysis(2, rotation="varimax").fit(X)
    >>> abs(fa.components_.round(1))
    array([[2., 2., 2., 0., 0., 0.],
           [0., 0., 0., 1., 1., 1.]])
    """

    exempt = (Exempt("optimum", "EM stops by the likelihood: tests/decomposition/test_factor_analysis.py."),)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [AT_LEAST_0, None],
        "copy": ["boolean"],
        "noise_variance_init": [Numbers(1e-150, 1e150, ndim=1), None],
        "svd_method": [StrOptions({"randomized", "lapack"})],
        "iterated_power": [AT_LEAST_0],
        "rotation": [StrOptions(set(ROTATIONS)), None],
        "solver": [StrOptions(set(SOLVERS))],
        "alpha": [NON_NEGATIVE],
        "factor_covariance": [StrOptions({"identity", "free"})],
        "rotation_target": ["array-like", None],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        tol: float = 1e-2,
        copy: bool = True,
        max_iter: int = 1000,
        noise_variance_init: Any = None,
        svd_method: str = "randomized",
        iterated_power: int = 3,
        rotation: str | None = None,
        random_state: Seed = 0,
        solver: str = "direct",
        alpha: float = 0.0,
        factor_covariance: str = "identity",
        rotation_target: Any = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.copy = copy
        self.max_iter = max_iter
        self.noise_variance_init = noise_variance_init
        self.svd_method = svd_method
        self.iterated_power = iterated_power
        self.rotation = rotation
        self.random_state = random_state
        self.solver = solver
        self.alpha = alpha
        self.factor_covariance = factor_covariance
        self.rotation_target = rotation_target
        self.checkpoint = checkpoint

    def _start(self, D: int) -> FactorGaussian:
        K = self._components(D, D, D)
        free = degrees_of_freedom(D, K)
        if free < 0 and self.n_components is not None:
            warn(
                f"n_components={K} factors of {D} features have {-free} parameters more than a covariance: "
                "different loadings and noise variances imply the same covariance. Use fewer factors.",
            )
        if self.rotation == "target" and np.shape(self.rotation_target) != (D, K):
            raise ValueError(
                f"rotation='target' needs rotation_target of shape {(D, K)}; got "
                f"{np.shape(self.rotation_target)}."
            )
        if self.rotation is not None and self.factor_covariance == "free":
            raise ValueError(
                f"factor_covariance='free' identifies the loadings; got rotation={self.rotation!r}: leave "
                "one of them out."
            )
        if self.noise_variance_init is not None and np.shape(self.noise_variance_init) != (D,):
            raise ValueError(
                f"noise_variance_init has shape {np.shape(self.noise_variance_init)}, expected {(D,)}: one "
                "for each feature."
            )
        return FactorGaussian.start(1, D, K, update=self.solver, alpha=self.alpha)

    def _started(self, model: Mixture, summarize: Callable[[Mixture], Any]) -> Mixture:
        if self.noise_variance_init is None:
            return model
        family: Any = model.component
        s = summarize(model).component
        noise = np.array(self.noise_variance_init, dtype=np.float64)
        loadings = best_loadings(s.variance[0], noise, family.loadings.shape[2])
        return model.replace(
            component=family.replace(noise=noise[None], loadings=loadings[None], started=True)
        )

    def _rotated(self, L: np.ndarray, psi: np.ndarray) -> RotatedLoadings:
        if self.factor_covariance == "free":
            return identify_loadings(L, rule="identity")
        plain = super()._rotated(L, psi)
        if self.rotation is None or not L.shape[1]:
            return plain
        return rotate_loadings(plain.loadings, self.rotation, target=self.rotation_target)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        family: Any = progress.model.component
        D, K = family.loadings.shape[1:]
        attributes = super()._fitted(progress)
        if self.factor_covariance == "free":  # whose signs are those of the identity
            free = self._rotated(family.loadings[0], family.noise[0])
            attributes |= {"components_": free.loadings.T, "factor_covariance_": free.factor_covariance}
        return {
            **attributes,
            "noise_variance_": family.noise[0],
            "degrees_of_freedom_": degrees_of_freedom(D, K),
        }


def degrees_of_freedom(D: int, K: int, isotropic: bool = False) -> int:
    """Free entries of a covariance of D features, minus the parameters of one with K factors."""
    return D * (D + 1) // 2 - (D * K - K * (K - 1) // 2 + (1 if isotropic else D))


class ProbabilisticPCA(FactorModel):
    """Probabilistic principal component analysis: factors, and the same noise for each feature.

    NaN means not observed. Rows without NaN are read once.

    Parameters
    ----------
    n_components : int, default=None
        Number of components, less than the number of features. None is one less.
    solver : {'direct', 'em', 'proximal'}, default='direct'
        'direct' is the closed form from eigenvectors. 'em' is expectation maximization. 'proximal' is a
        proximal gradient of the loadings.
    alpha : float, default=0.0
        Penalty on the sum of the magnitudes of the loadings, subtracted from the log-likelihood of all rows;
        for 'em' and 'proximal'.
    tol : float, default=1e-2
        Tolerance of 'em' and 'proximal': the increase of the log-likelihood of all rows by a step, and its
        distance from a maximum. 'direct' iterates to 1e-12 of a row at least.
    max_iter : int, default=1000
        Maximum number of iterations.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Loadings. Without a penalty they are orthogonal, and their squared lengths are the variances of the
        principal components beyond the noise.
    noise_variance_ : float
        Noise variance of all features.
    explained_variance_ : ndarray of shape (n_components,)
        Variance along each component: squared length of its loadings plus the noise.
    factor_covariance_ : ndarray of shape (n_components, n_components)
        Covariance of the factors, the identity.
    communalities_ : ndarray of shape (n_features,)
        Share of the variance of each feature that the factors explain.
    mean_ : ndarray of shape (n_features,)
        Mean of each feature.
    loglike_ : list of float
        Log-likelihood of all rows by iteration, less the penalty.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    trace_ : ndarray of shape (n_iter_,)
        Mean of `loglike_` by row.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Mixture
        The fitted model, a mixture of one `FactorGaussian`.
    statistics_ : GroupStatistics
        The sums of the last pass.

    See Also
    --------
    PCA : The same directions; no NaN.
    FactorAnalysis : A noise of its own for each feature.

    Notes
    -----
    The covariance is :math:`L L^T + σ^2 I`. With the eigenvalues λ and eigenvectors V of the covariance of
    the rows, divided by their number, the maximum of the likelihood is

    .. math::

        σ^2 = \\frac{1}{D - K} ∑_{k > K} λ_k, \\qquad L = V_K (Λ_K - σ^2 I)^{1/2}.

    References
    ----------
    * Tipping and Bishop (1999), "Probabilistic principal component analysis", Journal of the Royal
      Statistical Society B 61.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.decomposition import ProbabilisticPCA
    >>> X = np.array([[0.0, 0.1], [1.0, 0.9], [2.0, np.nan], [3.0, 3.1]])
    >>> model = ProbabilisticPCA(1).fit(X)
    >>> model.inverse_transform(model.transform(X)).round(1)[2]
    array([2., 2.])
    """

    exempt = (Exempt("optimum", "EM stops by the likelihood: tests/decomposition/test_factor_analysis.py."),)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [AT_LEAST_0, None],
        "solver": [StrOptions(set(SOLVERS))],
        "alpha": [NON_NEGATIVE],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        solver: str = "direct",
        alpha: float = 0.0,
        tol: float = 1e-2,
        max_iter: int = 1000,
        checkpoint: MaybePath = None,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.checkpoint = checkpoint

    def _start(self, D: int) -> FactorGaussian:
        K = self._components(D, D - 1, D - 1)
        return FactorGaussian.start(1, D, K, isotropic=True, update=self.solver, alpha=self.alpha)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        family: Any = progress.model.component
        attributes, noise = super()._fitted(progress), float(family.noise[0, 0])
        variance = (attributes["components_"] ** 2).sum(axis=1) + noise
        return {**attributes, "noise_variance_": noise, "explained_variance_": variance}
