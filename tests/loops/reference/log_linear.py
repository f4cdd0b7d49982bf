"""The loops of native/log_linear.hpp in NumPy."""

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, log_softmax, softmax


def errors(scores, intercept, codes, weight):
    each = np.arange(len(codes))
    scores += intercept
    loss = -(weight @ log_softmax(scores, axis=1)[each, codes])
    scores[:] = weight[:, None] * softmax(scores, axis=1)
    scores[each, codes] -= weight
    return loss


def svrg_epoch(data, indices, indptr, order, weight, before, start, drift, shrink, length, every, intercept):
    X = sp.csr_array((data, indices, indptr), shape=(len(weight), len(start) - 1)).toarray()
    W = start.copy()
    for t, n in enumerate(order):
        scores = X[n] @ W[:-1] + W[-1]
        p = expit(scores) if len(scores) == 1 else softmax(scores)
        step = length * weight[n] * (p - before[n])
        W[:-1] -= np.outer(X[n], step)
        W[-1] -= step * intercept
        if (t + 1) % every == 0 or t + 1 == len(order):
            W -= length * (t % every + 1) * (drift + shrink[:, None] * (W - start))
    return W
