"""Smoothing splines: the curve with the least penalized sum of squares.

Reinsch, "Smoothing by spline functions", 1967; Kohn and Ansley, "A new algorithm for spline smoothing based
on smoothing a stochastic process", 1987; Green and Silverman, "Nonparametric regression and generalized
linear models", 1994, ch. 2 and 3; STATS601 4.4.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

from ..core.arguments import MaybeArray
from ..core.blocks import Rows
from ..core.cost import afford
from ..core.loop import Progress
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.statistics import Statistics
from ..estimator.answers import row_wise
from ..estimator.base import OnePass
from ..estimator.guarantees import Exempt
from ..estimator.parameters import AT_LEAST_2, INF, NON_NEGATIVE, POSITIVE
from ..estimator.scores import Regressor
from ..fitting.smoothing import Smoothing, with_freedom
from ..fitting.splines import NaturalSplines
from ..inputs import read_rows
from ..statistics import Moments, moments
from ..statistics.quantiles import Sample, sample


@dataclass(frozen=True, eq=False)
class Ties(Statistics):
    """The sorted distinct values of x, with the weight and the mean of the targets at each."""

    knots: Annotated[np.ndarray, "(K,)"]
    weight: Annotated[np.ndarray, "(K,)"]
    mean: Annotated[np.ndarray, "(K,)"]
    within: float  # the squares of targets about the mean at their place

    def __add__(self, other: Self) -> Self:
        knots = np.union1d(self.knots, other.knots)
        afford(4.0 * len(knots), f"the knots at {len(knots)} places of x", "use n_knots=100, say.")
        (w, m), (v, n) = (_spread(knots, s) for s in (self, other))
        weight = w + v
        delta = n - m
        share = v / np.where(weight > 0, weight, 1.0)
        within = self.within + other.within + float((w * share).dot(delta**2))
        return self.replace(knots=knots, weight=weight, mean=m + share * delta, within=within)

    def __mul__(self, factor: float) -> Self:
        return self.replace(weight=self.weight * factor, within=self.within * factor)

    __rmul__ = __mul__


def _spread(knots: np.ndarray, s: Ties) -> tuple[np.ndarray, np.ndarray]:
    """Weights and means at these knots, zero where there were none."""
    out = np.zeros((2, len(knots)))
    out[:, np.searchsorted(knots, s.knots)] = s.weight, s.mean
    return out[0], out[1]


def ties(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Ties:
    """The targets of rows, grouped by the value of x."""
    knots, place = np.unique(x, return_inverse=True)
    total = np.bincount(place, weight, minlength=len(knots))
    mean = np.bincount(place, weight * y, minlength=len(knots)) / np.where(total > 0, total, 1.0)
    return Ties(knots, total, mean, float(weight.dot((y - mean[place]) ** 2)))


@dataclass(frozen=True, eq=False)
class Spline(Model):
    """f with min sum weight (y - f(x))^2 + alpha times the integral of f''^2: a natural cubic spline."""

    curve: Annotated[NaturalSplines, "D, p = 1"]
    alpha: Any = None  # None: by `freedom`, or by cross-validation
    freedom: Any = None  # effective degrees of freedom, with the constant
    basis: Annotated[NaturalSplines | None, "D"] = None  # its knots, if they are not all places of x
    loss: float = 0.0  # squares of the residuals
    weight: float = 0.0

    def predict(self, X: np.ndarray, derivative: int = 0) -> np.ndarray:
        return self.curve(X, derivative)[:, 0]

    def summarize(self, block: Rows) -> Any:
        y = block.y.astype(np.float64)
        if self.basis is None:
            return ties(block.X[:, 0], y, block.weight)
        return moments(np.hstack([self.basis(block.X), y[:, None]]), block.weight)

    def estimate(self, s: Any) -> Self:
        return self._exact(s) if self.basis is None else self._from_moments(s)

    def _exact(self, s: Ties) -> Self:
        """A knot at each distinct value of x."""
        points = Points.of(s)
        alpha = points.choose(self.alpha, self.freedom)
        value, slope, freedom, loss = points.solve(alpha)
        return self.replace(
            curve=NaturalSplines.through(s.knots, value, slope / points.scale),
            alpha=alpha * cube(points.scale),
            freedom=freedom,
            loss=loss,
            weight=float(s.weight.sum()),
        )

    def _from_moments(self, s: Moments) -> Self:
        """Ridge regression on natural splines. The penalty is on the second derivative."""
        assert self.basis is not None
        p, scale = len(self.basis), float(self.basis.scale[0])
        A, b, square = s.scatter[:p, :p], s.scatter[:p, p], float(s.scatter[p, p])
        problem = Smoothing(A, b, square, float(s.weight), self.basis.feature, self.basis.penalized)
        if self.alpha is not None:
            alpha = np.array([alpha_in(self.alpha, scale)])
        elif self.freedom is not None:
            alpha = problem.with_freedom(self.freedom)
        else:
            alpha = problem.choose("gcv")
        fit = problem.solve(alpha)
        return self.replace(
            curve=self.basis.combined(fit.coef, s.mean[p] - s.mean[:p].dot(fit.coef)),
            alpha=float(alpha[0] * cube(scale)),
            freedom=1.0 + float(fit.freedom.sum()),
            loss=fit.squares,
            weight=float(s.weight),
        )


def cube(scale: float) -> float:
    """Factor of a penalty where x was in units of `scale`; infinite on overflow."""
    return float(np.prod(np.full(3, scale)))


def alpha_in(alpha: float, scale: float) -> float:
    """A penalty where x is in units of `scale`."""
    return float(alpha) / scale / scale / scale


@dataclass(frozen=True)
class Points:
    """The exact spline: targets at distinct values of x, scaled to the range from 0 to 1."""

    s: Ties
    scale: float
    x: np.ndarray  # (K,), from 0 to 1

    @classmethod
    def of(cls, s: Ties) -> Points:
        scale = float(s.knots[-1] - s.knots[0]) or 1.0
        return cls(s, scale, (s.knots - s.knots[0]) / scale)

    def solve(self, alpha: float) -> tuple[np.ndarray, np.ndarray, float, float]:
        """Values and slopes at the knots, effective degrees of freedom, residual sum of squares."""
        from ..loops.splines import smooth

        s, x = self.s, self.x
        if len(x) < 3 or np.isinf(alpha):
            return self._line()
        if alpha == 0:
            return s.mean, CubicSpline(x, s.mean, bc_type="natural")(x, 1), float(len(x)), s.within
        # In units of their total, weights of any size leave the sums in range.
        total = s.weight.sum()
        value, slope, leverage = smooth(np.diff(x), s.weight / total, s.mean, alpha / total)
        return value, slope, float(leverage.sum()), s.within + float(s.weight.dot((s.mean - value) ** 2))

    def _line(self) -> tuple[np.ndarray, np.ndarray, float, float]:
        s = self.s
        center, level = (np.average(v, weights=s.weight) for v in (self.x, s.mean))
        x, y = self.x - center, s.mean - level
        slope = s.weight.dot(x * y) / (s.weight.dot(x**2) or 1.0)
        loss = s.within + float(s.weight.dot((y - slope * x) ** 2))
        return level + slope * x, np.full(len(x), slope), float(min(2, len(x))), loss

    def choose(self, alpha: Any, freedom: Any) -> float:
        """The penalty in these units: `alpha`, the one with `df` degrees of freedom, or the best by GCV."""
        if alpha is not None:
            return alpha_in(alpha, self.scale)
        if len(self.x) < 3:
            return np.inf
        total = np.log(self.s.weight.sum())
        low, high = total - 4.0 * np.log(len(self.x)) - 10.0, total + 10.0
        if freedom is not None:
            return with_freedom(lambda x: self.solve(float(np.exp(x)))[2], float(freedom), low, high)
        grid = np.linspace(low, high, 50)
        best = int(np.argmin([self.score(x) for x in grid]))
        a, b = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]

        def tilt(x: float) -> float:  # where it is zero is found to more digits than where the score is least
            return self.score(x + 1e-3) - self.score(x - 1e-3)

        if tilt(a) < 0.0 < tilt(b):
            return float(np.exp(brentq(tilt, a, b, xtol=1e-12, rtol=1e-14)))
        return float(np.exp(grid[best]))

    def score(self, log_alpha: float) -> float:
        """The log of the score of generalized cross-validation."""
        s, total = self.s, float(self.s.weight.sum())
        _, _, freedom, loss = self.solve(float(np.exp(log_alpha)))
        about = s.within + float(s.weight.dot((s.mean - np.average(s.mean, weights=s.weight)) ** 2))
        rest = max(total - freedom, 1e-9 * total)
        return float(np.log(max(loss, 1e-28 * about, 1e-300)) - 2.0 * np.log(rest))


class SmoothingSpline(Regressor, OnePass):
    """Smoothing spline: the natural cubic spline with the least penalized sum of squares.

    It minimizes ``sum(weight * (y - f(x))**2) + alpha * integral(f''**2)`` over all curves. The exact
    solution has a knot at each distinct x, and takes time linear in their number. With `n_knots` it is ridge
    regression on natural splines with fewer knots: the data is read twice, once for the knots and once for
    the moments, and memory does not grow with the number of rows.

    Beyond the first and the last knot the curve is a straight line.

    Parameters
    ----------
    alpha : float, default=None
        Strength of the penalty: 0 interpolates all points, ``np.inf`` gives the straight line. If None, it is
        chosen by `df` or by generalized cross-validation (GCV).
    df : float, default=None
        Effective degrees of freedom: the trace of the smoother matrix. 2 is a straight line.
    n_knots : int, default=None
        Number of knots, at quantiles of x. If None, a knot at each distinct x.

    Attributes
    ----------
    alpha_ : float
        Strength of the penalty.
    df_ : float
        Effective degrees of freedom.
    gcv_ : float
        The GCV score. A row of weight 2 counts as two rows. Infinite if the spline interpolates all targets.
    model_ : Spline
        The fitted model.
    statistics_ : Ties or Moments
        The targets at each distinct x, or the moments of the splines and the target.

    See Also
    --------
    AdditiveModel : Several features.
    suffice.preprocessing.BasisFunctions : Splines as features of a linear model.

    Notes
    -----
    The curve minimizes

    .. math::

        ∑_n w_n (y_n - f(x_n))^2 + α ∫ f''(t)^2 dt.

    References
    ----------
    * Reinsch (1967), "Smoothing by spline functions", Numerische Mathematik 10.
    * Green and Silverman (1994), Nonparametric Regression and Generalized Linear Models, Chapman and Hall,
      chapters 2 and 3.

    Examples
    --------
    >>> from suffice.additive import SmoothingSpline
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [1.0, 3.0, 2.0, 5.0, 4.0]
    >>> spline = SmoothingSpline(alpha=1.0).fit(X, y)
    >>> spline.predict([[1.5], [6.0]]).round(4)
    array([2.6829, 5.3964])
    >>> round(spline.df_, 4)
    2.6752
    """

    exempt = (Exempt("memory", "Each different value has a knot.", lambda e: e.n_knots is None),)

    model_: Annotated[Spline, "D"]
    takes: ClassVar[str] = "curve"  # rows of one feature
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [NON_NEGATIVE, INF, None],
        "df": [POSITIVE, None],
        "n_knots": [AT_LEAST_2, None],
    }

    def __init__(self, alpha: Any = None, *, df: float | None = None, n_knots: int | None = None) -> None:
        self.alpha = alpha
        self.df = df
        self.n_knots = n_knots

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = True, False
        tags.target_tags.required = True
        return tags

    def _start(self, data: Partitions, classes: MaybeArray = None) -> Spline:
        if self.n_features_in_ != 1:
            raise ValueError(
                f"SmoothingSpline takes one feature, and X has {self.n_features_in_} features: pass one, "
                "e.g. X[:, [0]]; for several, suffice.additive.AdditiveModel."
            )
        if self.alpha is not None and self.df is not None:
            raise ValueError("alpha and df both set the smoothness: pass one of them.")
        none = NaturalSplines.through(np.zeros(1), np.zeros(1), np.zeros(1))
        basis = None
        if self.n_knots is not None:
            seen: Sample = data.fold(_sampled)
            basis = NaturalSplines.at([seen.knots(0, self.n_knots)])
        return Spline(none, self.alpha, self.df, basis)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model = progress.model
        rest = model.weight - model.freedom
        gcv = model.weight * model.loss / rest**2 if rest > 1e-9 * model.weight else np.inf
        return {"alpha_": model.alpha, "df_": model.freedom, "gcv_": gcv}

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the value of the curve at each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return self.model_.predict(X)

    def derivative(self, X: Any, order: int = 1) -> np.ndarray:
        """The first or the second derivative of the curve at each row.

        Parameters
        ----------
        X : array of shape (n_samples, 1)
            The rows.
        order : int, default=1
            1 or 2.
        """
        if order not in (1, 2):
            raise ValueError(f"order must be 1 or 2; got {order}.")
        X = read_rows(self, X)
        return self.model_.predict(X, order)


def _sampled(block: Rows) -> Sample:
    return sample(block.X)
