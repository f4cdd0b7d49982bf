"""The loops of native/chains.hpp in NumPy: one sequence after the other, one step after the other."""

from itertools import pairwise

import numpy as np

LEAST = 1e-300


def _into(moves, n):
    return moves[n if len(moves) > 1 else 0]


def exp_below_largest(U):
    largest = U.max(axis=1, initial=-np.inf)
    largest = np.where(largest > -np.inf, largest, 0.0)
    return np.exp(U - largest[:, None]), largest


def forward(E, start, moves, offset):
    alpha, scale, lost = np.zeros(E.shape), np.zeros(len(E)), np.zeros(len(offset) - 1, bool)
    for s, (first, end) in enumerate(pairwise(offset)):
        for n in range(first, end):
            joint = (start if n == first else alpha[n - 1] @ _into(moves, n)) * E[n]
            scale[n] = joint.sum()
            if not scale[n] > LEAST:
                lost[s], alpha[first:end] = True, 0.0
                break
            alpha[n] = joint / scale[n]
    return alpha, scale, lost


def smooth(E, start, moves, turned, offset, weight):
    alpha, scale, lost = forward(E, start, moves, offset)
    gamma, pairs, faded = np.zeros(E.shape), np.zeros(moves.shape), np.zeros(len(offset) - 1, bool)
    for s, (first, end) in enumerate(pairwise(offset)):
        if first == end or lost[s] or weight[s] == 0.0:
            continue
        follow, of_steps, into_steps = np.ones(E.shape[1]), {end - 1: alpha[end - 1]}, {}
        for n in range(end - 1, first, -1):
            right = follow * E[n]
            if not 1e-50 < right.max() < 1e50:
                right = right / right.max()
            follow = _into(turned, n).T @ right
            total = alpha[n - 1] @ follow
            if not LEAST < total < np.inf:
                faded[s] = True
                break
            of_steps[n - 1] = alpha[n - 1] * follow / total
            into_steps[n] = np.outer(alpha[n - 1], right) / total * _into(moves, n)
        if not faded[s]:
            for n, share in of_steps.items():
                gamma[n] = weight[s] * share
            for n, share in into_steps.items():
                _into(pairs, n)[:] += weight[s] * share
    return gamma, pairs, scale, lost, faded


def best_paths(U, start, moves, offset):
    path, score = np.zeros(len(U), int), np.zeros(len(offset) - 1)
    for s, (first, end) in enumerate(pairwise(offset)):
        if first < end:
            here, came = start + U[first], []
            for n in range(first + 1, end):
                reached = here[:, None] + _into(moves, n)
                came.append(reached.argmax(axis=0))
                here = reached.max(axis=0) + U[n]
            best, score[s] = here.argmax(), here.max()
            for n in range(end - 1, first - 1, -1):
                path[n] = best
                best = came[n - first - 1][best] if n > first else best
    return path, score


def k_best_paths(U, start, moves, count):
    N, K = U.shape
    best = [[(start[k] + U[0, k], (k,))] for k in range(K)] if N else []  # paths to each state, by score
    for n in range(1, N):
        A = _into(moves, n)
        best = [
            [
                (score + U[n, j], (*path, j))
                for score, path in sorted(
                    ((score + A[i, j], path) for i in range(K) for score, path in best[i]),
                    key=lambda pair: -pair[0],
                )[:count]
            ]
            for j in range(K)
        ]
    found = sorted((pair for paths in best for pair in paths), key=lambda pair: -pair[0])[:count]
    found = [(score, path) for score, path in found if score > -np.inf]
    paths, score = np.zeros((count, N), int), np.full(count, -np.inf)
    for c, (value, path) in enumerate(found):
        paths[c], score[c] = path, value
    return paths, score


def log_forward(U, start, moves, offset):
    out = np.full(U.shape, -np.inf)
    for first, end in pairwise(offset):
        for n in range(first, end):
            before = start if n == first else np.logaddexp.reduce(out[n - 1][:, None] + _into(moves, n))
            out[n] = before + U[n]
    return out


def log_backward(U, moves, offset):
    out = np.full(U.shape, -np.inf)
    for first, end in pairwise(offset):
        for n in range(end - 1, first - 1, -1):
            last = n == end - 1
            out[n] = 0.0 if last else np.logaddexp.reduce(_into(moves, n + 1) + U[n + 1] + out[n + 1], axis=1)
    return out


def add_log_pairs(before, U, after, moves, total, weight, pairs):
    for n in range(1, len(U)):
        share = before[n - 1][:, None] + _into(moves, n) + U[n] + after[n] - total
        _into(pairs, n)[:] += weight * np.exp(share)
