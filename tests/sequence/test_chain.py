"""Every sum and maximum over paths (suffice.loops.chains), against all paths written out."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.special import softmax

from suffice.loops.chains import smooth
from suffice.sequence.chain import Chains

K = 3
LENGTHS = (4, 1, 0, 5, 3, 0)
OFFSET = np.concatenate([[0], np.cumsum(LENGTHS)])


def chains(each=False, forbid=False, seed=0, far=0.0):
    rng = np.random.default_rng(seed)
    N = OFFSET[-1]
    state, start = rng.normal(size=(N, K)) * 2 + far, rng.normal(size=K)
    move = rng.normal(size=(N, K, K) if each else (K, K)) * 2 - far
    if forbid:
        move[..., 0, 1] = -np.inf
        state[2, 0] = -np.inf
        start[2] = -np.inf
    return Chains(state, start, move, OFFSET)


def all_paths(one):
    """Every path of one sequence and its log score."""
    N = len(one.state)
    paths = np.array(list(product(range(K), repeat=N)), dtype=int).reshape(K**N, N)
    move = one.move if one.move.ndim == 3 else np.broadcast_to(one.move, (N, K, K))
    score = [
        sum(
            one.state[n, k] + (one.start[k] if n == 0 else move[n, path[n - 1], k])
            for n, k in enumerate(path)
        )
        for path in paths
    ]
    return paths, np.array(score, dtype=float)


CASES = pytest.mark.parametrize(
    "given",
    [chains(), chains(True), chains(forbid=True), chains(True, True, 3), chains(far=300.0)],
    ids=["plain", "each", "forbidden", "each forbidden", "far"],
)


@CASES
def test_sums(given):
    expected = [np.logaddexp.reduce(all_paths(given[s])[1]) for s in range(len(LENGTHS))]
    np.testing.assert_allclose(given.log_sum, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(given.log_sum_backward(), expected, rtol=1e-12, atol=1e-12)


@CASES
def test_shares(given):
    weight = np.array([1.0, 2.0, 1.0, 0.5, 0.0, 3.0])
    gamma, pairs = given.smoothed(weight)
    filtered = given.filtered()
    total = np.zeros((K, K))
    for s, (a, b) in enumerate(pairwise(OFFSET)):
        paths, score = all_paths(given[s])
        p = weight[s] * np.exp(score - np.logaddexp.reduce(score))
        for n in range(b - a):
            by_state = [p[paths[:, n] == k].sum() for k in range(K)]
            np.testing.assert_allclose(gamma[a + n], by_state, atol=1e-12)
            if n:
                joint = np.array(
                    [
                        [p[(paths[:, n - 1] == i) & (paths[:, n] == j)].sum() for j in range(K)]
                        for i in range(K)
                    ]
                )
                total += joint
                if given.move.ndim == 3:
                    np.testing.assert_allclose(pairs[a + n], joint, atol=1e-12)
            move = given.move[a : a + n + 1] if given.move.ndim == 3 else given.move
            upto = Chains(given.state[a : a + n + 1], given.start, move, np.array([0, n + 1]))
            paths_so_far, scores = all_paths(upto)
            q = np.exp(scores - np.logaddexp.reduce(scores))
            by_state = [q[paths_so_far[:, n] == k].sum() for k in range(K)]
            np.testing.assert_allclose(filtered[a + n], by_state, atol=1e-12)
    if given.move.ndim == 2:
        np.testing.assert_allclose(pairs, total, atol=1e-12)


@CASES
def test_best_paths(given):
    path, score = given.best()
    many = given.k_best(7)
    np.testing.assert_allclose(given.score(path), score, rtol=1e-12, atol=1e-12)
    for s, (a, b) in enumerate(pairwise(OFFSET)):
        if a == b:
            assert score[s] == 0.0
            assert len(many[s][0]) == 0
            continue
        paths, scores = all_paths(given[s])
        order = np.argsort(-scores, kind="stable")[:7]
        order = order[scores[order] > -np.inf]
        assert (path[a:b] == paths[order[0]]).all()
        np.testing.assert_allclose(score[s], scores[order[0]], rtol=1e-12)
        assert (many[s][0] == paths[order]).all()
        np.testing.assert_allclose(many[s][1], scores[order], rtol=1e-12)


def test_what_floats_cannot_hold_is_summed_by_logarithms():
    """The only path goes through a state that is e^-2000 as likely as another at the same step."""
    state = np.zeros((4, 2))
    state[1] = -2000.0, 0.0
    move = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    start = np.array([0.0, -np.inf])
    given = Chains(state, start, move, np.array([0, 4]))
    np.testing.assert_allclose(given.log_sum, -2000.0)
    gamma, pairs = given.smoothed()
    np.testing.assert_allclose(gamma, np.tile([1.0, 0.0], (4, 1)))
    np.testing.assert_allclose(pairs, [[3.0, 0.0], [0.0, 0.0]])
    np.testing.assert_allclose(given.filtered(), np.tile([1.0, 0.0], (4, 1)))


def test_what_fades_backwards_is_summed_by_logarithms():
    """The past is nearly sure of state 0, the future of state 1, by more than floats hold."""
    state = np.zeros((3, 2))
    state[0] = 0.0, -700.0
    state[2] = -900.0, 0.0
    move = np.array([[0.0, -800.0], [-800.0, 0.0]])
    given = Chains(state, np.zeros(2), move, np.array([0, 3]))
    gamma, pairs = given.smoothed()
    paths, score = all_paths_of_two(given)
    p = np.exp(score - np.logaddexp.reduce(score))
    for n in range(3):
        np.testing.assert_allclose(gamma[n], [p[paths[:, n] == k].sum() for k in range(2)], atol=1e-12)
    np.testing.assert_allclose(pairs.sum(), 2.0)


def all_paths_of_two(one):
    paths = np.array(list(product(range(2), repeat=len(one.state))))
    score = np.array([one.score(path)[0] for path in paths])
    return paths, score


def test_an_impossible_sequence_has_no_share_and_spoils_no_other():
    given = chains()
    state = given.state.copy()
    state[0] = -np.inf
    spoilt = given.replace(state=state)
    assert spoilt.log_sum[0] == -np.inf
    np.testing.assert_allclose(spoilt.log_sum[1:], given.log_sum[1:])
    gamma, pairs = spoilt.smoothed()
    rest = np.array([0.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    expected = given.smoothed(rest)
    np.testing.assert_allclose(gamma, expected[0])
    np.testing.assert_allclose(pairs, expected[1])


def test_long_sequences_do_not_underflow():
    rng = np.random.default_rng(0)
    N = 100_000
    state = rng.normal(size=(N, K)) * 5 - 100
    given = Chains(state, np.zeros(K), rng.normal(size=(K, K)), np.array([0, N]))
    gamma, pairs = given.smoothed()
    np.testing.assert_allclose(gamma.sum(axis=1), 1.0)
    np.testing.assert_allclose(pairs.sum(), N - 1)
    np.testing.assert_allclose(given.log_sum, given.log_sum_backward(), rtol=1e-12)


def test_what_is_nearly_too_small_has_no_infinite_share():
    """The sum at the last step is a float whose reciprocal is none."""
    state = np.array([[0.0, -714.42], [0.0, -714.42], [-714.42, 0.0]])
    move = np.where(np.eye(2) > 0, 0.0, -np.inf)
    given = Chains(state, np.array([0.0, -np.inf]), move, np.array([0, 3]))
    np.testing.assert_allclose(given.smoothed()[0], np.tile([1.0, 0.0], (3, 1)))
    np.testing.assert_allclose(given.filtered(), np.tile([1.0, 0.0], (3, 1)))
    np.testing.assert_allclose(given.log_sum, -714.42)


def test_sums_that_grow_step_by_step_stay_within_floats():
    """Where all moves are alike each step multiplies what follows by up to K: 4^5000 is no float. Of such a
    chain each step stands alone."""
    state = np.random.default_rng(0).normal(size=(5000, 4)) * 0.1
    given = Chains(state, np.zeros(4), np.zeros((4, 4)), np.array([0, 5000]))
    E, start, moves, _ = given._scaled
    *_, faded = smooth(E, start, moves, moves, given.offset, np.ones(1))
    assert not faded.any()  # or else it is done by logarithms, step by step
    np.testing.assert_allclose(given.smoothed()[0], softmax(state, axis=1), rtol=1e-11)
