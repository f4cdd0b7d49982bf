"""Sums and differences of vectors of millions of numbers, without copies; some may be in single precision."""

from __future__ import annotations

from .compiled import compiled

jit = compiled(fastmath={"contract", "reassoc"})


@jit
def dot(a, b):
    """a'b, summed in double precision."""
    total = 0.0
    for i in range(len(a)):
        total += float(a[i]) * float(b[i])
    return total


@jit
def add_scaled(out, factor, a):
    """out += factor a."""
    for i in range(len(a)):
        out[i] += factor * a[i]
