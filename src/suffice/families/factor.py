"""K Gaussian densities with few factors: the covariance is LL' + Psi, with Psi diagonal.

Joreskog, "Some contributions to maximum likelihood factor analysis", 1967; Rubin and Thayer, "EM algorithms
for ML factor analysis", 1982; Tipping and Bishop, "Probabilistic principal component analysis", 1999;
Ghahramani and Hinton, "The EM algorithm for mixtures of factor analyzers", 1996.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from ..core.cost import afford
from ..core.model import Family
from ..statistics import Moments
from .gaussian import LOG_2PI, FullGaussian

# Least noise of a feature, as a share of its variance. Less is a Heywood case: the likelihood is largest
# where the factors explain all of the feature.
LEAST = 1e-8

# Starts of the iterations: see `_start`. Of 150 random data sets with more factors than the model, the first
# start alone reached the highest maximum known of 140; of 100 of them, these numbers reached all.
HEYWOOD_STARTS, WARM_UP, FINALISTS = 8, 10, 4
# Features up to which several starts are compared: each costs the eigenvectors of 14 or more matrices.
SEVERAL = 200


Profile = tuple[float, np.ndarray, np.ndarray, int]


@dataclass(frozen=True, eq=False)
class FactorGaussian(Family):
    """K Gaussian densities of x = mean + L f + e, f ~ N(0, I), e ~ N(0, diag(noise)).

    `estimate` is one step that does not lower the likelihood of the moments: of Newton's method for the
    noise, with the loadings that are best for it ("direct"), of EM, or of a proximal gradient.
    """

    mean: Annotated[np.ndarray, "real (K, D)"]
    loadings: Annotated[np.ndarray, "real (K, D, Q)"]
    noise: Annotated[np.ndarray, "real (K, D)"]
    isotropic: bool = False  # whether all features have the same noise: probabilistic PCA
    alpha: float = 0.0  # of the Laplace prior, exp(-alpha sum abs(L))
    update: str = "direct"
    started: bool = False  # else loadings that are zero are not yet estimated

    support: ClassVar[str] = "real"

    @classmethod
    def start(cls, K: int, D: int, n_factors: int = 1, **options: Any) -> Self:
        afford(K * D**2, f"{K} covariances of {D} features", "use diagonal ones, or fewer features.")
        return cls(np.zeros((K, D)), np.zeros((K, D, n_factors)), np.ones((K, D)), **options)

    @cached_property
    def covariances(self) -> np.ndarray:
        """L L' + Psi, (K, D, D)."""
        return self.loadings @ self.loadings.swapaxes(1, 2) + self.noise[:, :, None] * np.eye(
            self.mean.shape[1]
        )

    @cached_property
    def _full(self) -> FullGaussian:
        return FullGaussian(self.mean, self.covariances)

    def log_density(self, X: np.ndarray) -> np.ndarray:
        return self._full.log_density(X)

    def sufficient(self, X: np.ndarray) -> np.ndarray:
        return self._full.sufficient(X)

    def natural(self) -> tuple[np.ndarray, np.ndarray]:
        return self._full.natural()

    def summarize(self, X: np.ndarray, R: np.ndarray) -> Moments:
        return self._full.summarize(X, R)

    def estimate(self, s: Moments) -> Self:
        rows = zip(s.weight, s.mean, s.variance, self.loadings, self.noise, self.mean, strict=True)
        updated = [
            self._step(float(N), S, L, psi, mean) if N > 0 else (old, L, psi)
            for N, mean, S, L, psi, old in rows
        ]
        mean, loadings, noise = (np.stack(part) for part in zip(*updated, strict=True))
        return self.replace(mean=mean, loadings=loadings, noise=noise, started=True)

    def _step(
        self, N: float, S: np.ndarray, L: np.ndarray, psi: np.ndarray, mean: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """One step from the covariance of a density, in units in which variances are 1."""
        variance = np.diag(S)
        if self.isotropic:
            unit = np.full(len(S), np.sqrt(variance.mean() or 1.0))
        else:
            unit = np.sqrt(np.where(variance > 0, variance, variance.max() or 1.0))
        S, L, psi = S / np.outer(unit, unit), L / unit[:, None], np.clip(psi / unit**2, LEAST, None)
        if not self.started and not L.any():
            psi = _start(S, L.shape[1], self.isotropic)
            L = best_loadings(S, psi, L.shape[1], least=0.1)  # EM does not leave loadings that are zero
        update = "em" if self.alpha > 0 and self.update == "direct" else self.update
        L, psi = UPDATES[update](S, L, psi, self.isotropic, self.alpha * unit / N)
        return mean, L * unit[:, None], psi * unit**2

    def mean_log_likelihood(self, s: Moments) -> np.ndarray:
        """Mean log-likelihood, (K,), of rows with these moments about `mean`."""
        D = self.mean.shape[1]
        out = np.empty(len(self.mean))
        for k, (C, S, delta) in enumerate(zip(self.covariances, s.variance, s.mean - self.mean, strict=True)):
            factor = cho_factor(C, lower=True)
            distance = np.trace(cho_solve(factor, S)) + delta @ cho_solve(factor, delta)
            out[k] = -0.5 * (D * LOG_2PI + 2.0 * np.log(np.diag(factor[0])).sum() + distance)
        return out

    def distance_to_maximum(self, s: Moments) -> float:
        """The difference of the mean log-likelihood of these moments at the maximum that Newton's method
        reaches and at this model. There must be no penalty."""
        initial = best = float(s.weight @ self.mean_log_likelihood(s))
        family, gain, enough = self.replace(update="direct", started=True), np.inf, 1e-9 * s.weight.sum()
        while gain > enough:
            family = family.estimate(s)
            last, best = best, float(s.weight @ family.mean_log_likelihood(s))
            gain = best - last
        return (best - initial) / float(s.weight.sum())

    def sample(self, k: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        factors = rng.standard_normal((len(k), self.loadings.shape[2]))
        errors = rng.standard_normal((len(k), self.mean.shape[1])) * np.sqrt(self.noise[k])
        return self.mean[k] + np.einsum("ndq,nq->nd", self.loadings[k], factors) + errors

    @property
    def n_parameters(self) -> int:
        (K, D), Q = self.mean.shape, self.loadings.shape[2]
        rotations = Q * (Q - 1) // 2  # L and its rotations are one model
        return K * (D + D * Q - rotations + (1 if self.isotropic else D))

    def log_prior(self) -> float:
        return -self.alpha * float(np.abs(self.loadings).sum())


def best_loadings(S: np.ndarray, psi: np.ndarray, Q: int, least: float = 0.0) -> np.ndarray:
    """Return the loadings (D, Q) of largest likelihood, whose variances are at least `least` of the noise."""
    root = np.sqrt(psi)
    theta, omega = eigh(S / np.outer(root, root))
    theta, omega = theta[::-1][:Q], omega[:, ::-1][:, :Q]
    L = root[:, None] * omega * np.sqrt(np.maximum(theta - 1.0, least))
    largest = L[np.abs(L).argmax(axis=0), np.arange(L.shape[1])]
    L = np.where(largest < 0, -L, L)  # so that rounding does not choose the signs
    return np.pad(L, ((0, 0), (0, Q - L.shape[1])))


def _start(S: np.ndarray, Q: int, isotropic: bool) -> np.ndarray:
    """The noise from which the iterations start.

    The likelihood has local maxima, most of them Heywood cases. So several starts are compared, for which `S`
    is enough: all take a few steps of conditional maximization, the best few of them are brought to their
    maxima by Newton's method, and the start with the highest maximum is returned.
    """
    D = len(S)
    if isotropic:
        return np.full(D, max(np.trace(S) / D, LEAST))
    starts = _starts(S, Q)
    if D > SEVERAL:
        return starts[0]
    noise = _conditional_maxima(S, starts, Q)
    values = [_profile(S, np.log(psi), Q)[0] for psi in noise]
    basins: list[np.ndarray] = []
    for i in np.argsort(values, kind="stable"):
        if len(basins) < FINALISTS and all(np.abs(noise[i] - psi).max() > 0.1 for psi in basins):
            basins.append(noise[i])
    if len(basins) == 1:
        return basins[0]
    maxima = [_maximum(S, psi, Q) for psi in basins]
    enough = min(maxima) + 1e-9 * max(1.0, abs(min(maxima)))
    return next(psi for psi, value in zip(basins, maxima, strict=True) if value <= enough)


def _starts(S: np.ndarray, Q: int) -> np.ndarray:
    """Noises to start from, (M, D): Joreskog's, by the multiple correlations; those correlations; two
    constant ones; that of principal components; and Heywood cases of features that others explain best."""
    D = len(S)
    try:
        unique = np.clip(1.0 / np.diag(cho_solve(cho_factor(S, lower=True), np.eye(D))), 1e-3, 1.0)
    except LinAlgError:
        unique = np.ones(D)
    theta, omega = eigh(S)
    explained = omega[:, ::-1][:, :Q] ** 2 @ np.maximum(theta[::-1][:Q], 0.0)
    heywood = np.ones((min(D, HEYWOOD_STARTS), D))
    heywood[np.arange(len(heywood)), np.argsort(unique, kind="stable")[: len(heywood)]] = 1e-3
    first = (1.0 - 0.5 * min(Q / D, 1.0)) * unique
    common = np.stack([first, unique, np.ones(D), np.full(D, 0.05), 1.0 - explained])
    return np.clip(np.concatenate([common, heywood]), 1e-3, 1.0)


def _conditional_maxima(S: np.ndarray, noise: np.ndarray, Q: int) -> np.ndarray:
    """The noises (M, D) after a few steps of conditional maximization: of the loadings given the noise,
    then of the noise given the loadings. No step lowers the likelihood."""
    variance = np.maximum(np.diag(S), LEAST)
    for _ in range(WARM_UP):
        root = np.sqrt(noise)
        theta, omega = np.linalg.eigh(S / (root[:, :, None] * root[:, None, :]))
        above = np.maximum(theta[:, ::-1][:, :Q] - 1.0, 0.0)
        common = noise * np.einsum("mdq,mq->md", omega[:, :, ::-1][:, :, :Q] ** 2, above)
        noise = np.clip(variance - common, LEAST, variance)
    return noise


def _maximum(S: np.ndarray, psi: np.ndarray, Q: int) -> float:
    """-2 log-likelihood of a row at the maximum that Newton's method reaches from this noise."""
    x, gain = np.log(psi), np.inf
    profile = _profile(S, x, Q)
    while gain > 1e-7:  # differences between maxima are larger
        before = profile[0]
        x, profile = _newton_step(S, x, Q, profile)
        gain = before - profile[0]
    return float(profile[0])


def _profile(S: np.ndarray, x: np.ndarray, Q: int) -> Profile:
    """-2 log-likelihood of a row at the best loadings, as a function of x = log psi; the eigenvalues and
    eigenvectors of psi^-1/2 S psi^-1/2, in decreasing order; and the number of factors above the noise."""
    root = np.exp(0.5 * x)
    theta, omega = eigh(S / np.outer(root, root), overwrite_a=True, check_finite=False)
    theta, omega = theta[::-1], omega[:, ::-1]
    above = int((theta[:Q] > 1.0).sum())
    value = x.sum() + np.log(theta[:above]).sum() + above + theta[above:].sum()
    return value, theta, omega, above


def _newton(
    S: np.ndarray, L: np.ndarray, psi: np.ndarray, isotropic: bool, alpha: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A step of Newton's method for the logs of the noise; for probabilistic PCA, the solution."""
    Q = L.shape[1]
    if isotropic:
        values = eigh(S, eigvals_only=True)[::-1]
        psi = np.full(len(S), max(values[Q:].mean(), LEAST))
    else:
        psi = _newton_noise(S, psi, Q)
    return best_loadings(S, psi, Q), psi


def _newton_noise(S: np.ndarray, psi: np.ndarray, Q: int) -> np.ndarray:
    """The noise after a step of Newton's method for its logs, with the best loadings."""
    x = np.clip(np.log(psi), *_bounds(S))
    return np.exp(_newton_step(S, x, Q, _profile(S, x, Q))[0])


def _bounds(S: np.ndarray) -> tuple[float, np.ndarray]:
    """Bounds of the logarithms of the noise."""
    return np.log(LEAST), np.log(np.maximum(np.diag(S), LEAST))


def _newton_step(S: np.ndarray, x: np.ndarray, Q: int, profile: Profile) -> tuple[np.ndarray, Profile]:
    """A step of Newton's method for x, the logs of the noise. `profile` is `_profile` at x."""
    low, high = _bounds(S)
    value, theta, omega, above = profile
    rest, beyond = theta[above:], omega[:, above:]
    gradient = (beyond**2) @ (1.0 - rest)
    free = ~(((x <= low) & (gradient > 0)) | ((x >= high) & (gradient < 0)))
    flat = beyond @ beyond.T
    hessian = ((beyond * rest) @ beyond.T) * flat
    for t, w in zip(theta[:above], omega.T[:above], strict=True):
        c = (1.0 - rest) * (t + rest) / np.maximum(t - rest, LEAST * t)
        hessian += np.outer(w, w) * ((beyond * c) @ beyond.T)
    step = _descent(hessian[np.ix_(free, free)], (flat**2)[np.ix_(free, free)], gradient[free])
    for halving in range(40):
        y = x.copy()
        y[free] += 0.5**halving * step
        y = np.clip(y, low, high)
        after = _profile(S, y, Q)
        if after[0] <= value:
            return y, after
    return x, profile


def _descent(hessian: np.ndarray, approximate: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """The step of Newton's method, or of an approximate Hessian that is positive semidefinite."""
    for matrix in (hessian, approximate + 1e-9 * np.eye(len(gradient))):
        try:
            step = -cho_solve(cho_factor(matrix, lower=True), gradient)
        except LinAlgError:
            continue
        if np.isfinite(step).all():
            return step / max(1.0, np.abs(step).max(initial=0.0) / 3.0)
    return -gradient


def _expected(S: np.ndarray, L: np.ndarray, psi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E step: means of x f' (D, Q) and of f f' (Q, Q)."""
    scaled = L / psi[:, None]
    V = np.linalg.inv(np.eye(L.shape[1]) + L.T @ scaled)
    B = S @ (scaled @ V)
    return B, V + (scaled @ V).T @ B


def _residual(S: np.ndarray, L: np.ndarray, B: np.ndarray, G: np.ndarray, isotropic: bool) -> np.ndarray:
    """M step of the noise, given the loadings."""
    psi = np.diag(S) - 2.0 * (L * B).sum(axis=1) + ((L @ G) * L).sum(axis=1)
    return np.maximum(np.full(len(psi), psi.mean()) if isotropic else psi, LEAST)


def _em(
    S: np.ndarray, L: np.ndarray, psi: np.ndarray, isotropic: bool, alpha: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A step of EM. With a penalty, each row of the loadings is a lasso with the Gram matrix of factors."""
    B, G = _expected(S, L, psi)
    L = lasso(G, B, alpha * psi, L) if alpha.any() else np.linalg.solve(G, B.T).T
    return L, _residual(S, L, B, G, isotropic)


def lasso(G: np.ndarray, B: np.ndarray, threshold: np.ndarray, L: np.ndarray) -> np.ndarray:
    """The minimum of tr(L G L') / 2 - tr(B L') + threshold |L|_1, by coordinate descent for all rows at
    once. When the signs are those of the minimum, it is the solution of a linear system."""
    curved = np.diag(G) > np.finfo(np.float64).eps * np.diag(G).max(initial=0.0)
    L = np.where(curved, L, 0.0)
    for sweep in range(1000):
        before = L.copy()
        for q in np.flatnonzero(curved):
            slope = B[:, q] - L @ G[:, q] + L[:, q] * G[q, q]
            L[:, q] = _shrunk(slope, threshold) / G[q, q]
        if np.abs(L - before).max() <= 1e-12 * max(1.0, np.abs(L).max()):
            break
        if sweep % 10 == 9:
            exact = [_of_signs(G, *row) for row in zip(B, threshold, L, strict=True)]
            if not any(row is None for row in exact):
                return np.stack(exact)  # type: ignore[arg-type]
    return L


def _of_signs(G: np.ndarray, b: np.ndarray, threshold: float, x: np.ndarray) -> np.ndarray | None:
    """Return the solution of the lasso if it has the signs of x, otherwise None."""
    active, out = np.flatnonzero(x), np.zeros_like(x)
    try:
        out[active] = np.linalg.solve(G[np.ix_(active, active)], b[active] - threshold * np.sign(x[active]))
    except np.linalg.LinAlgError:
        return None
    slope = np.abs(b - G @ out)[x == 0]
    same = (np.sign(out) == np.sign(x)).all() and (slope <= threshold * (1.0 + 1e-12)).all()
    return out if same else None


def _shrunk(x: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    return np.sign(x) * np.maximum(np.abs(x) - threshold, 0.0)


def _proximal(
    S: np.ndarray, L: np.ndarray, psi: np.ndarray, isotropic: bool, alpha: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A step of the proximal gradient of the log-likelihood, whose length follows from the factors' moments:
    those bound the curvature, by the inequality of EM."""
    B, G = _expected(S, L, psi)
    bound = np.linalg.eigvalsh(G)[-1] if len(G) else 1.0
    L = _shrunk(L + (B - L @ G) / bound, (alpha * psi / bound)[:, None])
    return L, _residual(S, L, B, G, isotropic)


UPDATES: dict[str, Callable[..., tuple[np.ndarray, np.ndarray]]] = {
    "direct": _newton,
    "em": _em,
    "proximal": _proximal,
}
