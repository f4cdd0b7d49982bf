"""TrustRank: the PageRank of its seeds, and how these are chosen."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.ranking import PageRank, TrustRank


def graph(seed=0, n=40, m=300):
    rng = np.random.default_rng(seed)
    return (rng.random(m) ** 2 * n).astype(int), (rng.random(m) ** 1.5 * n).astype(int)


def test_trust_is_personal_page_rank():
    X = graph(3)
    trust = TrustRank(seeds={3: 1.0, 5: 2.0}, tol=1e-12).fit(X)
    rank = PageRank(restart={3: 1.0, 5: 2.0}, tol=1e-12).fit(X)
    assert trust.scores_.tobytes() == rank.scores_.tobytes()
    assert not hasattr(trust, "candidates_")


def test_candidates_reach_most():
    """The first by PageRank of the graph turned round; a callable chooses among them."""
    source, target = graph(4)
    want = PageRank().fit((target, source)).rank(5)
    asked = []

    def look(ids):
        asked.append(ids.tolist())
        return ids[::2]

    trust = TrustRank(look, n_candidates=5).fit((source, target))
    assert asked == [want.tolist()]
    assert trust.candidates_.tolist() == want.tolist()
    same = TrustRank(want[::2]).fit((source, target))
    assert trust.scores_.tobytes() == same.scores_.tobytes()
    with pytest.raises(ValueError, match="no seeds"):
        TrustRank(lambda ids: []).fit((source, target))


def test_no_trust_without_a_way():
    links = ["news", "shop", "spam", "farm"], ["shop", "news", "farm", "spam"]
    trust = TrustRank(["news"]).fit(links)
    assert dict(zip(trust.nodes_.tolist(), trust.scores_.tolist(), strict=True))["spam"] == 0.0
