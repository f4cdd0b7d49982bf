"""Losses of targets that are numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..loops.losses import squared_error
from .loss import Domain, Loss


@dataclass(frozen=True, eq=False)
class SquaredError(Loss):
    """(y - f)^2 / 2."""

    factor = 2.0

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return 0.5 * (y - f[:, 0]) ** 2

    def derivatives(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, None]:
        return f - y[:, None], None

    def evaluate(self, y: np.ndarray, f: np.ndarray, value: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        squared_error(np.ascontiguousarray(y), np.ascontiguousarray(f[:, 0]), value, g[:, 0])


@dataclass(frozen=True, eq=False)
class Pinball(Loss):
    """level (y - f) above the prediction, and (1 - level) (f - y) below; times two for the absolute error."""

    quantile: float = 0.5
    scale: float = 1.0
    largest = (1.0, 0.0)
    leaf = "quantile"

    @property
    def level(self) -> float:  # type: ignore[override]
        return self.quantile

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        r = y - f[:, 0]
        return self.scale * np.where(r >= 0, self.quantile * r, (self.quantile - 1.0) * r)

    def derivatives(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, None]:
        r = y[:, None] - f
        return self.scale * np.where(r >= 0, -self.quantile, 1.0 - self.quantile), None


@dataclass(frozen=True, eq=False)
class Huber(Loss):
    """(y - f)^2 / 2 of residuals up to `delta`, and linear beyond it."""

    quantile: float = 0.9  # of the absolute residuals, which is `delta` in each stage
    delta: float = 1.0
    leaf = "huber"

    @property
    def largest(self) -> tuple[float, float]:  # type: ignore[override]
        return self.delta, 0.0

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        r = np.abs(y - f[:, 0])
        return np.where(r <= self.delta, 0.5 * r * r, self.delta * (r - 0.5 * self.delta))

    def derivatives(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, None]:
        return np.clip(f - y[:, None], -self.delta, self.delta), None


@dataclass(frozen=True, eq=False)
class Poisson(Loss):
    """exp(f) - y f: half the deviance, but for a constant."""

    domain = Domain(0.0)
    constant = False

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.exp(f[:, 0]) - y * f[:, 0]

    def derivatives(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean = np.exp(f)
        return mean - y[:, None], mean

    def baseline(self, mean: np.ndarray) -> np.ndarray:
        return np.log(mean)

    def predicted(self, f: np.ndarray) -> np.ndarray:
        return np.exp(f[:, 0])


@dataclass(frozen=True, eq=False)
class Gamma(Poisson):
    """f + y exp(-f): half the deviance, but for a constant."""

    domain = Domain(0.0, above=True)

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return f[:, 0] + y * np.exp(-f[:, 0])

    def derivatives(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ratio = y[:, None] * np.exp(-f)
        return 1.0 - ratio, ratio


@dataclass(frozen=True, eq=False)
class Tweedie(Poisson):
    """exp((2 - p) f) / (2 - p) - y exp((1 - p) f) / (1 - p): half the deviance of the mean exp(f) in a family
    whose variance is the mean to the power p, but for a constant. p is neither 1 nor 2."""

    power: float

    @property
    def domain(self) -> Domain | None:  # type: ignore[override]
        return _domain_of(self.power)

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        a, b = 2.0 - self.power, 1.0 - self.power
        return np.exp(a * f[:, 0]) / a - y * np.exp(b * f[:, 0]) / b

    def derivatives(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        a, b = 2.0 - self.power, 1.0 - self.power
        mean, target = np.exp(a * f), y[:, None] * np.exp(b * f)
        if 1.0 < self.power < 2.0:
            return mean - target, a * mean - b * target
        return mean - target, mean  # the loss is not convex: the expected curvature


@dataclass(frozen=True, eq=False)
class TweedieIdentity(Loss):
    """f^(2 - p) / (2 - p) - y f^(1 - p) / (1 - p), the same of the mean f, which must be positive."""

    power: float
    constant = False

    @property
    def domain(self) -> Domain | None:  # type: ignore[override]
        return _domain_of(self.power)

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        mean, p = f[:, 0], self.power
        inside = mean > 0
        mean = np.where(inside, mean, 1.0)
        if p == 1.0:
            value = mean - y * np.log(mean)
        elif p == 2.0:
            value = y / mean + np.log(mean)
        else:
            value = mean ** (2.0 - p) / (2.0 - p) - y * mean ** (1.0 - p) / (1.0 - p)
        return np.where(inside, value, np.inf)

    def derivatives(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        expected = np.where(f > 0, f, 1.0) ** -self.power
        return (f - y[:, None]) * expected, expected


def _domain_of(power: float) -> Domain | None:
    return None if power <= 0 else Domain(0.0, above=power >= 2.0)


def tweedie(power: float, link: str = "auto") -> Loss:
    """Half the deviance of the family whose variance is the mean to this power, with the link 'identity' or
    'log'; 'auto' is 'identity' where targets may be negative."""
    if link == "identity" or (link == "auto" and power <= 0):
        return SquaredError() if power == 0 else TweedieIdentity(power)
    return {1.0: Poisson(), 2.0: Gamma()}.get(power) or Tweedie(power)
