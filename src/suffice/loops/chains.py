"""Chains of K states: sums and maxima over all paths. Li ch. 10 (forward, backward, Viterbi) and ch. 11.

Potentials are not negative, and the largest of each step is one: a path scores the product of the potentials
of its states and of its moves. Sequences stand one after the other, s from offset[s] to offset[s + 1]. Moves
are (1, K, K), the same at all steps, or (N, K, K), those into each step; those into the first are not used.
"""

from __future__ import annotations

import numpy as np
from numba import njit

jit = njit(nogil=True, cache=True, fastmath={"contract", "reassoc"}, error_model="numpy")


@jit
def forward(E, start, moves, offset):
    """Filtered states and scales.

    alpha[n, k] is the share of state k at step n given the steps up to n; the product of scale over the steps
    of a sequence is the sum over its paths. A scale of zero: no path is left, or none that floats can hold.
    """
    N, K = E.shape
    alpha, scale, ahead = np.zeros((N, K)), np.zeros(N), np.empty(K)
    each = len(moves) > 1
    for s in range(len(offset) - 1):
        for n in range(offset[s], offset[s + 1]):
            if n == offset[s]:
                ahead[:] = start
            else:
                A, before = moves[n if each else 0], alpha[n - 1]
                ahead[:] = 0.0
                for i in range(K):
                    a, row = before[i], A[i]
                    for j in range(K):
                        ahead[j] += a * row[j]
            here, e, total = alpha[n], E[n], 0.0
            for j in range(K):
                here[j] = ahead[j] * e[j]
                total += here[j]
            scale[n] = total
            if total <= 0.0:
                break
            for j in range(K):
                here[j] /= total
    return alpha, scale


@jit
def smooth(E, moves, offset, weight, alpha):
    """States and moves given all steps, from the filtered states.

    Returns gamma (N, K), times the weight of the sequence; and the same of moves, summed over steps (1, K, K)
    or into each step (N, K, K). What could not be held is zero.
    """
    N, K = E.shape
    gamma, pairs = np.zeros((N, K)), np.zeros(moves.shape)
    after, follow = np.empty(K), np.empty(K)
    each = len(moves) > 1
    for s in range(len(offset) - 1):
        first, end, w = offset[s], offset[s + 1], weight[s]
        if first == end:
            continue
        for k in range(K):
            after[k] = 1.0
            gamma[end - 1, k] = w * alpha[end - 1, k]
        for n in range(end - 2, first - 1, -1):
            A, e, here = moves[n + 1 if each else 0], E[n + 1], alpha[n]
            largest = 0.0
            for j in range(K):
                after[j] *= e[j]
                largest = max(largest, after[j])
            if largest <= 0.0:
                break
            for j in range(K):
                after[j] /= largest
            total = 0.0
            for i in range(K):
                row, dot = A[i], 0.0
                for j in range(K):
                    dot += row[j] * after[j]
                follow[i] = dot
                total += dot * here[i]
            if total <= 0.0:
                break
            share = w / total
            out = pairs[n + 1 if each else 0]
            for i in range(K):
                a = share * here[i]
                gamma[n, i] = a * follow[i]
                row = out[i]
                for j in range(K):
                    row[j] += a * after[j]
            for i in range(K):
                after[i] = follow[i]
    for m in range(len(moves)):
        for i in range(K):
            for j in range(K):
                pairs[m, i, j] *= moves[m, i, j]
    return gamma, pairs


@jit
def best_paths(U, start, moves, offset):
    """The states of the best path of each sequence, (N,), and its score, (S,). All are logarithms."""
    N, K = U.shape
    path, score = np.zeros(N, np.int64), np.zeros(len(offset) - 1)
    came = np.zeros((N, K), np.int64)
    here, ahead = np.empty(K), np.empty(K)
    each = len(moves) > 1
    for s in range(len(offset) - 1):
        first, end = offset[s], offset[s + 1]
        if first == end:
            continue
        for k in range(K):
            here[k] = start[k] + U[first, k]
        for n in range(first + 1, end):
            A, u, back = moves[n if each else 0], U[n], came[n]
            row, h = A[0], here[0]
            for j in range(K):
                ahead[j] = h + row[j]
                back[j] = 0
            for i in range(1, K):
                row, h = A[i], here[i]
                for j in range(K):
                    more = h + row[j] > ahead[j]
                    ahead[j] = h + row[j] if more else ahead[j]
                    back[j] = i if more else back[j]
            for j in range(K):
                here[j] = ahead[j] + u[j]
        best = 0
        for k in range(1, K):
            if here[k] > here[best]:
                best = k
        score[s] = here[best]
        for n in range(end - 1, first - 1, -1):
            path[n] = best
            best = came[n, best]
    return path, score


@jit
def k_best_paths(U, start, moves, count):
    """Of one sequence: the best `count` paths in falling order, (count, N), and their scores; where there are
    fewer, -inf. All are logarithms."""
    N, K = U.shape
    each = len(moves) > 1
    score = np.full((N, K, count), -np.inf)
    state = np.zeros((N, K, count), np.int64)
    rank = np.zeros((N, K, count), np.int64)
    for n in range(N):
        for j in range(K):
            if n == 0:
                score[0, j, 0] = start[j] + U[0, j]
                continue
            A = moves[n if each else 0]
            taken = np.zeros(K, np.int64)  # how many of the paths to each state before are used
            for c in range(count):
                best, value = -1, -np.inf
                for i in range(K):
                    if taken[i] < count:
                        v = score[n - 1, i, taken[i]] + A[i, j]
                        if v > value:
                            best, value = i, v
                if best < 0:
                    break
                score[n, j, c] = value + U[n, j]
                state[n, j, c], rank[n, j, c] = best, taken[best]
                taken[best] += 1
    paths, scores = np.zeros((count, N), np.int64), np.full(count, -np.inf)
    taken = np.zeros(K, np.int64)
    for c in range(count):
        best, value = -1, -np.inf
        for i in range(K):
            if N > 0 and taken[i] < count and score[N - 1, i, taken[i]] > value:
                best, value = i, score[N - 1, i, taken[i]]
        if best < 0:
            break
        scores[c] = value
        k, r = best, taken[best]
        taken[best] += 1
        for n in range(N - 1, -1, -1):
            paths[c, n] = k
            k, r = state[n, k, r], rank[n, k, r]
    return paths, scores


@jit
def log_forward(U, start, moves, offset):
    """The log of the sum over the paths that end in state k at step n, (N, K), from logarithms."""
    N, K = U.shape
    out = np.full((N, K), -np.inf)
    each = len(moves) > 1
    for s in range(len(offset) - 1):
        for n in range(offset[s], offset[s + 1]):
            A = moves[n if each else 0]
            for j in range(K):
                if n == offset[s]:
                    out[n, j] = start[j] + U[n, j]
                    continue
                most = -np.inf
                for i in range(K):
                    most = max(most, out[n - 1, i] + A[i, j])
                if most > -np.inf:
                    total = 0.0
                    for i in range(K):
                        total += np.exp(out[n - 1, i] + A[i, j] - most)
                    out[n, j] = most + np.log(total) + U[n, j]
    return out


@jit
def log_backward(U, moves, offset):
    """The log of the sum over the paths that follow state k at step n, (N, K)."""
    N, K = U.shape
    out = np.full((N, K), -np.inf)
    each = len(moves) > 1
    for s in range(len(offset) - 1):
        for n in range(offset[s + 1] - 1, offset[s] - 1, -1):
            if n == offset[s + 1] - 1:
                out[n] = 0.0
                continue
            A = moves[n + 1 if each else 0]
            for i in range(K):
                most = -np.inf
                for j in range(K):
                    most = max(most, A[i, j] + U[n + 1, j] + out[n + 1, j])
                if most > -np.inf:
                    total = 0.0
                    for j in range(K):
                        total += np.exp(A[i, j] + U[n + 1, j] + out[n + 1, j] - most)
                    out[n, i] = most + np.log(total)
    return out
