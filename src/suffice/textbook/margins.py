"""Hyperplanes: distances of rows, margins, linear separability of two classes. Li ch. 2, 7.

The hyperplane is w x + b = 0. The second of the two sorted classes is the positive one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog, nnls
from sklearn.utils import check_array, check_X_y

from ..core.values import Value


def hyperplane_distance(X: Any, coef: Any, intercept: float = 0.0, *, signed: bool = False) -> np.ndarray:
    """Distances of rows from a hyperplane, ``abs(w x + b) / norm(w)``.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The rows.
    coef : array of shape (n_features,)
        Normal vector w of the hyperplane.
    intercept : float, default=0.0
        b.
    signed : bool, default=False
        Whether distances are signed: negative on the side opposite to w.

    Returns
    -------
    distance : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from suffice.textbook import hyperplane_distance
    >>> hyperplane_distance([[3.0, 4.0], [0.0, 0.0]], [3.0, 4.0], -5.0, signed=True)
    array([ 4., -1.])
    """
    X, w = _rows(X, coef)
    distance = (X.dot(w) + intercept) / _norm(w)
    return distance if signed else np.abs(distance)


def hyperplane_projection(X: Any, coef: Any, intercept: float = 0.0) -> np.ndarray:
    """Orthogonal projections of rows on a hyperplane.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The rows.
    coef : array of shape (n_features,)
        Normal vector w of the hyperplane.
    intercept : float, default=0.0
        b.

    Returns
    -------
    points : ndarray of shape (n_samples, n_features)

    Examples
    --------
    >>> from suffice.textbook import hyperplane_projection
    >>> hyperplane_projection([[3.0, 4.0]], [3.0, 4.0], -5.0)
    array([[0.6, 0.8]])
    """
    X, w = _rows(X, coef)
    return X - np.outer(hyperplane_distance(X, w, intercept, signed=True), w / _norm(w))


def margin(X: Any, y: ArrayLike, coef: Any, intercept: float = 0.0, *, kind: str = "geometric") -> np.ndarray:
    """Margin of each row with respect to a hyperplane: positive on the correct side, negative on the wrong
    one.

    The margin of a data set is the smallest of them. The empty band around the hyperplane is twice as wide.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        Labels of two classes.
    coef : array of shape (n_features,)
        w.
    intercept : float, default=0.0
        b.
    kind : {'geometric', 'functional'}, default='geometric'
        'geometric' is ``y (w x + b) / norm(w)``, in the units of the rows. 'functional' is ``y (w x + b)``,
        which grows with w.

    Returns
    -------
    margin : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from suffice.textbook import margin
    >>> X, y = [[3, 3], [4, 3], [1, 1]], [1, 1, -1]
    >>> margin(X, y, [0.5, 0.5], -2.0, kind="functional")
    array([1. , 1.5, 1. ])
    >>> margin(X, y, [0.5, 0.5], -2.0).min().round(4)
    np.float64(1.4142)
    """
    if kind not in ("geometric", "functional"):
        raise ValueError(f"kind={kind!r} is unknown: use 'geometric' or 'functional'.")
    X, w = _rows(X, coef)
    score = _signs(y, len(X)) * (X.dot(w) + intercept)
    return score / _norm(w) if kind == "geometric" else score


def is_linearly_separable(X: Any, y: ArrayLike, *, return_certificate: bool = False) -> Any:
    """Whether two classes are linearly separable, by a linear program.

    They are separable if and only if their convex hulls do not intersect.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        Labels of two classes. A single class is separable.
    return_certificate : bool, default=False
        Whether to also return a certificate.

    Returns
    -------
    separable : bool
    certificate : tuple or ndarray of shape (n_features,)
        If `return_certificate`: a separating hyperplane ``(coef, intercept)``, or a point in both convex
        hulls.

    Examples
    --------
    >>> from suffice.textbook import is_linearly_separable
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> is_linearly_separable(X, [0, 1, 1, 1])
    True
    >>> is_linearly_separable(X, [0, 1, 1, 0], return_certificate=True)
    (False, array([0.5, 0.5]))
    """
    X, y = check_X_y(X, y, dtype=np.float64)
    sign = _signs(y, len(X))
    # In units in which the program is well scaled; what is separable is so in any.
    middle = X.mean(axis=0)
    width = np.abs(X - middle).max(axis=0)
    width[width == 0] = 1.0
    Z = np.column_stack([(X - middle) / width, np.ones(len(X))]) * sign[:, None]
    solution = linprog(np.zeros(Z.shape[1]), A_ub=-Z, b_ub=-np.ones(len(Z)), bounds=(None, None))
    separable = solution.status == 0 and bool((Z.dot(solution.x) > 0).all())
    if not return_certificate:
        return separable
    if separable:
        coef = solution.x[:-1] / width
        return True, (coef, float(solution.x[-1] - coef.dot(middle)))
    # Shares of rows, one in all for either class, whose means are the same.
    first, second = sign < 0, sign > 0
    A = np.vstack([Z[:, :-1].T, first, second])
    shares = linprog(np.zeros(len(Z)), A_eq=A, b_eq=np.append(np.zeros(X.shape[1]), [1.0, 1.0])).x
    return False, None if shares is None else shares[second].dot(X[second])


@dataclass(frozen=True, eq=False)
class MistakeBound(Value):
    """Novikoff's bound on the mistakes of a perceptron, with the radius and the margin."""

    bound: float  # (radius / margin) ** 2
    radius: float  # the greatest norm of a row (x, 1)
    margin: float  # the least y (w x + b) / |(w, b)|
    coef: Annotated[np.ndarray, "(D,)"]  # w
    intercept: float  # b


def novikoff_bound(
    X: Any, y: ArrayLike, coef: Any = None, intercept: float = 0.0, *, fit_intercept: bool = True
) -> MistakeBound:
    """Novikoff's bound on the number of perceptron updates from zero until two classes are separated. Li
    theorem 2.1.

    Any separating hyperplane gives a bound. By default, the hyperplane of maximum margin is used, where the
    intercept is part of the norm.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        Labels of two classes.
    coef : array of shape (n_features,), optional
        w of a hyperplane.
    intercept : float, default=0.0
        b of this hyperplane.
    fit_intercept : bool, default=True
        Whether the perceptron learns an intercept.

    Returns
    -------
    bound : MistakeBound
        The `bound`, which is ``(radius / margin) ** 2``, with the `radius`, the `margin` and the hyperplane,
        `coef` and `intercept`. Infinite if the hyperplane does not separate the classes, or if none does.

    Notes
    -----
    The maximum margin is a least distance problem, solved by non-negative least squares: Lawson and Hanson,
    *Solving Least Squares Problems*, 1974, ch. 23.

    Examples
    --------
    >>> from suffice.textbook import novikoff_bound
    >>> X, y = [[3, 3], [4, 3], [1, 1]], [1, 1, -1]
    >>> round(novikoff_bound(X, y).bound, 9)
    117.0
    >>> round(novikoff_bound(X, y, [1, 1], -3).bound, 9)
    286.0
    """
    X, y = check_X_y(X, y, dtype=np.float64)
    ones = np.full((len(X), 1), float(fit_intercept))
    Z = _signs(y, len(X))[:, None] * np.hstack([X, ones])
    radius = float(np.linalg.norm(Z, axis=1).max())
    if coef is not None:
        _, w = _rows(X, coef)
        theta = np.append(w, float(intercept))
    else:
        theta = _least_distance(Z / radius)
    least = float(Z.dot(theta).min() / _norm(theta)) if theta.any() else 0.0
    bound = (radius / least) ** 2 if least > 0 else np.inf
    return MistakeBound(bound, radius, least, theta[:-1], float(theta[-1]))


def _least_distance(Z: np.ndarray) -> np.ndarray:
    """The minimum norm w with Z w >= 1, or zero if there is none."""
    E = np.vstack([Z.T, np.ones(len(Z))])
    goal = np.append(np.zeros(Z.shape[1]), 1.0)
    shares, distance = nnls(E, goal)
    rest = E.dot(shares) - goal
    return -rest[:-1] / rest[-1] if distance > 1e-12 else np.zeros(Z.shape[1])


def _rows(X: Any, coef: Any) -> tuple[np.ndarray, np.ndarray]:
    X, w = check_array(X, dtype=np.float64), np.ravel(np.asarray(coef, dtype=np.float64))
    if len(w) != X.shape[1]:
        raise ValueError(
            f"coef has {len(w)} entries, expected {X.shape[1]}: one for each feature of the rows."
        )
    return X, w


def _norm(w: np.ndarray) -> float:
    norm = float(np.linalg.norm(w))
    if norm == 0.0:
        raise ValueError("coef is zero, expected a non-zero normal vector.")
    return norm


def _signs(y: ArrayLike, n: int) -> np.ndarray:
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(classes) > 2 or len(codes) != n:
        raise ValueError(
            f"y has {len(codes)} labels of {len(classes)} classes, expected {n} of two: for several classes, "
            "take each against the rest, e.g. y == c."
        )
    if len(classes) == 1:
        positive = not np.issubdtype(classes.dtype, np.number) or classes[0] > 0
        return np.full(n, 1.0 if positive else -1.0)
    return np.where(codes == 1, 1.0, -1.0)
