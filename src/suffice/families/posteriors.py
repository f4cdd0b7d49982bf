"""Conjugate posteriors of the parameters of K densities, from a prior and the statistics of a family.

One object serves maximum a posteriori (`mode`), variational inference (`expected_log_density`, `divergence`)
and Gibbs sampling (`sample`, `log_evidence`). Bishop, "Pattern Recognition and Machine Learning", 2006, ch. 2
and 10.2; Gelman et al., "Bayesian Data Analysis", 2013, ch. 3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import digamma, gammaln, multigammaln

from ..core.blocks import Matrix
from ..core.values import Value
from ..statistics.moments import Moments
from .covariances import cholesky, patterns

LOG_PI = np.log(np.pi)
LOG_2 = np.log(2.0)


class Posterior(Value, ABC):
    """Distribution of the parameters of K densities. `family.posterior(s)` returns it; that of no rows is the
    prior."""

    family: Any

    @property
    @abstractmethod
    def mode(self) -> Any:
        """The family with the most probable parameters (MAP)."""

    @property
    @abstractmethod
    def expected(self) -> Any:
        """The family q with log q(x given k) = E[log p(x given k)] up to `offset`."""

    @property
    @abstractmethod
    def offset(self) -> np.ndarray:
        """E[log p(x given k)] - log q(x given k): (K, D) by observed feature, or (K,) by row."""

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> Any:
        """The family with parameters drawn from this distribution."""

    @abstractmethod
    def divergence(self, prior: Self) -> float:
        """Kullback-Leibler divergence of this distribution from a prior of the same kind."""

    @abstractmethod
    def log_evidence(self, prior: Self) -> np.ndarray:
        """Log marginal likelihood of the rows that lead from the prior to this posterior, by density (or one
        number where densities share parameters), without terms of the rows that have no parameter."""

    @abstractmethod
    def predictive(self, X: Matrix) -> np.ndarray:
        """Log density of rows averaged over the parameters, log p(x given k), (N, K)."""

    def noise(self, s: Any) -> float:
        """Return the expected decrease of the log density of all rows by the noise of regularization.

        It is zero if `expected_log_density` contains it.
        """
        return 0.0

    def expected_log_density(self, X: Matrix) -> np.ndarray:
        """E[log p(x given k)] over the parameters, (N, K), less the expected loss by the noise of
        regularization unless it is negligible. NaN means not observed."""
        out = self.expected.log_density(X)
        out += sum_observed(self.offset, X)
        return out


def sum_observed(terms: np.ndarray, X: Matrix) -> np.ndarray:
    """Sum the terms of K densities by feature, (K, D), over the observed features of each row: (N, K), or
    (K,) if all are observed. Terms by row, (K,), are returned unchanged."""
    if terms.ndim == 1:
        return terms
    if isinstance(X, np.ndarray) and np.isnan(X.sum()):
        return (~np.isnan(X)).astype(np.float64).dot(terms.T)
    return terms.sum(axis=1)


# --- Gaussian --------------------------------------------------------------------------------------------

# The posteriors are those of rows with noise of variance `reg`, which lowers log densities. Responsibilities
# leave it out where the densities differ in it by less than this, as scikit-learn's always do. It costs the
# bound less than an eighth of the square of this by row.
NEGLIGIBLE_NOISE = 1e-3


class _GaussianPosterior(Posterior):
    """Base class of the posteriors of means and covariances."""

    @cached_property
    def _counted_noise(self) -> np.ndarray | float:
        """The noise in `offset`."""
        noise = self.expected.noise
        return noise if np.ptp(noise, axis=0).sum() > NEGLIGIBLE_NOISE else 0.0

    def noise(self, s: Moments) -> float:
        return float((s.weight * (self.expected.noise - self._counted_noise)).sum())


def _must_be_proper(proper: Any, what: str) -> None:
    if not np.all(proper):
        raise ValueError(
            f"The prior of the {what} is improper, and a density without enough rows has no distribution of "
            "its parameters: pass a prior with mean_precision > 0 and degrees_of_freedom."
        )


@dataclass(frozen=True, eq=False)
class NormalInverseWishart(_GaussianPosterior):
    """mean_k ~ N(mean, covariance_j / mean_precision), covariance_j ~ IW(degrees_of_freedom, scale).

    There are J covariances: one for each density, or one for all. The density is proportional to
    det(covariance)^(-determinants / 2).
    """

    family: Annotated[Any, "K, D"]
    mean: Annotated[np.ndarray, "real (K, D)"]
    mean_precision: Annotated[np.ndarray, "real (K,)"]
    scale: Annotated[np.ndarray, "real (J, D, D)"]
    determinants: Annotated[np.ndarray, "real (J,)"]

    @property
    def degrees_of_freedom(self) -> np.ndarray:
        """(J,)"""
        means = len(self.mean) // len(self.scale)  # each adds a power of the determinant
        return self.determinants - means - self.mean.shape[1] - 1.0

    @property
    def _known(self) -> bool:
        return bool(self.family.fixed == "covariance")

    def _must_be_proper(self) -> None:
        proper = self._known or self.degrees_of_freedom > self.mean.shape[1] - 1.0
        _must_be_proper(proper, "covariances")
        _must_be_proper(self.mean_precision > 0, "means")

    @property
    def mode(self) -> Any:
        mean = np.where(self.mean_precision[:, None] > 0, self.mean, self.family.mean)
        if self._known:
            return self.family.replace(mean=mean)
        power = self.determinants[:, None, None]
        before = self.family.covariance.reshape(self.scale.shape)
        covariance = np.where(power > 0, self.scale / np.where(power > 0, power, 1.0), before)
        return self._with(mean, covariance)

    def _with(self, mean: np.ndarray, covariance: np.ndarray) -> Any:
        return self.family.replace(mean=mean, covariance=covariance.reshape(self.family.covariance.shape))

    @cached_property
    def expected(self) -> Any:
        self._must_be_proper()
        if self._known:
            return self.family.replace(mean=self.mean)
        return self._with(self.mean, self.scale / self.degrees_of_freedom[:, None, None])

    @cached_property
    def offset(self) -> np.ndarray:
        D, gap = self.mean.shape[1], np.zeros(len(self.scale))
        if not self._known:  # half of E[log det(precision)] - log det(E[precision])
            df = self.degrees_of_freedom
            gap = 0.5 * (_digammas(df, D) + D * (LOG_2 - np.log(df)))
        return np.broadcast_to(gap, len(self.mean)) - 0.5 * D / self.mean_precision - self._counted_noise

    @cached_property
    def _cholesky(self) -> np.ndarray:
        return np.stack([cholesky(S) for S in self.scale])

    @property
    def _log_det(self) -> np.ndarray:
        return 2.0 * np.log(np.diagonal(self._cholesky, axis1=1, axis2=2)).sum(axis=1)

    def sample(self, rng: np.random.Generator) -> Any:
        self._must_be_proper()
        K, D = self.mean.shape
        if self._known:
            covariance = self.family.covariance.reshape(self.scale.shape)
            root = np.linalg.cholesky(covariance)
        else:  # Bartlett's decomposition: covariance = L A^-T A^-1 L', and L A^-T is its root
            root = np.empty_like(self.scale)
            for j, (L, df) in enumerate(zip(self._cholesky, self.degrees_of_freedom, strict=True)):
                A = np.tril(rng.standard_normal((D, D)), -1)
                A[np.diag_indices(D)] = np.sqrt(rng.chisquare(df - np.arange(D)))
                root[j] = solve_triangular(A, L.T, lower=True).T
            covariance = root @ root.swapaxes(1, 2)
        noise = rng.standard_normal((K, D)) / np.sqrt(self.mean_precision)[:, None]
        mean = self.mean + np.einsum("kij,kj->ki", np.broadcast_to(root, (K, D, D)), noise)
        return self.family.replace(mean=mean) if self._known else self._with(mean, covariance)

    def _precisions(self) -> np.ndarray:
        """E[precision], (J, D, D)."""
        if self._known:
            return np.linalg.inv(self.family.covariance.reshape(self.scale.shape))
        return self.degrees_of_freedom[:, None, None] * np.linalg.inv(self.scale)

    def divergence(self, prior: Self) -> float:
        K, D = self.mean.shape
        ratio = prior.mean_precision / self.mean_precision
        delta, P = self.mean - prior.mean, np.broadcast_to(self._precisions(), (K, D, D))
        distance = prior.mean_precision * np.einsum("ki,kij,kj->k", delta, P, delta)
        total = 0.5 * float((D * (ratio - 1.0 - np.log(ratio)) + distance).sum())
        if self._known:
            return total
        df, df0 = self.degrees_of_freedom, prior.degrees_of_freedom
        trace = np.einsum("jab,jba->j", prior.scale, np.linalg.inv(self.scale))
        wishart = (
            0.5 * df0 * (self._log_det - prior._log_det)
            + 0.5 * df * (trace - D)
            + _log_gamma(df0, D)
            - _log_gamma(df, D)
            + 0.5 * (df - df0) * _digammas(df, D)
        )
        return total + float(wishart.sum())

    def log_evidence(self, prior: Self) -> np.ndarray:
        K, D = self.mean.shape
        J = len(self.scale)
        weight = self.mean_precision - prior.mean_precision
        of_means = 0.5 * D * (np.log(prior.mean_precision / self.mean_precision) - weight * LOG_PI)
        total = of_means.reshape(J, K // J).sum(axis=1)
        if self._known:
            covariance = self.family.covariance.reshape(self.scale.shape)
            weight = weight.reshape(J, K // J).sum(axis=1)
            distance = np.einsum("jab,jba->j", np.linalg.inv(covariance), self.scale)
            log_det = np.linalg.slogdet(covariance)[1]
            return total - 0.5 * (D * weight * LOG_2 + weight * log_det + distance)
        df, df0 = self.degrees_of_freedom, prior.degrees_of_freedom
        return (
            total + 0.5 * (df0 * prior._log_det - df * self._log_det) + _log_gamma(df, D) - _log_gamma(df0, D)
        )

    def predictive(self, X: np.ndarray) -> np.ndarray:
        self._must_be_proper()
        (K, D), kappa = self.mean.shape, self.mean_precision
        widened = (1.0 + 1.0 / kappa)[:, None, None]
        df = np.broadcast_to(self.degrees_of_freedom, K) - D + 1.0
        scale = (self.family.covariances if self._known else np.broadcast_to(self.scale, (K, D, D))) * widened
        out = np.empty((len(X), K))
        for rows, seen in patterns(X):
            seen = np.ones(D, bool) if seen is None else seen
            part, d = X[rows][:, seen], int(seen.sum())
            for k in range(K):
                L = np.linalg.cholesky(scale[k][np.ix_(seen, seen)])
                Z = solve_triangular(L, (part - self.mean[k][seen]).T, lower=True) if d else part.T
                log_det, square = 2.0 * np.log(np.diag(L)).sum(), (Z**2).sum(axis=0)
                if self._known:
                    out[rows, k] = -0.5 * (d * (LOG_PI + LOG_2) + log_det + square)
                    continue
                out[rows, k] = (
                    gammaln(0.5 * (df[k] + d))
                    - gammaln(0.5 * df[k])
                    - 0.5 * (d * LOG_PI + log_det)
                    - 0.5 * (df[k] + d) * np.log1p(square)
                )
        return out


@dataclass(frozen=True, eq=False)
class NormalInverseGamma(_GaussianPosterior):
    """mean_kd ~ N(mean, variance_kj / mean_precision), variance_kj ~ IG(degrees_of_freedom / 2, scale / 2).

    Each density has J variances: one for each feature, or one for all. The density is proportional to
    variance^(-determinants / 2).
    """

    family: Annotated[Any, "K, D"]
    mean: Annotated[np.ndarray, "real (K, D)"]
    mean_precision: Annotated[np.ndarray, "real (K, D)"]
    scale: Annotated[np.ndarray, "real (K, J)"]
    determinants: Annotated[np.ndarray, "real (K, J)"]

    @property
    def degrees_of_freedom(self) -> np.ndarray:
        """(K, J)"""
        return self.determinants - self.mean.shape[1] // self.scale.shape[1] - 2.0

    @property
    def _known(self) -> bool:
        return bool(self.family.fixed == "covariance")

    def _must_be_proper(self) -> None:
        _must_be_proper(self._known or self.degrees_of_freedom > 0, "covariances")
        _must_be_proper(self.mean_precision > 0, "means")

    @property
    def mode(self) -> Any:
        mean = np.where(self.mean_precision > 0, self.mean, self.family.mean)
        if self._known:
            return self.family.replace(mean=mean)
        power = self.determinants
        before = self.family.covariance.reshape(self.scale.shape)
        return self._with(mean, np.where(power > 0, self.scale / np.where(power > 0, power, 1.0), before))

    def _with(self, mean: np.ndarray, variance: np.ndarray) -> Any:
        return self.family.replace(mean=mean, covariance=variance.reshape(self.family.covariance.shape))

    @cached_property
    def expected(self) -> Any:
        self._must_be_proper()
        if self._known:
            return self.family.replace(mean=self.mean)
        return self._with(self.mean, self.scale / self.degrees_of_freedom)

    @cached_property
    def offset(self) -> np.ndarray:
        gap = np.zeros_like(self.scale)
        if not self._known:  # half of E[log precision] - log E[precision]
            half = 0.5 * self.degrees_of_freedom
            gap = 0.5 * (digamma(half) - np.log(half))
        return gap - 0.5 / self.mean_precision - self._counted_noise

    def sample(self, rng: np.random.Generator) -> Any:
        self._must_be_proper()
        if self._known:
            variance = self.family.covariance.reshape(self.scale.shape)
        else:
            variance = self.scale / rng.chisquare(self.degrees_of_freedom)
        noise = rng.standard_normal(self.mean.shape)
        mean = self.mean + noise * np.sqrt(variance / self.mean_precision)
        return self.family.replace(mean=mean) if self._known else self._with(mean, variance)

    def _precision(self) -> np.ndarray:
        """E[precision], (K, J)."""
        if self._known:
            return 1.0 / self.family.covariance.reshape(self.scale.shape)
        return self.degrees_of_freedom / self.scale

    def divergence(self, prior: Self) -> float:
        ratio = prior.mean_precision / self.mean_precision
        distance = prior.mean_precision * (self.mean - prior.mean) ** 2 * self._precision()
        total = 0.5 * float((ratio - 1.0 - np.log(ratio) + distance).sum())
        if self._known:
            return total
        a, a0 = 0.5 * self.degrees_of_freedom, 0.5 * prior.degrees_of_freedom
        return total + _gamma_divergence(a, 0.5 * self.scale, a0, 0.5 * prior.scale)

    def log_evidence(self, prior: Self) -> np.ndarray:
        weight = self.mean_precision - prior.mean_precision
        of_means = 0.5 * (np.log(prior.mean_precision / self.mean_precision) - weight * (LOG_PI + LOG_2))
        if self._known:
            variance = self.family.covariance.reshape(self.scale.shape)
            power = weight.reshape(*self.scale.shape, -1).sum(axis=2)
            return of_means.sum(axis=1) - 0.5 * (power * np.log(variance) + self.scale / variance).sum(axis=1)
        a, a0 = 0.5 * self.degrees_of_freedom, 0.5 * prior.degrees_of_freedom
        powers = a0 * np.log(0.5 * prior.scale) - a * np.log(0.5 * self.scale)
        of_variances = gammaln(a) - gammaln(a0) + powers
        return of_means.sum(axis=1) + of_variances.sum(axis=1)

    def predictive(self, X: np.ndarray) -> np.ndarray:
        self._must_be_proper()
        (K, D), kappa = self.mean.shape, self.mean_precision
        widened = 1.0 + 1.0 / kappa
        if self._known:
            variance = np.broadcast_to(self._precision() ** -1, (K, D)) * widened
            return _normal_axes(X, self.mean, variance)
        out = np.zeros((len(X), K))
        J = self.scale.shape[1]
        for k in range(K):
            seen = ~np.isnan(X)
            square = np.where(seen, (X - self.mean[k]) ** 2 / widened[k], 0.0)
            groups = (len(X), J, D // J)
            square, d = square.reshape(groups).sum(axis=2), seen.reshape(groups).sum(axis=2)
            log_det = np.where(seen, np.log(widened[k]), 0.0).reshape(groups).sum(axis=2)
            df, scale = self.degrees_of_freedom[k], self.scale[k]
            each = (
                gammaln(0.5 * (df + d))
                - gammaln(0.5 * df)
                - 0.5 * (d * (LOG_PI + np.log(scale)) + log_det)
                - 0.5 * (df + d) * np.log1p(square / scale)
            )
            out[:, k] = each.sum(axis=1)
        return out


def _normal_axes(X: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    each = np.log(2.0 * np.pi * variance) + (X[:, None] - mean) ** 2 / variance
    return -0.5 * np.nansum(each, axis=2)


def _digammas(df: np.ndarray, D: int) -> np.ndarray:
    """E[log det] of a standard Wishart matrix, less D log 2."""
    return digamma(0.5 * (np.asarray(df)[..., None] - np.arange(D))).sum(axis=-1)


def _log_gamma(df: np.ndarray, D: int) -> np.ndarray:
    """Log of the multivariate gamma function of df / 2."""
    return multigammaln(0.5 * np.asarray(df), D)


def _gamma_divergence(a: np.ndarray, b: np.ndarray, a0: np.ndarray, b0: np.ndarray) -> float:
    """Sum of divergences of gamma distributions with shapes a and rates b from those with a0 and b0."""
    each = (a - a0) * digamma(a) - gammaln(a) + gammaln(a0) + a0 * np.log(b / b0) + a * (b0 - b) / b
    return float(each.sum())


# --- counts ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BetaPosterior(Posterior):
    """probability_kd ~ Beta(1 + ones, 1 + weight - ones)."""

    family: Annotated[Any, "K, D"]
    ones: Annotated[np.ndarray, "(K, D)"]  # pseudo-counts included
    weight: Annotated[np.ndarray, "(K, D) or (K, 1)"]

    @property
    def _shapes(self) -> tuple[np.ndarray, np.ndarray]:
        return 1.0 + self.ones, 1.0 + np.maximum(self.weight - self.ones, 0.0)

    @property
    def mode(self) -> Any:
        return self.family.replace(probability=ratio(self.ones, self.weight, self.family.probability))

    @cached_property
    def _logs(self) -> tuple[np.ndarray, np.ndarray]:
        """E[log p] and E[log(1 - p)], (K, D)."""
        a, b = self._shapes
        both = digamma(a + b)
        return digamma(a) - both, digamma(b) - both

    @cached_property
    def expected(self) -> Any:
        one, zero = self._logs
        return self.family.replace(probability=1.0 / (1.0 + np.exp(zero - one)))

    @property
    def offset(self) -> np.ndarray:
        return np.logaddexp(*self._logs)

    def expected_log_density(self, X: Matrix) -> np.ndarray:
        return super().expected_log_density(self.family.ones(X))

    def sample(self, rng: np.random.Generator) -> Any:
        return self.family.replace(probability=rng.beta(*self._shapes))

    def divergence(self, prior: Self) -> float:
        (a, b), (a0, b0) = self._shapes, prior._shapes
        return float(_dirichlet_divergence(np.stack([a, b], -1), np.stack([a0, b0], -1)).sum())

    def log_evidence(self, prior: Self) -> np.ndarray:
        pairs = (np.stack(q._shapes, axis=-1) for q in (self, prior))
        after, before = (_log_beta(alpha).sum(axis=1) for alpha in pairs)
        return after - before

    def predictive(self, X: Matrix) -> np.ndarray:
        a, b = self._shapes
        return self.family.replace(probability=a / (a + b)).log_density(X)


@dataclass(frozen=True, eq=False)
class GammaPosterior(Posterior):
    """rate_kd ~ Gamma(shape 1 + events, rate exposure)."""

    family: Annotated[Any, "K, D"]
    events: Annotated[np.ndarray, "(K, D)"]  # pseudo-counts included
    exposure: Annotated[np.ndarray, "(K, D) or (K, 1)"]

    @property
    def mode(self) -> Any:
        return self.family.replace(rate=ratio(self.events, self.exposure, self.family.rate))

    def _must_be_proper(self) -> None:
        if not (self.exposure > 0).all():
            raise ValueError("The prior of the rates is improper: pass alpha > 0.")

    @cached_property
    def expected(self) -> Any:
        self._must_be_proper()
        return self.family.replace(rate=np.exp(digamma(1.0 + self.events)) / self.exposure)

    @property
    def offset(self) -> np.ndarray:
        return self.expected.rate - (1.0 + self.events) / self.exposure

    def sample(self, rng: np.random.Generator) -> Any:
        self._must_be_proper()
        return self.family.replace(rate=rng.standard_gamma(1.0 + self.events) / self.exposure)

    def divergence(self, prior: Self) -> float:
        shape = self.events.shape
        b, b0 = (np.broadcast_to(q.exposure, shape) for q in (self, prior))
        return _gamma_divergence(1.0 + self.events, b, 1.0 + prior.events, b0)

    def log_evidence(self, prior: Self) -> np.ndarray:
        def log_normalizer(q: Any) -> np.ndarray:
            return (gammaln(1.0 + q.events) - (1.0 + q.events) * np.log(q.exposure)).sum(axis=1)

        return log_normalizer(self) - log_normalizer(prior)

    def predictive(self, X: np.ndarray) -> np.ndarray:
        self._must_be_proper()
        a, out = 1.0 + self.events, []
        for shape, rate in zip(a, np.broadcast_to(self.exposure, a.shape), strict=True):
            each = (
                gammaln(shape + X)
                - gammaln(shape)
                - gammaln(X + 1.0)
                - shape * np.log1p(1.0 / rate)
                - X * np.log1p(rate)
            )
            out.append(np.nansum(each, axis=1))
        return np.stack(out, axis=1)


@dataclass(frozen=True, eq=False)
class DirichletPosterior(Posterior):
    """Rows of P tables of probabilities, (K, V_p), each ~ Dirichlet(1 + counts)."""

    family: Annotated[Any, "K, D"]
    count: Annotated[tuple[np.ndarray, ...], "P of (K, V_p)"]  # pseudo-counts included

    def _with(self, tables: list[np.ndarray]) -> Any:
        return self.family.with_tables(tuple(tables))

    @property
    def mode(self) -> Any:
        pairs = zip(self.count, self.family.tables(), strict=True)
        return self._with([ratio(c, c.sum(axis=1, keepdims=True), before) for c, before in pairs])

    @cached_property
    def expected(self) -> Any:
        return self._with([np.exp(_expected_logs(1.0 + count)) for count in self.count])

    @property
    def offset(self) -> np.ndarray:
        return np.zeros(len(self.count[0]))  # `expected` has the logarithms, and need not sum to one

    def sample(self, rng: np.random.Generator) -> Any:
        drawn = (rng.standard_gamma(1.0 + count) for count in self.count)
        return self._with([gamma / gamma.sum(axis=1, keepdims=True) for gamma in drawn])

    def divergence(self, prior: Self) -> float:
        pairs = zip(self.count, prior.count, strict=True)
        return float(sum(_dirichlet_divergence(1.0 + c, 1.0 + c0).sum() for c, c0 in pairs))

    def log_evidence(self, prior: Self) -> np.ndarray:
        pairs = zip(self.count, prior.count, strict=True)
        return np.sum([_log_beta(1.0 + c) - _log_beta(1.0 + c0) for c, c0 in pairs], axis=0)

    def predictive(self, X: Matrix) -> np.ndarray:
        return self.family.predictive(X, tuple(1.0 + count for count in self.count))


@dataclass(frozen=True, eq=False)
class ProductPosterior(Posterior):
    """Posteriors of the parts of a product, which are independent."""

    family: Annotated[Any, "K, D"]
    parts: Annotated[tuple[Posterior, ...], "P of K"]

    @property
    def mode(self) -> Any:
        return self.family.replace(parts=tuple(q.mode for q in self.parts))

    @cached_property
    def expected(self) -> Any:
        return self.family.replace(parts=tuple(q.expected for q in self.parts))

    @property
    def offset(self) -> np.ndarray:
        raise NotImplementedError("Each part of a product has its own offset.")

    def expected_log_density(self, X: np.ndarray) -> np.ndarray:
        return self._sum("expected_log_density", X)

    def predictive(self, X: np.ndarray) -> np.ndarray:
        return self._sum("predictive", X)

    def _sum(self, method: str, X: np.ndarray) -> np.ndarray:
        pairs = zip(self.parts, self.family.each(X), strict=True)
        return sum(getattr(q, method)(x) for q, (_, x) in pairs)

    def sample(self, rng: np.random.Generator) -> Any:
        return self.family.replace(parts=tuple(q.sample(rng) for q in self.parts))

    def noise(self, s: Any) -> float:
        return sum(q.noise(of_part) for q, of_part in zip(self.parts, s.parts, strict=True))

    def divergence(self, prior: Self) -> float:
        return sum(q.divergence(p) for q, p in zip(self.parts, prior.parts, strict=True))

    def log_evidence(self, prior: Self) -> np.ndarray:
        of_parts = [q.log_evidence(p) for q, p in zip(self.parts, prior.parts, strict=True)]
        K = max(map(len, of_parts))
        return np.sum([np.broadcast_to(each * len(each) / K, K) for each in of_parts], axis=0)


def ratio(a: np.ndarray, b: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """a / b, or the previous value where b is zero."""
    return np.divide(a, b, out=np.array(otherwise), where=np.broadcast_to(b > 0, a.shape))


def _expected_logs(alpha: np.ndarray) -> np.ndarray:
    return digamma(alpha) - digamma(alpha.sum(axis=-1, keepdims=True))


def _log_beta(alpha: np.ndarray) -> np.ndarray:
    """Log of the multivariate beta function of the last axis."""
    return gammaln(alpha).sum(axis=-1) - gammaln(alpha.sum(axis=-1))


def _dirichlet_divergence(alpha: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Divergence of Dirichlet(alpha) from Dirichlet(prior), along the last axis."""
    change = ((alpha - prior) * _expected_logs(alpha)).sum(axis=-1)
    return _log_beta(prior) - _log_beta(alpha) + change


# --- weights of a mixture --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sticks(Value):
    """Stick-breaking weights: weight_k = v_k (1 - v_1) ... (1 - v_{k-1}), v_k ~ Beta(a_k, b_k).

    With a = 1 and b the concentration this is the prior of a Dirichlet process, of which K components are
    named and the rest of the stick belongs to none of them. Ishwaran and James 2001; Blei and Jordan 2006.

    >>> Sticks.process(1.0, 2).posterior(np.array([3.0, 1.0])).mean
    array([0.66666667, 0.22222222])
    """

    a: Annotated[np.ndarray, "real (K,)"]
    b: Annotated[np.ndarray, "real (K,)"]

    @classmethod
    def process(cls, concentration: float, K: int) -> Sticks:
        """The prior of a Dirichlet process with this concentration."""
        return cls(np.ones(K), np.full(K, float(concentration)))

    def truncated(self) -> Sticks:
        """The last component takes the rest of the stick: v_K = 1, which b_K = 0 stands for."""
        return Sticks(self.a, np.append(self.b[:-1], 0.0))

    @property
    def _shapes(self) -> np.ndarray:
        """(a, b) of the shares that are random, (K or K - 1, 2)."""
        return np.stack([self.a, self.b], axis=1)[self.b > 0]

    def _weights(self, share: np.ndarray) -> np.ndarray:
        share = np.append(share, np.ones(len(self.a) - len(share)))
        return share * np.append(1.0, np.cumprod(1.0 - share)[:-1])

    def posterior(self, counts: np.ndarray) -> Sticks:
        counts = np.asarray(counts, dtype=float)
        after = np.append(np.cumsum(counts[::-1])[-2::-1], 0.0)  # of the components behind
        return Sticks(self.a + counts, self.b + after)

    @property
    def mean(self) -> np.ndarray:
        return self._weights(self._shapes[:, 0] / self._shapes.sum(axis=1))

    @cached_property
    def expected_log(self) -> np.ndarray:
        """E[log weight_k]."""
        share, rest = _expected_logs(self._shapes).T
        share = np.append(share, np.zeros(len(self.a) - len(share)))
        return share + np.append(0.0, np.cumsum(rest))[: len(self.a)]

    def divergence(self, prior: Sticks) -> float:
        return float(_dirichlet_divergence(self._shapes, prior._shapes).sum())

    def log_evidence(self, counts: np.ndarray) -> float:
        """Log probability of labels with these counts."""
        return float((_log_beta(self.posterior(counts)._shapes) - _log_beta(self._shapes)).sum())

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        return self._weights(rng.beta(*self._shapes.T))
