"""Natural cubic splines of several features: a linear function for each, and nonlinear ones.

The second derivatives of the nonlinear functions are orthonormal: their squares integrate to one and products
of two to zero. So the penalty of a smooth is the sum of its squared coefficients. Green and Silverman,
"Nonparametric regression and generalized linear models", 1994, ch. 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ..core.shapes import must, must_rise
from ..core.values import Value


@dataclass(frozen=True, eq=False)
class NaturalSplines(Value):
    """Spline functions of D features. Those of a feature are x itself, and then the nonlinear functions."""

    knots: Annotated[np.ndarray, "(T,)"]  # of all features, concatenated
    first: Annotated[np.ndarray, "int (D + 1,)"]  # offsets of the knots of each feature
    scale: Annotated[np.ndarray, "(D,)"]  # distance of the first knot from the last
    pieces: Annotated[np.ndarray, "(Q,)"]  # the coefficients of the cubics, as the loop reads them
    place: Annotated[np.ndarray, "int (D + 1,)"]  # offsets of the pieces of each feature
    columns: Annotated[np.ndarray, "int (D + 1,)"]  # offsets of the functions of each feature

    def check_loaded(self, sizes: dict[str, int]) -> None:
        sizes["p"] = int(self.columns[-1])
        must_rise(self.first, sizes["T"], "Where the knots of each feature begin")
        must_rise(self.place, sizes["Q"], "Where the pieces of each feature begin")
        must(self.columns.dtype.kind == "i", "`columns` are not signed integers, which slices need.")
        must_rise(self.columns, sizes["p"], "Where the functions of each feature begin")
        knots, functions = np.diff(self.first), np.diff(self.columns)
        must((knots > 0).all() and (functions > 0).all(), "A feature has no knots, or no functions.")
        must((np.diff(self.place) == 4 * (knots + 1) * functions).all(), "Pieces are not those of the knots.")

    @classmethod
    def at(cls, knots: Sequence[np.ndarray], nonlinear: Any = None) -> Self:
        """Return the splines with these sorted knots of each feature. Linear features have only x."""
        nonlinear = np.ones(len(knots), bool) if nonlinear is None else nonlinear
        scale = np.array([k[-1] - k[0] if k[-1] > k[0] else 1.0 for k in knots])
        parts = [_pieces((k - k[0]) / s, b) for k, s, b in zip(knots, scale, nonlinear, strict=True)]
        return cls(
            np.concatenate(knots),
            _starts([len(k) for k in knots]),
            scale,
            np.concatenate([part.ravel() for part in parts]),
            _starts([part.size for part in parts]),
            _starts([part.shape[2] for part in parts]),
        )

    @classmethod
    def through(cls, knots: np.ndarray, value: np.ndarray, slope: np.ndarray) -> Self:
        """Return the spline of one feature with these values and slopes at its knots."""
        scale = float(knots[-1] - knots[0]) or 1.0
        h = np.diff(knots) / scale
        slope = slope * scale
        chord = np.diff(value) / h
        pieces = np.zeros((len(knots) + 1, 4))
        pieces[0, :2], pieces[1:, 0], pieces[1:, 1] = (value[0], slope[0]), value, slope
        pieces[1:-1, 2] = (3.0 * chord - 2.0 * slope[:-1] - slope[1:]) / h
        pieces[1:-1, 3] = (slope[:-1] + slope[1:] - 2.0 * chord) / h**2
        first, place, columns = (_starts([n]) for n in (len(knots), pieces.size, 1))
        return cls(knots, first, np.array([scale]), pieces.ravel(), place, columns)

    def combined(self, coef: np.ndarray, constant: float = 0.0) -> Self:
        """Return the linear combination of the functions of one feature, as a single function."""
        pieces = self.pieces.reshape(-1, 4, len(self)) @ coef
        pieces[:, 0] += constant
        return self.replace(pieces=pieces.ravel(), place=_starts([pieces.size]), columns=_starts([1]))

    def __len__(self) -> int:
        """Number of functions."""
        return int(self.columns[-1])

    def __call__(self, X: np.ndarray, derivative: int = 0, out: Any = None) -> np.ndarray:
        """Return the functions, or a derivative, at each row, (N, p). `out` may have further columns."""
        from ..loops.splines import design

        out = np.empty((len(X), len(self))) if out is None else out
        first, place, columns = (
            np.ascontiguousarray(a, np.int64) for a in (self.first, self.place, self.columns)
        )
        X, knots, scale, pieces = (
            np.ascontiguousarray(a, np.float64) for a in (X, self.knots, self.scale, self.pieces)
        )
        design(X, knots, first, scale, pieces, place, columns, derivative, out)
        if derivative:
            out /= np.repeat(self.scale, np.diff(self.columns)) ** derivative
        return out

    @property
    def feature(self) -> np.ndarray:
        """The feature of each function, (p,)."""
        return np.repeat(np.arange(len(self.scale)), np.diff(self.columns))

    @property
    def penalized(self) -> np.ndarray:
        """Mask of the nonlinear functions, (p,)."""
        out = np.ones(len(self), bool)
        out[self.columns[:-1]] = False
        return out


def _starts(lengths: Any) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _pieces(u: np.ndarray, nonlinear: bool) -> np.ndarray:
    """Return the coefficients (K + 1, 4, q) of the cubics before, between and after knots from 0 to 1."""
    value, curve = u[:, None], np.zeros((len(u), 1))
    if nonlinear and len(u) > 2:
        bent, curvature = natural_basis(u)
        value, curve = np.hstack([value, bent]), np.hstack([curve, curvature])
    out = np.zeros((len(u) + 1, 4, value.shape[1]))
    out[0, 0], out[1:, 0] = value[0], value
    if len(u) == 1:
        out[:, 1] = 1.0
        return out
    h = np.diff(u)[:, None]
    slope = np.diff(value, axis=0) / h
    out[1:-1, 1] = slope - h * (2.0 * curve[:-1] + curve[1:]) / 6.0
    out[1:-1, 2] = curve[:-1] / 2.0
    out[1:-1, 3] = np.diff(curve, axis=0) / (6.0 * h)
    out[0, 1] = out[1, 1]
    out[-1, 1] = slope[-1] + h[-1] * (curve[-2] + 2.0 * curve[-1]) / 6.0
    return out


def natural_basis(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values and second derivatives at the knots of K - 2 natural splines that are zero at both ends.

    If gamma are the second derivatives at the inner knots, R gamma = Q' f, and the integral of f''^2 is
    gamma' R gamma. With R = L L', the coefficients theta = L' gamma have the penalty theta' theta.
    """
    h, K = np.diff(u), len(u)
    R = np.diag((h[:-1] + h[1:]) / 3.0) + np.diag(h[1:-1] / 6.0, 1) + np.diag(h[1:-1] / 6.0, -1)
    Q = np.diag(-1.0 / h[:-1] - 1.0 / h[1:]) + np.diag(1.0 / h[1:-1], 1) + np.diag(1.0 / h[1:-1], -1)
    # R is scaled to unit diagonal before it is factored, since distances of knots may differ in magnitude.
    size = np.sqrt(np.diag(R))
    L = size[:, None] * cholesky(R / np.outer(size, size), lower=True)
    value, curve = np.zeros((K, K - 2)), np.zeros((K, K - 2))
    curve[1:-1] = solve_triangular(L, np.eye(K - 2), lower=True, trans="T")
    value[1:-1] = np.linalg.solve(Q, L)
    return value, curve
