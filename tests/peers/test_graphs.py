"""PageRank and HITS beside igraph, networkx and scikit-network."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from suffice.ranking import HITS, PageRank


def links(seed=0, n=500, m=4000):
    rng = np.random.default_rng(seed)
    return (rng.random(m) ** 2 * n * 0.9).astype(int), (rng.random(m) ** 1.3 * n).astype(int)


SOURCE, TARGET = links()
N = int(max(SOURCE.max(), TARGET.max())) + 1
A = sp.csr_array((np.ones(len(SOURCE)), (SOURCE, TARGET)), (N, N))
WEIGHT = np.random.default_rng(1).uniform(0.5, 2.0, len(SOURCE))
WEIGHTED = sp.csr_array((WEIGHT, (SOURCE, TARGET)), (N, N))
RESTART = np.random.default_rng(2).random(N)


@pytest.mark.parametrize("damping", [0.5, 0.85, 0.95])
def test_igraph(damping):
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph(N, list(zip(SOURCE.tolist(), TARGET.tolist(), strict=True)), directed=True)
    ours = PageRank(damping, tol=1e-13).fit(A)
    assert np.abs(ours.scores_ - graph.pagerank(damping=damping)).sum() < 1e-10
    weighted = PageRank(damping, tol=1e-13).fit(WEIGHTED)
    assert np.abs(weighted.scores_ - graph.pagerank(damping=damping, weights=WEIGHT.tolist())).sum() < 1e-10


def test_igraph_personal():
    """igraph starts again where nothing leads on."""
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph(N, list(zip(SOURCE.tolist(), TARGET.tolist(), strict=True)), directed=True)
    theirs = np.array(graph.personalized_pagerank(reset=RESTART.tolist()))
    ours = PageRank(restart=RESTART, dangling="restart", tol=1e-13).fit(A)
    assert np.abs(ours.scores_ - theirs).sum() < 1e-10


@pytest.mark.parametrize("algorithm", ["iterative", "power", "algebraic"])
def test_networkx(algorithm):
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(N))
    graph.add_weighted_edges_from(zip(SOURCE.tolist(), TARGET.tolist(), WEIGHT.tolist(), strict=True))
    theirs = networkx.pagerank(graph, tol=1e-15)
    ours = PageRank(tol=1e-13, algorithm=algorithm).fit(graph)
    assert ours.nodes_.tolist() == list(graph)
    assert np.abs(ours.scores_ - [theirs[node] for node in ours.nodes_]).sum() < 1e-11
    personal = networkx.pagerank(graph, personalization=dict(enumerate(RESTART)), tol=1e-15)
    ours = PageRank(tol=1e-13, restart=dict(enumerate(RESTART)), algorithm=algorithm).fit(graph)
    assert np.abs(ours.scores_ - [personal[node] for node in ours.nodes_]).sum() < 1e-11


def test_networkx_graphs_of_any_kind():
    """Not directed, with nodes that are tuples; several links between two nodes; nodes without any."""
    networkx = pytest.importorskip("networkx")
    grid = networkx.grid_2d_graph(4, 5)
    grid.add_node((9, 9))
    grid.add_edge((0, 0), (0, 0), weight=2.0)
    many = networkx.MultiDiGraph([(0, 1), (0, 1), (1, 2), (2, 0), (0, 2)])
    for graph in (grid, many):
        theirs = networkx.pagerank(graph, tol=1e-15, max_iter=1000)
        ours = PageRank(tol=1e-13).fit(graph)
        assert ours.nodes_.tolist() == list(graph)
        assert np.abs(ours.scores_ - [theirs[node] for node in graph]).sum() < 1e-11


def test_networkx_calls_many_nodes_converged():
    """Its tolerance is a multiple of the number of nodes: two million times 1e-6 is more than any error.

    Here with as large a product for fewer nodes, of a graph that settles slowly.
    """
    networkx = pytest.importorskip("networkx")
    n = 300
    graph = networkx.cycle_graph(n, create_using=networkx.DiGraph)
    graph.add_edges_from((i, 0) for i in range(2, n, 3))
    tol = 2_000_000 * 1e-6 / n  # as by default, of two million nodes
    theirs = networkx.pagerank(graph, alpha=0.99, tol=tol)
    exact = PageRank(0.99, tol=1e-13, max_iter=5000).fit(graph)
    error = np.abs(exact.scores_ - [theirs[node] for node in graph]).sum()
    assert error > 0.5  # which it calls converged
    ours = PageRank(0.99, tol=1e-6, max_iter=5000).fit(graph)
    assert np.abs(ours.scores_ - exact.scores_).sum() <= 1e-6


def test_networkx_hits():
    networkx = pytest.importorskip("networkx")
    graph = networkx.from_scipy_sparse_array(A, create_using=networkx.DiGraph)
    hubs, authorities = networkx.hits(graph, tol=1e-14, max_iter=1000)
    ours = HITS(tol=1e-13).fit(A)
    np.testing.assert_allclose(ours.hubs_, [hubs[n] for n in range(N)], atol=1e-9)
    np.testing.assert_allclose(ours.authorities_, [authorities[n] for n in range(N)], atol=1e-9)


def test_scikit_network():
    """Its solver "RH"; others of it differ from that by 0.16, where nodes have no links."""
    ranking = pytest.importorskip("sknetwork.ranking")
    theirs = ranking.PageRank(0.85, solver="RH", n_iter=300, tol=1e-14).fit_predict(sp.csr_matrix(A))
    ours = PageRank(tol=1e-13).fit(A).scores_
    assert np.abs(ours - theirs).sum() < 1e-9
