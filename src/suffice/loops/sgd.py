"""Steps of stochastic gradient descent for linear scores: native/sgd.hpp."""

from __future__ import annotations

from typing import NamedTuple

from .native import loops

LOSSES = (
    "hinge",
    "perceptron",
    "squared_hinge",
    "modified_huber",
    "log_loss",
    "squared_error",
    "huber",
    "epsilon_insensitive",
    "squared_epsilon_insensitive",
)
RATES = ("constant", "adaptive", "optimal", "invscaling", "pa1", "pa2")


class Rule(NamedTuple):
    """What is minimized, and how."""

    loss: int  # place in LOSSES
    epsilon: float
    alpha: float  # by which the rate 'optimal' decreases
    l2: float  # strengths of the penalties
    l1: float
    rate: int  # place in RATES
    eta0: float
    power: float
    before: float  # visits that the rate 'optimal' counts before the first
    of_intercept: float  # factor of the steps of the intercept; zero without one
    average: float  # the first visit whose weights are averaged; zero for none


losses = loops.sgd.losses
epoch = loops.sgd.epoch
sparse_epoch = loops.sgd.sparse_epoch
