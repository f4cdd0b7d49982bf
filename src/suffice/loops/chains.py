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
MOST_NUMPY = 1 << 18  # numbers of a matrix for each step, (N, K, K), up to which NumPy multiplies them

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


@lowered.small
def _(U):
    largest = U.max(axis=1, initial=-np.inf)
    largest = np.where(largest > -np.inf, largest, 0.0)
    return U - largest[:, None], largest


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


@forward.small
def _forward(E, start, moves, offset):
    N, K = E.shape
    if N * K * K > MOST_NUMPY:
        return NotImplemented
    first = np.zeros(N, np.bool_)
    first[offset[:-1][offset[1:] > offset[:-1]]] = True
    M = moves * E[:, None, :]
    before = np.roll(_carried(M, start * E, first), 1, axis=0)
    joint = np.where(first[:, None], start * E, np.einsum("ni,nij->nj", before, M))
    scale = joint.sum(axis=1)
    good = scale > LEAST
    lost = np.bincount(np.repeat(np.arange(len(offset) - 1), np.diff(offset)), ~good, len(offset) - 1) > 0
    return joint / np.where(good, scale, 1.0)[:, None], scale, lost


def _carried(M, V, first):
    """Vectors x[n] = x[n - 1] M[n], each divided by its sum; where a sequence has its first step, V[n].

    Many short sequences are computed from step to step, side by side. Of long ones, runs of steps are
    multiplied side by side, from every state that they could begin in: about as many runs as each has steps.
    Rows of the products are divided by their sums, whose logarithms are added up.
    """
    N, K = V.shape
    length = max(1, int(np.sqrt(N)))
    first_rows = np.flatnonzero(first)
    lengths = np.diff(np.append(first_rows, N))
    if lengths.max(initial=0) <= 2 * length:
        out, x = np.empty((N, K)), V
        for n, at in enumerate(_side_by_side(first_rows, lengths)):
            x = V[at] if n == 0 else (x[: len(at), None] @ M[at])[:, 0]
            total = x.sum(axis=1, keepdims=True)
            x = x / np.where(total > 0.0, total, 1.0)
            out[at] = x
        return out
    runs = -(-N // length)
    pad = runs * length - N
    M = np.concatenate([M, np.zeros((pad, K, K))]).reshape(runs, length, K, K)
    V = np.concatenate([V, np.zeros((pad, K))]).reshape(runs, length, 1, K)
    first = np.concatenate([first, np.zeros(pad, np.bool_)]).reshape(runs, length)
    product, log_sum = np.broadcast_to(np.eye(K), (runs, K, K)), np.zeros((runs, K))
    products, log_sums = np.empty((runs, length, K, K)), np.empty((runs, length, K))
    for n in range(length):
        product, new = product @ M[:, n], first[:, n]
        product[new], log_sum[new] = V[new, n], 0.0
        total = product.sum(axis=2)
        product = product / np.where(total > 0.0, total, 1.0)[:, :, None]
        log_sum = log_sum + np.log(total)
        products[:, n], log_sums[:, n] = product, log_sum
    began = np.logical_or.accumulate(first, axis=1)  # from there on, all rows of a product are alike
    log_sums[began] = np.where(np.arange(K) > 0, -np.inf, 0.0)
    x, starts = np.zeros(K), np.empty((runs, K))
    for r in range(runs):
        starts[r] = x
        x = _mixed(np.where(began[r, -1], 0.0, np.log(x)) + log_sums[r, -1], products[r, -1])
    log_start = np.where(began[:, :, None], 0.0, np.log(starts)[:, None])
    return _mixed(log_start + log_sums, products).reshape(-1, K)[:N]


def _side_by_side(starts, lengths):
    """The rows of the first steps of all sequences, the longest first; of their second steps; and so on."""
    order = np.argsort(-lengths, kind="stable")
    starts, steps = starts[order], np.arange(lengths.max(initial=0))
    active = np.searchsorted(-lengths[order], -steps, side="left").tolist()
    return (starts[:count] + n for n, count in enumerate(active))


def _mixed(log_share, rows):
    """The sum of rows (..., K, K), each times its share, divided by the sum of that; zero without a share."""
    most = log_share.max(axis=-1, keepdims=True)
    share = np.exp(log_share - np.where(most > -np.inf, most, 0.0))
    x = (share[..., None, :] @ rows)[..., 0, :]
    total = x.sum(axis=-1, keepdims=True)
    return x / np.where(total > 0.0, total, 1.0)


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
            count += 1
            if each or count == FEW or n == first + 1:
                _outer(left, right, count, pairs, n if each else 0)
                count = 0
    for n in range(len(moves)):
        for i in range(K):
            for j in range(K):
                pairs[n, i, j] *= moves[n, i, j]
    return gamma, pairs, scale, lost, faded


@smooth.small
def _(E, start, moves, turned, offset, weight):
    N, K = E.shape
    if N * K * K > MOST_NUMPY:
        return NotImplemented
    alpha, scale, lost = _forward(E, start, moves, offset)
    filled = offset[1:] > offset[:-1]
    last, later = np.zeros(N, np.bool_), np.ones(N, np.bool_)
    last[offset[1:][filled] - 1], later[offset[:-1][filled]] = True, False
    M = turned * E[:, :, None]  # into step n, from right to left
    after = _carried(np.roll(M, -1, axis=0)[::-1], np.ones((N, K)), last[::-1])[::-1]
    which = np.repeat(np.arange(len(offset) - 1), np.diff(offset))
    gamma = alpha * after
    total = gamma.sum(axis=1)
    faded = np.bincount(which, ~(total > LEAST), len(offset) - 1) > 0
    faded &= ~lost & (weight != 0.0)
    w = np.where(lost | faded, 0.0, weight)[which]
    gamma *= (w / np.where(w > 0.0, total, 1.0))[:, None]
    n = np.flatnonzero(later)
    left, right = alpha[n - 1], E[n] * after[n]
    into = moves[n] if len(moves) > 1 else moves
    total = np.einsum("ni,nij,nj->n", left, np.broadcast_to(into, (len(n), K, K)), right)
    left = left * (w[n] / np.where(w[n] > 0.0, total, 1.0))[:, None]
    pairs = np.zeros(moves.shape)
    if len(moves) > 1:
        pairs[n] = left[:, :, None] * right[:, None, :] * into
    else:
        pairs += left.T @ right * into
    return gamma, pairs, scale, lost, faded


@compiled()
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


@compiled()
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


@best_paths.small_exact
def _(U, start, moves, offset):
    lengths, K = np.diff(offset), U.shape[1]
    if len(lengths) == 1 and len(U):
        path, score = _best_path(U, start, moves)
        return path, np.array([score])
    path, score = np.zeros(len(U), np.int64), np.zeros(len(lengths))
    if lengths.max(initial=0) > 4096:
        return NotImplemented
    came, here, steps = [], np.empty((0, K)), list(_side_by_side(offset[:-1], lengths))
    order = np.argsort(-lengths, kind="stable")
    for n, at in enumerate(steps):
        if n == 0:
            here = start + U[at]
        else:
            reached = here[: len(at), :, None] + (moves[at] if len(moves) > 1 else moves)
            came.append(reached.argmax(axis=1))
            here = reached.max(axis=1) + U[at]
        stop = len(steps[n + 1]) if n + 1 < len(steps) else 0
        score[order[stop : len(at)]] = here[stop:].max(axis=1)
        path[at[stop:]] = here[stop:].argmax(axis=1)
    for n in range(len(steps) - 1, 0, -1):
        path[steps[n] - 1] = came[n - 1][np.arange(len(steps[n])), path[steps[n]]]
    return path, score


def _best_path(U, start, moves):
    """`best_path` of one sequence."""
    into, here, came, states = moves.transpose(0, 2, 1).copy(), start + U[0], [], np.arange(U.shape[1])
    for n in range(1, len(U)):
        reached = into[n if len(into) > 1 else 0] + here
        came.append(reached.argmax(axis=1))
        here = reached[states, came[-1]] + U[n]
    best = [int(here.argmax())]
    for before in reversed(came):
        best.append(int(before[best[-1]]))
    return np.array(best[::-1]), here.max()


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
