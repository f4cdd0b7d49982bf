"""The loops of native/margin.hpp in NumPy."""

from itertools import pairwise

import numpy as np
import scipy.sparse as sp

LEAST = 1e-12


def dense(data, indices, indptr, D):
    return sp.csr_array((data, indices, indptr), (len(indptr) - 1, D)).toarray()


def best_path(U, moves):
    """The path, and its score. Moves are (K, K), or those into each step."""
    moves = np.broadcast_to(moves, (len(U), *moves.shape[-2:]))
    here, came = U[0], []
    for n in range(1, len(U)):
        reached = here[:, None] + moves[n]
        came.append(reached.argmax(axis=0))
        here = reached.max(axis=0) + U[n]
    path = [int(here.argmax())]
    for back in reversed(came):
        path.append(int(back[path[-1]]))
    return path[::-1], here.max()


def changes(X, path, K, factor=1.0):
    """Features of the rows and transitions of a path."""
    states, moves = np.eye(K)[path], np.zeros((K, K))
    for i, j in pairwise(path):
        moves[i, j] += factor
    return factor * X.T @ states, moves


def visited(offset, order):
    for s in order:
        if offset[s] < offset[s + 1]:
            yield s, slice(offset[s], offset[s + 1])


def perceptron(data, indices, indptr, offset, codes, weight, order, W, T, late_W, late_T, visits):
    X, K, wrong = dense(data, indices, indptr, len(W)), len(T), 0
    for s, rows in visited(offset, order):
        path, _ = best_path(X[rows] @ W, T)
        true, found = (changes(X[rows], p, K, weight[s]) for p in (codes[rows], path))
        for now, late, a, b in zip((W, T), (late_W, late_T), true, found, strict=True):
            now += a - b
            late += visits * (a - b)
        wrong += int((path != codes[rows]).sum())
        visits += 1
    return wrong, visits


def frank_wolfe(data, indices, indptr, offset, codes, cost, scale, order, W, T, share, moves, level):
    X, K = dense(data, indices, indptr, len(W)), len(T)
    for s, rows in visited(offset, order):
        U, of_state = X[rows] @ W, cost[codes[rows]]
        path, _ = best_path(U + of_state, T)
        A, (_, to) = np.eye(K)[path] - share[rows], changes(X[rows], path, K)
        to = to - moves[s]
        G, paid = X[rows].T @ A, of_state[np.arange(len(path)), path].sum()
        gain = (A * U).sum() + (to * T).sum() + paid - level[s]
        square = scale[s] * ((G * G).sum() + (to * to).sum())
        step = 0.0 if gain <= 0.0 else 1.0 if gain >= square else gain / square
        W -= step * scale[s] * G
        T -= step * scale[s] * to
        share[rows] += step * A
        moves[s] += step * to
        level[s] += step * (paid - level[s])


def smo(gram, offset, codes, cost, scale, order, U, T, share, moves, tries):
    K = len(T)
    for s, rows in visited(offset, order):
        for _ in range(tries):
            A = U[:, rows].T + cost[codes[rows]]
            B = -A
            B[0, share[rows.start] <= LEAST] = -np.inf
            to, most = best_path(A, T)
            away, least = best_path(B, np.where(moves[rows] > LEAST, -T, -np.inf))
            if most + least <= 1e-14 * (abs(A[0, to[0]]) + 1.0):
                break
            change = np.eye(K)[to] - np.eye(K)[away]
            (_, arrive), (_, leave) = (changes(A, path, K) for path in (to, away))
            square = (gram[rows, rows] * (change @ change.T)).sum() + ((arrive - leave) ** 2).sum()
            pairs = [
                (n, (to[n - 1], to[n]), (away[n - 1], away[n]))
                for n in range(1, len(to))
                if (to[n - 1], to[n]) != (away[n - 1], away[n])
            ]
            bounds = [1.0, *(moves[rows.start + n][b] for n, _, b in pairs)]
            if to[0] != away[0]:
                bounds.append(share[rows.start, away[0]])
            step, limit = min(bounds), scale[s] * square
            step = step if most + least >= step * limit else (most + least) / limit
            for n, a, b in pairs:
                moves[rows.start + n][a] += step
                moves[rows.start + n][b] = positive(moves[rows.start + n][b] - step)
            for n, (a, b) in enumerate(zip(to, away, strict=True), rows.start):
                if a != b:
                    share[n, a] += step
                    share[n, b] = positive(share[n, b] - step)
            U -= step * scale[s] * change.T @ gram[rows]
            T -= step * scale[s] * (arrive - leave)


def positive(left):
    return left if left > 1e-16 else 0.0
