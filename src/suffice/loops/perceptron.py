"""Epochs of the perceptron algorithm, in primal and in dual form.

There are P problems, each of one class against the rest, or one for two classes: then of the second. A row of
weight w is visited w times in a row: its steps go on until it is right or w is used up, the last of them by
what is left of w. The constant of a hyperplane is the weight of a last feature that is one, or a one in each
entry of the Gram matrix.

`late` sums each change times the visits before it, so that W - late / visits is the mean of W over all
visits. `log` takes the steps of those that vote: problem, row, signed size, visits before. What a pocket
keeps are the weights that are right for most rows, among those after each epoch and those that lasted twice
as long as any tried before: so few are tried that a try may visit all rows.

Rows are CSR: data, indices, indptr; where they are dense there are no indices.
"""

from __future__ import annotations

import numpy as np

from .compiled import compiled

jit = compiled(fastmath={"contract", "reassoc"})


@jit
def primal(
    data, indices, indptr, codes, weight, order, margin, eta, active, W, late, visits,
    steps, loss, pocketing, run, tried, best, pocket, voting,
):  # fmt: skip
    """One epoch with weights W (D, P). Returns the log."""
    P, flat = W.shape[1], W.reshape(-1)
    score, log, logged = np.empty(P), np.empty((16 if voting else 0, 4)), 0
    for n in order:
        w = weight[n]
        if not w > 0.0:
            continue
        begin, end = indptr[n], indptr[n + 1]
        if P == 1:
            score[0] = _dot(data, indices, begin, end, flat)
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
                _keep_primal(data, indices, indptr, codes, weight, k, W, best, pocket)
            total, later, lost, left = w, w * visits[k], w * (least - z), 0.0
            if w > 1.0 or voting:
                square = 0.0
                for p in range(begin, end):
                    square += data[p] * data[p]
                total, later, lost, left, log, logged = _visit(
                    z, least, w, eta * square, visits[k], k, n, y * eta, voting, log, logged
                )
            _add(data, indices, begin, end, y * eta * total, W[:, k])
            _add(data, indices, begin, end, y * eta * later, late[:, k])
            steps[k] += total
            loss[k] += lost
            run[k] = left
            visits[k] += w
    if pocketing:
        for k in range(P):
            if active[k]:
                _keep_primal(data, indices, indptr, codes, weight, k, W, best, pocket)
    return log[:logged]


@jit
def dual(
    gram, codes, weight, order, margin, eta, active, A, late, F, visits,
    steps, loss, pocketing, run, tried, best, pocket, voting,
):  # fmt: skip
    """One epoch with a weight for each row, A (P, N); F (P, N) are the scores of the rows, A gram.

    Returns the log.
    """
    P, N = A.shape
    log, logged = np.empty((16 if voting else 0, 4)), 0
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
                _keep_dual(codes, weight, k, A, F, best, pocket)
            total, later, lost, left, log, logged = _visit(
                z, least, w, eta * gram[n, n], visits[k], k, n, y * eta, voting, log, logged
            )
            A[k, n] += y * eta * total
            late[k, n] += y * eta * later
            for m in range(N):
                F[k, m] += y * eta * total * gram[n, m]
            steps[k] += total
            loss[k] += lost
            run[k] = left
            visits[k] += w
    if pocketing:
        for k in range(P):
            if active[k]:
                _keep_dual(codes, weight, k, A, F, best, pocket)
    return log[:logged]


@jit
def _dot(data, indices, begin, end, w):
    """The product of a row with weights (D,)."""
    total = 0.0
    if len(indices) > 0:
        for p in range(begin, end):
            total += data[p] * w[indices[p]]
    else:
        for p in range(end - begin):
            total += data[begin + p] * w[p]
    return total


@jit
def _add(data, indices, begin, end, factor, w):
    """Add a row times a factor to weights (D,)."""
    if len(indices) > 0:
        for p in range(begin, end):
            w[indices[p]] += factor * data[p]
    else:
        for p in range(end - begin):
            w[p] += factor * data[begin + p]


@jit
def _scores(data, indices, begin, end, W, score):
    """The products of a row with the weights (D, P) of all problems, (P,)."""
    score[:] = 0.0
    for p in range(begin, end):
        x, d = data[p], indices[p] if len(indices) > 0 else p - begin
        for k in range(len(score)):
            score[k] += x * W[d, k]


@jit
def _class_of(k, P):
    """The class that is positive in problem k."""
    return 1 if P == 1 else k


@jit
def _visit(z, least, w, gain, visits, k, n, size, voting, log, logged):
    """Steps at a row of weight w, each of which adds `gain` to z, until z is more than the least.

    Returns their sum, their sum each times the visits before it, the loss before each, what is left of w, and
    the log.
    """
    total, later, lost = 0.0, 0.0, 0.0
    while w > 0.0 and z <= least:
        step = min(w, 1.0)
        if gain <= 1e-9 * (least - z):  # too small a row for any number of steps
            step = w
        if voting:
            if logged == len(log):
                longer = np.empty((2 * logged, 4))
                longer[:logged] = log
                log = longer
            log[logged, 0] = k
            log[logged, 1] = n
            log[logged, 2] = size * step
            log[logged, 3] = visits + total
            logged += 1
        later += step * (visits + total)
        lost += step * (least - z)
        total += step
        w -= step
        z += gain * step
    return total, later, lost, w, log, logged


@jit
def _keep_primal(data, indices, indptr, codes, weight, k, W, best, pocket):
    """Put the weights of problem k into the pocket if they are right for more than those in it."""
    P, w, right = W.shape[1], W[:, k].copy(), 0.0
    for n in range(len(codes)):
        score = _dot(data, indices, indptr[n], indptr[n + 1], w)
        if (score >= 0.0) == (codes[n] == _class_of(k, P)):
            right += weight[n]
    if right > best[k]:
        best[k] = right
        pocket[:, k] = w


@jit
def _keep_dual(codes, weight, k, A, F, best, pocket):
    P, N = A.shape
    right = 0.0
    for n in range(N):
        if (F[k, n] >= 0.0) == (codes[n] == _class_of(k, P)):
            right += weight[n]
    if right > best[k]:
        best[k] = right
        for n in range(N):
            pocket[k, n] = A[k, n]
