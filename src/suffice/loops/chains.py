"""Forward-backward and Viterbi recursions of chains of K states. Li ch. 10 and 11.

Potentials are not negative, and the largest of each step is one. The score of a path is the product of the
potentials of its states and transitions. Sequences are concatenated: s has the rows offset[s] to offset[s +
1]. Transitions are (1, K, K), the same at all steps, or (N, K, K), those into each step; those into the first
are not used.

Entries are addressed one by one: a view of a row in an inner loop costs as much as the row.
"""

from __future__ import annotations

import numpy as np

from .compiled import compiled

FEW = 64  # steps whose moves are added together
LEAST = 1e-300  # what is smaller has no reciprocal, and is summed by logarithms

jit = compiled(fastmath={"contract", "reassoc"})
inlined = compiled(inline="always", fastmath={"contract", "reassoc"})


@jit
def longest(offset):
    """Steps of the longest sequence."""
    most = 0
    for s in range(len(offset) - 1):
        most = max(most, offset[s + 1] - offset[s])
    return most


@jit
def lowered(U):
    """Each row less its largest entry, (N, K), and that, (N,): zero where there is none but -inf."""
    N, K = U.shape
    out, largest = np.empty((N, K)), np.empty(N)
    for n in range(N):
        most = -np.inf
        for k in range(K):
            most = max(most, U[n, k])
        most = most if most > -np.inf else 0.0
        for k in range(K):
            out[n, k] = U[n, k] - most
        largest[n] = most
    return out, largest


@inlined
def _times(left, row, moves, m, out):
    """out = a A, for the vector a = left[row] and the matrix A = moves[m]; four rows of it at a time touch
    `out` less often."""
    K = len(out)
    for j in range(K):
        out[j] = 0.0
    for i in range(0, K - K % 4, 4):
        a0, a1, a2, a3 = left[row, i], left[row, i + 1], left[row, i + 2], left[row, i + 3]
        for j in range(K):
            two = a0 * moves[m, i, j] + a1 * moves[m, i + 1, j]
            out[j] += two + (a2 * moves[m, i + 2, j] + a3 * moves[m, i + 3, j])
    for i in range(K - K % 4, K):
        a0 = left[row, i]
        for j in range(K):
            out[j] += a0 * moves[m, i, j]


@jit
def _filter(E, start, moves, first, end, alpha, at, scale, ahead):
    """One sequence: its filtered states into `alpha`, from the row `at` on, and scales; whether all could be
    held."""
    K = E.shape[1]
    each = len(moves) > 1
    share = 1.0  # what makes the step before sum to one is applied late: the next waits
    for n in range(first, end):
        here = at + n - first
        if n == first:
            for j in range(K):
                ahead[j] = start[j]
        else:
            _times(alpha, here - 1, moves, n if each else 0, ahead)
            for j in range(K):
                alpha[here - 1, j] *= share
        total = 0.0
        for j in range(K):
            joint = ahead[j] * E[n, j] * share
            alpha[here, j] = joint
            total += joint
        scale[n] = total
        if not total > LEAST:
            return False
        share = 1.0 / total
    if end > first:
        for j in range(K):
            alpha[at + end - 1 - first, j] *= share
    return True


@jit
def forward(E, start, moves, offset):
    """Filtered states and scales.

    alpha[n, k] is the probability of state k at step n given the steps up to n. The product of scale over the
    steps of a sequence is its partition function. Lost are sequences without a path, or whose paths
    underflow.
    """
    N, K = E.shape
    alpha, scale, ahead = np.zeros((N, K)), np.zeros(N), np.empty(K)
    lost = np.zeros(len(offset) - 1, np.bool_)
    for s in range(len(offset) - 1):
        first, end = offset[s], offset[s + 1]
        lost[s] = not _filter(E, start, moves, first, end, alpha, first, scale, ahead)
    return alpha, scale, lost


@jit
def _outer(left, right, count, out, m):
    """out[m, i, j] += sum_t left[t, i] right[t, j]; four steps at a time touch `out` less often."""
    K = left.shape[1]
    for t in range(count, (count + 3) // 4 * 4):
        for k in range(K):
            left[t, k] = 0.0
            right[t, k] = 0.0
    for i in range(K):
        for t in range(0, count, 4):
            a0, a1, a2, a3 = left[t, i], left[t + 1, i], left[t + 2, i], left[t + 3, i]
            for j in range(K):
                two = a0 * right[t, j] + a1 * right[t + 1, j]
                out[m, i, j] += two + (a2 * right[t + 2, j] + a3 * right[t + 3, j])


@jit
def smooth(E, start, moves, turned, offset, weight):
    """Marginals of states and transitions given all steps; `turned` are the transposed transitions.

    Returns gamma (N, K), times the weight of the sequence; the same of moves, summed over steps (1, K, K) or
    into each step (N, K, K); the scales, and which sequences are lost, as `forward` does; and which faded:
    floats could not hold what is asked of them. A sequence is filtered and smoothed while it is in the cache.
    """
    N, K = E.shape
    gamma, pairs, scale = np.zeros((N, K)), np.zeros(moves.shape), np.zeros(N)
    follow, left, right = np.empty(K), np.empty((FEW, K)), np.empty((FEW, K))
    lost, faded = np.zeros(len(offset) - 1, np.bool_), np.zeros(len(offset) - 1, np.bool_)
    alpha = np.empty((longest(offset), K))
    each = len(moves) > 1
    for s in range(len(offset) - 1):
        first, end, w = offset[s], offset[s + 1], weight[s]
        lost[s] = not _filter(E, start, moves, first, end, alpha, 0, scale, follow)
        if first == end or w == 0.0 or lost[s]:
            continue
        for k in range(K):
            follow[k] = 1.0
            gamma[end - 1, k] = w * alpha[end - 1 - first, k]
        count = 0
        for n in range(end - 1, first, -1):
            largest = 0.0
            for j in range(K):
                right[count, j] = follow[j] * E[n, j]
                largest = max(largest, right[count, j])
            if not 1e-50 < largest < 1e50:
                for j in range(K):
                    right[count, j] /= largest
            _times(right, count, turned, n if each else 0, follow)
            here, total = n - 1 - first, 0.0
            for i in range(K):
                total += alpha[here, i] * follow[i]
            if not LEAST < total < np.inf:
                faded[s] = True
                break
            share = w / total
            for i in range(K):
                left[count, i] = share * alpha[here, i]
                gamma[n - 1, i] = left[count, i] * follow[i]
            if each:
                _outer(left, right, 1, pairs, n)
            else:
                count += 1
                if count == FEW:
                    _outer(left, right, count, pairs, 0)
                    count = 0
        _outer(left, right, count, pairs, 0)
    return gamma, pairs * moves, scale, lost, faded


@jit
def best_path(U, start, moves, came, path):
    """Of one sequence: the best path into `path`, and its score. All are logarithms; `came` is to work in."""
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
def best_paths(U, start, moves, offset):
    """The states of the best path of each sequence, (N,), and its score, (S,). All are logarithms."""
    N, K = U.shape
    path, score = np.zeros(N, np.int64), np.zeros(len(offset) - 1)
    came = np.zeros((longest(offset), K), np.int64)
    each = len(moves) > 1
    for s in range(len(offset) - 1):
        first, end = offset[s], offset[s + 1]
        if first < end:
            into = moves[first:end] if each else moves
            score[s] = best_path(U[first:end], start, into, came, path[first:end])
    return path, score


@jit
def k_best_paths(U, start, moves, count):
    """The best `count` paths of one sequence by decreasing score, (count, N), and their scores; -inf if there
    are fewer. All are logarithms."""
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


@jit
def add_log_pairs(before, U, after, moves, total, weight, pairs):
    """Add the marginals of the transitions of one sequence, times the weight, to `pairs`: (1, K, K), or of
    each step.

    `before` and `after` are what `log_forward` and `log_backward` give, and `total` the log of all paths.
    """
    N, K = U.shape
    each = len(moves) > 1
    for n in range(1, N):
        m = n if each else 0
        for i in range(K):
            for j in range(K):
                share = before[n - 1, i] + moves[m, i, j] + (U[n, j] + after[n, j]) - total
                pairs[m, i, j] += weight * np.exp(share)
