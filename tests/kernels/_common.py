"""A kernel made of others."""

from __future__ import annotations

from suffice.kernels import RBF, Exponential, Laplacian, Linear, Normalized, Polynomial

NESTED = 0.5 * RBF(0.3) * Polynomial(2) + Normalized(Linear()) + Exponential(Laplacian(0.2))
