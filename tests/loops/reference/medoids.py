"""The loops of native/medoids.hpp in NumPy."""

import numpy as np


def assign(M, weight, near, first, second, removal):
    near[:] = M.argmin(axis=0)
    first[:], second[:] = np.sort(np.vstack([M, np.full(M.shape[1], np.inf)]), axis=0)[:2]
    removal[:] = np.bincount(near, weight * (second - first), len(M)) if len(M) > 1 else 0.0


def swap_block(D, start, since, weight, medoid, M, near, first, second, removal):
    K, N = M.shape
    for c, d in enumerate(D, start):
        if since >= N:
            break
        since += 1
        if c in medoid:
            continue
        loss = [weight @ np.vstack([np.delete(M, k, axis=0), d]).min(axis=0) for k in range(K)]
        best, total = int(np.argmin(loss)), weight @ M.min(axis=0)
        if loss[best] - total < -1e-12 * (total + removal[best]):
            medoid[best], M[best], since = c, d, 0
            assign(M, weight, near, first, second, removal)
    return since
