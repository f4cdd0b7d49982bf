"""Weights of neighbours with sum one."""

import numpy as np

from suffice.manifold import reconstruction_weights

from ._canon import example


@example("gong-xu/gx-p2.5")
def _(given):
    A, b = np.array(given["A"], float), np.array(given["b"], float)
    w = reconstruction_weights(b, A.T, reg=0.0)
    return {
        "w": w,
        "unconstrained_w": np.linalg.lstsq(A, b)[0],
        "objective": ((A @ w - b) ** 2).sum(),
    }


@example("gong-xu/gx-2.lle-weights")
def _(given):
    x, Z = np.array(given["x"], float), np.array(given["neighbours"], float)
    w, shift = reconstruction_weights(x, Z, reg=0.0), np.array([3.0, -1.0, 2.0])
    C = Z @ Z.T
    return {
        "w": w,
        "lambda": (C @ w - Z @ x)[0],  # the same for each neighbour
        "squared_error": ((x - w @ Z) ** 2).sum(),
        "after_translation_by_[3,-1,2]": reconstruction_weights(x + shift, Z + shift, reg=0.0),
    }
