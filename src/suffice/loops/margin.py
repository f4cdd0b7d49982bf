"""Training of chains one sequence at a time: perceptron, block-coordinate Frank-Wolfe, structured SMO.

Rows are CSR: data, indices, indptr. W is (D, K), T the scores of transitions (K, K). Sequences are
concatenated: s has the rows offset[s] to offset[s + 1]. They are visited in the given order, and W and T
change in place.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..core.blocks import csr_of
from .compiled import MOST_VISITS, compiled

jit = compiled(fastmath={"contract", "reassoc"})

LEAST = 1e-12  # a share from which something can be taken


@jit
def times_rows(data, indices, indptr, W, first, end, out):
    """out[n] = x W of the rows x from first to end; four entries at a time touch `out` less often."""
    K = W.shape[1]
    for n in range(first, end):
        at, begin, stop = n - first, indptr[n], indptr[n + 1]
        for k in range(K):
            out[at, k] = 0.0
        fours = stop - (stop - begin) % 4
        for p in range(begin, fours, 4):
            x0, x1, x2, x3 = data[p], data[p + 1], data[p + 2], data[p + 3]
            d0, d1, d2, d3 = indices[p], indices[p + 1], indices[p + 2], indices[p + 3]
            for k in range(K):
                out[at, k] += (x0 * W[d0, k] + x1 * W[d1, k]) + (x2 * W[d2, k] + x3 * W[d3, k])
        for p in range(fours, stop):
            x, d = data[p], indices[p]
            for k in range(K):
                out[at, k] += x * W[d, k]


@times_rows.small
def _(data, indices, indptr, W, first, end, out):
    part = slice(indptr[first], indptr[end])
    rows = csr_of(data[part], indices[part], indptr[first : end + 1] - indptr[first], (end - first, len(W)))
    out[: end - first] = rows @ W


@jit
def longest(offset):
    """Steps of the longest sequence."""
    most = 0
    for s in range(len(offset) - 1):
        most = max(most, offset[s + 1] - offset[s])
    return most


@compiled()
def best_path(U, start, moves, came, path):
    """The score of the best path of one sequence, which is written to `path`. Arguments are log potentials;
    `came` is scratch."""
    N, K = U.shape
    each = len(moves) > 1
    here, ahead = np.empty(K), np.empty(K)
    for k in range(K):
        here[k] = start[k] + U[0, k]
    for n in range(1, N):
        m = n if each else 0
        for j in range(K):
            ahead[j] = here[0] + moves[m, 0, j]
            came[n, j] = 0
        for i in range(1, K):
            h = here[i]
            for j in range(K):
                reached = h + moves[m, i, j]
                more = reached > ahead[j]
                ahead[j] = reached if more else ahead[j]
                came[n, j] = i if more else came[n, j]
        for j in range(K):
            here[j] = ahead[j] + U[n, j]
    best = 0
    for k in range(1, K):
        if here[k] > here[best]:
            best = k
    score = here[best]
    for n in range(N - 1, -1, -1):
        path[n] = best
        best = came[n, best]
    return score


@jit
def perceptron(data, indices, indptr, offset, codes, weight, order, W, T, late_W, late_T, visits):
    """One epoch: the features of the true path are added, those of the best path taken away.

    late_W and late_T sum each change times the visits before it, so that W - late_W / visits is the mean of W
    over all visits. Returns the number of wrong labels, and of visits.
    """
    size, K = longest(offset), len(T)
    U, came, path = np.empty((size, K)), np.zeros((size, K), np.int64), np.zeros(size, np.int64)
    start, into = np.zeros(K), T.reshape((1, K, K))
    wrong = 0
    for s in order:
        first, end = offset[s], offset[s + 1]
        if first == end:
            continue
        times_rows(data, indices, indptr, W, first, end, U)
        best_path(U[: end - first], start, into, came, path)
        w = weight[s]
        for n in range(first, end):
            y, z = codes[n], path[n - first]
            if y != z:
                wrong += 1
                for p in range(indptr[n], indptr[n + 1]):
                    d, change = indices[p], w * data[p]
                    W[d, y] += change
                    W[d, z] -= change
                    late_W[d, y] += visits * change
                    late_W[d, z] -= visits * change
            if n > first and (y != z or codes[n - 1] != path[n - 1 - first]):
                a, b = codes[n - 1], path[n - 1 - first]
                T[a, y] += w
                T[b, z] -= w
                late_T[a, y] += visits * w
                late_T[b, z] -= visits * w
        visits += 1
    return wrong, visits


@perceptron.small
def _(data, indices, indptr, offset, codes, weight, order, W, T, late_W, late_T, visits):
    N, (D, K) = len(codes), W.shape
    if N > MOST_VISITS or N * D > 64 * MOST_VISITS or K > 16:
        return NotImplemented
    X = csr_of(data, indices, indptr, (N, D)).toarray()
    spans, codes, moves, wrong = list(pairwise(offset.tolist())), codes.tolist(), T.T.tolist(), 0
    for s in order.tolist():
        first, end = spans[s]
        if first == end:
            continue
        w, path, before = weight[s], _best_path((X[first:end] @ W).tolist(), moves), -1
        mistaken = path != codes[first:end]
        for n, z in enumerate(path if mistaken else (), first):
            y = codes[n]
            if y != z:
                wrong += 1
                change = w * X[n]
                W[:, y] += change
                W[:, z] -= change
                late_W[:, y] += visits * change
                late_W[:, z] -= visits * change
            if n > first and (y != z or codes[n - 1] != before):
                T[codes[n - 1], y] += w
                T[before, z] -= w
                late_T[codes[n - 1], y] += visits * w
                late_T[before, z] -= visits * w
            before = z
        if mistaken:
            moves = T.T.tolist()
        visits += 1
    return wrong, visits


def _best_path(U, moves):
    """The best path of one sequence, from lists; `moves` are the transposed transitions."""
    here, came = U[0], []
    for scores in U[1:]:
        reached = [[h + a for h, a in zip(here, into, strict=True)] for into in moves]
        ahead = [max(scores_of) for scores_of in reached]
        came.append([scores_of.index(most) for scores_of, most in zip(reached, ahead, strict=True)])
        here = [a + u for a, u in zip(ahead, scores, strict=True)]
    path = [here.index(max(here))]
    for back in reversed(came):
        path.append(back[path[-1]])
    return path[::-1]


@jit
def frank_wolfe(data, indices, indptr, offset, codes, cost, scale, order, W, T, share, moves, level):
    """One pass of block-coordinate Frank-Wolfe: algorithm 4 of Lacoste-Julien et al. (2013).

    The corner of a sequence is a path. Its block of the dual is stored as the marginals of states (N, K) and
    of transitions, summed (S, K, K), with their cost (S,). Each visit moves the block towards the path that
    violates the margin most, by an exact line search.
    """
    size, K = longest(offset), len(T)
    U, A = np.empty((size, K)), np.empty((size, K))
    came, path = np.zeros((size, K), np.int64), np.zeros(size, np.int64)
    start, into = np.zeros(K), T.reshape((1, K, K))
    G, seen = np.zeros(W.shape), np.zeros(len(W), np.bool_)
    touched = np.empty(len(W), np.int64)
    to = np.empty((K, K))
    for s in order:
        first, end = offset[s], offset[s + 1]
        length, c = end - first, scale[s]
        if length == 0:
            continue
        times_rows(data, indices, indptr, W, first, end, U)
        for n in range(length):
            for k in range(K):
                A[n, k] = U[n, k] + cost[codes[first + n], k]
        best_path(A[:length], start, into, came, path)
        # A is now the direction, from the shares to the path.
        gain, square, paid, count = 0.0, 0.0, 0.0, 0
        for i in range(K):
            for j in range(K):
                to[i, j] = -moves[s, i, j]
        for n in range(length):
            paid += cost[codes[first + n], path[n]]
            for k in range(K):
                A[n, k] = -share[first + n, k]
            A[n, path[n]] += 1.0
            if n > 0:
                to[path[n - 1], path[n]] += 1.0
            far = False
            for k in range(K):
                gain += A[n, k] * U[n, k]
                far = far or A[n, k] != 0.0
            if far:
                for p in range(indptr[first + n], indptr[first + n + 1]):
                    d, x = indices[p], data[p]
                    if not seen[d]:
                        seen[d] = True
                        touched[count] = d
                        count += 1
                    for k in range(K):
                        G[d, k] += x * A[n, k]
        for i in range(K):
            for j in range(K):
                gain += to[i, j] * T[i, j]
                square += to[i, j] ** 2
        for m in range(count):
            for k in range(K):
                square += G[touched[m], k] ** 2
        gain += paid - level[s]
        step = 0.0
        if gain > 0.0:
            step = 1.0 if gain >= c * square else gain / (c * square)
        for m in range(count):
            d = touched[m]
            seen[d] = False
            for k in range(K):
                W[d, k] -= step * c * G[d, k]
                G[d, k] = 0.0
        for i in range(K):
            for j in range(K):
                T[i, j] -= step * c * to[i, j]
                moves[s, i, j] += step * to[i, j]
        level[s] += step * (paid - level[s])
        for n in range(length):
            for k in range(K):
                share[first + n, k] += step * A[n, k]


@jit
def smo(gram, offset, codes, cost, scale, order, U, T, share, moves, tries):
    """One pass of SMO in the factored dual: marginals of states (N, K) and of transitions into each step (N,
    K, K).

    A visit moves weight between two paths of a sequence, to the one that violates the margin most, from the
    one that does least among those that have weight, as far as is best: Taskar, Guestrin and Koller (2003),
    section 6. U (N, K) are the scores of the states of all steps, and change with the shares.
    """
    N, K = U.shape
    size = longest(offset)
    A, B, back = np.empty((size, K)), np.empty((size, K)), np.empty((size, K, K))
    came, to, away = np.zeros((size, K), np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    start, into, change = np.zeros(K), T.reshape((1, K, K)), np.empty((K, K))
    for s in order:
        first, end = offset[s], offset[s + 1]
        length, c = end - first, scale[s]
        for _ in range(tries if length > 0 else 0):
            for n in range(length):
                for k in range(K):
                    A[n, k] = U[first + n, k] + cost[codes[first + n], k]
                    B[n, k] = -A[n, k] if n > 0 or share[first, k] > LEAST else -np.inf
                    for j in range(K):
                        back[n, k, j] = -T[k, j] if moves[first + n, k, j] > LEAST else -np.inf
            gain = best_path(A[:length], start, into, came, to)
            gain += best_path(B[:length], start, back[:length], came, away)
            if gain <= 1e-14 * (abs(A[0, to[0]]) + 1.0):
                break
            most, square = 1.0, 0.0
            change[:] = 0.0
            for n in range(length):
                if n == 0 and to[0] != away[0]:
                    most = min(most, share[first, away[0]])
                if n > 0 and (to[n] != away[n] or to[n - 1] != away[n - 1]):
                    most = min(most, moves[first + n, away[n - 1], away[n]])
                    change[to[n - 1], to[n]] += 1.0
                    change[away[n - 1], away[n]] -= 1.0
                if to[n] != away[n]:
                    for m in range(length):
                        if to[m] != away[m]:
                            same = (to[n] == to[m]) * 1.0 + (away[n] == away[m]) * 1.0
                            same -= (to[n] == away[m]) * 1.0 + (away[n] == to[m]) * 1.0
                            square += same * gram[first + n, first + m]
            for i in range(K):
                for j in range(K):
                    square += change[i, j] ** 2
            step = most if gain >= most * c * square else gain / (c * square)
            for n in range(length):
                if n > 0 and (to[n] != away[n] or to[n - 1] != away[n - 1]):
                    moves[first + n, to[n - 1], to[n]] += step
                    _take(moves[first + n], away[n - 1], away[n], step)
                if to[n] != away[n]:
                    share[first + n, to[n]] += step
                    _take(share, first + n, away[n], step)
                    row = gram[first + n]
                    for m in range(N):
                        U[m, to[n]] -= step * c * row[m]
                        U[m, away[n]] += step * c * row[m]
            for i in range(K):
                for j in range(K):
                    T[i, j] -= step * c * change[i, j]


@jit
def _take(shares, i, j, step):
    """What rounding leaves is nothing."""
    left = shares[i, j] - step
    shares[i, j] = left if left > 1e-16 else 0.0
