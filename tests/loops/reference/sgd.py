"""The loops of native/sgd.hpp in plain Python."""

import numpy as np
import scipy.sparse as sp


def loss_of(loss, epsilon, y, score):
    """Loss of a score, and its derivative by the score."""
    z, rest = y * score, score - y
    size, sign = abs(rest), 1.0 if rest > 0.0 else -1.0
    beyond = size - epsilon
    if loss <= 1:  # hinge, perceptron
        below = (1.0 if loss == 0 else 0.0) - z
        return (below, -y) if below >= 0.0 else (0.0, 0.0)
    if loss == 3 and z < -1.0:  # modified Huber
        return -4.0 * z, -4.0 * y
    if loss <= 3:  # squared hinge
        below = max(1.0 - z, 0.0)
        return below * below, -2.0 * y * below
    if loss == 4:  # logistic
        return np.logaddexp(0.0, -z), -y / (1.0 + np.exp(z))
    if loss == 5 or (loss == 6 and size <= epsilon):  # squared error, Huber
        return 0.5 * rest * rest, rest
    if loss == 6:
        return epsilon * (size - 0.5 * epsilon), epsilon * sign
    if beyond <= 0.0:
        return 0.0, 0.0
    return (beyond, sign) if loss == 7 else (beyond * beyond, 2.0 * beyond * sign)  # epsilon-insensitive


def losses(loss, epsilon, Y, scores, weight, slope):
    total = 0.0
    for (n, k), score in np.ndenumerate(scores):
        value, by_score = loss_of(loss, epsilon, Y[n, k], score)
        total += weight[n] * value
        slope[n, k] = weight[n] * by_score
    return total


def epoch(X, y, weight, order, rule, w, total, paid, numbers):
    """The weights themselves, without a scale, and the sum of them as they are after each visit."""
    loss, epsilon, alpha, l2, l1, rate, eta0, power, before, of_intercept, average = rule
    lost, dense = 0.0, not sp.issparse(X)
    for n in order:
        x = X[n].astype(np.float64) if dense else X[n].toarray().astype(np.float64)
        x, (intercept, intercepts, t, owed, eta) = x.ravel(), numbers
        value, slope = loss_of(loss, epsilon, y[n], x @ w + intercept)
        lost += weight[n] * value
        if rate == 2:
            eta = 1.0 / (alpha * (before + t - 1.0))
        elif rate == 3:
            eta = eta0 / t**power
        step = -eta * np.clip(slope, -1e12, 1e12)
        if rate >= 4:  # passive-aggressive
            square = x @ x
            if rate == 4:
                step = -min(eta0, value / square) * np.sign(slope) if square > 0.0 else 0.0
            else:
                step = -value / (square + 0.5 / eta0) * np.sign(slope)
        w *= max(0.0, 1.0 - eta * l2)
        w += weight[n] * step * x
        intercept += of_intercept * weight[n] * step
        if 0.0 < average <= t:
            intercepts += intercept
            total += w
        if l1 > 0.0:
            owed += eta * l1
            stored = np.arange(len(x)) if dense else X.indices[X.indptr[n] : X.indptr[n + 1]]
            v = w[stored]
            down, up = np.maximum(v - (owed + paid[stored]), 0.0), np.minimum(v + (owed - paid[stored]), 0.0)
            w[stored] = np.where(v > 0.0, down, np.where(v < 0.0, up, v))
            paid[stored] += w[stored] - v
        numbers[:] = intercept, intercepts, t + 1.0, owed, eta
    return lost


def sparse_epoch(data, indices, indptr, y, weight, order, rule, w, total, paid, numbers):
    X = sp.csr_array((data, indices, indptr), shape=(len(y), len(w)))
    return epoch(X, y, weight, order, rule, w, total, paid, numbers)
