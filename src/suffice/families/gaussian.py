"""K Gaussian densities, with full, tied, diagonal or spherical covariance.

Missing entries are marginalized: Little and Rubin, "Statistical Analysis with Missing Data", ch. 11.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from ..core.blocks import Matrix
from ..core.cost import afford
from ..core.model import Family
from ..core.values import Value
from ..statistics import Moments, grouped_moments, moments_by_label
from ..statistics.moments import FEW_FEATURES
from .covariances import SINGULAR, SingularCovariance, cholesky
from .covariances import patterns as _patterns
from .posteriors import NormalInverseGamma, NormalInverseWishart, sum_observed

LOG_2PI = np.log(2.0 * np.pi)


@dataclass(frozen=True, eq=False)
class GaussianPrior(Value):
    """Normal-inverse-Wishart prior for means and covariances.

    mean_k ~ N(mean, covariance_k / mean_precision), covariance_k ~ IW(degrees_of_freedom, scale). Without
    `degrees_of_freedom` the covariance has no prior. Each variance of a diagonal covariance has an inverse
    Wishart prior of its own. The variance of a spherical one has the degrees of freedom and the scales of all
    D features together.
    """

    mean: Annotated[Any, "number or real (D,)"] = 0.0
    mean_precision: float = 0.0
    scale: Annotated[Any, "number or real (D, D)"] = 0.0
    degrees_of_freedom: float | None = None

    def scale_matrix(self, D: int) -> np.ndarray:
        return self.scale * np.eye(D) if np.ndim(self.scale) == 0 else np.asarray(self.scale)

    def merged(self, s: Moments) -> Moments:
        """The moments plus those of `mean_precision` pseudo-rows at the mean of the prior."""
        if self.mean_precision == 0:
            return s
        rows = s.replace(
            weight=np.full_like(s.weight, self.mean_precision),
            mean=s.mean * 0.0 + self.mean,
            scatter=np.zeros_like(s.scatter),
        )
        return rows + s

    def posterior_mean(self, s: Moments) -> np.ndarray:
        weight = s.weight if s.diagonal else s.weight[:, None]
        share = weight / (weight + self.mean_precision + (weight == 0))
        return share * s.mean + (1.0 - share) * self.mean


@dataclass(frozen=True, eq=False)
class Gaussian(Family):
    """Base class of K Gaussian densities. Subclasses define the structure of their covariances."""

    mean: Annotated[np.ndarray, "real (K, D)"]
    covariance: Annotated[np.ndarray, "real (...)"]  # of the shape that its class says
    reg: float = 0.0  # added to the diagonal of every covariance
    prior: Annotated[GaussianPrior | None, "D"] = None
    fixed: str | None = None  # "covariance" stays as it is

    support: ClassVar[str] = "real"
    kind: ClassVar[str]  # of moments

    @classmethod
    @abstractmethod
    def start(cls, K: int, D: int, **options: Any) -> Self:
        """K standard normal densities on D features, as a default start."""

    @abstractmethod
    def posterior(self, s: Moments) -> Any:
        """Conjugate posterior of means and covariances. Every row counts with noise of variance `reg`."""

    @staticmethod
    @abstractmethod
    def inverse(covariance: np.ndarray) -> np.ndarray:
        """Precision from covariance, or the reverse, in the shape of this class."""

    @property
    @abstractmethod
    def root_precision(self) -> np.ndarray:
        """U with U U' = precision, in the shape of the covariance."""

    @property
    @abstractmethod
    def covariances(self) -> np.ndarray:
        """Full covariance matrices, (K, D, D)."""

    @property
    @abstractmethod
    def noise(self) -> np.ndarray:
        """Expected loss of log density by noise of variance `reg`: (K,) by row, or (K, D) by observed
        feature."""

    def regularized_log_density(self, X: np.ndarray) -> np.ndarray:
        out = self.log_density(X)
        if self.reg > 0:
            out -= sum_observed(self.noise, X)
        return out

    def summarize(self, X: np.ndarray, R: np.ndarray) -> Moments:
        return grouped_moments(X, R, self.kind)

    def estimate(self, s: Moments) -> Self:
        return self.posterior(s).mode

    @property
    def _prior(self) -> GaussianPrior:
        return GaussianPrior() if self.prior is None else self.prior

    @property
    @abstractmethod
    def _prior_determinants(self) -> float:
        """Power of det(covariance)^(-1/2) in the prior, without those of the means."""

    def _less(self, step: np.ndarray) -> np.ndarray:
        """The covariance without the scatter of two groups at a distance."""
        raise NotImplementedError(f"{type(self).__name__} shares its covariance.")

    def halves(self, s: Moments) -> Self:
        """Two densities for each group: its density, divided in the middle of its principal axis."""
        P, D = s.mean.shape
        density = type(self).start(P, D, reg=self.reg, prior=self.prior).estimate(s)
        values, axes = np.linalg.eigh(density.covariances)
        axis = axes[:, :, -1]
        largest = np.abs(axis).argmax(axis=1)[:, None]
        axis = axis * np.sign(np.take_along_axis(axis, largest, axis=1))  # a unique choice of signs
        step = np.sqrt(2.0 / np.pi * values[:, -1:]) * axis  # to the mean of half a normal density
        mean = np.stack([density.mean - step, density.mean + step], axis=1).reshape(2 * P, D)
        covariance = np.repeat(density._less(step), 2, axis=0)
        return density.replace(mean=mean, covariance=covariance)

    def sample(self, k: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        root = np.linalg.cholesky(self.covariances)
        noise = rng.standard_normal((len(k), self.mean.shape[1]))
        return self.mean[k] + np.einsum("nij,nj->ni", root[k], noise)

    @property
    def n_parameters(self) -> int:
        free = 0 if self.fixed == "covariance" else self._n_covariance_parameters
        return self.mean.size + free

    @property
    @abstractmethod
    def _n_covariance_parameters(self) -> int: ...

    def log_prior(self) -> float:
        if self.prior is None:
            return 0.0
        D, total = self.mean.shape[1], 0.0
        shared = self.kind == "pooled"
        moving = float(self.prior.mean_precision > 0)
        for k, (m, C) in enumerate(zip(self.mean, self.covariances, strict=True)):
            factor = cho_factor(C, lower=True)
            delta = m - self.prior.mean
            total -= 0.5 * self.prior.mean_precision * delta @ cho_solve(factor, delta)
            log_det = 2.0 * np.log(np.diag(factor[0])).sum()
            total -= 0.5 * moving * log_det
            if not shared or k == 0:
                total -= 0.5 * self._prior_determinants * log_det
                total -= 0.5 * np.trace(cho_solve(factor, self.prior.scale_matrix(D)))
        return float(total)


@dataclass(frozen=True, eq=False)
class _Dense(Gaussian):
    """Base class of full and tied covariances."""

    @cached_property
    def whitening(self) -> np.ndarray:
        """U with U U' = the inverse covariance, one per density: (x - mean) U is standard normal."""
        return np.stack([_whitening(C) for C in self._different])

    @staticmethod
    def inverse(covariance: np.ndarray) -> np.ndarray:
        return np.linalg.inv(covariance)

    @property
    def root_precision(self) -> np.ndarray:
        return self.whitening.reshape(self.covariance.shape)

    @property
    def noise(self) -> np.ndarray:
        traces = (self.whitening**2).sum(axis=(1, 2))  # of the inverse covariances
        return np.broadcast_to(0.5 * self.reg * traces, len(self.mean))

    @property
    @abstractmethod
    def _different(self) -> np.ndarray:
        """The covariances without repetition, (K or 1, D, D)."""

    @property
    def _prior_determinants(self) -> float:
        df = self._prior.degrees_of_freedom
        return 0.0 if df is None else df + self.mean.shape[1] + 1.0

    def posterior(self, s: Moments) -> NormalInverseWishart:
        prior, (K, D), J = self._prior, self.mean.shape, len(self._different)
        weight = s.weight.reshape(J, K // J).sum(axis=1)
        moving = K // J * float(prior.mean_precision > 0)
        scatter = prior.merged(s).scatter.reshape(J, D, D)
        scale = scatter + self.reg * weight[:, None, None] * np.eye(D)
        if self.fixed is None:
            scale = scale + prior.scale_matrix(D)
        return NormalInverseWishart(
            self,
            prior.posterior_mean(s),
            s.weight + prior.mean_precision,
            scale,
            weight + (moving + self._prior_determinants),
        )

    def impute(self, X: np.ndarray, k: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        X = X.copy()
        for rows, seen in _patterns(X):
            if seen is None:
                continue
            lost, rows = ~seen, np.asarray(rows)
            noise = rng.standard_normal((len(rows), int(lost.sum())))
            for j in np.unique(k[rows]):
                mine, C, mean = k[rows] == j, self.covariances[j], self.mean[j]
                regression = np.linalg.solve(C[np.ix_(seen, seen)], C[np.ix_(seen, lost)])
                rest = C[np.ix_(lost, lost)] - C[np.ix_(lost, seen)] @ regression
                expected = mean[lost] + (X[rows[mine]][:, seen] - mean[seen]) @ regression
                X[np.ix_(rows[mine], lost)] = expected + noise[mine] @ np.linalg.cholesky(rest).T
        return X

    def log_density(self, X: np.ndarray) -> np.ndarray:
        K = len(self.mean)
        out = np.empty((K, len(X))).T  # each density contiguous
        for rows, seen in _patterns(X):
            part, mean, U = X[rows], self.mean, self.whitening
            if seen is not None:
                part, mean = part[:, seen], mean[:, seen]
                U = np.stack([_whitening(C[np.ix_(seen, seen)]) for C in self._different])
            log_det = np.log(np.diagonal(U, axis1=1, axis2=2)).sum(axis=1)
            density = _distances(part, mean, np.broadcast_to(U, (K, *U.shape[1:])))
            density *= -0.5
            density += log_det - 0.5 * mean.shape[1] * LOG_2PI
            if seen is None and len(density) == len(X):
                return density
            out[rows] = density
        return out

    def summarize(self, X: np.ndarray, R: np.ndarray) -> Moments:
        if not np.isnan(X.sum()):
            return grouped_moments(X, R, self.kind)
        parts = []
        for k in range(len(self.mean)):
            filled, extra = self._completed(X, R[:, k], self.mean[k], self.covariances[k])
            s = grouped_moments(filled, R[:, [k]], "full")
            parts.append(s.replace(scatter=s.scatter + extra))
        weight, mean, scatter = (
            np.concatenate([getattr(s, name) for s in parts]) for name in ("weight", "mean", "scatter")
        )
        return Moments(weight, mean, scatter.sum(axis=0) if self.kind == "pooled" else scatter)

    def _completed(
        self, X: np.ndarray, r: np.ndarray, mean: np.ndarray, C: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """X with missing entries replaced by their conditional expectations given the observed entries,
        and the weighted sum of their conditional covariances."""
        filled, extra = X.copy(), np.zeros_like(C)
        for rows, seen in _patterns(X):
            if seen is None:
                continue
            lost = ~seen
            regression = np.linalg.solve(C[np.ix_(seen, seen)], C[np.ix_(seen, lost)])
            expected = mean[lost] + (X[rows][:, seen] - mean[seen]) @ regression
            filled[np.ix_(rows, lost)] = expected
            rest = C[np.ix_(lost, lost)] - C[np.ix_(lost, seen)] @ regression
            extra[np.ix_(lost, lost)] += r[rows].sum() * rest
        return filled, extra


@dataclass(frozen=True, eq=False)
class FullGaussian(_Dense):
    """K Gaussian densities, each with its own covariance (K, D, D)."""

    covariance: Annotated[np.ndarray, "real (K, D, D)"]

    kind: ClassVar[str] = "full"

    @classmethod
    def start(cls, K: int, D: int, **options: Any) -> Self:
        afford(K * D**2, f"{K} covariances of {D} features", "use diagonal ones, or fewer features.")
        return cls(np.zeros((K, D)), np.tile(np.eye(D), (K, 1, 1)), **options)

    def sufficient(self, X: np.ndarray) -> np.ndarray:
        """Sufficient statistics: x, and the products of its entries."""
        i, j = np.triu_indices(X.shape[1])
        return np.hstack([X, X[:, i] * X[:, j]])

    def natural(self) -> tuple[np.ndarray, np.ndarray]:
        P = np.linalg.inv(self.covariance)
        linear = np.einsum("kij,kj->ki", P, self.mean)
        i, j = np.triu_indices(self.mean.shape[1])
        square = np.where(i == j, -0.5, -1.0) * P[:, i, j]
        log_det = np.linalg.slogdet(P)[1]
        return np.hstack([linear, square]), 0.5 * (log_det - (linear * self.mean).sum(axis=1))

    def _less(self, step: np.ndarray) -> np.ndarray:
        return self.covariance - step[:, :, None] * step[:, None, :]

    @property
    def covariances(self) -> np.ndarray:
        return self.covariance

    _different = covariances

    @property
    def _n_covariance_parameters(self) -> int:
        K, D = self.mean.shape
        return K * D * (D + 1) // 2


@dataclass(frozen=True, eq=False)
class TiedGaussian(_Dense):
    """K Gaussian densities with one covariance (D, D)."""

    covariance: Annotated[np.ndarray, "real (D, D)"]

    kind: ClassVar[str] = "pooled"

    @classmethod
    def start(cls, K: int, D: int, **options: Any) -> Self:
        afford(D**2, f"the covariance of {D} features", "use a diagonal one, or fewer features.")
        return cls(np.zeros((K, D)), np.eye(D), **options)

    def sufficient(self, X: np.ndarray) -> np.ndarray:
        return X

    def natural(self) -> tuple[np.ndarray, np.ndarray]:
        linear = np.linalg.solve(self.covariance, self.mean.T).T
        return linear, -0.5 * (linear * self.mean).sum(axis=1)

    @property
    def covariances(self) -> np.ndarray:
        return np.broadcast_to(self.covariance, (len(self.mean), *self.covariance.shape))

    @property
    def _different(self) -> np.ndarray:
        return self.covariance[None]

    @property
    def _n_covariance_parameters(self) -> int:
        D = self.mean.shape[1]
        return D * (D + 1) // 2


@dataclass(frozen=True, eq=False)
class _Axes(Gaussian):
    """Base class of diagonal and spherical covariances."""

    kind: ClassVar[str] = "diagonal"

    @staticmethod
    def inverse(covariance: np.ndarray) -> np.ndarray:
        return 1.0 / covariance

    @property
    def root_precision(self) -> np.ndarray:
        return 1.0 / np.sqrt(self.covariance)

    @property
    def noise(self) -> np.ndarray:
        return 0.5 * self.reg / self.variances

    def summarize_known(self, X: np.ndarray, k: np.ndarray, weight: np.ndarray, K: int) -> Any:
        s = moments_by_label(X, k, weight, K)
        return super().summarize_known(X, k, weight, K) if s is None else s

    @property
    @abstractmethod
    def variances(self) -> np.ndarray:
        """(K, D)"""

    @property
    @abstractmethod
    def _n_variances(self) -> int:
        """Number of variances of a density: D or 1."""

    @property
    def _prior_determinants(self) -> float:
        df = self._prior.degrees_of_freedom
        return 0.0 if df is None else df + 2.0 * self._n_variances / self.mean.shape[1]

    def posterior(self, s: Moments) -> NormalInverseGamma:
        prior, (K, D), J = self._prior, self.mean.shape, self._n_variances

        def by_variance(values: np.ndarray) -> np.ndarray:
            return values.reshape(K, J, D // J).sum(axis=2)

        weight, moving = by_variance(s.weight), D // J * float(prior.mean_precision > 0)
        scale = by_variance(prior.merged(s).scatter) + self.reg * weight
        if self.fixed is None:
            scale = scale + np.diag(prior.scale_matrix(D)).reshape(J, D // J).sum(axis=1)
        return NormalInverseGamma(
            self,
            prior.posterior_mean(s),
            s.weight + prior.mean_precision,
            scale,
            weight + (moving + D // J * self._prior_determinants),
        )

    @property
    def covariances(self) -> np.ndarray:
        return self.variances[:, :, None] * np.eye(self.mean.shape[1])

    def sufficient(self, X: np.ndarray) -> np.ndarray:
        """Sufficient statistics: x, and the squares of its entries."""
        return np.hstack([X, X**2])

    def natural(self) -> tuple[np.ndarray, np.ndarray]:
        variance = self.variances
        linear = self.mean / variance
        intercept = -0.5 * (np.log(variance) + linear * self.mean).sum(axis=1)
        return np.hstack([linear, -0.5 / variance]), intercept

    def log_density(self, X: np.ndarray) -> np.ndarray:
        from ..loops.distances import weighted_distances

        variance = self.variances
        if not (variance > 0).all():
            raise SingularCovariance(SINGULAR)
        arrays = X, self.mean, 1.0 / variance
        out = weighted_distances(*(np.ascontiguousarray(a, np.float64) for a in arrays)).T
        constant = np.log(variance) + LOG_2PI
        if np.isnan(X.sum()):
            out += (~np.isnan(X)).astype(np.float64) @ constant.T
        else:
            out += constant.sum(axis=1)
        out *= -0.5
        return out

    def expect_chains(
        self, X: Matrix, offset: np.ndarray, weight: np.ndarray, start: np.ndarray, transition: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray, Moments] | None:
        from ..loops.hidden_markov import expect_diagonal

        variance, D = self.variances, self.mean.shape[1]
        if not (variance > 0).all():
            return None
        constant = -0.5 * (np.log(variance) + LOG_2PI).sum(axis=1)
        exact = partial(np.ascontiguousarray, dtype=np.float64)
        expected = expect_diagonal(
            exact(X), exact(self.mean), exact(0.5 / variance), exact(constant), exact(start),
            exact(transition), exact(transition.T), offset, weight,
        )  # fmt: skip
        if expected is None:
            return None
        log_likelihood, first, moves, mass, mean, scatter = expected
        return log_likelihood, first, moves, Moments(np.repeat(mass[:, None], D, axis=1), mean, scatter)


@dataclass(frozen=True, eq=False)
class DiagonalGaussian(_Axes):
    """K Gaussian densities with independent features: variances (K, D)."""

    covariance: Annotated[np.ndarray, "real (K, D)"]
    smoothing: float = 0.0  # share of the largest variance of a feature, added to all

    @classmethod
    def start(cls, K: int, D: int, **options: Any) -> Self:
        return cls(np.zeros((K, D)), np.ones((K, D)), **options)

    def estimate(self, s: Moments) -> Self:
        estimated = super().estimate(s)
        if self.smoothing == 0 or self.fixed is not None:
            return estimated
        more = self.smoothing * float(s.total().variance.max(initial=0.0))
        return estimated.replace(
            covariance=np.where(s.weight > 0, estimated.covariance + more, estimated.covariance)
        )

    @property
    def _n_variances(self) -> int:
        return self.mean.shape[1]

    def added(self, s: Moments) -> float:
        """Value added to all variances."""
        return self.reg + self.smoothing * float(s.total().variance.max(initial=0.0))

    def _less(self, step: np.ndarray) -> np.ndarray:
        return self.covariance - step**2

    @property
    def variances(self) -> np.ndarray:
        return self.covariance

    @property
    def _n_covariance_parameters(self) -> int:
        return self.mean.size


@dataclass(frozen=True, eq=False)
class SphericalGaussian(_Axes):
    """K spherical Gaussian densities: one variance each, (K,)."""

    covariance: Annotated[np.ndarray, "real (K,)"]

    @classmethod
    def start(cls, K: int, D: int, **options: Any) -> Self:
        return cls(np.zeros((K, D)), np.ones(K), **options)

    @property
    def _n_variances(self) -> int:
        return 1

    def _less(self, step: np.ndarray) -> np.ndarray:
        return self.covariance - (step**2).mean(axis=1)

    @property
    def variances(self) -> np.ndarray:
        return np.repeat(self.covariance[:, None], self.mean.shape[1], axis=1)

    @property
    def _n_covariance_parameters(self) -> int:
        return len(self.mean)


GAUSSIANS: dict[str, type[Gaussian]] = {
    "full": FullGaussian,
    "tied": TiedGaussian,
    "diag": DiagonalGaussian,
    "spherical": SphericalGaussian,
}


def _whitening(covariance: np.ndarray) -> np.ndarray:
    root = cholesky(covariance)
    return solve_triangular(root, np.eye(len(root)), lower=True).T


def _distances(X: np.ndarray, mean: np.ndarray, U: np.ndarray) -> np.ndarray:
    """|(x - mean_k) U_k|^2, (N, K)."""
    from ..loops.distances import mahalanobis

    if X.shape[1] <= FEW_FEATURES:
        return mahalanobis(*map(np.ascontiguousarray, (X, mean, U))).T
    whitened = ((X - m) @ root for m, root in zip(mean, U, strict=True))
    return np.stack([np.einsum("nd,nd->n", Z, Z) for Z in whitened]).T
