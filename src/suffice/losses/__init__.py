"""Losses of targets and raw scores."""

from .classes import Exponential, LogLoss, MultinomialLogLoss
from .links import log_softmax, softmax
from .loss import Domain, Loss
from .named import loss_of
from .numbers import Gamma, Huber, Pinball, Poisson, SquaredError, Tweedie, TweedieIdentity, tweedie

__all__ = [
    "Domain",
    "Exponential",
    "Gamma",
    "Huber",
    "LogLoss",
    "Loss",
    "MultinomialLogLoss",
    "Pinball",
    "Poisson",
    "SquaredError",
    "Tweedie",
    "TweedieIdentity",
    "log_softmax",
    "loss_of",
    "softmax",
    "tweedie",
]
