"""Arguments for the loops of native/graph.hpp."""

import numpy as np

FIRST, SHIFT = 100, 2


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    nodes = 4 * D
    weight, none = rng.random(N), np.empty(0)
    sent = rng.random(nodes)
    sent[rng.random(nodes) < 0.1] = np.nan
    for index in (np.int32, np.int64):
        source = rng.integers(0, nodes, N).astype(index)
        target = rng.integers(FIRST, FIRST + nodes, N).astype(index)
        yield "count", (target, FIRST, SHIFT, rng.integers(0, 9, D))
        yield "renumber", (rng.permutation(nodes).astype(index), source)
        sizes = np.bincount((target - FIRST) >> SHIFT, minlength=D)
        at = np.cumsum(sizes) - sizes
        offset = np.zeros(nodes + 1, np.int64)
        offset[0] = K
        for w in (none, weight):
            room = np.zeros(len(w))
            to = np.zeros(N, index), np.zeros(N, index), room
            yield "spread", (source, target, w, FIRST, SHIFT, at, *to)
            to_weight = np.zeros(N + K) if len(w) else none
            yield "place", (source, target, w, FIRST, K, offset, np.zeros(N + K, index), to_weight)
        indptr = np.concatenate([[0], np.sort(rng.integers(0, N + 1, nodes - 1)), [N]])
        for bounds in ((0, nodes), (1, nodes - 1), (2, 2)):
            yield "mass", (indptr, source, sent, *bounds, np.zeros(nodes))
            yield "weighted_mass", (indptr, source, weight, sent, *bounds, np.zeros(nodes))
        order = np.concatenate([[0], 1 + rng.permutation(nodes - 1)]).astype(index)
        before = np.full(nodes, -9999, index)
        for i in range(1, nodes):
            before[order[i]] = order[rng.integers(0, i)]
        yield "depths", (order, before, rng.integers(1, 3, nodes), np.zeros(nodes, np.int64))
