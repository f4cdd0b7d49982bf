"""suffice.loops.fast_math: the fast and the plain forms agree to a few units in the last place."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.special import digamma

from suffice.loops import fast_math as loops
from suffice.loops.fast_math import fast_products
from suffice.topics import LatentDirichletAllocation

X = np.concatenate(
    [np.geomspace(1e-300, 1e300, 6000), np.linspace(0.01, 12.0, 2000), [1.0, 2.0, 1.4616321449683623, np.inf]]
)
TINY = np.array([0.0, 5e-324, 1e-310, np.finfo(float).tiny, 1e-305])


def ulps(a, b, least=0.0):
    """The largest difference, in units of the last place of b, or of `least` where b is smaller."""
    return np.max(np.abs(a - b) / np.spacing(np.maximum(np.abs(b), np.asarray(least, b.dtype))))


@pytest.mark.parametrize("less", [0.0, -300.0, 7.5, 1e300])
def test_exp_digamma(less):
    """From zero and subnormal numbers to infinity."""
    x = np.concatenate([TINY, X])
    fast, plain, power = np.empty((3, len(x)))
    loops.fast_exp_digamma(x, less, fast, power)
    loops.plain_exp_digamma(x, less, plain, power)
    assert (fast > 0.0).all()
    assert np.isfinite(fast).all()
    assert ulps(fast, plain) <= 4


def test_digamma_and_log_gamma():
    """Where these are near zero, to units of the last place of one; log gamma to those of its terms."""
    fast, plain = np.empty((2, 2, len(X)))
    loops.fast_gammas(X, *fast, *np.empty((3, len(X))))
    loops.plain_gammas(X, *plain, *np.empty((3, len(X))))
    assert ulps(fast[0], plain[0], 1.0) <= 2
    x = np.minimum(X, loops.MOST)
    assert ulps(fast[1], plain[1], np.maximum(30.0, x * np.log(x + 6.0))) <= 4
    held = (X > 1e-150) & (X < loops.MOST)
    assert np.max(np.abs(plain[0] - digamma(X))[held] / np.maximum(1.0, np.abs(digamma(X)))[held]) < 1e-14


@pytest.mark.parametrize("width", [16, 128, 144, 1024])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int32])
def test_products(width, kind):
    """Products to the bit; sums, which may be fused with them, to a few units."""
    rng = np.random.default_rng(width)
    counts = rng.integers(0, 200, size=3 * width).astype(kind)
    prior, q = rng.random((2, width)).astype(np.float32)
    sections = -(-width // (loops.N * loops.SECTION))
    for old in (0, 5, width - 1):
        found = []
        for f in (_fast_products, loops.plain_products):
            p, column, section = (np.full(n, np.nan, np.float32) for n in (width, 16, 16 * sections))
            f(counts, np.uint64(width), np.uint64(old), prior, q, p, column, section)
            found.append((p, column, section))
        (p, *sums), (plain, *plain_sums) = found
        assert (p == plain).all()
        assert p[old] == 0.0
        assert (np.delete(p, old) > 0.0).all()
        np.testing.assert_array_equal(
            p, np.where(np.arange(width) == old, 0, (counts[width : 2 * width].astype("f4") + prior) * q)
        )
        for a, b in zip(sums, plain_sums, strict=True):
            assert ulps(a, b) <= 4


@loops.compiled(fastmath={"contract", "reassoc"})
def _fast_products(n_dk, document, old, prior, q, p, by_column, by_section):
    """As the sampler is compiled: the fast form becomes part of the loop that calls it."""
    fast_products(n_dk, document, old, prior, q, p, by_column, by_section)


FIT = """
import sys, numpy as np
from suffice.loops import fast_math
from suffice.topics import LatentDirichletAllocation
assert fast_math.PLAIN and fast_math.gammas is fast_math.plain_gammas
X = np.random.default_rng(0).poisson(0.5, size=(60, 30))
sys.stdout.write(str(LatentDirichletAllocation(4, random_state=0, max_iter=5).fit(X).components_.tolist()))
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_with_plain_mathematics_differs_by_rounding():
    environment = os.environ | {"SUFFICE_PLAIN_MATH": "1", "PYTHONWARNINGS": "ignore"}
    run = subprocess.run(
        [sys.executable, "-c", FIT], check=True, capture_output=True, text=True, env=environment
    )
    X = np.random.default_rng(0).poisson(0.5, size=(60, 30))
    here = LatentDirichletAllocation(4, random_state=0, max_iter=5).fit(X)
    np.testing.assert_allclose(np.array(eval(run.stdout)), here.components_, rtol=1e-9)


def test_the_fast_forms_are_the_default():
    assert loops.PLAIN or loops.exp_digamma is loops.fast_exp_digamma
