"""Epochs of perceptrons, in primal and in dual form.

There are P problems: one of each class against the rest, or one for two classes, in which the second is
positive. A row of weight w is visited w times in a row: it is added until it is on the right side or w is
used up, the last time with what is left of w. The intercept is the weight of a last feature of ones, or a one
in each entry of the Gram matrix.

`late` sums each change of the weights times the visits before it, so that W - late / visits is the mean of W
over all visits. The log has a line for each update of a voted perceptron: problem, row, signed step size,
visits before. The pocket holds the weights that classify most rows correctly. They are compared after each
epoch, and when they survived twice as many visits as any weights compared before: that is seldom enough for a
comparison to visit all rows.

The loops unpack their arguments first, since Numba counts a reference at each access to an array in a tuple.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.blocks import csr_of
from .compiled import MOST_VISITS, compiled
from .rows import add_row, dot_row

jit = compiled(fastmath={"contract", "reassoc"})


class Labels(NamedTuple):
    """Class codes (N,) and weights (N,) of the rows."""

    codes: Any
    weight: Any


class Rule(NamedTuple):
    """When to update, and what to record."""

    margin: Any  # (2,): of negative and of positive rows
    eta: Any  # step size
    pocket: Any  # whether to compare the weights with those in the pocket
    vote: Any  # whether to log the updates


class State(NamedTuple):
    """Arrays that an epoch changes, apart from `active`."""

    active: Any  # (P,)
    W: Any  # (D, P) in primal form; (P, N), weights of the rows, in dual form
    late: Any  # like W
    pocket: Any  # like W
    F: Any  # (P, N), scores of the rows in dual form; None in primal form
    visits: Any  # (P,)
    steps: Any  # (P,)
    run: Any  # (P,): visits since the last update
    tried: Any  # (P,): the longest run whose weights were compared with the pocket
    best: Any  # (P,): weight of the rows that the pocket classifies correctly


class Mistake(NamedTuple):
    """A visit to a row whose score is not above the margin."""

    problem: Any
    row: Any
    score: Any  # times the sign of the class
    margin: Any
    weight: Any
    size: Any  # signed step size
    visits: Any  # before this one


@jit
def primal(rows, labels, order, rule, state):
    """One epoch over the rows in this order. Returns the loss (P,) and the log."""
    data, indices, indptr = rows
    codes, weight = labels
    margin, eta, pocketing, vote = rule
    active, W, late, _, _, visits, steps, run, tried, _ = state
    P, flat = W.shape[1], W.reshape(-1)
    score, loss = np.empty(P), np.zeros(P)
    log, logged = np.empty((16 if vote else 0, 4)), 0
    for n in order:
        w = weight[n]
        if not w > 0.0:
            continue
        begin, end = indptr[n], indptr[n + 1]
        if P == 1:
            score[0] = dot_row(data, indices, begin, end, flat)
        else:
            _scores(data, indices, begin, end, W, score)
        for k in range(P):
            if not active[k]:
                continue
            y = 1.0 if codes[n] == _class_of(k, P) else -1.0
            z, least = y * score[k], margin[1 if y > 0.0 else 0]
            if z > least:
                run[k] += w
                visits[k] += w
                continue
            if pocketing and run[k] > 2.0 * tried[k]:
                tried[k] = run[k]
                _keep_primal(rows, labels, k, state)
            total, later, lost, left = w, w * visits[k], w * (least - z), 0.0
            if w > 1.0 or vote:
                square = 0.0
                for p in range(begin, end):
                    square += data[p] * data[p]
                mistake = Mistake(k, n, z, least, w, y * eta, visits[k])
                total, later, lost, left, log, logged = _update(mistake, eta * square, vote, log, logged)
            add_row(data, indices, begin, end, y * eta * total, W[:, k])
            add_row(data, indices, begin, end, y * eta * later, late[:, k])
            steps[k] += total
            loss[k] += lost
            run[k] = left
            visits[k] += w
    if pocketing:
        for k in range(P):
            if active[k]:
                _keep_primal(rows, labels, k, state)
    return loss, log[:logged]


@primal.small
def _(rows, labels, order, rule, state):
    if len(order) > MOST_VISITS:
        return NotImplemented
    return primal.python(rows, labels, order, rule, state)


@jit
def add_scaled(out, factor, a):
    """out += factor a."""
    for i in range(len(a)):
        out[i] += factor * a[i]


@add_scaled.small
def _(out, factor, a):
    out += factor * a


@jit
def dual(gram, labels, order, rule, state):
    """One epoch over the rows in this order; F is kept at W gram. Returns the loss (P,) and the log."""
    codes, weight = labels
    margin, eta, pocketing, vote = rule
    active, W, late, _, F, visits, steps, run, tried, _ = state
    P = len(W)
    loss = np.zeros(P)
    log, logged = np.empty((16 if vote else 0, 4)), 0
    for n in order:
        w = weight[n]
        if not w > 0.0:
            continue
        for k in range(P):
            if not active[k]:
                continue
            y = 1.0 if codes[n] == _class_of(k, P) else -1.0
            z, least = y * F[k, n], margin[1 if y > 0.0 else 0]
            if z > least:
                run[k] += w
                visits[k] += w
                continue
            if pocketing and run[k] > 2.0 * tried[k]:
                tried[k] = run[k]
                _keep_dual(labels, k, state)
            mistake = Mistake(k, n, z, least, w, y * eta, visits[k])
            total, later, lost, left, log, logged = _update(mistake, eta * gram[n, n], vote, log, logged)
            W[k, n] += y * eta * total
            late[k, n] += y * eta * later
            add_scaled(F[k], y * eta * total, gram[n])
            steps[k] += total
            loss[k] += lost
            run[k] = left
            visits[k] += w
    if pocketing:
        for k in range(P):
            if active[k]:
                _keep_dual(labels, k, state)
    return loss, log[:logged]


def _dual(gram, labels, order, rule, state):
    if len(order) > MOST_VISITS:
        return NotImplemented
    return dual.python(gram, labels, order, rule, state)


dual.small(_dual, limit=32 * MOST_VISITS**2)  # the Gram matrix is one argument of several


@jit
def _scores(data, indices, begin, end, W, score):
    """The products of a row with the weights (D, P) of all problems, (P,)."""
    score[:] = 0.0
    for p in range(begin, end):
        x, d = data[p], indices[p] if len(indices) > 0 else p - begin
        for k in range(len(score)):
            score[k] += x * W[d, k]


@_scores.small
def _(data, indices, begin, end, W, score):
    np.dot(data[begin:end], W[indices[begin:end]] if len(indices) else W, out=score)


@jit
def _class_of(k, P):
    """The class that is positive in problem k."""
    return 1 if P == 1 else k


@jit
def _update(mistake, gain, vote, log, logged):
    """Updates at a row, each of which adds `gain` to its score, until that is above the margin.

    Returns the sum of the updates, their sum each times the visits before it, the loss before each, the
    weight that is left, and the log.
    """
    z, least, w = mistake.score, mistake.margin, mistake.weight
    total, later, lost = 0.0, 0.0, 0.0
    while w > 0.0 and z <= least:
        step = min(w, 1.0)
        if gain <= 1e-9 * (least - z):  # too short a row for any number of updates
            step = w
        if vote:
            if logged == len(log):
                longer = np.empty((2 * logged, 4))
                for i in range(logged):
                    for j in range(4):
                        longer[i, j] = log[i, j]
                log = longer
            log[logged, 0] = mistake.problem
            log[logged, 1] = mistake.row
            log[logged, 2] = mistake.size * step
            log[logged, 3] = mistake.visits + total
            logged += 1
        later += step * (mistake.visits + total)
        lost += step * (least - z)
        total += step
        w -= step
        z += gain * step
    return total, later, lost, w, log, logged


@jit
def _keep_primal(rows, labels, k, state):
    """Put the weights of problem k into the pocket if they classify more rows correctly than those in it."""
    data, indices, indptr = rows
    codes, weight = labels
    P, w, right = state.W.shape[1], state.W[:, k].copy(), 0.0
    for n in range(len(codes)):
        score = dot_row(data, indices, indptr[n], indptr[n + 1], w)
        if (score >= 0.0) == (codes[n] == _class_of(k, P)):
            right += weight[n]
    if right > state.best[k]:
        state.best[k] = right
        pocket = state.pocket
        for d in range(len(w)):
            pocket[d, k] = w[d]


@_keep_primal.small
def _(rows, labels, k, state):
    codes, weight = labels
    N, (D, P) = len(codes), state.W.shape
    X = csr_of(rows.data, rows.indices, rows.indptr, (N, D)) if len(rows.indices) else rows.data.reshape(N, D)
    right = weight[(X @ state.W[:, k] >= 0.0) == (codes == _class_of.python(k, P))].sum()
    if right > state.best[k]:
        state.best[k], state.pocket[:, k] = right, state.W[:, k]


@jit
def _keep_dual(labels, k, state):
    codes, weight = labels
    W, F, pocket, right = state.W, state.F, state.pocket, 0.0
    for n in range(len(codes)):
        if (F[k, n] >= 0.0) == (codes[n] == _class_of(k, len(W))):
            right += weight[n]
    if right > state.best[k]:
        state.best[k] = right
        for n in range(len(codes)):
            pocket[k, n] = W[k, n]


@_keep_dual.small
def _(labels, k, state):
    codes, weight = labels
    right = weight[(state.F[k] >= 0.0) == (codes == _class_of.python(k, len(state.W)))].sum()
    if right > state.best[k]:
        state.best[k], state.pocket[k] = right, state.W[k]
