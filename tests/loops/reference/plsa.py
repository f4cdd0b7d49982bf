"""The loops of native/plsa.hpp in NumPy, a document at a time."""

import numpy as np

STEPS, MANY, SMALL, NEWTON = 10, 24, 1e-10, 60


def dense(data, indices, indptr, V):
    X = np.zeros((len(indptr) - 1, V))
    np.add.at(X, (np.repeat(np.arange(len(X)), np.diff(indptr)), indices), data)
    return X


def sums(x, A, share):
    mean = A @ share
    return np.where(mean > 0.0, x / mean, 0.0) @ A


def maximize(x, A, power, steps, tol, t):
    """Steps of EM: the weights, the factors by which they grew, and whether it rests."""
    growth = np.zeros(len(t))
    for _ in range(steps):
        joint = t**power * sums(x, A, t**power)
        new = joint / joint.sum() if joint.sum() > 0.0 else t
        growth, t = np.where(t > 0.0, new / t, 0.0), new
        if growth.max(initial=0.0) <= 1.0 + tol:
            return t, growth, True
    return t, growth, False


def maximize_inside(x, A, tol, t):
    """Primal and dual steps of an interior point method, for the mean log-likelihood less the sum of t."""
    length, m = x[(A > 0.0).any(axis=1)].sum(), len(t)
    t = np.maximum(t, 1e-3 / m)
    z = 0.1 / (m * t)
    for _ in range(NEWTON):
        mean = A @ t
        q = np.where(mean > 0.0, x / (length * mean), 0.0)
        g, gap = 1.0 - q @ A, t @ z
        if gap <= tol and np.abs(g - z).max() <= tol:
            return t, True
        mu = 0.1 * gap / m
        H = (A.T * np.where(mean > 0.0, q / mean, 0.0)) @ A + np.diag(z / t)
        step = np.linalg.solve(H, mu / t - g)
        e = (mu - z * step) / t - z
        far = np.where(step < 0.0, -0.95 * t / step, 1.0), np.where(e < 0.0, -0.95 * z / e, 1.0)
        far = min(1.0, np.min(far))
        t, z = t + far * step, z + far * e
    return t, False


def fold_in(data, indices, indptr, A, power, max_iter, tol, theta):
    K, newton = A.shape[1], power == 1.0 and max_iter > STEPS
    for n, x in enumerate(dense(data, indices, indptr, len(A))):
        if indptr[n] == indptr[n + 1]:
            continue
        t, growth, rests = maximize(x, A, power, STEPS if newton else max_iter, tol, theta[n])
        if newton and not rests:
            t = np.where(((t > 0.0).sum() > MANY) & (t < 0.1 / K) & (growth < 0.95), 0.0, t)
            active = t > 0.0
            for _ in range(STEPS):
                t[active], rests = maximize_inside(x, A[:, active], tol, t[active])
                if not rests:
                    t = maximize(x, A, power, max_iter, tol, t)[0]
                more = ~active & (sums(x, A, t) > (1.0 + tol) * x[A @ t > 0.0].sum())
                t[more], active = 1e-3, active | more
                if not more.any():
                    break
        if max_iter > 1:
            t = np.where(t < SMALL, 0.0, t)
        theta[n] = t / t.sum()


def expect(data, indices, indptr, A, power, theta, weight, counts, log_sums):
    X = dense(data, indices, indptr, len(A))
    share = np.where(theta > 0.0, theta**power, 0.0)
    mean = share @ A.T
    log_sums[:] = np.where(X > 0.0, X * np.log(mean), 0.0).sum(axis=1)
    if weight.any():
        counts += A * (np.where(mean > 0.0, weight[:, None] * X / mean, 0.0).T @ share)
