"""BrowseRank: the time that a walk spends on each page."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.ranking import BrowseRank, PageRank, TrustRank, transition_matrix


def graph(seed=0, n=40, m=300):
    rng = np.random.default_rng(seed)
    return (rng.random(m) ** 2 * n).astype(int), (rng.random(m) ** 1.5 * n).astype(int)


def test_browse_rank_is_time():
    """Of the process in continuous time: the null vector of its rates, which are moves over mean times."""
    source, target = graph(5)
    rank = PageRank(tol=1e-14).fit((source, target))
    n = len(rank.nodes_)
    staying = np.random.default_rng(0).uniform(1.0, 9.0, n)
    browse = BrowseRank(staying, tol=1e-14).fit((source, target))
    np.testing.assert_allclose(browse.visits_, rank.scores_, atol=1e-14)
    P = 0.85 * transition_matrix((source, target))[0].toarray()
    P[P.sum(axis=1) == 0] = 0.85 / n
    rates = (P + 0.15 / n - np.eye(n)) / staying[:, None]
    _, _, V = np.linalg.svd(rates.T)
    want = V[-1] / V[-1].sum()
    np.testing.assert_allclose(browse.scores_, want, atol=1e-12)
    with pytest.raises(ValueError, match="no time for"):
        BrowseRank({browse.nodes_[0]: 1.0}).fit((source, target))
    by_id = BrowseRank(dict(zip(browse.nodes_.tolist(), staying.tolist(), strict=True)), tol=1e-14)
    np.testing.assert_allclose(by_id.fit((source, target)).scores_, want, atol=1e-12)


def test_times_and_seeds_that_say_nothing():
    links = (["a", "b"], ["b", "a"])
    with pytest.raises(ValueError, match="not all zero"):
        BrowseRank(staying={"a": 0.0, "b": 0.0}).fit(links)
    stay = {"a": 0.0, "b": 0.0, "c": 1.0}
    with pytest.raises(ValueError, match="zero for every page that is visited"):
        BrowseRank(staying=stay, restart={"a": 1.0}).fit((["a", "b", "c"], ["b", "a", "a"]))
    with pytest.raises(TypeError, match="'seeds' parameter"):
        TrustRank(seeds="news").fit(links)
