"""Topic weights of documents by EM and Newton steps."""

from __future__ import annotations

import numpy as np

from .compiled import compiled

jit = compiled(fastmath={"contract", "reassoc"})

STEPS = 10  # of EM, before Newton's
MANY = 24  # topics, of which those that seem to vanish are left out at first
SMALL = 1e-10  # a weight that is none
NEWTON = 60  # steps at most
MOST_NUMPY = 1 << 17  # numbers of a dense matrix, documents by words, up to which NumPy multiplies it


@jit
def _step(data, indices, begin, stop, A, power, active, n_active, old, share, new):
    """One step of EM: new weights; and by which factor one grew most."""
    for j in range(n_active):
        k = active[j]
        share[k] = old[k] if power == 1.0 else old[k] ** power
        new[k] = 0.0
    for p in range(begin, stop):
        w = indices[p]
        s = 0.0
        for j in range(n_active):
            k = active[j]
            s += share[k] * A[w, k]
        if s > 0.0:
            r = data[p] / s
            for j in range(n_active):
                k = active[j]
                new[k] += r * A[w, k]
    total = 0.0
    for j in range(n_active):
        k = active[j]
        new[k] *= share[k]
        total += new[k]
    most = 0.0
    for j in range(n_active):
        k = active[j]
        new[k] = new[k] / total if total > 0.0 else old[k]
        if old[k] > 0.0:
            most = max(most, new[k] / old[k])
    return most


@jit
def _interior(data, indices, begin, stop, A, active, m, theta, t, z, g, B, H, tol):
    """Improve the weights of the m active topics to the best, by Newton's steps inside the bounds theta >= 0.

    The mean log-likelihood of a word less the sum of the weights has its maximum where they sum to one. There
    the slope g of what is lost is z >= 0 with theta z = 0. It rests when theta z sums to less than tol, which
    is then the most that is lost; whether it did. Of several best weights it finds those in the middle.
    """
    length, gap, off = 0.0, 0.0, 0.0
    n_words = stop - begin
    for p in range(n_words):
        w = indices[begin + p]
        most = 0.0
        for i in range(m):
            B[p, i] = A[w, active[i]]
            most = max(most, B[p, i])
        if most > 0.0:  # else the word is of no topic
            length += data[begin + p]
    for i in range(m):  # away from the bounds, and all products alike
        t[i] = max(theta[active[i]], 1e-3 / m)
        z[i] = 0.1 / (m * t[i])
    for _ in range(NEWTON):
        for i in range(m):
            g[i] = 1.0
            for j in range(i + 1):
                H[i, j] = 0.0
        for p in range(n_words):
            s = 0.0
            for i in range(m):
                s += t[i] * B[p, i]
            if s > 0.0:
                q = data[begin + p] / (length * s)
                for i in range(m):
                    a = q * B[p, i]
                    g[i] -= a
                    a /= s
                    for j in range(i + 1):
                        H[i, j] += a * B[p, j]
        gap, off = 0.0, 0.0
        for i in range(m):
            gap += t[i] * z[i]
            off = max(off, abs(g[i] - z[i]))
        if gap <= tol and off <= tol:
            break
        mu = 0.1 * gap / m
        for i in range(m):  # the root of H + z / theta
            H[i, i] += z[i] / t[i]
            for j in range(i + 1):
                s = H[i, j]
                for k in range(j):
                    s -= H[i, k] * H[j, k]
                H[i, j] = s / H[j, j] if j < i else np.sqrt(max(s, 1e-300))
        for i in range(m):
            s = mu / t[i] - g[i]
            for k in range(i):
                s -= H[i, k] * g[k]
            g[i] = s / H[i, i]
        for i in range(m - 1, -1, -1):
            s = g[i]
            for k in range(i + 1, m):
                s -= H[k, i] * g[k]
            g[i] = s / H[i, i]
        far = 1.0
        for i in range(m):
            e = (mu - z[i] * g[i]) / t[i] - z[i]
            if g[i] < 0.0:
                far = min(far, -0.95 * t[i] / g[i])
            if e < 0.0:
                far = min(far, -0.95 * z[i] / e)
        for i in range(m):
            z[i] += far * ((mu - z[i] * g[i]) / t[i] - z[i])
            t[i] += far * g[i]
    for i in range(m):
        theta[active[i]] = t[i]
    return gap <= tol and off <= tol


@jit
def fold_in(data, indices, indptr, A, power, max_iter, tol, theta):
    """Improve the topic weights theta (N, K) of documents, given what words weigh in topics, A (V, K).

    By steps of expectation maximization: the new weights are the expected shares of the topics, where that of
    a word is in proportion to theta^power A. Of power one, few of them, then steps of Newton's. It rests when
    no weight would grow by more than the factor 1 + tol.
    """
    K = A.shape[1]
    active, share = np.empty(K, np.int64), np.empty(K)
    a, b, z, g = np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    longest = 0
    for n in range(len(indptr) - 1):
        longest = max(longest, indptr[n + 1] - indptr[n])
    newton = power == 1.0 and max_iter > STEPS
    B, H = np.empty((longest if newton else 1, K)), np.empty((K if newton else 1, K))
    for n in range(len(indptr) - 1):
        begin, stop = indptr[n], indptr[n + 1]
        if begin == stop:
            continue
        m = 0
        for k in range(K):
            a[k] = theta[n, k]
            if a[k] > 0.0:
                active[m] = k
                m += 1
        rests = False
        steps = STEPS if newton else max_iter
        for _ in range(steps):
            most = _step(data, indices, begin, stop, A, power, active, m, a, share, b)
            for i in range(m):
                k = active[i]
                share[k] = b[k] / a[k] if a[k] > 0.0 else 0.0
                a[k] = b[k]
            rests = most <= 1.0 + tol
            if rests:
                break
        if newton and not rests:
            kept = 0
            for i in range(m):
                k = active[i]
                if a[k] == 0.0 or (m > MANY and a[k] < 0.1 / K and share[k] < 0.95):
                    a[k] = 0.0
                else:
                    active[kept] = k
                    kept += 1
            m = kept
            for _ in range(STEPS):
                if not _interior(data, indices, begin, stop, A, active, m, a, b, z, g, B, H, tol):
                    for _ in range(max_iter):
                        most = _step(data, indices, begin, stop, A, power, active, m, a, share, b)
                        for i in range(m):
                            a[active[i]] = b[active[i]]
                        if most <= 1.0 + tol:
                            break
                m = _growing(data, indices, begin, stop, A, tol, a, active, m, b)
                if m == 0:
                    break
        total = 0.0
        for k in range(K):
            if a[k] < SMALL and steps > 1:
                a[k] = 0.0
            total += a[k]
        for k in range(K):
            theta[n, k] = a[k] / total


@fold_in.small
def _(data, indices, indptr, A, power, max_iter, tol, theta):
    if len(theta) * len(A) > MOST_NUMPY:
        return NotImplemented
    X, some = _dense(data, indices, indptr, len(A)), np.flatnonzero(np.diff(indptr) > 0)
    newton = power == 1.0 and max_iter > STEPS
    live, growth = _em(X, A, power, STEPS if newton else max_iter, tol, theta, some)
    if newton and len(live):
        m, share, grown = (theta[live] > 0.0).sum(axis=1, keepdims=True), theta[live], growth[live]
        theta[live] = np.where((m > MANY) & (share < 0.1 / A.shape[1]) & (grown < 0.95), 0.0, share)
        active = theta > 0.0
        for _ in range(STEPS):
            rests = _interior_of_all(X[live], A, active[live], tol, theta, live)
            _em(X, A, power, max_iter, tol, theta, live[~rests])
            mean = theta[live] @ A.T
            length = np.where(mean > 0.0, X[live], 0.0).sum(axis=1, keepdims=True)
            more = np.where(mean > 0.0, X[live] / mean, 0.0) @ A > (1.0 + tol) * length
            more &= theta[live] == 0.0
            theta[live] = np.where(more, 1e-3, theta[live])
            active[live] |= more
            live = live[more.any(axis=1)]
            if not len(live):
                break
    if newton or max_iter > 1:
        theta[some] = np.where(theta[some] < SMALL, 0.0, theta[some])
    theta[some] /= theta[some].sum(axis=1, keepdims=True)


def _dense(data, indices, indptr, V):
    X = np.zeros((len(indptr) - 1, V))
    np.add.at(X, (np.repeat(np.arange(len(X)), np.diff(indptr)), indices), data)
    return X


def _em(X, A, power, steps, tol, theta, live):
    """Steps of EM of the documents `live`; those that do not rest, and the factors of the last step."""
    growth = np.zeros(theta.shape)
    for _ in range(steps if len(live) else 0):
        old = theta[live]
        share = old**power
        mean = share @ A.T
        new = share * (np.where(mean > 0.0, X[live] / mean, 0.0) @ A)
        total = new.sum(axis=1, keepdims=True)
        new = np.where(total > 0.0, new / total, old)
        growth[live] = np.where(old > 0.0, new / old, 0.0)
        theta[live] = new
        live = live[growth[live].max(axis=1) > 1.0 + tol]
        if not len(live):
            break
    return live, growth


def _interior_of_all(X, A, active, tol, theta, live):
    """`_interior` of several documents side by side, along the last axis; which of them rest. Topics that are
    not active have a weight of zero, and an equation of their own."""
    K = A.shape[1]
    X, active, diagonal = np.ascontiguousarray(X.T), np.ascontiguousarray(active.T), np.arange(K)
    m = active.sum(axis=0)
    length = np.where((A > 0.0) @ active, X, 0.0).sum(axis=0)
    t = np.where(active, np.maximum(theta[live].T, 1e-3 / m), 0.0)
    z = np.where(active, 0.1 / (m * t), 0.0)
    pairs, both = (A.T[:, None] * A.T).reshape(K * K, -1), active[:, None] & active
    rests = np.zeros(len(live), np.bool_)
    for _ in range(NEWTON):
        s = A @ t
        q = np.where(s > 0.0, X / (length * s), 0.0)
        g = np.where(active, 1.0 - A.T @ q, 0.0)
        gap = (t * z).sum(axis=0)
        rests = (gap <= tol) & (np.abs(g - z).max(axis=0) <= tol)
        if rests.all():
            break
        mu = 0.1 * gap / m
        H = np.where(both, (pairs @ np.where(s > 0.0, q / s, 0.0)).reshape(both.shape), 0.0)
        H[diagonal, diagonal] += np.where(active, z / t, 1.0)
        step = _solved(H, np.where(active, mu / t - g, 0.0))
        e = np.where(active, (mu - z * step) / t - z, 0.0)
        far = np.minimum(np.where(step < 0.0, -0.95 * t / step, 1.0), np.where(e < 0.0, -0.95 * z / e, 1.0))
        far = np.where(rests, 0.0, np.minimum(far.min(axis=0), 1.0))
        z += far * e
        t += far * step
    theta[live] = t.T
    return rests


def _solved(H, b):
    """The solutions of positive definite systems, (K, K, n) and (K, n): by elimination, without pivots."""
    rows = np.concatenate([H, b[:, None]], axis=1)
    for k in range(len(rows)):
        pivot = rows[k] / rows[k, k]
        rows -= rows[:, k, None] * pivot
        rows[k] = pivot
    return rows[:, -1]


@jit
def _growing(data, indices, begin, stop, A, tol, theta, active, m, to):
    """Give topics that were left out a little weight, if they would grow; how many are active then, or 0."""
    K = A.shape[1]
    length = 0.0
    for k in range(K):
        to[k] = 0.0
    for p in range(begin, stop):
        w = indices[p]
        s = 0.0
        for i in range(m):
            s += theta[active[i]] * A[w, active[i]]
        if s > 0.0:
            length += data[p]
            r = data[p] / s
            for k in range(K):
                to[k] += r * A[w, k]
    before = m
    for k in range(K):
        if theta[k] == 0.0 and to[k] > (1.0 + tol) * length:
            theta[k] = 1e-3
            active[m] = k
            m += 1
    return m if m > before else 0


@jit
def expect(data, indices, indptr, A, power, theta, weight, counts, log_sums):
    """Add the expected counts of words in topics to `counts` (V, K); and the log-likelihood of each document.

    That is log_sums[n], the sum of n log sum theta^power A. A word that no topic has makes it minus infinity.
    """
    K = A.shape[1]
    active, share = np.empty(K, np.int64), np.empty(K)
    for n in range(len(indptr) - 1):
        n_active = 0
        for k in range(K):
            if theta[n, k] > 0.0:
                share[k] = theta[n, k] if power == 1.0 else theta[n, k] ** power
                active[n_active] = k
                n_active += 1
        total = 0.0
        for p in range(indptr[n], indptr[n + 1]):
            w, x = indices[p], data[p]
            s = 0.0
            for j in range(n_active):
                k = active[j]
                s += share[k] * A[w, k]
            if x > 0.0:
                total += x * np.log(s)
            if s > 0.0 and weight[n] > 0.0:
                r = weight[n] * x / s
                for j in range(n_active):
                    k = active[j]
                    counts[w, k] += r * share[k] * A[w, k]
        log_sums[n] = total


@expect.small
def _(data, indices, indptr, A, power, theta, weight, counts, log_sums):
    if len(theta) * len(A) > MOST_NUMPY:
        return NotImplemented
    X = _dense(data, indices, indptr, len(A))
    share = np.where(theta > 0.0, theta**power, 0.0)
    mean = share @ A.T
    log_sums[:] = np.where(X > 0.0, X * np.log(mean), 0.0).sum(axis=1)
    if weight.any():
        counts += A * (np.where(mean > 0.0, weight[:, None] * X / mean, 0.0).T @ share)
