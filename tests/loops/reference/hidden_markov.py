"""The loop of native/hidden_markov.hpp in NumPy."""

import numpy as np

from . import chains


def expect_diagonal(X, mean, half_precision, constant, start, transition, turned, offset, weight):
    q = constant - (half_precision * (X[:, None] - mean) ** 2).sum(axis=2)
    E, top = chains.exp_below_largest(q)
    gamma, moves, scale, lost, faded = chains.smooth(E, start, transition[None], turned[None], offset, weight)
    firsts = offset[:-1][offset[1:] > offset[:-1]]
    mass = gamma.sum(axis=0)
    center = gamma.T @ X / np.where(mass > 0, mass, 1.0)[:, None]
    scatter = np.einsum("nk,nkd->kd", gamma, (X[:, None] - center) ** 2)
    by_step = np.repeat(weight, np.diff(offset)) * (np.log(scale) + top)
    if (lost | faded).any():
        return None
    return by_step.sum(), gamma[firsts].sum(axis=0), moves[0], mass, center, scatter
