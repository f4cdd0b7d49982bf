"""Links sorted by target, and the flow along them. Sums are in the order of the links, to the bit."""

from __future__ import annotations

import numpy as np

from .compiled import compiled

# Without leave to reorder: the same bits on every machine. Numbers of nodes are not negative, and said to be
# so, which spares a comparison for each link.
jit = compiled()


@jit
def count(node, first, shift, out):
    """Add to out[n] how often nodes occur that are first + n, shifted by some bits."""
    for e in range(len(node)):
        out[np.uintp((node[e] - first) >> shift)] += 1


@count.small
def _(node, first, shift, out):
    np.add.at(out, (node - first) >> shift, 1)


@jit
def spread(source, target, weight, first, shift, at, to_source, to_target, to_weight):
    """Write links where the next of their bucket is, which is some high bits of the target; `at` moves on."""
    for e in range(len(target)):
        bucket = np.uintp((target[e] - first) >> shift)
        p = np.uintp(at[bucket])
        to_source[p] = source[e]
        to_target[p] = target[e]
        if len(weight):
            to_weight[p] = weight[e]
        at[bucket] += 1


@spread.small
def _(source, target, weight, first, shift, at, to_source, to_target, to_weight):
    bucket = ((target - first) >> shift).astype(np.intp)
    order, count = np.argsort(bucket, kind="stable"), np.bincount(bucket, minlength=len(at))
    p = np.arange(len(order)) + np.repeat(at - (np.cumsum(count) - count), count)
    to_source[p], to_target[p] = source[order], target[order]
    if len(weight):
        to_weight[p] = weight[order]
    at += count


@jit
def place(source, target, weight, first, begin, offset, to_source, to_weight):
    """Sort the links of a bucket by target: where those to node first + n end is then offset[n + 1].

    `begin` is the place of the first link of the bucket, and `offset` begins with it.
    """
    at = np.zeros(len(offset), np.int64)
    for e in range(len(target)):
        at[np.uintp(target[e] - first + 1)] += 1
    at[0] = begin
    for n in range(1, len(at)):
        at[n] += at[n - 1]
        offset[n] = at[n]
    for e in range(len(target)):
        t = np.uintp(target[e] - first)
        p = np.uintp(at[t])
        to_source[p] = source[e]
        if len(weight):
            to_weight[p] = weight[e]
        at[t] += 1


@place.small
def _(source, target, weight, first, begin, offset, to_source, to_weight):
    order = np.argsort(target, kind="stable")
    offset[1:] = begin + np.cumsum(np.bincount((target - first).astype(np.intp), minlength=len(offset) - 1))
    to_source[begin : begin + len(order)] = source[order]
    if len(weight):
        to_weight[begin : begin + len(order)] = weight[order]


@jit
def renumber(number, node):
    """node = number[node], in place."""
    for e in range(len(node)):
        node[e] = number[np.uintp(node[e])]


@renumber.small
def _(number, node):
    node[:] = number[node]


@jit
def mass(indptr, source, sent, first, end, out):
    """out[t] = the sum of sent[s] over the links s -> t, for targets from first to end."""
    for t in range(first, end):
        total = 0.0
        for p in range(indptr[t], indptr[t + 1]):
            total += sent[np.uintp(source[p])]
        out[t] = total


@mass.small
def _(indptr, source, sent, first, end, out):
    _flow(indptr, source, np.ones(indptr[end]), sent, first, end, out)


@jit
def weighted_mass(indptr, source, weight, sent, first, end, out):
    """out[t] = the sum of weight sent[s] over the links s -> t, for targets from first to end."""
    for t in range(first, end):
        total = 0.0
        for p in range(indptr[t], indptr[t + 1]):
            total += weight[p] * sent[np.uintp(source[p])]
        out[t] = total


@weighted_mass.small
def _flow(indptr, source, weight, sent, first, end, out):
    part = slice(indptr[first], indptr[end])
    target = np.repeat(np.arange(end - first), np.diff(indptr[first : end + 1]))
    out[first:end] = np.bincount(target, weight[part] * sent[source[part]], end - first)


@jit
def depths(order, before, length, out):
    """Steps from the first node along the tree of a search, of which a step to node n takes length[n]."""
    for i in range(1, len(order)):
        n = order[i]
        out[n] = out[before[n]] + length[n]


depths.small(depths.py_func)
