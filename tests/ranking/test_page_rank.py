"""PageRank: one answer by every algorithm and from everywhere, with an error that is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.engines.local import LocalPartitions
from suffice.ranking import (
    HITS,
    BrowseRank,
    PageRank,
    TrustRank,
    links,
    page_rank,
    sharded,
    transition_matrix,
)
from suffice.ranking.page_rank import Surfer

from ..versions import needs_callbacks

DANGLING = ("restart", "uniform", "self", "leak")


def graph(seed=0, n=60, m=400, weighted=False):
    """Links among n nodes, some of which have none that leave; with doubles and links to itself."""
    rng = np.random.default_rng(seed)
    source = (rng.random(m) ** 2 * 0.8 * n).astype(np.int64)
    target = (rng.random(m) ** 1.5 * n).astype(np.int64)
    source[:2], target[:2] = n - 1, n - 1
    source[2], target[2] = 0, n - 2
    return source, target, rng.uniform(0.1, 5.0, m) if weighted else None


def dense(source, target, weight, d=0.85, restart=None, dangling="restart", n=None):
    """The scores by a dense solve, from the definition."""
    nodes = np.unique(np.concatenate([source, target])) if n is None else np.arange(n)
    n = len(nodes)
    A = np.zeros((n, n))
    np.add.at(
        A, (np.searchsorted(nodes, target), np.searchsorted(nodes, source)), 1.0 if weight is None else weight
    )
    v = np.full(n, 1.0 / n) if restart is None else restart / restart.sum()
    out = A.sum(axis=0)
    M = A / np.where(out > 0, out, 1.0)
    for j in np.flatnonzero(out == 0):
        M[:, j] = {"restart": v, "uniform": np.full(n, 1.0 / n), "self": np.eye(n)[j], "leak": np.zeros(n)}[
            dangling
        ]
    return nodes, np.linalg.solve(np.eye(n) - d * M, (1 - d) * v)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dangling", DANGLING)
def test_equals_a_direct_solve(dangling, weighted):
    source, target, weight = graph(1, weighted=weighted)
    v = np.random.default_rng(2).random(60)
    for restart in (None, v[: len(np.unique(np.append(source, target)))]):
        nodes, want = dense(source, target, weight, 0.85, restart, dangling)
        for algorithm in ("iterative", "power", "algebraic"):
            if dangling == "leak" and algorithm == "power":
                continue  # which is another vector: see the canon
            rank = PageRank(restart=restart, dangling=dangling, algorithm=algorithm, tol=1e-13)
            rank.fit((source, target), sample_weight=weight)
            assert rank.nodes_.tolist() == nodes.tolist()
            assert np.abs(rank.scores_ - want).sum() <= 1e-12
            assert rank.converged_
            assert rank.error_bound_ <= 1e-13


def test_equals_a_sparse_solve_of_many_nodes(monkeypatch):
    source, target, _ = graph(3, 3000, 20_000)
    P, nodes = transition_matrix((source, target))
    n = len(nodes)
    lost = np.flatnonzero(np.diff(P.indptr) == 0)
    solve = sp.linalg.splu(sp.csc_array(sp.eye_array(n) - 0.85 * P.T)).solve
    x = solve(np.full(n, 0.15 / n))
    want = x / x.sum()
    assert len(lost) > 100
    for algorithm in ("iterative", "power", "algebraic"):  # by a Krylov method, of so many
        rank = PageRank(algorithm=algorithm, tol=1e-13).fit((source, target))
        assert n > page_rank.DIRECT
        assert np.abs(rank.scores_ - want).sum() <= 1e-12, algorithm


@pytest.mark.parametrize("d", [0.0, 0.3, 0.85, 0.99])
def test_the_bound_holds(d):
    """In every iteration: the error is never larger than the trace says."""
    source, target, _ = graph(4)
    _, want = dense(source, target, None, d)
    for n in (1, 2, 5, 20):
        with pytest.warns(ConvergenceWarning):
            rank = PageRank(d, tol=0.0, max_iter=n).fit((source, target))
        error = np.abs(rank.scores_ - want).sum()
        assert error <= rank.trace_[-1] + 1e-15
        assert len(rank.trace_) == rank.n_iter_


def test_tolerance_does_not_depend_on_the_number_of_nodes():
    """A cycle with one more link: the scores settle slowly, and of many nodes each changes by very little."""
    n = 2000
    source = np.concatenate([np.arange(n), [0]])
    target = np.concatenate([np.roll(np.arange(n), -1), [n // 2]])
    want = PageRank(0.99, tol=1e-12, max_iter=5000).fit((source, target)).scores_
    for tol in (1e-3, 1e-6):
        rank = PageRank(0.99, tol=tol, max_iter=5000).fit((source, target))
        assert np.abs(rank.scores_ - want).sum() <= tol
    # A tolerance for each node, n times as much in all, is met before the first step, if n is large.
    assert 2.0 <= 2_000_000 * 1e-6


def test_personal_scores_mix():
    """Scores for a mixture of topics are the mixture of theirs, if what is stranded goes elsewhere."""
    X = graph(5)[:2]
    a, b = ({3: 1.0}, {7: 2.0, 9: 2.0})
    how = {"dangling": "uniform", "tol": 1e-14}
    rank = {name: PageRank(restart=r, **how).fit(X) for name, r in (("a", a), ("b", b))}
    both = PageRank(restart={3: 0.3, 7: 0.35, 9: 0.35}, **how).fit(X)
    np.testing.assert_allclose(both.scores_, 0.3 * rank["a"].scores_ + 0.7 * rank["b"].scores_, atol=1e-13)


def test_restart_by_id_and_by_place():
    X = np.array(["x", "y", "z"]), np.array(["y", "z", "y"])
    by_id = PageRank(restart={"z": 3.0}).fit(X)
    by_place = PageRank(restart=[0.0, 0.0, 1.0]).fit(X)
    assert by_id.scores_.tobytes() == by_place.scores_.tobytes()
    assert by_id.scores_[0] == 0.0
    with pytest.raises(ValueError, match="not nodes of the graph"):
        PageRank(restart={"q": 1.0}).fit(X)
    with pytest.raises(ValueError, match="one weight for each"):
        PageRank(restart=[1.0]).fit(X)
    for wrong in ([-1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [np.nan, 1.0, 1.0]):
        with pytest.raises(ValueError, match=r"not negative|'restart' parameter"):
            PageRank(restart=wrong).fit(X)


def test_start_from_yesterday():
    X = graph(6)[:2]
    first = PageRank(tol=1e-12).fit(X)
    again = PageRank(tol=1e-10, start=first.scores_).fit(X)
    assert again.n_iter_ <= 2 < first.n_iter_
    assert np.abs(again.scores_ - first.scores_).sum() < 1e-10


# --- without damping -------------------------------------------------------------------------------------


def test_without_damping_it_is_the_stationary_distribution():
    source, target, _ = graph(7)
    X = np.append(source, np.arange(59)), np.append(target, np.arange(1, 60))
    X = np.append(X[0], 59), np.append(X[1], 0)  # a cycle through all nodes
    rank = PageRank(1.0, tol=1e-12).fit(X)
    P, _ = transition_matrix(X)
    np.testing.assert_allclose(rank.scores_ @ P, rank.scores_, atol=1e-13)
    assert (
        np.abs(
            rank.scores_ - suffice.sampling.MarkovChain.from_transition(P.toarray()).stationary_distribution()
        ).sum()
        < 1e-11
    )


def test_without_damping_parts_that_are_not_left():
    with pytest.raises(ValueError, match=r"2 parts that the walk does not leave.*damping below"):
        PageRank(1.0).fit(([0, 1, 2, 3], [1, 0, 3, 2]))
    with pytest.raises(ValueError, match="2 parts"):
        PageRank(1.0, dangling="self").fit(([0, 0], [1, 2]))


def test_without_damping_a_period():
    with pytest.raises(ValueError, match="multiples of 3"):
        PageRank(1.0).fit(([0, 1, 2], [1, 2, 0]))
    # By the node where the stranded start again: 0 -> 1, back to 0, in two steps.
    with pytest.raises(ValueError, match="multiples of 2"):
        PageRank(1.0, restart={0: 1.0}).fit(([0], [1]))
    rank = PageRank(1.0, restart={0: 1.0, 1: 1.0}, tol=1e-12).fit(([0], [1]))
    np.testing.assert_allclose(rank.scores_, [1 / 3, 2 / 3])


def test_without_damping_the_equations_are_not_solved():
    with pytest.raises(ValueError, match="no unique solution"):
        PageRank(1.0, algorithm="algebraic").fit(([0, 1, 0], [1, 0, 0]))


# --- where the links are ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table():
    source, target, _ = graph(8, 300, 5000)
    rng = np.random.default_rng(1)
    return pa.table({"from": source, "to": target, "w": rng.integers(1, 5, 5000).astype(float)})


@pytest.fixture(scope="module")
def want(table):
    return PageRank().fit(
        (table["from"].to_numpy(), table["to"].to_numpy()), sample_weight=table["w"].to_numpy()
    )


def described(source):
    return suffice.edges(source, source="from", target="to", weight="w")


def same(found, want):
    assert [str(node) for node in found.nodes_] == [str(node) for node in want.nodes_]
    assert found.scores_.tobytes() == want.scores_.tobytes()
    assert found.trace_.tobytes() == want.trace_.tobytes()


def test_tables(table, want):
    for source in (table, table.to_pandas(), pl.from_arrow(table), table.combine_chunks().to_batches()[0]):
        same(PageRank().fit(described(source)), want)


def test_parquet(table, want, tmp_path):
    for n in range(4):
        pq.write_table(table.slice(1250 * n, 1250), tmp_path / f"{n}.parquet", row_group_size=400)
    for cache in (None, "memory", "disk"):
        scan = suffice.scan_parquet(tmp_path, cache=cache)
        same(PageRank().fit(described(scan)), want)


def test_several_passes_over_the_links(table, want, tmp_path, monkeypatch):
    monkeypatch.setattr(links, "SORTED_AT_ONCE", 700)
    monkeypatch.setattr(links, "RUN", 90)
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=400)
    same(PageRank().fit(described(suffice.scan_parquet(tmp_path))), want)


def test_threads_change_no_bit(table, want, monkeypatch):
    monkeypatch.setattr(links, "RUN", 90)
    for n in (1, 3):
        with suffice.threads(n):
            same(PageRank().fit(described(table)), want)


def named(table, offset="n{:05}"):
    """Ids as strings, in the order of the numbers."""
    ids = [[offset.format(v) for v in table[c].to_pylist()] for c in ("from", "to")]
    return pa.table({"from": ids[0], "to": ids[1], "w": table["w"]})


def test_ids_that_are_strings(table, want, tmp_path):
    names = named(table)
    pq.write_table(names, tmp_path / "a.parquet", row_group_size=400)
    coded = names.set_column(0, "from", names["from"].dictionary_encode())
    found = [
        PageRank().fit(described(s))
        for s in (names, coded, names.to_pandas(), suffice.scan_parquet(tmp_path))
    ]
    arrays = tuple(np.array(names[c].to_pylist()) for c in ("from", "to"))
    found.append(PageRank().fit(arrays, sample_weight=names["w"].to_numpy()))
    for rank in found:
        assert rank.nodes_.tolist() == [f"n{v:05}" for v in want.nodes_]
        assert rank.scores_.tobytes() == want.scores_.tobytes()


def test_ids_far_apart(table, want, tmp_path):
    far = {c: table[c].to_numpy() * 10**15 - 7 for c in ("from", "to")}
    found = PageRank().fit((far["from"], far["to"]), sample_weight=table["w"].to_numpy())
    assert found.nodes_.tolist() == (want.nodes_ * 10**15 - 7).tolist()
    assert found.scores_.tobytes() == want.scores_.tobytes()
    pq.write_table(pa.table({**far, "w": table["w"]}), tmp_path / "a.parquet", row_group_size=700)
    found = PageRank().fit(described(suffice.scan_parquet(tmp_path)))
    assert found.scores_.tobytes() == want.scores_.tobytes()


def test_a_matrix_and_its_links():
    source, target, weight = graph(9, weighted=True)
    A = sp.coo_array((weight, (source, target)), (65, 65))  # of which some nodes have no link at all
    _, score = dense(source, target, weight, n=65)
    for matrix in (A, A.tocsr(), A.tocsc(), sp.csr_matrix(A)):
        rank = PageRank(tol=1e-13).fit(matrix)
        assert np.abs(rank.scores_ - score).sum() < 1e-12
        assert rank.nodes_.tolist() == list(range(65))
    assert len(PageRank().fit((source, target), sample_weight=weight).nodes_) < 65


def test_whole_numbers_of_any_size():
    X = graph(10)[:2]
    want = PageRank().fit(X)
    for kind in (np.int8, np.uint8, np.int32, np.uint32, np.uint64):
        assert (
            PageRank().fit(tuple(part.astype(kind) for part in X)).scores_.tobytes() == want.scores_.tobytes()
        )
    assert PageRank().fit((X[0].tolist(), X[1].tolist())).scores_.tobytes() == want.scores_.tobytes()
    assert (
        PageRank().fit(tuple(part.astype(object) for part in X)).scores_.tobytes() == want.scores_.tobytes()
    )


@pytest.mark.parametrize(
    "dangling", [DANGLING[0], *(pytest.param(policy, marks=pytest.mark.slow) for policy in DANGLING[1:])]
)
def test_in_shards(table, tmp_path, monkeypatch, dangling):
    """Scores that stay where they are: here in files, on a cluster in its memory."""
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=400)
    scan = described(suffice.scan_parquet(tmp_path))
    for restart in (None, {5: 1.0, 17: 3.0}):
        how = {"dangling": dangling, "restart": restart, "tol": 1e-12}
        want = PageRank(**how).fit(scan)
        with monkeypatch.context() as patch:
            patch.setattr(sharded, "HOME_BYTES", 0)
            patch.setattr(sharded, "SHARD_BYTES", 20_000)
            found = PageRank(**how).fit(scan)
        assert len(found.scores_.starts) > 4
        assert np.abs(found.scores_.take(want.nodes_) - want.scores_).sum() < 1e-12
        assert abs(found.n_iter_ - want.n_iter_) <= 1
        np.testing.assert_allclose(
            found.scores_.take(found.rank(9)), np.sort(want.scores_)[:-10:-1], atol=1e-13
        )
        absent = np.setdiff1d(np.array(found.nodes_), want.nodes_)
        assert (found.scores_.take(absent - found.nodes_[0]) == 0.0).all() if len(absent) else True


def test_in_shards_what_cannot_be(table, monkeypatch, tmp_path):
    monkeypatch.setattr(sharded, "HOME_BYTES", 0)
    pq.write_table(named(table), tmp_path / "a.parquet")
    with pytest.raises(MemoryError, match="number them first"):
        PageRank().fit(described(suffice.scan_parquet(tmp_path)))
    with pytest.raises(ValueError, match="algorithm='iterative'"):
        PageRank(algorithm="power").fit(described(table))


def test_in_shards_only_nodes_are_ranked(monkeypatch, tmp_path):
    """Whole numbers between those of nodes are none."""
    links = (np.array([0, 1, 9]), np.array([1, 9, 0]))
    table = pa.table({"from": links[0], "to": links[1], "w": np.ones(3)})
    want = PageRank().fit(links).rank()
    monkeypatch.setattr(sharded, "HOME_BYTES", 0)
    monkeypatch.setattr(sharded, "SHARD_BYTES", 200)
    found = PageRank().fit(described(table))
    np.testing.assert_array_equal(np.sort(found.rank()), np.sort(want))
    assert len(found.rank(2)) == 2 and set(found.rank(2)) < {0, 1, 9}
    for name in ("restart", "start"):
        with pytest.raises(ValueError, match=f"{name} must hold weights of nodes of the graph"):
            PageRank(**{name: {5: 1.0}}).fit(described(table))


def test_all_that_leaks_is_no_share():
    with pytest.raises(ValueError, match=r"no score is left.*With a damping below 1\.0"):
        PageRank(1.0, dangling="leak", algorithm="power").fit(([0], [1]))


# --- bad input -------------------------------------------------------------------------------------------


def test_doubles_add_up_and_weights_repeat():
    source, target, _ = graph(11)
    times = np.random.default_rng(0).integers(0, 4, len(source))
    a = PageRank(tol=1e-14).fit((source, target), sample_weight=times)
    b = PageRank(tol=1e-14).fit((np.repeat(source, times), np.repeat(target, times)))
    assert a.nodes_.tolist() == b.nodes_.tolist()
    np.testing.assert_allclose(a.scores_, b.scores_, rtol=1e-12)


def test_links_of_no_weight_are_absent():
    """And so are nodes that have no others, whatever their ids are."""
    weight = [1.0, 0.0, 1.0]
    for ids in ([0, 1, 2], ["a", "b", "c"], [0, 10**12, 2 * 10**12]):
        source, target = [ids[0], ids[1], ids[2]], [ids[2], ids[0], ids[0]]
        table = pa.table({"from": source, "to": target, "w": weight})
        for rank in (
            PageRank().fit((source, target), sample_weight=weight),
            PageRank().fit(described(table)),
        ):
            assert rank.nodes_.tolist() == [ids[0], ids[2]]
            np.testing.assert_allclose(rank.scores_, 0.5)


def test_links_to_itself():
    rank = PageRank(tol=1e-14).fit(([0, 0, 1], [0, 1, 0]))
    _, want = dense(np.array([0, 0, 1]), np.array([0, 1, 0]), None)
    np.testing.assert_allclose(rank.scores_, want, atol=1e-14)


def test_only_a_link_to_itself():
    assert PageRank().fit(([4], [4])).scores_.tolist() == [1.0]


def test_graphs_in_parts():
    rank = PageRank(tol=1e-14).fit(([0, 1, 5, 6, 7], [1, 0, 6, 7, 5]))
    np.testing.assert_allclose(rank.scores_, 0.2)


def test_nodes_without_links():
    rank = PageRank().fit(sp.csr_array((4, 4)))
    np.testing.assert_allclose(rank.scores_, 0.25)
    assert PageRank().fit(sp.csr_array((1, 1))).scores_.tolist() == [1.0]


def test_no_graph():
    for X in (([], []), (np.zeros(0, int), np.zeros(0, int))):
        with pytest.raises(ValueError, match="no links"):
            PageRank().fit(X)
    with pytest.raises(ValueError, match="no nodes"):
        PageRank().fit(sp.csr_array((0, 0)))
    with pytest.raises(ValueError, match="no links"):
        PageRank().fit(([0, 1], [1, 0]), sample_weight=[0.0, 0.0])


@pytest.mark.parametrize(
    ("weight", "match"),
    [
        ([1.0, -1.0], "Negative"),
        ([np.nan, 1.0], "NaN"),
        ([np.inf, 1.0], "infinity"),
        ([1.0], "one for each link"),
    ],
)
def test_weights_that_are_none(weight, match):
    with pytest.raises(ValueError, match=match):
        PageRank().fit(([0, 1], [1, 0]), sample_weight=weight)
    if len(weight) == 2:
        table = pd.DataFrame({"from": [0, 1], "to": [1, 0], "w": weight})
        for source in (table, pa.Table.from_pandas(table)):
            with pytest.raises(ValueError, match=match):
                PageRank().fit(described(source))
        with pytest.raises(ValueError, match=match):
            PageRank().fit(sp.csr_array((weight, ([0, 1], [1, 0])), (2, 2)))


@pytest.mark.parametrize(
    ("X", "error", "match"),
    [
        ((["a", 1], ["b", 2]), TypeError, "several types"),
        ((np.array(["a", 1], object), np.array(["b", 2], object)), TypeError, "several types"),
        ((["a", "b"], [1, 2]), TypeError, "several types"),
        (([0.5, 1.0], [1.0, 2.0]), TypeError, "whole numbers"),
        (([np.nan, 1.0], [1.0, 2.0]), ValueError, "missing"),
        ((np.array([None, "a"], object), np.array(["b", "a"])), ValueError, "missing"),
        (([True], [False]), TypeError, "whole numbers"),
        ((np.array([2**63], np.uint64), [1]), TypeError, "whole numbers"),
        (([1, 2], [1]), ValueError, "one for each link"),
        (([[1, 2]], [[1, 2]]), ValueError, "shape"),
        (np.eye(3), TypeError, "pass fit"),
        ([(0, 1), (1, 2)], TypeError, "pass fit"),
        (pd.DataFrame({"a": [1], "b": [2]}), TypeError, "suffice.edges"),
        (sp.csr_array((2, 3)), ValueError, "square"),
    ],
)
def test_what_is_no_graph(X, error, match):
    with pytest.raises(error, match=match):
        PageRank().fit(X)


def test_ids_of_mixed_type_in_files(tmp_path):
    pq.write_table(pa.table({"from": [1, 2], "to": [2, 1]}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"from": ["1", "2"], "to": ["2", "1"]}), tmp_path / "1.parquet")
    scan = suffice.scan_parquet(tmp_path)
    with pytest.raises(TypeError, match="strings in others"):
        PageRank().fit(suffice.edges(scan, source="from", target="to"))
    both = pa.table({"from": [1, 2], "to": ["2", "1"]})
    with pytest.raises(TypeError, match="several types"):
        PageRank().fit(suffice.edges(both, source="from", target="to"))


def test_missing_ids_in_tables():
    for values in ([1, None], ["a", None]):
        table = pa.table({"from": values, "to": values[:1] * 2})
        for source in (table, table.to_pandas()):
            with pytest.raises(ValueError, match="missing"):
                PageRank().fit(suffice.edges(source, source="from", target="to"))


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"damping": 1.1}, "'damping' parameter"),
        ({"damping": -0.1}, "'damping' parameter"),
        ({"dangling": "stay"}, "dangling"),
        ({"algorithm": "magic"}, "algorithm"),
        ({"tol": -1.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_parameters_that_are_none(params, match):
    with pytest.raises(ValueError, match=match):
        PageRank(**params).fit(([0, 1], [1, 0]))


def test_columns_that_are_not_there():
    with pytest.raises(ValueError, match="no column"):
        PageRank().fit(suffice.edges(pd.DataFrame({"a": [1]}), source="a", target="b"))
    with pytest.raises(ValueError, match="are a column"):
        PageRank().fit(
            suffice.edges(pd.DataFrame({"a": [1], "b": [1]}), source="a", target="b"), sample_weight=[1]
        )


# --- a planted bug is caught -----------------------------------------------------------------------------


def test_links_of_one_target_stay_in_order():
    """What the same bits everywhere rest on."""
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, 1000, 9999).astype(np.int32), rng.integers(0, 50, 9999).astype(np.int32)
    order = np.argsort(target, kind="stable")
    for cuts in ([], [4000], [10, 11, 9000]):
        parts = zip(np.split(source, cuts), np.split(target, cuts), strict=True)
        found = links.sort_links(links.Pairs(tuple((s, t, None) for s, t in parts)), 0, 50)
        assert found.source.tobytes() == source[order].tobytes()
        assert found.offset.tolist() == np.searchsorted(target[order], np.arange(51)).tolist()


def test_the_sum_law_of_links():
    """The mass of links followed by links is the sum of theirs, wherever they are cut."""
    source, target, weight = graph(12, weighted=True)
    edges = suffice.core.blocks.Edges(source, target, weight)
    rank = PageRank().fit((source, target), sample_weight=weight)
    whole = links.read_graph(LocalPartitions((edges,)), np.arange(60)).links
    model = rank.model_.replace(score=np.full(60, 1 / 60), share=np.ones(60))
    total = model.summarize(whole)
    for at in (0, 1, 17, 59, 60):
        parts = [model.summarize(whole.piece(0, at, 0)), model.summarize(whole.piece(at, 60, 1))]
        assert (parts[0] + parts[1]).values.tobytes() == total.values.tobytes()
    halves = [
        model.summarize(links.read_graph(LocalPartitions((edges[part],)), np.arange(60)).links)
        for part in (slice(0, 150), slice(150, None))
    ]
    np.testing.assert_allclose((halves[0] + halves[1]).values, total.values, rtol=1e-14)
    np.testing.assert_allclose((2.0 * total).values, 2.0 * total.values)


def test_rank():
    X = ["a", "b", "c", "d"], ["c", "c", "d", "c"]
    rank = PageRank().fit(X)
    assert rank.rank().tolist() == ["c", "d", "a", "b"]
    assert rank.rank(1).tolist() == ["c"]


def test_a_cached_graph_is_not_changed():
    source, target, _ = graph(13)
    before = source.tobytes(), target.tobytes()
    PageRank().fit((source, target))
    assert (source.tobytes(), target.tobytes()) == before


def small_graph(seed=0, n=40, m=300):
    rng = np.random.default_rng(seed)
    return (rng.random(m) ** 2 * n).astype(int), (rng.random(m) ** 1.5 * n).astype(int)


each_rank = pytest.mark.parametrize(
    "estimator", [PageRank(), HITS(), TrustRank(n_candidates=3), BrowseRank()], ids=str
)


@each_rank
def test_saved(estimator, tmp_path):
    """A file holds all that was learnt."""
    fitted = clone(estimator).set_params(tol=1e-12).fit(small_graph(6))
    fitted.save(tmp_path / "rank")
    again = suffice.load(tmp_path / "rank")
    assert again.rank().tolist() == fitted.rank().tolist()
    assert again.trace_.tobytes() == fitted.trace_.tobytes()


@needs_callbacks
@each_rank
def test_started_again(estimator, tmp_path):
    """An interrupted fit goes on to the same bits."""
    X = small_graph(6)
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
        clone(estimator).set_params(checkpoint=tmp_path / "progress").fit(small_graph(7))


@pytest.mark.parametrize("weight", [[1e308, 1e308, 1.0], [1e-310, 1e-310, 1.0]])
def test_weights_beyond_numbers(weight):
    with pytest.raises(ValueError, match="Divide the weights by the largest"):
        PageRank().fit(([0, 0, 1], [1, 2, 0]), sample_weight=weight)


def test_scores_that_are_no_numbers_are_no_answer(monkeypatch):
    plain = Surfer.estimate
    monkeypatch.setattr(Surfer, "estimate", lambda self, s: plain(self, s * np.nan))
    with pytest.warns(ConvergenceWarning, match="not finite"):
        rank = PageRank().fit(small_graph(1))
    assert not rank.converged_
