"""Loops over links, beside what they mean."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.loops.graph import count, depths, mass, place, renumber, spread, weighted_mass

LINKS, FIRST, NODES, SHIFT = 60, 100, 16, 2


@pytest.fixture
def links():
    rng = np.random.default_rng(0)
    source = rng.integers(0, 50, LINKS).astype(np.int32)
    target = rng.integers(FIRST, FIRST + NODES, LINKS).astype(np.int32)
    return source, target, rng.random(LINKS)


def test_count(links):
    _, target, _ = links
    out = np.ones(NODES >> SHIFT, np.int64)
    count(target, FIRST, SHIFT, out)
    np.testing.assert_array_equal(out, 1 + np.bincount((target - FIRST) // 4, minlength=4))


@pytest.mark.parametrize("weighted", [False, True])
def test_spread_and_place_sort_by_target_and_keep_the_order(links, weighted):
    source, target, weight = links
    weight = weight if weighted else np.empty(0)
    bucket = (target - FIRST) >> SHIFT
    starts = np.concatenate([[0], np.cumsum(np.bincount(bucket, minlength=4))])
    s, t, w = np.empty_like(source), np.empty_like(target), np.empty_like(weight)
    at = starts[:-1].copy()
    spread(source, target, weight, FIRST, SHIFT, at, s, t, w)
    order = np.argsort(bucket, kind="stable")
    np.testing.assert_array_equal(at, starts[1:])
    np.testing.assert_array_equal(s, source[order])
    np.testing.assert_array_equal(t, target[order])
    np.testing.assert_array_equal(w, weight[order] if weighted else weight)
    to_source, to_weight = np.empty_like(source), np.empty_like(weight)
    offset = np.zeros(NODES + 1, np.int64)
    for b in range(4):
        part = slice(starts[b], starts[b + 1])
        low = FIRST + 4 * b
        place(s[part], t[part], w[part], low, starts[b], offset[4 * b : 4 * b + 5], to_source, to_weight)
    order = np.argsort(target, kind="stable")
    np.testing.assert_array_equal(to_source, source[order])
    np.testing.assert_array_equal(to_weight, weight[order] if weighted else weight)
    np.testing.assert_array_equal(offset[1:], np.cumsum(np.bincount(target - FIRST, minlength=NODES)))


def test_renumber(links):
    source, _, _ = links
    number = np.random.default_rng(1).permutation(50).astype(np.int32)
    expected = number[source]
    renumber(number, source)
    np.testing.assert_array_equal(source, expected)


def test_mass(links):
    source, target, weight = links
    order = np.argsort(target, kind="stable")
    source, weight = source[order], weight[order]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(target - FIRST, minlength=NODES))])
    sent, runs = np.random.default_rng(2).random(50), range(3, NODES - 2)
    plain, weighted = np.full(NODES, -1.0), np.full(NODES, -1.0)
    mass(indptr, source, sent, 3, NODES - 2, plain)
    weighted_mass(indptr, source, weight, sent, 3, NODES - 2, weighted)
    for t in range(NODES):
        part = slice(indptr[t], indptr[t + 1])
        if t not in runs:
            assert plain[t] == weighted[t] == -1.0
            continue
        assert plain[t] == sum(sent[source[part]].tolist())  # in the order of the links, to the bit
        assert weighted[t] == sum((weight[part] * sent[source[part]]).tolist())


def test_nodes_and_places_are_checked(links):
    source, target, weight = links
    out, at = np.zeros(NODES >> SHIFT, np.int64), np.full(NODES >> SHIFT, LINKS - 1)
    for wrong in (FIRST - 1, FIRST + NODES):
        with pytest.raises(ValueError, match="nodes must be in the run"):
            count(np.append(target, np.int32(wrong)), FIRST, SHIFT, out)
    with pytest.raises(ValueError, match="at must have room"):
        spread(source, target, weight, FIRST, SHIFT, at, source.copy(), target.copy(), weight.copy())
    with pytest.raises(ValueError, match="source must be nodes that send"):
        mass(np.array([0, LINKS]), source, np.ones(source.max()), 0, 1, np.zeros(1))
    with pytest.raises(ValueError, match="node must be indices of number"):
        renumber(np.zeros(source.max(), np.int32), source)


def test_depths():
    """Of the tree 0 -> 2 -> 1 and 0 -> 3, with steps of given lengths."""
    order, before = np.array([0, 2, 3, 1]), np.array([-9999, 2, 0, 0])
    out = np.zeros(4, np.int64)
    depths(order, before, np.array([0, 1, 2, 5]), out)
    assert out.tolist() == [0, 3, 2, 5]
