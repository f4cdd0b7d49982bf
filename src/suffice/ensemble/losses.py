"""Losses of targets y and raw scores f, with their derivatives in f: what gradient boosting decreases.

Each loss is a value: the loss of a row, its gradient and curvature, the constant that minimizes it, what a
raw score predicts, and how the value of a leaf is found. Friedman, 2001.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.special import expit, logit

from ..core.values import Value
from ..estimator.scores import log_softmax, softmax
from ..loops.losses import log_loss, squared_error

EPS = np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class Loss(Value):
    """A loss with one raw score for each row, of which (N, K) are given."""

    n_outputs: ClassVar[int] = 1
    constant: ClassVar[bool] = True  # whether the curvature is 1
    largest: ClassVar[tuple[float, float] | None] = None  # gradient and curvature, where they are bounded
    leaf: ClassVar[str] = "step"  # the value of a leaf: a Newton step, or a "quantile" of the residuals
    level: ClassVar[float] = 0.5  # of that quantile
    factor: ClassVar[float] = 1.0  # of the loss that GradientBoosting reports, as scikit-learn does

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """The loss of each row, (N,)."""
        raise NotImplementedError

    def derivatives(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Gradient and curvature of each row, (N, K); None if the curvature is constant."""
        raise NotImplementedError

    def evaluate(self, y: np.ndarray, f: np.ndarray, value: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        """Fill in the loss (N,), gradient and curvature (N, K) of rows; without a curvature, h is (N, 0)."""
        value[:] = self.value(y, f)
        g[:], curvature = self.derivatives(y, f)
        if curvature is not None:
            h[:] = curvature

    def baseline(self, mean: np.ndarray) -> np.ndarray:
        """The raw scores (..., K) of predictions: of numbers (..., 1), or of the shares of the classes."""
        return mean

    def predicted(self, f: np.ndarray) -> np.ndarray:
        """The predicted numbers, or the probabilities of classes, of raw scores."""
        return f[:, 0]

    def check(self, high: float) -> None:
        """Raise if there is no constant that minimizes the loss of targets up to this number."""


# --- numbers -------------------------------------------------------------------------------------------


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

    def check(self, high: float) -> None:
        if high <= 0.0:
            raise ValueError("loss='poisson' requires non-negative y and sum(y) > 0.")


@dataclass(frozen=True, eq=False)
class Gamma(Poisson):
    """f + y exp(-f): half the deviance, but for a constant."""

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return f[:, 0] + y * np.exp(-f[:, 0])

    def derivatives(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ratio = y[:, None] * np.exp(-f)
        return 1.0 - ratio, ratio


# --- classes -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LogLoss(Loss):
    """log(1 + exp(f)) - y f of classes 0 and 1, times the weight of the class."""

    class_weight: Annotated[np.ndarray, "(2,)"]
    constant = False
    factor = 2.0

    @property
    def largest(self) -> tuple[float, float]:  # type: ignore[override]
        return float(self.class_weight.max()), 0.25 * float(self.class_weight.max())

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return self._evaluated(y, f)[0]

    def derivatives(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._evaluated(y, f)[1:]

    def _evaluated(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        out = np.empty(len(f)), np.empty((len(f), 1)), np.empty((len(f), 1))
        LogLoss.evaluate(self, y, f, *out)
        return out

    def evaluate(self, y: np.ndarray, f: np.ndarray, value: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        y, f, w = (np.ascontiguousarray(x) for x in (y, f[:, 0], self.class_weight))
        log_loss(y, f, w, value, g[:, 0], h[:, 0])

    def baseline(self, mean: np.ndarray) -> np.ndarray:
        share = mean[..., 1:] / mean.sum(axis=-1, keepdims=True)
        return logit(np.clip(share, EPS, 1.0 - EPS))

    def predicted(self, f: np.ndarray) -> np.ndarray:
        p = expit(f)
        return np.concatenate([1.0 - p, p], axis=1)


@dataclass(frozen=True, eq=False)
class Exponential(LogLoss):
    """exp(-m) of the margin m = (2 y - 1) f."""

    largest = None  # type: ignore[assignment]
    factor = 1.0

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return self.class_weight[y] * np.exp((1.0 - 2.0 * y) * f[:, 0])

    def derivatives(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sign = 1.0 - 2.0 * y[:, None]
        e = self.class_weight[y][:, None] * np.exp(sign * f)
        return sign * e, e

    evaluate = Loss.evaluate

    def baseline(self, mean: np.ndarray) -> np.ndarray:
        return 0.5 * super().baseline(mean)

    def predicted(self, f: np.ndarray) -> np.ndarray:
        return super().predicted(2.0 * f)


@dataclass(frozen=True, eq=False)
class MultinomialLogLoss(LogLoss):
    """Minus the log-probability of the class, the softmax of K raw scores, times the weight of the class."""

    class_weight: Annotated[np.ndarray, "(K,)"]
    factor = 1.0

    @property
    def n_outputs(self) -> int:  # type: ignore[override]
        return len(self.class_weight)

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return -self.class_weight[y] * log_softmax(f)[np.arange(len(y)), y]

    def derivatives(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p, w = softmax(f), self.class_weight[y][:, None]
        h = p * (1.0 - p)
        p[np.arange(len(y)), y] -= 1.0
        return w * p, w * h

    evaluate = Loss.evaluate

    def baseline(self, mean: np.ndarray) -> np.ndarray:
        logs = np.log(np.clip(mean / mean.sum(axis=-1, keepdims=True), EPS, 1.0 - EPS))
        return logs - logs.mean(axis=-1, keepdims=True)

    def predicted(self, f: np.ndarray) -> np.ndarray:
        return softmax(f)


def loss_of(name: str, level: float | None = None, class_weight: Any = None) -> Loss:
    """The loss of a name; of classes with these weights, or of numbers."""
    if class_weight is not None:
        if name == "exponential":
            return Exponential(class_weight)
        return LogLoss(class_weight) if len(class_weight) <= 2 else MultinomialLogLoss(class_weight)
    numbers: dict[str, Loss] = {
        "squared_error": SquaredError(),
        "absolute_error": Pinball(0.5, 2.0),
        "quantile": Pinball(level or 0.5),
        "huber": Huber(level or 0.9),
        "poisson": Poisson(),
        "gamma": Gamma(),
    }
    return numbers[name]
