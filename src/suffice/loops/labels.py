"""Known paths: their scores, and their counts."""

from __future__ import annotations

from .compiled import compiled

jit = compiled()


@jit
def observe(codes, offset, weight, U, moves, states, pairs):
    """The weighted sum of the log scores of paths; and their weights are added to the places they go through.

    The places are those of `states` (N, K) and of `pairs`: (1, K, K), or into each step (N, K, K); U and
    moves are log potentials, of the same shapes.
    """
    total = 0.0
    each, apart = len(moves) > 1, len(pairs) > 1
    for s in range(len(offset) - 1):
        w = weight[s]
        for n in range(offset[s], offset[s + 1]):
            k = codes[n]
            states[n, k] += w
            total += w * U[n, k]
            if n > offset[s]:
                before = codes[n - 1]
                pairs[n if apart else 0, before, k] += w
                total += w * moves[n if each else 0, before, k]
    return total
