"""Steps of stochastic gradient descent for linear scores, each with the gradient of one row.

Weights are `scale` times v, so that the l2 penalty of a step changes one number, and a step on a sparse row
costs its entries alone. Their sum over the visits, for the mean, is `total` plus `lasted` times v: v as it is
counts for all visits, and each later change of v is taken out of `total` for those before it.

The l1 penalty is that of Tsuruoka et al., "Stochastic gradient descent training for l1-regularized log-linear
models with cumulative penalty", 2009: `owed` is what each weight owes by now, and `paid` what it has paid.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .compiled import compiled
from .rows import add_row, dot_row

jit = compiled(fastmath={"contract", "reassoc"})

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
LEAST_SCALE = 1e-9
LARGEST_SLOPE = 1e12
FEW_VISITS = 1 << 10  # that Python makes in about ten milliseconds


class Rule(NamedTuple):
    """What is minimized, and how."""

    loss: Any  # place in LOSSES
    epsilon: Any
    alpha: Any  # by which the rate 'optimal' decreases
    l2: Any  # strengths of the penalties
    l1: Any
    rate: Any  # place in RATES
    eta0: Any
    power: Any
    before: Any  # visits that the rate 'optimal' counts before the first
    of_intercept: Any  # factor of the steps of the intercept; zero without one
    average: Any  # the first visit whose weights are averaged; zero for none


class State(NamedTuple):
    """Arrays of one problem, which an epoch changes."""

    w: Any  # (D,)
    total: Any  # (D,): the sum of the weights over the visits
    paid: Any  # (D,): the l1 penalty that each weight has paid
    numbers: Any  # (5,): intercept, its sum over the visits, visits so far plus one, `owed`, step size


@jit
def loss_of(loss, epsilon, y, score):
    """Loss of a score, and its derivative by the score. Classes are y = 1 and -1."""
    if loss == 0 or loss == 1:  # hinge, perceptron
        z = (1.0 if loss == 0 else 0.0) - y * score
        return (z, -y) if z >= 0.0 else (0.0, 0.0)
    if loss == 2:  # squared hinge
        z = max(1.0 - y * score, 0.0)
        return z * z, -2.0 * y * z
    if loss == 3:  # modified Huber
        z = y * score
        if z < -1.0:
            return -4.0 * z, -4.0 * y
        z = max(1.0 - z, 0.0)
        return z * z, -2.0 * y * z
    if loss == 4:  # logistic
        z = y * score
        small = np.exp(-abs(z))
        value = np.log1p(small) + max(-z, 0.0)
        return value, -y * (small / (1.0 + small) if z > 0.0 else 1.0 / (1.0 + small))
    rest = score - y
    size, sign = abs(rest), 1.0 if rest > 0.0 else -1.0
    if loss == 5:  # squared error
        return 0.5 * rest * rest, rest
    if loss == 6:  # Huber
        if size <= epsilon:
            return 0.5 * rest * rest, rest
        return epsilon * (size - 0.5 * epsilon), epsilon * sign
    beyond = size - epsilon
    if beyond <= 0.0:
        return 0.0, 0.0
    if loss == 7:  # epsilon-insensitive
        return beyond, sign
    return beyond * beyond, 2.0 * beyond * sign


@jit
def losses(loss, epsilon, Y, scores, weight, slope):
    """The sum of the losses of scores (N, P), each row times its weight; their slopes go into `slope`."""
    total = 0.0
    for n in range(len(weight)):
        for k in range(scores.shape[1]):
            value, by_score = loss_of(loss, epsilon, Y[n, k], scores[n, k])
            total += weight[n] * value
            slope[n, k] = weight[n] * by_score
    return total


@losses.small
def _(loss, epsilon, Y, scores, weight, slope):
    if scores.size > 4 * FEW_VISITS:
        return NotImplemented
    return losses.python(loss, epsilon, Y, scores, weight, slope)


@jit
def epoch(rows, y, weight, order, rule, state):
    """A step for each row, in this order. Returns the sum of the losses before each step."""
    data, indices, indptr = rows
    loss, epsilon, alpha, l2, l1, rate, eta0, power, before, of_intercept, average = rule
    v, total, paid, numbers = state
    intercept, intercepts, t, owed, eta = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    scale, lasted, lost = 1.0, 0.0, 0.0
    for n in order:
        begin, end = indptr[n], indptr[n + 1]
        score = scale * dot_row(data, indices, begin, end, v) + intercept
        value, slope = loss_of(loss, epsilon, y[n], score)
        lost += weight[n] * value
        if rate == 2:
            eta = 1.0 / (alpha * (before + t - 1.0))
        elif rate == 3:
            eta = eta0 / t**power
        step = -eta * min(max(slope, -LARGEST_SLOPE), LARGEST_SLOPE)
        if rate >= 4:  # passive-aggressive
            square = 0.0
            for p in range(begin, end):
                x = np.float64(data[p])  # the square of a float32 would be one
                square += x * x
            if rate == 4:
                size = min(eta0, value / square) if square > 0.0 else 0.0
            else:
                size = value / (square + 0.5 / eta0)
            step = -size * np.sign(slope)
        step *= weight[n]
        scale *= max(0.0, 1.0 - eta * l2)
        if scale < LEAST_SCALE:
            add_row(v, indices[:0], 0, len(v), lasted, total)
            lasted = 0.0
            v *= scale
            scale = 1.0
        if step != 0.0:
            add_row(data, indices, begin, end, step / scale, v)
            if lasted > 0.0:
                add_row(data, indices, begin, end, -lasted * step / scale, total)
            intercept += of_intercept * step
        if 0.0 < average <= t:
            lasted += scale
            intercepts += intercept
        if l1 > 0.0:
            owed += eta * l1
            _pay(indices, begin, end, owed, scale, lasted, v, total, paid)
        t += 1.0
    add_row(v, indices[:0], 0, len(v), lasted, total)
    v *= scale
    numbers[0], numbers[1], numbers[2], numbers[3], numbers[4] = intercept, intercepts, t, owed, eta
    return lost


@epoch.small
def _(rows, y, weight, order, rule, state):
    if len(order) > FEW_VISITS:
        return NotImplemented
    return epoch.python(rows, y, weight, order, rule, state)


@jit
def _pay(indices, begin, end, owed, scale, lasted, v, total, paid):
    """The l1 penalty of the weights of a row: towards zero by what they owe, and not beyond."""
    for p in range(begin, end):
        d = indices[p] if len(indices) > 0 else p - begin
        before = v[d]
        if before > 0.0:
            v[d] = max(0.0, before - (owed + paid[d]) / scale)
        elif before < 0.0:
            v[d] = min(0.0, before + (owed - paid[d]) / scale)
        paid[d] += scale * (v[d] - before)
        total[d] -= lasted * (v[d] - before)
