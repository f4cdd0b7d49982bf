"""Rotations of factor loadings, and rules that identify them.

Kaiser, "The varimax criterion for analytic rotation in factor analysis", 1958; Hendrickson and White,
"Promax: a quick method for rotation to oblique simple structure", 1964; Liu, Wallin, Chen and Moustaki,
"Rotation to sparse loadings using L^p losses and related inference problems", 2023.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any

import numpy as np
from scipy.linalg import orthogonal_procrustes

from ..core.values import Value

SWEEPS = 1000  # maximum number of sweeps over all pairs of factors, or of a target with free entries


@dataclass(frozen=True, eq=False)
class RotatedLoadings(Value):
    """Loadings after a rotation. The loadings before it are `loadings @ transformation`.

    The factors after it are `transformation` times those before, and the implied covariance
    ``loadings @ factor_covariance @ loadings.T`` stays the same.
    """

    loadings: Annotated[np.ndarray, "(D, K)"]  # the pattern
    transformation: Annotated[np.ndarray, "(K, K)"]
    factor_covariance: Annotated[np.ndarray, "(K, K)"]  # 1 on the diagonal after a rotation

    @property
    def structure(self) -> np.ndarray:
        """Covariances of features with factors, (D, K)."""
        return self.loadings @ self.factor_covariance


def rotate_loadings(
    loadings: Any,
    criterion: str = "varimax",
    *,
    normalize: bool = False,
    power: float = 4.0,
    target: Any = None,
) -> RotatedLoadings:
    """Rotate loadings towards a simple structure.

    Parameters
    ----------
    loadings : array of shape (n_features, n_components)
        Loadings of uncorrelated factors, e.g. `components_.T` of `FactorAnalysis` or of `PCA`.
    criterion : {'varimax', 'quartimax', 'promax', 'l1', 'target'}, default='varimax'
        'varimax' maximizes the variances of the squared loadings of each factor, 'quartimax' the sum of their
        fourth powers, and 'l1' minimizes the sum of their magnitudes: factors stay uncorrelated. 'promax'
        fits powers of the varimax loadings by correlated factors. 'target' is the orthogonal rotation nearest
        to `target`.
    normalize : bool, default=False
        Whether features are scaled to equal communalities while they are rotated (Kaiser).
    power : float, default=4.0
        The power of 'promax'.
    target : array of shape (n_features, n_components), default=None
        The target of 'target'. Entries that are NaN are free.

    Returns
    -------
    RotatedLoadings
        With `loadings`, `transformation`, `factor_covariance` and `structure`.

    See Also
    --------
    identify_loadings : Loadings that a rule determines, instead of a criterion.
    FactorAnalysis : The model, with a parameter `rotation`.

    Notes
    -----
    The planes of two factors are rotated in turn, each to its best angle. Both are local optima: 'l1' has
    many.

    References
    ----------
    * Kaiser (1958), "The varimax criterion for analytic rotation in factor analysis", Psychometrika 23.
    * Hendrickson and White (1964), "Promax: a quick method for rotation to oblique simple structure", British
      Journal of Statistical Psychology 17.
    * Liu, Wallin, Chen and Moustaki (2023), "Rotation to sparse loadings using L^p losses and related
      inference problems", Psychometrika 88.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.decomposition import rotate_loadings
    >>> simple = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    >>> abs(rotate_loadings(simple @ turn).loadings.round(6))
    array([[0., 1.],
           [0., 1.],
           [1., 0.],
           [1., 0.]])
    """
    L = _checked(loadings, "loadings")
    if criterion not in CRITERIA:
        raise ValueError(f"criterion must be one of {sorted(CRITERIA)}; got {criterion!r}.")
    if criterion == "target":
        if target is None:
            raise ValueError("criterion='target' needs target=, an array of the shape of the loadings.")
        goal = _checked(target, "target")
        if goal.shape != L.shape:
            raise ValueError(f"target has shape {goal.shape}, expected that of the loadings, {L.shape}.")
    size = np.sqrt((L**2).sum(axis=1, keepdims=True)) if normalize else np.ones((len(L), 1))
    unit = L / np.where(size > 0, size, 1.0)
    unit /= np.abs(unit).max(initial=0.0) or 1.0  # so that fourth powers are finite
    if criterion == "target":
        return _orthogonal(L, _towards(L / np.where(size > 0, size, 1.0), goal))
    if criterion == "promax":
        return _promax(L, unit, power)
    return _orthogonal(L, _by_planes(unit, CRITERIA[criterion]))


def identify_loadings(
    loadings: Any, factor_covariance: Any = None, *, rule: str = "lower-triangular"
) -> RotatedLoadings:
    """Loadings that a rule determines, of all that imply the same covariance.

    Parameters
    ----------
    loadings : array of shape (n_features, n_components)
        The loadings.
    factor_covariance : array of shape (n_components, n_components), default=None
        Covariance of the factors. If None, they are uncorrelated with variance 1.
    rule : {'lower-triangular', 'identity'}, default='lower-triangular'
        'lower-triangular': factors are uncorrelated, and the loadings of the first features are a triangle
        with a positive diagonal. 'identity': they are the identity, and the covariance of the factors is
        free.

    Returns
    -------
    RotatedLoadings
        With `loadings`, `transformation`, `factor_covariance` and `structure`.

    See Also
    --------
    rotate_loadings : Loadings of a simple structure.

    Notes
    -----
    The rules depend on the order of the features: the loadings of the first `n_components` features must be
    linearly independent.

    References
    ----------
    * Anderson and Rubin (1956), "Statistical inference in factor analysis", Third Berkeley Symposium 5.

    Examples
    --------
    >>> from suffice.decomposition import identify_loadings
    >>> found = identify_loadings([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]])
    >>> found.loadings.round(6) + 0.0
    array([[1. , 0. ],
           [0. , 1. ],
           [0.6, 0.8]])
    """
    L = _checked(loadings, "loadings")
    D, K = L.shape
    phi = np.eye(K) if factor_covariance is None else np.array(factor_covariance, dtype=np.float64)
    if phi.shape != (K, K):
        raise ValueError(f"factor_covariance has shape {phi.shape}, expected {(K, K)}.")
    if rule not in ("lower-triangular", "identity"):
        raise ValueError(f"rule must be 'lower-triangular' or 'identity'; got {rule!r}.")
    singular = np.linalg.svd(L[:K], compute_uv=False) if D >= K else np.zeros(1)
    if K and singular[-1] <= 1e-12 * max(singular[0], np.abs(L).max()):
        raise ValueError(
            f"The loadings of the first {K} features are linearly dependent: put features first that have "
            "loadings on different factors."
        )
    if rule == "identity":
        A = L[:K].copy()
        return RotatedLoadings(np.linalg.solve(A.T, L.T).T, A, A @ phi @ A.T)
    root = np.linalg.cholesky(phi)  # L root has uncorrelated factors
    Q, R = np.linalg.qr((L @ root)[:K].T)
    sign = np.where(np.diag(R) < 0, -1.0, 1.0)
    turn = (Q * sign).T
    out = L @ root @ turn.T
    out[:K][np.triu_indices(K, 1)] = 0.0
    return RotatedLoadings(out, turn @ np.linalg.inv(root), np.eye(K))


def _checked(values: Any, name: str) -> np.ndarray:
    L = np.array(values, dtype=np.float64)
    if L.ndim != 2:
        raise ValueError(f"{name} must have shape (n_features, n_components); got {L.shape}.")
    if np.isinf(L).any() or (name == "loadings" and np.isnan(L).any()):
        raise ValueError(f"{name} must be finite numbers.")
    return L


def _orthogonal(L: np.ndarray, turn: np.ndarray) -> RotatedLoadings:
    return RotatedLoadings(L @ turn, turn.T, np.eye(len(turn)))


def _by_planes(L: np.ndarray, best: Callable[[np.ndarray, np.ndarray], float]) -> np.ndarray:
    """The orthogonal matrix to which turns of each plane of two factors, to their best angles, converge."""
    L, turn = L.copy(), np.eye(L.shape[1])
    for _ in range(SWEEPS):
        largest = 0.0
        for p, q in combinations(range(L.shape[1]), 2):
            angle = best(L[:, p], L[:, q])
            if angle:
                plane = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
                L[:, [p, q]] = L[:, [p, q]] @ plane
                turn[:, [p, q]] = turn[:, [p, q]] @ plane
                largest = max(largest, abs(angle))
        if largest < 1e-10:
            break
    return turn


def _orthomax(a: np.ndarray, b: np.ndarray, gamma: float) -> float:
    """The angle with the largest sum of fourth powers less gamma / D times squared sums of squares."""
    u, v = a**2 - b**2, 2.0 * a * b
    y = 2.0 * (u @ v) - gamma * 2.0 * u.sum() * v.sum() / len(a)
    x = u @ u - v @ v - gamma * (u.sum() ** 2 - v.sum() ** 2) / len(a)
    if np.hypot(x, y) <= 1e-14 * (u @ u + v @ v):
        return 0.0
    return float(np.arctan2(y, x) / 4.0)


def _least_magnitude(a: np.ndarray, b: np.ndarray) -> float:
    """The angle with the least sum of magnitudes. Between angles at which a loading is zero, the sum is
    concave, so that it is least at one of them."""
    size = np.hypot(a, b)
    seen = size > 1e-12 * size.max(initial=0.0)
    if not seen.any():
        return 0.0
    zeros = np.arctan2(b[seen], a[seen]) % (np.pi / 2.0)
    angles = np.append(0.0, np.where(zeros > np.pi / 4.0, zeros - np.pi / 2.0, zeros))
    c, s = np.cos(angles)[:, None], np.sin(angles)[:, None]
    total = (np.abs(a * c + b * s) + np.abs(b * c - a * s)).sum(axis=1)
    n = int(total.argmin())
    return float(angles[n]) if total[n] < total[0] * (1.0 - 1e-12) else 0.0


CRITERIA: dict[str, Any] = {
    "varimax": lambda a, b: _orthomax(a, b, 1.0),
    "quartimax": lambda a, b: _orthomax(a, b, 0.0),
    "l1": _least_magnitude,
    "promax": None,
    "target": None,
}


def _towards(L: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The orthogonal matrix that turns L nearest to the target. Free entries follow."""
    free, turn = np.isnan(target), np.eye(L.shape[1])
    for _ in range(SWEEPS if free.any() else 1):
        before = turn
        turn = orthogonal_procrustes(L, np.where(free, L @ turn, target))[0]
        if np.abs(turn - before).max(initial=0.0) < 1e-12:
            break
    return turn


def _promax(L: np.ndarray, unit: np.ndarray, power: float) -> RotatedLoadings:
    """Least squares fit to powers of the varimax loadings, scaled to factors of variance 1."""
    turn = _by_planes(unit, CRITERIA["varimax"])
    simple = unit @ turn
    goal = simple * np.abs(simple) ** (power - 1.0)
    U = np.linalg.lstsq(simple, goal, rcond=None)[0]
    if np.linalg.matrix_rank(U) < len(U):  # a factor without loadings
        return _orthogonal(L, turn)
    U = turn @ U
    U = U * np.sqrt(np.diag(np.linalg.inv(U.T @ U)))
    T = np.linalg.inv(U)
    return RotatedLoadings(L @ U, T, T @ T.T)
