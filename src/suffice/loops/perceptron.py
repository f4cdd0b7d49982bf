"""Epochs of perceptrons, in primal and in dual form: native/perceptron.hpp."""

from __future__ import annotations

from typing import NamedTuple

from .native import loops


class Rule(NamedTuple):
    """When to update, and what to record."""

    margin_of_negative: float
    margin_of_positive: float
    eta: float  # step size
    pocket: bool  # whether to compare the weights with those in the pocket
    vote: bool  # whether to log the updates


primal = loops.perceptron.primal
sparse_primal = loops.perceptron.sparse_primal
dual = loops.perceptron.dual
