"""Sums and differences of vectors of millions of numbers, without copies; some may be in single precision."""

from __future__ import annotations

import numpy as np

from .compiled import compiled

jit = compiled(fastmath={"contract", "reassoc"})


@jit
def dot(a, b):
    """a'b, summed in double precision."""
    total = 0.0
    for i in range(len(a)):
        total += float(a[i]) * float(b[i])
    return total


@dot.small
def _(a, b):
    return float(np.dot(a.astype(np.float64, copy=False), b.astype(np.float64, copy=False)))


@jit
def add_scaled(out, factor, a):
    """out += factor a."""
    for i in range(len(a)):
        out[i] += factor * a[i]


@add_scaled.small
def _(out, factor, a):
    out += np.multiply(a, factor, dtype=np.float64)
