"""The splits of stumps against enumeration, and runs of bins against all bins."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.loops.stumps import (
    RUN,
    best_in_runs,
    best_stump,
    bounds_of_runs,
    count_classes,
    count_runs,
    next_bin,
    reweigh,
)
from suffice.loops.trees import GINI, NONE_MISSING


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


def enumerated(count, least):
    """The gain of each split after a bin that occurs, with another that occurs after it."""
    left, total = np.cumsum(count, axis=0).astype(float), count.sum(axis=0).astype(float)
    out = np.full(len(count), -1.0)
    for b in np.flatnonzero(count.any(axis=1))[:-1]:
        a, c = left[b], total - left[b]
        if min(a.sum(), c.sum()) >= least:
            out[b] = (a**2).sum() / a.sum() + (c**2).sum() / c.sum() - (total**2).sum() / total.sum()
    return out


@pytest.mark.parametrize("seed", range(4))
def test_best_split_is_that_of_enumeration(seed):
    codes, y, entry = rows(60, 40, seed)
    count = counted(codes, y, entry, 40)
    gains = enumerated(count, 1)
    g, edge, side, _, left = best_stump(count, False, 0, count.sum(axis=0), GINI, 1)
    assert edge[0] == gains.argmax()
    np.testing.assert_allclose(g, gains.max(), rtol=1e-12)
    np.testing.assert_array_equal(left, count[: edge[0] + 1].sum(axis=0))
    assert edge[1] == np.flatnonzero(count.any(axis=1) & (np.arange(41) > edge[0]))[0]
    assert side == NONE_MISSING


@pytest.mark.parametrize("least", [1, 1 << 46])
@pytest.mark.parametrize("seed", range(4))
def test_runs_give_the_same_split(seed, least):
    """To the bit, though most bins are not counted."""
    codes, y, entry = rows(700, 2000, seed)
    count = counted(codes, y, entry, 2000)
    total = count.sum(axis=0)
    g, edge, _, _, left = best_stump(count, False, 0, total, GINI, least)
    runs = np.zeros(((2000 >> RUN) + 1, 2), np.int64)
    count_runs(codes, y, entry, runs)
    bound = np.empty(len(runs))
    lowest = bounds_of_runs(runs, *total.tolist(), least, bound) * (1.0 - 1e-12)
    gains = enumerated(count, 1) * total.sum() / 2.0
    largest = np.maximum.reduceat(gains, np.arange(0, 2001, 1 << RUN))
    assert (bound >= largest * (1.0 - 1e-12)).all()
    found, b, *sums = best_in_runs(codes, y, entry, runs, bound, lowest, *total.tolist(), least)
    assert (found, b) == (g, edge[0])
    assert sums == left.tolist()
    assert next_bin(codes, entry, b, 2000) == edge[1]


def test_a_bound_is_not_below_a_gain_that_is_rounded():
    """Of runs of one class, whose largest gain is at one of both ends."""
    rng = np.random.default_rng(0)
    count = rng.integers(1, 1 << 53, (400, 2)) * ((np.arange(400)[:, None] + [0, 1]) % 2)
    total, left = count.sum(axis=0), np.cumsum(count, axis=0)[:-1]
    bound = np.empty(len(count))
    bounds_of_runs(count, *total.tolist(), 1, bound)
    right, one, of_all = total - left, left[:, 1].astype(object), int(total.sum())
    a, c = left.sum(axis=1).astype(object), right.sum(axis=1).astype(object)
    exact = (one * of_all - int(total[1]) * a) ** 2  # of Python's integers
    assert all(int(b) + 1 >= e // (x * y) for b, e, x, y in zip(bound, exact, a, c, strict=False))


def test_whole_weights_are_exact():
    rng = np.random.default_rng(0)
    answer, y, weight = rng.integers(3, size=50), rng.integers(2, size=50), rng.integers(5, size=50)
    new, entry = np.empty(50), np.empty((50, 1), np.int64)
    how = answer, y, rng.gamma(2.0, size=(3, 2)), rng.gamma(2.0, size=50)
    reweigh(*how, weight.astype(float), 2.0**40, new, entry)
    np.testing.assert_array_equal(entry[:, 0], weight * np.rint(new * 2.0**40).astype(np.int64))


@pytest.mark.parametrize("row", [0, 3, 5])  # among those that are checked at once, and after them
@pytest.mark.parametrize("wrong", [-1, 2, 1 << 40, -(1 << 62)])
def test_classes_are_checked(wrong, row):
    codes, y, entry = rows(6, 1000)
    runs, count = np.zeros((16, 2), np.int64), np.zeros((1001, 2), np.int64)
    bound, weight = np.ones(16), np.ones(6)
    strange = y.copy()
    strange[row] = wrong
    for loop, arguments in (
        (count_classes, (codes, strange, entry, count)),
        (count_runs, (codes, strange, entry, runs)),
        (best_in_runs, (codes, strange, entry, runs, bound, 0.5, 1, 1, 1)),
    ):
        with pytest.raises(ValueError, match="group must be numbers of classes"):
            loop(*arguments)
    for answer, group in (y, strange), (strange, y):
        with pytest.raises(ValueError, match="answer and group must be"):
            reweigh(answer, group, np.ones((2, 2)), weight, weight, 1.0, np.empty(6), entry.copy())


def test_codes_are_checked():
    codes, y, entry = rows(6, 1000)
    codes[5] = 1024
    runs, count = np.zeros((16, 2), np.int64), np.zeros((1001, 2), np.int64)
    with pytest.raises(ValueError, match="codes must be numbers of bins"):
        count_classes(codes, y, entry, count)
    with pytest.raises(ValueError, match="codes must be bins of the runs"):
        count_runs(codes, y, entry, runs)
    with pytest.raises(ValueError, match="codes must be bins of the runs"):
        best_in_runs(codes, y, entry, runs, np.ones(16), 0.5, 1, 1, 1)
