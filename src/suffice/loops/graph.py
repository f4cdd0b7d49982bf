"""Links sorted by target, and what flows along them."""

from __future__ import annotations

from numba import njit

jit = njit(nogil=True, cache=True, fastmath={"contract", "reassoc"}, error_model="numpy")


@jit
def place(source, target, first, end, at, out):
    """Write sources where the next link of their target is, for targets from first to end; `at` moves on."""
    for e in range(len(target)):
        t = target[e]
        if first <= t < end:
            p = at[t]
            out[p] = source[e]
            at[t] = p + 1


@jit
def place_weighted(source, target, weight, first, end, at, out, out_weight):
    """As `place`, with the weights of the links."""
    for e in range(len(target)):
        t = target[e]
        if first <= t < end:
            p = at[t]
            out[p] = source[e]
            out_weight[p] = weight[e]
            at[t] = p + 1


@jit
def mass(indptr, source, sent, first, end, out):
    """out[t] = the sum of sent[s] over the links s -> t, for targets from first to end."""
    for t in range(first, end):
        total = 0.0
        for p in range(indptr[t], indptr[t + 1]):
            total += sent[source[p]]
        out[t] = total


@jit
def weighted_mass(indptr, source, weight, sent, first, end, out):
    """out[t] = the sum of weight sent[s] over the links s -> t, for targets from first to end."""
    for t in range(first, end):
        total = 0.0
        for p in range(indptr[t], indptr[t + 1]):
            total += weight[p] * sent[source[p]]
        out[t] = total


@jit
def depths(order, before, length, out):
    """Steps from the first node along the tree of a search, of which a step to node n takes length[n]."""
    for i in range(1, len(order)):
        n = order[i]
        out[n] = out[before[n]] + length[n]
