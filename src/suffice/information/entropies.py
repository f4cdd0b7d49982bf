"""Entropies and divergences of tables of probabilities and of families of densities.

Cover and Thomas, "Elements of Information Theory", 2006, ch. 2 and 8; Csiszar, "Information-type measures of
difference of probability distributions", 1967.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import entr, rel_entr

from ..families import Bernoulli, Categorical, Family, Gaussian, Multinomial, Poisson, ProductFamily
from ..families.gaussian import LOG_2PI, cholesky


def entropy(p: Any) -> Any:
    """Entropy, in nats: of a table of probabilities, or of each density of a family.

    Parameters
    ----------
    p : array or Family
        Probabilities of all outcomes, in any number of axes; or densities. The entropy of a Gaussian is
        differential, and may be negative.

    Returns
    -------
    entropy : float, or ndarray of shape (K,) for a family of K densities

    See Also
    --------
    scipy.stats.entropy : Along an axis, in other units.

    Examples
    --------
    >>> from suffice.information import entropy
    >>> round(entropy([0.5, 0.25, 0.25]), 4)
    1.0397
    """
    if isinstance(p, ProductFamily):
        return np.sum([entropy(part) for part in p.parts], axis=0)
    if isinstance(p, Gaussian):
        log_det = [2.0 * np.log(np.diag(cholesky(C))).sum() for C in p.covariances]
        return 0.5 * (p.mean.shape[1] * (1.0 + LOG_2PI) + np.array(log_det))
    if isinstance(p, Bernoulli):
        return (entr(p.probability) + entr(1.0 - p.probability)).sum(axis=1)
    if isinstance(p, Categorical):
        return np.sum([entr(table).sum(axis=1) for table in p.probability], axis=0)
    if isinstance(p, Family):
        raise TypeError(f"The entropy of {type(p).__name__} has no closed form.")
    return float(entr(_probabilities("p", p)).sum())


def kl_divergence(p: Any, q: Any) -> Any:
    """Kullback-Leibler divergence KL(p, q), the expectation of log(p / q) under p, in nats.

    Parameters
    ----------
    p, q : arrays of the same shape, or families of the same kind
        Probabilities of the same outcomes, or K densities each. For multinomial rows it is the divergence of
        one draw.

    Returns
    -------
    divergence : float, or ndarray of shape (K,) for families
        Infinite where p is positive and q is zero.

    See Also
    --------
    f_divergence : Other divergences.
    scipy.special.rel_entr : Its terms.

    Examples
    --------
    >>> from suffice.information import kl_divergence
    >>> round(kl_divergence([0.5, 0.5], [0.25, 0.75]), 4)
    0.1438

    >>> from suffice.families import DiagonalGaussian
    >>> p = DiagonalGaussian([[0.0]], [[1.0]])
    >>> kl_divergence(p, DiagonalGaussian([[1.0]], [[4.0]])).round(4)
    array([0.4431])
    """
    if isinstance(p, Gaussian) and isinstance(q, Gaussian):
        return _gaussian(p, q)
    if isinstance(p, Family) or isinstance(q, Family):
        if type(p) is not type(q):
            raise TypeError(
                f"p and q must be families of the same kind; got {type(p).__name__} and {type(q).__name__}."
            )
        return _families(p, q)
    p, q = _probabilities("p", p), _probabilities("q", q)
    _must_match(p, q)
    return float(rel_entr(p, q).sum())


def _gaussian(p: Gaussian, q: Gaussian) -> np.ndarray:
    mean, other = np.asarray(p.mean, dtype=float), np.asarray(q.mean, dtype=float)
    _must_match(mean, other)
    out = np.empty(len(mean))
    for k, (C, S) in enumerate(zip(_matrices(p), _matrices(q), strict=True)):
        L, M = cholesky(C), cholesky(S)
        A, d = np.linalg.solve(M, L), np.linalg.solve(M, mean[k] - other[k])
        log_det = np.log(np.diag(M)).sum() - np.log(np.diag(L)).sum()
        out[k] = 0.5 * ((A**2).sum() + d @ d - len(d)) + log_det
    return out


def _matrices(p: Gaussian) -> np.ndarray:
    return p.replace(mean=np.asarray(p.mean), covariance=np.asarray(p.covariance)).covariances


def _families(p: Any, q: Any) -> np.ndarray:
    if isinstance(p, ProductFamily):
        return np.sum([kl_divergence(a, b) for a, b in zip(p.parts, q.parts, strict=True)], axis=0)
    if isinstance(p, Bernoulli):
        a, b = np.asarray(p.probability), np.asarray(q.probability)
        return (rel_entr(a, b) + rel_entr(1.0 - a, 1.0 - b)).sum(axis=1)
    if isinstance(p, Poisson):
        a, b = np.asarray(p.rate), np.asarray(q.rate)
        return (rel_entr(a, b) - a + b).sum(axis=1)
    if isinstance(p, Multinomial):
        return rel_entr(p.probability, q.probability).sum(axis=1)
    if isinstance(p, Categorical):
        for a, b in zip(p.values, q.values, strict=True):
            if not np.array_equal(a, b):
                raise ValueError(f"p and q have other categories in a column: {a.tolist()}, {b.tolist()}.")
        pairs = zip(p.probability, q.probability, strict=True)
        return np.sum([rel_entr(a, b).sum(axis=1) for a, b in pairs], axis=0)
    raise TypeError(
        f"The divergence of {type(p).__name__} has no closed form: average log densities of draws."
    )


# q f(p / q) of each outcome, also where q is zero.
F_DIVERGENCES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "kl": lambda p, q: rel_entr(p, q) - p + q,
    "reverse-kl": lambda p, q: rel_entr(q, p) - q + p,
    "pearson": lambda p, q: _over((p - q) ** 2, q),
    "neyman": lambda p, q: _over((p - q) ** 2, p),
    "hellinger": lambda p, q: (np.sqrt(p) - np.sqrt(q)) ** 2,
    "total-variation": lambda p, q: 0.5 * np.abs(p - q),
    "jensen-shannon": lambda p, q: 0.5 * (rel_entr(p, 0.5 * (p + q)) + rel_entr(q, 0.5 * (p + q))),
}


def f_divergence(p: Any, q: Any, kind: Any = "kl") -> float:
    """f-divergence of discrete distributions, the expectation of f(p / q) under q.

    Parameters
    ----------
    p, q : arrays of the same shape
        Probabilities of the same outcomes.
    kind : str or callable, default='kl'
        'kl', 'reverse-kl', 'pearson' (chi-squared), 'neyman', 'hellinger' (squared, without the factor 1/2),
        'total-variation', 'jensen-shannon'; or a convex function f of arrays with f(1) = 0.

    Returns
    -------
    divergence : float
        Non-negative, zero if p = q; infinite where only q is zero, for some kinds.

    See Also
    --------
    kl_divergence : Also of families.
    relative_pearson : Pearson's divergence of p from a mixture of p and q, which is bounded.

    Examples
    --------
    >>> from suffice.information import f_divergence
    >>> round(f_divergence([0.5, 0.3, 0.2], [0.1, 0.6, 0.3], "pearson"), 4)
    1.7833
    >>> round(f_divergence([0.5, 0.5], [0.9, 0.1], lambda t: (t - 1.0) ** 2), 4)
    1.7778
    """
    p, q = _probabilities("p", p), _probabilities("q", q)
    _must_match(p, q)
    if not callable(kind):
        if kind not in F_DIVERGENCES:
            raise ValueError(f"kind must be a function or one of {sorted(F_DIVERGENCES)}; got {kind!r}.")
        return float(F_DIVERGENCES[kind](p, q).sum())
    some = q > 0
    inside = (q[some] * kind(p[some] / q[some])).sum()
    outside = p[~some].sum()
    if outside == 0:
        return float(inside)
    slope = float(kind(np.array(1e150)) / 1e150)  # the limit of f(t) / t
    return float(inside + outside * (slope if slope < 1e100 else np.inf))


def _over(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b, with 0 / 0 = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(a > 0, a / b, 0.0)


def _probabilities(name: str, p: Any) -> np.ndarray:
    p = np.asarray(p, dtype=np.float64)
    if not (p >= 0).all() or abs(p.sum() - 1.0) > 1e-6:
        raise ValueError(
            f"{name} must be probabilities, which are not negative and sum to 1; got min "
            f"{p.min(initial=np.inf):.3g}, sum {p.sum():.6g}."
        )
    return p


def _must_match(p: np.ndarray, q: np.ndarray) -> None:
    if p.shape != q.shape:
        raise ValueError(f"p and q must have the same shape; got {p.shape} and {q.shape}.")
