"""Losses of classes, whose targets are their codes 0 to K - 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.special import expit, logit

from ..loops.losses import log_loss
from .links import log_softmax, softmax
from .loss import Loss

EPS = np.finfo(np.float64).eps


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
        return self.evaluated(y, f)[0]

    def derivatives(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.evaluated(y, f)[1:]

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
