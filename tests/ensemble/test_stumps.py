"""The loops of stumps against NumPy and against the growth of trees."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.core.small import always_compiled
from suffice.loops.stumps import (
    RUN,
    best_in_runs,
    best_split,
    bounds_of_runs,
    count_classes,
    count_runs,
    next_bin,
    reweigh,
)  # of suffice.loops.stumps
from suffice.loops.trees import GINI, NONE_MISSING


@pytest.fixture(params=["numpy", "compiled"])
def form(request):
    if request.param == "numpy":
        yield
        return
    with always_compiled():
        yield


def rows(N=700, B=2000, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(B, size=N).astype(np.uint16)
    y = (rng.random(N) < 0.3 + 0.4 * (codes > B // 3)).astype(np.int64)
    entry = np.where(rng.random(N) < 0.1, 0, rng.integers(1 << 40, size=N))[:, None]
    return codes, y, entry


def counted(codes, y, entry, B):
    count = np.zeros((B + 1, 2), np.int64)
    count_classes(codes, y, entry, count)
    return count


@pytest.mark.usefixtures("form")
def test_counts():
    codes, y, entry = rows()
    expected = np.zeros((2001, 2), np.int64)
    for c, k, w in zip(codes, y, entry[:, 0], strict=True):
        expected[c, k] += w
    np.testing.assert_array_equal(counted(codes, y, entry, 2000), expected)
    runs = np.zeros((1, (2000 >> RUN) + 1, 2), np.int64)
    count_runs(codes[None], y, entry, runs)
    sums = np.add.reduceat(expected, np.arange(0, 2001, 1 << RUN), axis=0)
    np.testing.assert_array_equal(runs[0], sums)


def enumerated(count, least):
    """The gain of each split after a bin that occurs, with another that occurs after it."""
    left, total = np.cumsum(count, axis=0).astype(float), count.sum(axis=0).astype(float)
    out = np.full(len(count), -1.0)
    for b in np.flatnonzero(count.any(axis=1))[:-1]:
        a, c = left[b], total - left[b]
        if min(a.sum(), c.sum()) >= least:
            out[b] = (a**2).sum() / a.sum() + (c**2).sum() / c.sum() - (total**2).sum() / total.sum()
    return out


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("seed", range(4))
def test_best_split_is_that_of_enumeration(seed):
    codes, y, entry = rows(60, 40, seed)
    count = counted(codes, y, entry, 40)
    gains = enumerated(count, 1)
    g, edge, side, _, left = best_split(count, False, np.int8(0), count.sum(axis=0), GINI, 1)
    assert edge[0] == gains.argmax()
    np.testing.assert_allclose(g, gains.max(), rtol=1e-12)
    np.testing.assert_array_equal(left, count[: edge[0] + 1].sum(axis=0))
    assert edge[1] == np.flatnonzero(count.any(axis=1) & (np.arange(41) > edge[0]))[0]
    assert side == NONE_MISSING


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("least", [1, 1 << 46])
@pytest.mark.parametrize("seed", range(4))
def test_runs_give_the_same_split(seed, least):
    """To the bit, though most bins are not counted."""
    codes, y, entry = rows(700, 2000, seed)
    count = counted(codes, y, entry, 2000)
    total = count.sum(axis=0)
    g, edge, _, _, left = best_split(count, False, np.int8(0), total, GINI, least)
    runs = np.add.reduceat(count, np.arange(0, 2001, 1 << RUN), axis=0)
    bound = np.empty(len(runs))
    lowest = bounds_of_runs(runs, *total, least, bound) * (1.0 - 1e-12)
    gains = enumerated(count, 1) * total.sum() / 2.0
    largest = np.maximum.reduceat(gains, np.arange(0, 2001, 1 << RUN))
    assert (bound >= largest * (1.0 - 1e-12)).all()
    found, b, *sums = best_in_runs(codes, y, entry, runs, bound, lowest, *total, least)
    assert (found, b) == (g, edge[0])
    assert sums == left.tolist()
    assert next_bin(codes, entry, b, 2000) == edge[1]


@pytest.mark.usefixtures("form")
def test_weights_are_rounded_and_whole_ones_are_exact():
    rng = np.random.default_rng(0)
    answer, y = rng.integers(3, size=50), rng.integers(2, size=50)
    change, factor = rng.gamma(2.0, size=(3, 2)), rng.gamma(2.0, size=50)
    weight = np.where(np.arange(50) < 25, rng.integers(5, size=50), rng.gamma(2.0, size=50))
    new, entry = np.empty(50), np.empty((50, 1), np.int64)
    reweigh(answer, y, change, factor, weight, 2.0**40, new, entry)
    np.testing.assert_array_equal(new, factor * change[answer, y])
    one = np.rint(new * 2.0**40).astype(np.int64)
    np.testing.assert_array_equal(entry[:25, 0], weight[:25].astype(np.int64) * one[:25])
    np.testing.assert_allclose(entry[25:, 0], weight[25:] * one[25:], rtol=1e-11)
