"""The loops of native/perceptron.hpp in plain Python: visit by visit."""

import numpy as np
import scipy.sparse as sp


def epoch(scores, square, add, keep, codes, weight, order, rule, active, visits, steps, run, tried, best):
    """`scores` of rows (N, P) and of one row, `square` of a row's length, and what an update adds."""
    (*margin, eta, pocket, vote), P = rule, len(active)
    loss, log = np.zeros(P), []

    def right(k):
        of_class = codes == (1 if P == 1 else k)
        return weight[(scores(slice(None))[:, k] >= 0.0) == of_class].sum()

    def compare(k):
        if right(k) > best[k]:
            best[k] = right(k)
            keep(k)

    for n in order:
        if not weight[n] > 0.0:
            continue
        score = scores(slice(n, n + 1))[0].copy()
        for k in np.flatnonzero(active):
            y = 1.0 if codes[n] == (1 if P == 1 else k) else -1.0
            z, least, left, before = y * score[k], margin[int(y > 0.0)], weight[n], visits[k]
            visits[k] += weight[n]
            if z > least:
                run[k] += weight[n]
                continue
            if pocket and run[k] > 2.0 * tried[k]:
                tried[k] = run[k]
                compare(k)
            total = later = 0.0
            while left > 0.0 and z <= least:
                step = min(left, 1.0) if eta * square(n) > 1e-9 * (least - z) else left
                if vote:
                    log.append((k, n, y * eta * step, before + total))
                loss[k] += step * (least - z)
                later += step * (before + total)
                total, left, z = total + step, left - step, z + eta * square(n) * step
            add(n, k, y * eta * total, y * eta * later)
            steps[k] += total
            run[k] = left
    for k in np.flatnonzero(active):
        if pocket:
            compare(k)
    return loss, np.array(log).reshape(-1, 4)


def primal(X, codes, weight, order, rule, active, W, late, pocket, visits, steps, run, tried, best):
    def add(n, k, step, later):
        W[:, k] += step * X[n]
        late[:, k] += later * X[n]

    def keep(k):
        pocket[:, k] = W[:, k]

    numbers = active, visits, steps, run, tried, best
    return epoch(lambda n: X[n] @ W, lambda n: X[n] @ X[n], add, keep, codes, weight, order, rule, *numbers)


def sparse_primal(data, indices, indptr, codes, weight, order, rule, active, W, late, pocket, visits, steps,
                  run, tried, best):  # fmt: skip
    X = sp.csr_array((data, indices, indptr), shape=(len(codes), len(W))).toarray()
    return primal(X, codes, weight, order, rule, active, W, late, pocket, visits, steps, run, tried, best)


def dual(gram, codes, weight, order, rule, active, W, late, pocket, F, visits, steps, run, tried, best):
    def add(n, k, step, later):
        W[k, n] += step
        late[k, n] += later
        F[k] += step * gram[n]

    def keep(k):
        pocket[k] = W[k]

    numbers = active, visits, steps, run, tried, best
    return epoch(lambda n: F.T[n], lambda n: gram[n, n], add, keep, codes, weight, order, rule, *numbers)
