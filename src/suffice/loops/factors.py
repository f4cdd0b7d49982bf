"""Non-negative factors: updates of their rows."""

from __future__ import annotations

import numpy as np

from ..core.blocks import csr_of
from .compiled import compiled

jit = compiled(fastmath={"contract", "reassoc"})

# Rows that are improved together, an operation on all of them at a time.
TILE = 16


@jit
def coordinate_sweeps(F, gram, cross, order, weight, tol, most):
    """Minimize f gram f' / 2 - cross f' over each row f of F, not negative, one coordinate after the other.

    In place. A row is done when the sum of its projected gradient in a sweep is at most `tol` times that of
    the first, or after the maximum number of sweeps. Returns the weighted sum over rows of that of the first
    sweep.
    """
    N, K = F.shape
    f, c = np.empty((K, TILE)), np.empty((K, TILE))
    slope, seen, first = np.empty(TILE), np.empty(TILE), np.empty(TILE)
    live = np.empty(TILE, np.bool_)
    fours = K - K % 4
    total = 0.0
    for start in range(0, N, TILE):
        m = min(TILE, N - start)
        for k in range(K):
            for j in range(m):
                f[k, j] = F[start + j, k]
                c[k, j] = cross[start + j, k]
            for j in range(m, TILE):
                f[k, j] = 0.0
                c[k, j] = 0.0
        for j in range(TILE):
            live[j] = True
        for sweep in range(most):
            for j in range(TILE):
                seen[j] = 0.0
            for s in range(K):
                t = order[s]
                for j in range(TILE):
                    slope[j] = -c[t, j]
                for r in range(0, fours, 4):
                    a0, a1, a2, a3 = gram[t, r], gram[t, r + 1], gram[t, r + 2], gram[t, r + 3]
                    for j in range(TILE):
                        slope[j] += (a0 * f[r, j] + a1 * f[r + 1, j]) + (a2 * f[r + 2, j] + a3 * f[r + 3, j])
                for r in range(fours, K):
                    a0 = gram[t, r]
                    for j in range(TILE):
                        slope[j] += a0 * f[r, j]
                curve = gram[t, t]
                step = 1.0 / curve if curve > 0.0 else 0.0
                for j in range(TILE):
                    old = f[t, j]
                    open_slope = slope[j] if old > 0.0 else min(slope[j], 0.0)
                    seen[j] += abs(open_slope)
                    new = max(old - step * slope[j], 0.0)
                    f[t, j] = new if live[j] else old
            going = False
            for j in range(m):
                if sweep == 0:
                    first[j] = seen[j]
                    total += weight[start + j] * seen[j]
                live[j] = live[j] and seen[j] > tol * first[j]
                going = going or live[j]
            if not going:
                break
        for k in range(K):
            for j in range(m):
                F[start + j, k] = f[k, j]
    return total


@coordinate_sweeps.small
def _(F, gram, cross, order, weight, tol, most):
    total, live, first = 0.0, np.arange(len(F)), np.zeros(len(F))
    for sweep in range(most):
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


@jit
def divergence_updates(data, indices, indptr, Ht, size, l1, l2, least, tol, most, W):
    """Multiplicative updates of the rows of W, in place: less divergence of X from W H.

    `size` has the sums of the columns of Ht. A row is done when no entry changes by more than `tol` of the
    largest, or after the maximum number of updates.
    """
    K = Ht.shape[1]
    share = np.empty(K)
    for n in range(len(indptr) - 1):
        for _ in range(most):
            for k in range(K):
                share[k] = 0.0
            for p in range(indptr[n], indptr[n + 1]):
                d = indices[p]
                mean = 0.0
                for k in range(K):
                    mean += W[n, k] * Ht[d, k]
                ratio = data[p] / max(mean, least)
                for k in range(K):
                    share[k] += ratio * Ht[d, k]
            change, largest = 0.0, 0.0
            for k in range(K):
                old = W[n, k]
                below = size[k] + l1 + l2 * old
                new = old * share[k] / below if below > 0.0 else 0.0
                change = max(change, abs(new - old))
                largest = max(largest, new)
                W[n, k] = new
            if change <= tol * largest:
                break


@divergence_updates.small
def _(data, indices, indptr, Ht, size, l1, l2, least, tol, most, W):
    row, live = np.repeat(np.arange(len(W)), np.diff(indptr)), np.ones(len(W), np.bool_)
    for _ in range(most):
        ratio = data / np.maximum(np.einsum("pk,pk->p", W[row], Ht[indices]), least)
        below = size + l1 + l2 * W
        new = W * (csr_of(ratio, indices, indptr, (len(W), len(Ht))) @ Ht) / below
        new = np.where(below > 0.0, new, 0.0)
        change = np.abs(new - W).max(axis=1, initial=0.0)
        W[live] = new[live]
        live &= change > tol * new.max(axis=1, initial=0.0)
        if not live.any():
            break


@jit
def ratios(data, indices, indptr, Ht, W, least, weight, out):
    """Where X is not zero, X / W H, into `out`; and the sum of weight (x log(x / wh) - x)."""
    K = Ht.shape[1]
    total = 0.0
    for n in range(len(indptr) - 1):
        row = 0.0
        for p in range(indptr[n], indptr[n + 1]):
            x, d = data[p], indices[p]
            mean = 0.0
            for k in range(K):
                mean += W[n, k] * Ht[d, k]
            ratio = x / max(mean, least)
            out[p] = ratio
            if x > 0.0:
                row += x * (np.log(ratio) - 1.0)
        total += weight[n] * row
    return total


@ratios.small
def _(data, indices, indptr, Ht, W, least, weight, out):
    row = np.repeat(np.arange(len(W)), np.diff(indptr))
    out[:] = data / np.maximum(np.einsum("pk,pk->p", W[row], Ht[indices]), least)
    return float(weight[row] @ np.where(data > 0.0, data * (np.log(out) - 1.0), 0.0))
