"""Functions in the space of a kernel, and the reproducing property."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from suffice.kernels import (
    RBF,
    KernelExpansion,
    Subsequences,
)


def test_expansions_reproduce(rng, X, Z):
    kernel = RBF(0.4)
    f = KernelExpansion(kernel, X, rng.normal(size=len(X)))
    g = KernelExpansion(kernel, Z, rng.normal(size=len(Z)))
    assert_allclose(f(Z), kernel(Z, X) @ f.coef)
    for x in Z:  # the inner product with k(x, .) is the value
        at = KernelExpansion(kernel, x[None], np.ones(1))
        assert_allclose(f.inner(at), f(x[None])[0])
        assert abs(f(x[None])[0]) <= f.norm * at.norm
    assert_allclose(f.inner(g), g.inner(f))
    assert_allclose(f.norm**2, f.coef @ kernel(X) @ f.coef)
    with pytest.raises(ValueError, match="different kernels"):
        f.inner(g.replace(kernel=RBF(0.5)))
    with pytest.raises(ValueError, match="not positive definite"):
        _ = f.replace(kernel=-1.0 * kernel).norm
    assert KernelExpansion("linear", [[2.0]], [3.0])([[1.0]]).tolist() == [6.0]
    with pytest.raises(ValueError, match=r"coef has shape \(3,\), expected \(2,\)"):
        KernelExpansion(kernel, [[0.0], [1.0]], [1.0, 2.0, 3.0])
    strings = KernelExpansion(Subsequences(2), ["ab", "ba"], [1.0, -1.0])
    assert_allclose(strings.norm, np.sqrt(2 * 0.5**4))
