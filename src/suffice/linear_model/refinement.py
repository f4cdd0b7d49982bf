"""Iterative refinement of least squares: if moments lose too many digits, the data is read again.

Moments hold squares. If features are nearly collinear or far from the origin, that costs half of the digits,
or all of them. An estimate of the error, from the condition of the moments, says what follows:

* nothing, if each coefficient has eleven digits, and there are more rows than fifty;
* passes that sum residuals in double-double precision to correct the coefficients, usually one or two;
* before these, if the moments are nearly singular, one pass of QR factorizations (TSQR).

Björck, "Iterative refinement of linear least squares solutions", 1967; Demmel, Hida, Riedy and Li,
"Extra-precise iterative refinement for overdetermined least squares problems", 2009.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..core.arguments import MaybeArray
from ..core.cost import afford
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..estimator.base import OnePass, must_have_rows
from ..estimator.guarantees import Guarantee
from ..loops.double_double import plus, times, total, twofold
from ..statistics import Factor, Moments
from .normal_equations import EPS, Solution
from .wide import FEW_FEATURES, solve_wide

ENOUGH = 1e-11  # relative error of a coefficient below which no further pass is made: eleven digits
# Relative error of the solution up to which residuals correct it in few passes; beyond, TSQR comes first.
MOST = 1e-4
FEW = 50.0  # weight of rows up to which the rows are always read again: it takes a millisecond
SMALL = 1e-3  # the error of a smaller coefficient is relative to this part of the largest
PASSES = 10  # maximum number of corrections: each must at least halve the previous one


@dataclass(frozen=True, eq=False)
class Solved(Progress):
    """A least squares fit."""

    spectrum: Any = None  # the sums by which it was solved: moments, a QR factor, or a Gram matrix


class Refined(OnePass):
    """Least squares estimators whose `fit` reads the data again if moments lose too many digits.

    Wide data are fitted without moments of all pairs of features: see `wide`.
    """

    positive: bool
    _line: Callable[..., Any]  # the model whose sums are refined
    _guarantee = Guarantee.always()  # whatever the solver is called

    def _start(self, data: Partitions, classes: MaybeArray = None) -> Any:
        D = self.n_features_in_
        afford(D**2, f"the moments of {D} features", "use fewer, or an iterative method.")
        return self._line(data, classes)

    def _solve(self, data: Partitions, classes: MaybeArray = None) -> Progress:
        if self.n_features_in_ > FEW_FEATURES and not self.positive:
            start = self._line(data, classes)
            if (wide := solve_wide(start, data)) is not None:
                s, solution, spectrum = wide
                model = corrected(start, s, solution, data)
                by_column = s.replace(weight=np.full_like(s.mean, s.weight))
                return Solved(model, statistics=by_column, spectrum=spectrum)
        return self._by_moments(data, classes)

    def _estimated(self, start: Any, s: Moments) -> Solved:
        return Solved(super()._estimated(start, s).model, statistics=s, spectrum=s)

    def _by_moments(self, data: Partitions, classes: MaybeArray) -> Solved:
        start = self._start(data, classes)
        s = self._summary(start, data)
        must_have_rows(s.weight)
        model, sums = refined(start, s, data)
        return Solved(model, statistics=s, spectrum=sums)

    def _add(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, classes: MaybeArray = None) -> Self:
        if not hasattr(self, "statistics_"):
            return self._publish(self._by_moments(self._opened(X, y, sample_weight), classes))
        if self.statistics_.diagonal:
            raise ValueError(
                f"fit to {self.n_features_in_} features keeps no moments that partial_fit could add to: call "
                "partial_fit on a new estimator for all rows."
            )
        return super()._add(X, y, sample_weight, classes)


def corrected(start: Any, s: Moments, solution: Solution, data: Partitions) -> Any:
    """The solution, corrected by residuals if it has fewer than eleven digits."""
    must_have_rows(s.weight)
    model = start.through(s, solution.x)
    if s.weight > FEW and _error(model, s, solution) <= ENOUGH:
        return model
    return _corrected(start, s, solution, data)


def refined(start: Any, s: Moments, data: Partitions) -> tuple[Any, Moments | Factor]:
    """The least squares solution of the rows whose moments are `s`, and the sums from which it started."""
    sums: Moments | Factor = s
    solution = start.solve(s)
    model = start.through(s, solution.x)
    if (s.weight > FEW or start.positive) and _error(model, s, solution) <= ENOUGH:
        return model, s
    if solution.error > MOST or start.positive:
        summed = data.fold(type(start).factor, start)
        if summed.weight > 0:
            sums, solution = summed, start.solve(summed)
    if start.positive:  # which coefficients are zero is not for residuals to say
        return start.through(s, solution.x), sums
    return _corrected(start, s, solution, data), sums


def _error(model: Any, s: Moments, solution: Solution) -> float:
    """An estimate of the largest relative error of a number; small ones count as SMALL of the largest."""
    if model.positive or solution.error <= SMALL * ENOUGH:
        return solution.error
    units = _Units.of(model, s, solution)
    theta = np.hstack([model.coef, model.intercept[:, None]])
    return solution.error * units.relative(units.length(model.coef), theta, least=SMALL)


@dataclass(frozen=True)
class _Units:
    """Scales of the columns: they convert an error of the solution to one of each coefficient."""

    size: np.ndarray  # (T, D), lengths of the columns
    mean: np.ndarray  # (D,), of the columns; zero without an intercept

    @classmethod
    def of(cls, model: Any, s: Moments, solution: Solution) -> _Units:
        D, T = solution.x.shape
        size = np.broadcast_to(solution.size, (D, T)).T
        return cls(size, s.mean[:D] if model.fit_intercept else np.zeros(D))

    def length(self, coef: np.ndarray) -> np.ndarray:
        """The largest of the coefficients of each target, (T,)."""
        return np.max(np.abs(coef) * self.size, axis=1)

    def reach(self, length: np.ndarray) -> np.ndarray:
        """Change of each coefficient and intercept if the solution changes by this length, (T, D + 1)."""
        of_coef = length[:, None] / self.size
        return np.hstack([of_coef, of_coef @ np.abs(self.mean)[:, None]])

    def relative(self, error: np.ndarray, theta: np.ndarray, least: float) -> float:
        """Largest relative error of a coefficient. Small coefficients count as `least` times the largest."""
        of = np.maximum(np.abs(theta), self.reach(least * self.length(theta[:, :-1])))
        return float(np.max(np.divide(self.reach(error), of, out=np.zeros_like(of), where=of > 0)))


def _corrected(start: Any, s: Moments, solution: Solution, data: Partitions) -> Any:
    """Newton steps with residuals in double-double precision, until each coefficient is exact to rounding."""
    (D, T), units = solution.x.shape, _Units.of(start, s, solution)
    mean, alpha = units.mean, np.broadcast_to(start.alpha, T)[:, None]

    def lines(coef: np.ndarray, level: np.ndarray) -> np.ndarray:
        """Coefficients and intercepts, (2, T, D + 1), of the lines with value `level` at the means."""
        return np.concatenate([coef, plus(level, -total(times(coef, mean)))[..., None]], axis=2)

    coef, before = twofold(solution.x.T), 1.0
    level = twofold(s.mean[D:] if start.fit_intercept else np.zeros(T))
    theta = lines(coef, level)
    for _ in range(PASSES):
        summed = data.fold(type(start).residual, start, theta).value
        about_means = plus(summed[:, :, :D], -times(summed[:, :, D:], mean))
        step = solution.inverse(plus(about_means, -times(coef, alpha))[0].T).T
        of_step, of_all = units.length(step), units.length(coef[0])
        change = float(np.max(of_step / np.where(of_step + of_all > 0, of_step + of_all, 1.0)))
        if not change < 0.5 * before:
            break
        coef = plus(coef, twofold(step))
        level = plus(level, twofold(summed[0, :, D] / s.weight)) if start.fit_intercept else level
        theta = lines(coef, level)
        left = max(change / before, min(solution.error, 1.0)) * of_step
        if units.relative(left, theta[0], least=1e-8) <= EPS:
            break
        before = change
    return start.replace(coef=theta[0, :, :D], intercept=theta[0, :, D])
