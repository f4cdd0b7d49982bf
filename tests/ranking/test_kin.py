"""HITS, TrustRank, BrowseRank and the matrix of the walk."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.ranking import HITS, BrowseRank, PageRank, TrustRank, transition_matrix
from suffice.ranking.page_rank import Surfer

from ..versions import needs_callbacks


def graph(seed=0, n=40, m=300):
    rng = np.random.default_rng(seed)
    return (rng.random(m) ** 2 * n).astype(int), (rng.random(m) ** 1.5 * n).astype(int)


@pytest.mark.parametrize("weighted", [False, True])
def test_hits_are_the_first_singular_vectors(weighted):
    source, target = graph(1)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, len(source)) if weighted else None
    hits = HITS(tol=1e-13).fit((source, target), sample_weight=weight)
    A = np.zeros((len(hits.nodes_),) * 2)
    number = {node: n for n, node in enumerate(hits.nodes_.tolist())}
    for n, (a, b) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        A[number[a], number[b]] += 1.0 if weight is None else weight[n]
    U, _, V = np.linalg.svd(A)
    np.testing.assert_allclose(hits.hubs_, np.abs(U[:, 0]) / np.abs(U[:, 0]).sum(), atol=1e-12)
    np.testing.assert_allclose(hits.authorities_, np.abs(V[0]) / np.abs(V[0]).sum(), atol=1e-12)
    assert hits.rank(1)[0] == hits.nodes_[hits.authorities_.argmax()]
    assert hits.converged_


def test_hits_of_two_parts_as_strong():
    """Which start from equal scores, and so stay equal."""
    hits = HITS().fit((["a", "b"], ["b", "a"]))
    np.testing.assert_allclose(hits.hubs_, 0.5)


def test_hits_without_links():
    with pytest.raises(ValueError, match="neither hubs nor authorities"):
        HITS().fit(sp.csr_array((3, 3)))


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


def test_matrix_of_the_walk():
    matrix, nodes = transition_matrix(([1, 1, 5, 1], [5, 7, 1, 5]), sample_weight=[1.0, 1.0, 2.0, 2.0])
    assert nodes.tolist() == [1, 5, 7]
    np.testing.assert_allclose(matrix.toarray(), [[0, 0.75, 0.25], [1, 0, 0], [0, 0, 0]])
    assert matrix.nnz == 3


each_rank = pytest.mark.parametrize(
    "estimator", [PageRank(), HITS(), TrustRank(n_candidates=3), BrowseRank()], ids=str
)


@each_rank
def test_saved(estimator, tmp_path):
    """A file holds all that was learnt."""
    fitted = clone(estimator).set_params(tol=1e-12).fit(graph(6))
    fitted.save(tmp_path / "rank")
    again = suffice.load(tmp_path / "rank")
    assert again.rank().tolist() == fitted.rank().tolist()
    assert again.trace_.tobytes() == fitted.trace_.tobytes()


@needs_callbacks
@each_rank
def test_started_again(estimator, tmp_path):
    """An interrupted fit goes on to the same bits."""
    X = graph(6)
    estimator = clone(estimator).set_params(tol=1e-12)
    fitted = clone(estimator).fit(X)

    class Broken(Exception):
        pass

    class Stop:
        seen = 0

        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context, **kwargs): ...

        def on_fit_task_end(self, estimator, context, **kwargs):
            self.seen += context.task_name == "iteration"
            if self.seen == 3:
                raise Broken

    stopped = clone(estimator).set_params(checkpoint=tmp_path / "progress").set_callbacks(Stop())
    with pytest.raises(Broken):
        stopped.fit(X)
    goes_on = clone(estimator).set_params(checkpoint=tmp_path / "progress").fit(X)
    assert goes_on.trace_.tobytes() == fitted.trace_.tobytes()
    with pytest.raises(Broken):
        stopped.set_callbacks(Stop()).fit(X)
    with pytest.raises(ValueError, match="another fit"):
        clone(estimator).set_params(checkpoint=tmp_path / "progress").fit(graph(7))


@pytest.mark.parametrize("weight", [[1e308, 1e308, 1.0], [1e-310, 1e-310, 1.0]])
def test_weights_beyond_numbers(weight):
    with pytest.raises(ValueError, match="Divide the weights by the largest"):
        PageRank().fit(([0, 0, 1], [1, 2, 0]), sample_weight=weight)


def test_scores_that_are_no_numbers_are_no_answer(monkeypatch):
    plain = Surfer.estimate
    monkeypatch.setattr(Surfer, "estimate", lambda self, s: plain(self, s * np.nan))
    with pytest.warns(ConvergenceWarning, match="not finite"):
        rank = PageRank().fit(graph(1))
    assert not rank.converged_


def test_times_and_seeds_that_say_nothing():
    links = (["a", "b"], ["b", "a"])
    with pytest.raises(ValueError, match="not all zero"):
        BrowseRank(staying={"a": 0.0, "b": 0.0}).fit(links)
    stay = {"a": 0.0, "b": 0.0, "c": 1.0}
    with pytest.raises(ValueError, match="zero for every page that is visited"):
        BrowseRank(staying=stay, restart={"a": 1.0}).fit((["a", "b", "c"], ["b", "a", "a"]))
    with pytest.raises(TypeError, match="'seeds' parameter"):
        TrustRank(seeds="news").fit(links)
