"""Losses by the names of estimators' parameters."""

from __future__ import annotations

from typing import Any

from .classes import Exponential, LogLoss, MultinomialLogLoss
from .loss import Loss
from .numbers import Gamma, Huber, Pinball, Poisson, SquaredError


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
