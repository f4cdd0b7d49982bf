"""Arguments for the loops of native/chains.hpp."""

import numpy as np


def cases(N, D, K):
    """K states; D sequences are empty, and as many have no path."""
    rng = np.random.default_rng((N, D, K))
    cuts = np.concatenate([rng.integers(0, N + 1, max(1, N // 5)), rng.integers(0, N + 1, 1).repeat(D)])
    offset = np.concatenate([[0], np.sort(cuts), [N]])
    S = len(offset) - 1
    weight = np.where(rng.random(S) < 0.2, 0.0, rng.uniform(size=S))
    for kind in "plain", "forbidden", "ties":
        U, start = rng.normal(size=(N, K)), rng.normal(size=K)
        for each in False, True:
            moves = rng.normal(size=(N if each else 1, K, K))
            if kind == "forbidden":
                U = np.where(rng.random(U.shape) < 0.1, -np.inf, U)
                moves = np.where(rng.random(moves.shape) < 0.1, -np.inf, moves)
            elif kind == "ties":
                U, start, moves = (np.floor(a) for a in (U, start, moves))
            E, turned = np.exp(U - 1.0), np.ascontiguousarray(np.exp(moves - 1.0).transpose(0, 2, 1))
            products = E, np.exp(start), np.exp(moves - 1.0)
            yield "exp_below_largest", (U,)
            yield "forward", (*products, offset)
            yield "smooth", (*products, turned, offset, weight)
            yield "best_paths", (U, start, moves, offset)
            if kind == "plain":
                few = slice(0, min(N, 12))
                yield "k_best_paths", (U[few], start, moves[few], 3)
            yield "log_forward", (U, start, moves, offset)
            yield "log_backward", (U, moves, offset)
            before, after = rng.normal(size=(2, N, K))
            yield "add_log_pairs", (before, U, after, moves, 2.0, 0.5, rng.uniform(size=moves.shape))
