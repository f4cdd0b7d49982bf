"""The loops of native/factors.hpp in NumPy, all rows at a time."""

import numpy as np
import scipy.sparse as sp


def coordinate_sweeps(F, gram, cross, order, weight, tol, max_iter):
    total, live, first = 0.0, np.arange(len(F)), np.zeros(len(F))
    for sweep in range(max_iter):
        f, seen = F[live], np.zeros(len(live))
        for t in order:
            slope = f @ gram[t] - cross[live, t]
            seen += np.abs(np.where(f[:, t] > 0.0, slope, np.minimum(slope, 0.0)))
            step = 1.0 / gram[t, t] if gram[t, t] > 0.0 else 0.0
            f[:, t] = np.maximum(f[:, t] - step * slope, 0.0)
        F[live] = f
        if sweep == 0:
            first, total = seen, float(weight @ seen)
        live = live[seen > tol * first[live]]
        if not len(live):
            break
    return total


def means(indices, indptr, Ht, W):
    row = np.repeat(np.arange(len(W)), np.diff(indptr))
    return row, np.einsum("pk,pk->p", W[row], Ht[indices])


def divergence_updates(data, indices, indptr, Ht, size, l1, l2, least, tol, max_iter, W):
    live = np.ones(len(W), bool)
    for _ in range(max_iter):
        ratio = data / np.maximum(means(indices, indptr, Ht, W)[1], least)
        below = size + l1 + l2 * W
        new = W * (sp.csr_array((ratio, indices, indptr), (len(W), len(Ht))) @ Ht) / below
        new = np.where(below > 0.0, new, 0.0)
        change = np.abs(new - W).max(axis=1, initial=0.0)
        W[live] = new[live]
        live &= change > tol * new.max(axis=1, initial=0.0)
        if not live.any():
            break


def ratios(data, indices, indptr, Ht, W, least, weight, out):
    row, mean = means(indices, indptr, Ht, W)
    out[:] = data / np.maximum(mean, least)
    return float(weight[row] @ np.where(data > 0.0, data * (np.log(out) - 1.0), 0.0))
