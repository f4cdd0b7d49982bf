"""Swaps of medoids: FasterPAM, one block of candidates at a time.

Schubert and Rousseeuw, "Fast and eager k-medoids clustering", 2021, algorithm 3.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from .compiled import MOST_VISITS, compiled

jit = compiled(fastmath={"contract"})


@jit
def assign(M, weight, near, first, second, removal):
    """By row, the nearest medoid and the distances of the two nearest; by medoid, what its removal adds."""
    K, N = M.shape
    removal[:] = 0.0
    for n in range(N):
        k, a, b = 0, np.inf, np.inf
        for j in range(K):
            d = M[j, n]
            if d < a:
                k, a, b = j, d, a
            elif d < b:
                b = d
        near[n], first[n], second[n] = k, a, b
        if K > 1:
            removal[k] += weight[n] * (b - a)


@assign.small
def assign_in_numpy(M, weight, near, first, second, removal):
    near[:] = M.argmin(axis=0)
    if len(M) == 1:
        first[:], second[:], removal[:] = M[0], np.inf, 0.0
        return
    first[:], second[:] = np.partition(M, 1, axis=0)[:2]
    removal[:] = np.bincount(near, weight * (second - first), len(M))


@jit
def swap_block(D, start, since, weight, medoid, M, near, first, second, removal):
    """Visit candidates: each replaces the medoid with which the loss falls most, at once if it falls.

    D has the distances of the candidates from number `start` on to all rows, `since` is the number of
    candidates since the last swap. Returns that number after the block; N of them end the search.
    """
    K, N = M.shape
    change = np.empty(K)
    total = 0.0
    for n in range(N):
        total += weight[n] * first[n]
    for c in range(len(D)):
        if since >= N:
            break
        since += 1
        known = False
        for k in range(K):
            known |= medoid[k] == start + c
        if known:
            continue
        shared = 0.0
        change[:] = removal
        for n in range(N):
            d = D[c, n]
            if K == 1:
                shared += weight[n] * (d - first[n])
            elif d < first[n]:
                shared += weight[n] * (d - first[n])
                change[near[n]] += weight[n] * (first[n] - second[n])
            elif d < second[n]:
                change[near[n]] += weight[n] * (d - second[n])
        best = 0
        for k in range(1, K):
            if change[k] < change[best]:
                best = k
        if change[best] + shared < -1e-12 * total:
            total += change[best] + shared
            medoid[best] = start + c
            M[best] = D[c]
            assign(M, weight, near, first, second, removal)
            since = 0
    return since


@partial(swap_block.small, limit=1 << 24)
def _(D, start, since, weight, medoid, M, near, first, second, removal):
    K, N = M.shape
    if N > MOST_VISITS:
        return NotImplemented
    total = weight @ first
    for c, d in enumerate(D):
        if since >= N:
            break
        since += 1
        if start + c in medoid:
            continue
        if K == 1:
            change, shared = np.zeros(1), weight @ (d - first)
        else:
            closer = d < first
            shared = weight @ np.minimum(d - first, 0.0)
            gain = np.where(closer, first - second, np.minimum(d - second, 0.0))
            change = removal + np.bincount(near, weight * gain, K)
        best = int(change.argmin())
        if change[best] + shared < -1e-12 * total:
            total += change[best] + shared
            medoid[best] = start + c
            M[best] = d
            assign_in_numpy(M, weight, near, first, second, removal)
            since = 0
    return since
