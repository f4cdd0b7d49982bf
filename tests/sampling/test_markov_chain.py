"""Markov chains: counts wherever the sequences are, and what the matrix tells, against brute force."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice
from suffice.sampling import MarkovChain

DAYS = [
    np.array(["sun", "sun", "rain", "sun"]),
    np.array(["rain", "rain", "snow"]),
    np.array(["sun"]),
    np.array([], dtype=str),
]


def of(P, **more):
    return MarkovChain.from_transition(P, **more)


def random_chain(seed, n=6, zeros=0.5):
    rng = np.random.default_rng(seed)
    P = rng.random((n, n)) * (rng.random((n, n)) > zeros)
    P[np.arange(n), rng.integers(n, size=n)] += 0.3
    return P / P.sum(axis=1, keepdims=True)


def test_counts():
    chain = MarkovChain().fit(DAYS)
    assert chain.states_[:, 0].tolist() == ["rain", "snow", "sun"]
    assert chain.statistics_.moves.tolist() == [[1, 1, 1], [0, 0, 0], [1, 0, 1]]
    np.testing.assert_allclose(chain.start_, [1 / 3, 0, 2 / 3])
    np.testing.assert_allclose(chain.transition_[1], 1 / 3)  # of which nothing is known


def test_log_probability_is_the_product_of_its_steps():
    chain = MarkovChain().fit(DAYS)
    number = {"rain": 0, "snow": 1, "sun": 2}
    for found, days in zip(chain.score_samples(DAYS), DAYS, strict=True):
        want = [np.log(chain.start_[number[days[0]]])] if len(days) else []
        want += [np.log(chain.transition_[number[a], number[b]]) for a, b in pairwise(days)]
        np.testing.assert_allclose(found, want)
    steps = [len(days) for days in DAYS]
    total = sum(part.sum() for part in chain.score_samples(DAYS))
    np.testing.assert_allclose(chain.score(DAYS), total / sum(steps))


def test_a_state_that_never_came_is_impossible():
    chain = MarkovChain().fit(DAYS)
    assert chain.score_samples([np.array(["sun", "hail", "sun"])])[0].tolist()[1:] == [-np.inf, -np.inf]
    assert chain.score([np.array(["hail"])]) == -np.inf


def test_where_the_sequences_are(tmp_path):
    flat = np.concatenate(DAYS)
    ids = np.repeat(np.arange(len(DAYS)), [len(days) for days in DAYS])
    want = MarkovChain().fit(DAYS)
    table = pd.DataFrame({"id": ids, "day": flat})
    pq.write_table(pa.Table.from_pandas(table), tmp_path / "days.parquet", row_group_size=3)
    for X in (table, pa.Table.from_pandas(table), suffice.scan_parquet(tmp_path)):
        found = MarkovChain().fit(suffice.sequences(X, sequence="id", features=["day"]))
        assert found.transition_.tobytes() == want.transition_.tobytes()
        assert found.start_.tobytes() == want.start_.tobytes()
    found = MarkovChain().fit(flat[:, None], groups=ids)
    assert found.transition_.tobytes() == want.transition_.tobytes()


@pytest.mark.parametrize("order", [1, 2, 3])
def test_order_n_is_a_chain_of_tuples(order):
    rng = np.random.default_rng(order)
    sequences = [rng.integers(2, size=rng.integers(1, 30)) for _ in range(20)]
    chain = MarkovChain(order).fit(sequences)
    counts, starts = {}, {}
    for s in sequences:
        tuples = [tuple(s[i : i + order].tolist()) for i in range(len(s) - order + 1)]
        if tuples:
            starts[tuples[0]] = starts.get(tuples[0], 0) + 1
        for pair in pairwise(tuples):
            counts[pair] = counts.get(pair, 0) + 1
    names = [tuple(int(v) for v in row) for row in chain.states_]
    for i, a in enumerate(names):
        assert chain.statistics_.start[i] == starts.get(a, 0)
        for j, b in enumerate(names):
            assert chain.statistics_.moves[i, j] == counts.get((a, b), 0)
            assert b[:-1] == a[1:] or not chain.statistics_.moves[i, j]
    log = chain.score_samples(sequences)
    assert all((part[: order - 1] == 0).all() for part in log)


def test_too_short_for_the_order():
    with pytest.raises(ValueError, match="no sequence has the 3 steps"):
        MarkovChain(3).fit([np.array([0, 1])])
    with pytest.raises(ValueError, match="'order' parameter"):
        MarkovChain(0).fit([np.array([0, 1])])


def test_states_of_several_types():
    with pytest.raises(ValueError, match="several types"):
        MarkovChain().fit([np.array(["sun", 1, "rain"], dtype=object)])


def test_samples_have_the_moves_of_the_chain():
    P = random_chain(1, 4)
    path = of(P).sample(40_000, random_state=0)
    again = MarkovChain().fit([path[:, 0]])
    assert np.abs(again.transition_ - P).max() < 0.03
    np.testing.assert_array_equal(path, of(P).sample(40_000, random_state=0))


@pytest.mark.parametrize("seed", range(12))
def test_against_powers_of_the_matrix(seed):
    """Classes, periods and limits, by looking at P, P^2, P^3, ... ."""
    P = random_chain(seed, 6, 0.75 if seed % 2 else 0.4)
    chain = of(P)
    powers = [np.linalg.matrix_power(P, n) > 0 for n in range(61)]
    reach = np.any(powers, axis=0)
    for states in chain.communication_classes():
        for i in range(6):
            assert (i in states) == (reach[states[0], i] and reach[i, states[0]])
    for i in range(6):
        ways = [n for n in range(1, 61) if powers[n][i, i]]
        assert chain.period()[i] == (np.gcd.reduce(ways) if ways else 0)
        back = all(reach[j, i] for j in range(6) if reach[i, j])
        assert chain.recurrence()[i] == ("positive recurrent" if back else "transient")
    for pi in chain.stationary_distributions():
        np.testing.assert_allclose(pi @ P, pi, atol=1e-15)
        assert pi.sum() == pytest.approx(1.0, abs=1e-15)
    assert chain.is_ergodic() == bool(powers[60].all())
    mean = sum(np.linalg.matrix_power(P, n) for n in range(2000)) / 2000
    if len(chain.stationary_distributions()) == 1:
        assert np.abs(mean - chain.stationary_distribution()).max() < 0.01


@pytest.mark.parametrize("seed", range(4))
def test_absorption_against_powers(seed):
    P = random_chain(seed, 7, 0.6)
    P[0], P[1] = np.eye(7)[0], np.eye(7)[1]
    end = of(P).absorption()
    limit = np.linalg.matrix_power(P, 4096)
    for n, states in enumerate(end.closed):
        np.testing.assert_allclose(
            end.probability[:, n], limit[end.transient][:, states].sum(axis=1), atol=1e-9
        )
    stays = np.isin(np.arange(7), end.transient)
    steps, alive = np.zeros(7), np.eye(7)
    for _ in range(4096):
        steps += alive[:, stays].sum(axis=1)
        alive = alive @ P
    np.testing.assert_allclose(end.steps, steps[end.transient], rtol=1e-7)


def test_nothing_to_absorb():
    end = of([[0.5, 0.5], [0.5, 0.5]]).absorption()
    assert len(end.transient) == 0
    assert end.probability.shape == (0, 1)


def test_visits_between_visits():
    """The invariant measure, by simulation."""
    chain = of(random_chain(3, 4, 0.2))
    path = chain.sample(200_000, random_state=1)[:, 0].astype(int)
    visits = np.flatnonzero(path == 2)
    counts = np.bincount(path[visits[0] : visits[-1]], minlength=4) / (len(visits) - 1)
    np.testing.assert_allclose(chain.invariant_measure(2), counts, rtol=0.03)
    with pytest.raises(ValueError, match="transient"):
        of([[0.5, 0.5], [0.0, 1.0]]).invariant_measure(0)


def test_digits_of_rare_states():
    """Of probabilities far apart, each to its last digits."""
    e = 1e-12
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        P = np.array([[1 - e, e, 0], [0.5, 0, 0.5], [0, 1, 0]])[np.ix_(order, order)]
        want = np.array([1.0, 2 * e, e])[order] / (1 + 3 * e)
        np.testing.assert_allclose(of(P).stationary_distribution(), want, rtol=1e-13)


def test_convergence_is_as_fast_as_the_second_eigenvalue():
    chain = of(random_chain(5, 5, 0.1))
    distance = chain.distance_to_stationary(12, np.eye(5)[0])
    rate = (distance[12] / distance[4]) ** (1 / 8)
    assert abs(rate - chain.mixing_rate()) < 0.1


def test_a_matrix_that_is_none():
    with pytest.raises(ValueError, match="pass its transpose"):
        of([[0.9, 0.5], [0.1, 0.5]])
    with pytest.raises(ValueError, match="square"):
        of([[1.0, 0.0]])
    with pytest.raises(ValueError, match="must be non-negative and sum to one"):
        of([[1.5, -0.5], [0.5, 0.5]])
    with pytest.raises(ValueError, match="2 states"):
        of([[0.5, 0.5], [0.5, 0.5]], start=[0.5, 0.1])
    with pytest.raises(ValueError, match="names"):
        of([[0.5, 0.5], [0.5, 0.5]], states=["a"])


def test_too_many_states():
    with pytest.raises(MemoryError, match="transitions of"):
        MarkovChain().fit([np.arange(300_000)])


def test_saved(tmp_path):
    chain = of(random_chain(1), states=list("abcdef"))
    chain.save(tmp_path / "chain")
    again = suffice.load(tmp_path / "chain")
    assert again.stationary_distribution().tobytes() == chain.stationary_distribution().tobytes()
    assert again.states_.tolist() == chain.states_.tolist()
