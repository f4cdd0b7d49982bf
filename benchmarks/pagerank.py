"""Compare PageRank with igraph, scikit-network and networkx on a synthetic web graph, at equal error.

The graph is R-MAT (Chakrabarti, Zhan and Faloutsos 2004) with the parameters of Graph500 and shuffled ids:
few nodes have most links. Every library gets the graph in its own format. "prepared" is the time from arrays
of ids to that format, "ranked" the time from there to the scores. Errors are l1 distances to scores whose
error is below 1e-13. suffice runs with the error of the other library or less.

    python benchmarks/pagerank.py
    python benchmarks/pagerank.py --size 100000000     # from Parquet, with memory
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from out_of_core import growth, seconds

import suffice
from suffice.core.loop import Watch
from suffice.engines.local import LocalPartitions
from suffice.inputs import open_edges
from suffice.ranking import PageRank
from suffice.ranking.links import read_graph
from suffice.ranking.page_rank import Surfer

SCALE = 20  # of the number of nodes, as a power of two
FEW = 2_000_000  # links for networkx, whose graph takes a kilobyte for each


def rmat(links: int, scale: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Each link descends a quadtree of the adjacency matrix, with these probabilities."""
    rng = np.random.default_rng([seed, scale])
    a, b, c = 0.57, 0.19, 0.19
    source, target = np.zeros(links, np.int64), np.zeros(links, np.int64)
    for level in range(scale):
        u = rng.random(links, dtype=np.float32)
        down = u >= a + b
        right = (u >= a) & ~down | (u >= a + b + c)
        source |= down.astype(np.int64) << level
        target |= right.astype(np.int64) << level
    return shuffled(scale)[source], shuffled(scale)[target]


@cache
def shuffled(scale: int) -> np.ndarray:
    return np.random.default_rng(scale).permutation(1 << scale)


def write(folder: Path, links: int, scale: int, group: int = 1 << 21) -> None:
    """Parquet files of links."""
    for number, start in enumerate(range(0, links, group)):
        source, target = rmat(min(group, links - start), scale, number)
        pq.write_table(pa.table({"source": source, "target": target}), folder / f"part-{number:04}.parquet")


def compact(source: np.ndarray, target: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray], int]:
    """The same links with consecutive ids, so that all libraries have the same nodes."""
    ids, number = np.unique(np.concatenate([source, target]), return_inverse=True)
    return (number[: len(source)], number[len(source) :]), len(ids)


def error(scores: Any, exact: np.ndarray) -> float:
    return float(np.abs(np.asarray(scores) - exact).sum())


def igraph(source: np.ndarray, target: np.ndarray, n: int) -> tuple[Any, Callable[[Any], Any]]:
    from igraph import Graph

    return lambda: Graph(n, np.column_stack([source, target]), directed=True), lambda g: g.pagerank()


def scikit_network(source: np.ndarray, target: np.ndarray, n: int) -> tuple[Any, Callable[[Any], Any]]:
    from sknetwork.ranking import PageRank as Peer

    def prepared() -> Any:
        return sp.csr_matrix((np.ones(len(source)), (source, target)), (n, n))

    return prepared, lambda A: Peer(solver="diteration", n_iter=100).fit_predict(A)


def networkx(source: np.ndarray, target: np.ndarray, n: int) -> tuple[Any, Callable[[Any], Any]]:
    import networkx as nx

    def prepared() -> Any:
        graph = nx.DiGraph()
        graph.add_nodes_from(range(n))
        A = sp.csr_array((np.ones(len(source)), (source, target)), (n, n)).tocoo()
        graph.add_weighted_edges_from(zip(A.row.tolist(), A.col.tolist(), A.data.tolist(), strict=True))
        return graph

    return prepared, lambda graph: list(nx.pagerank(graph, tol=1e-8 / n, max_iter=200).values())


def beside(name: str, peer: Any, source: np.ndarray, target: np.ndarray, repeat: int) -> str:
    """A row of the table: another library and suffice, alternating."""
    links, n = compact(source, target)
    source, target = links
    exact = PageRank(tol=1e-13).fit(links).scores_
    prepare, rank = peer(source, target, n)
    made, graph = seconds(prepare)
    theirs, ours = [], []
    for _ in range(repeat):
        taken, scores = seconds(rank, graph)
        theirs.append(taken)
        wrong = error(scores, exact)
        tol = max(wrong, 1e-12)
        ready, opened = seconds(lambda: read_graph(*open_edges(PageRank(), links)))
        walk = PageRank(tol=tol)._walk, opened, None, None, "iterative", Watch(max_iter=1000)
        ranked, ended = seconds(*walk)
        assert error(ended.model.score, exact) <= tol
        ours.append((ready, ranked))
    ready, ranked = np.median(ours, axis=0)
    their = float(np.median(theirs))
    return (
        f"| {name} | {len(source):,} | {made:.1f} | {their:.2f} | {wrong:.1e} | {ready:.2f} | {ranked:.2f} "
        f"| {tol:.1e} | {their / ranked:.1f} | {(made + their) / (ready + ranked):.1f} |"
    )


def passes(source: np.ndarray, target: np.ndarray, repeat: int) -> list[str]:
    """Links per second and core, compared with SciPy's product of the same matrix with a vector."""
    graph = read_graph(*open_edges(PageRank(), (source, target)))
    n, E = len(graph), len(source)
    A = graph.links.matrix(n)
    bare = sp.csr_array((A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32)), A.shape)
    x = np.full(n, 1.0 / n)
    model = PageRank()._surfer(graph, None, None)
    data = LocalPartitions((graph.links,))

    def ours(threads: int) -> float:
        with suffice.threads(threads):
            return seconds(data.fold, Surfer.summarize, model)[0]

    def step(threads: int) -> float:
        with suffice.threads(threads):
            return seconds(lambda: model.estimate(data.fold(Surfer.summarize, model)))[0]

    ours(1)  # a first call
    times: dict[str, list[float]] = {"bare": [], "one": [], "two": [], "step": []}
    for _ in range(repeat):
        times["bare"].append(seconds(bare.dot, x)[0])
        times["one"].append(ours(1))
        times["two"].append(ours(2))
        times["step"].append(step(2))
    t = {name: float(np.median(values)) for name, values in times.items()}
    return [
        "",
        f"A pass over {E:,} links of {n:,} nodes, median of {repeat} in turns:",
        "",
        "| | seconds | links a second and core |",
        "|---|---|---|",
        f"| SciPy's product, one thread | {t['bare']:.3f} | {E / t['bare']:.3g} |",
        f"| suffice, one thread | {t['one']:.3f} | {E / t['one']:.3g} |",
        f"| suffice, two threads | {t['two']:.3f} | {E / t['two'] / 2:.3g} |",
        f"| suffice, a whole iteration, two threads | {t['step']:.3f} | {E / t['step'] / 2:.3g} |",
    ]


def at_size(links: int, scale: int, folder: str | None) -> list[str]:
    """From Parquet: seconds, and growth of memory."""
    with tempfile.TemporaryDirectory(dir=folder) as home:
        write(Path(home), links, scale)
        size = sum(file.stat().st_size for file in Path(home).iterdir())
        table = suffice.edges(suffice.scan_parquet(home), source="source", target="target")
        shuffled.cache_clear()
        PageRank(tol=1.0).fit(([0, 1], [1, 0]))  # a first call
        seen: list[float] = []
        with growth(seen):
            first, _ = seconds(lambda: PageRank(max_iter=1).fit(table))
            whole, rank = seconds(lambda: PageRank(tol=1e-8).fit(table))
    each = (whole - first) / (rank.n_iter_ - 1)
    return [
        "",
        f"{links:,} links in Parquet, {1e-9 * size:.1f} GB, of {len(rank.nodes_):,} nodes, to 1e-8:",
        "",
        "| in all, s | iterations | each, s | memory grows by, MB | aim |",
        "|---|---|---|---|---|",
        f"| {whole:.1f} | {rank.n_iter_} | {each:.2f} | {seen[0]:.0f} | at most 2000 |",
    ]


def on_ray(links: int, scale: int) -> list[str]:
    """The same bits from a Ray Dataset, in the memory of this process and in shards on Ray."""
    import ray

    from suffice.ranking import sharded

    with tempfile.TemporaryDirectory() as home:
        write(Path(home), links, scale, 1 << 18)
        here = PageRank().fit(suffice.edges(suffice.scan_parquet(home), source="source", target="target"))
        ray.init(num_cpus=2, logging_level="error", log_to_driver=False, include_dashboard=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
        data = suffice.edges(ray.data.read_parquet(home), source="source", target="target")
        taken, there = seconds(PageRank().fit, data)
        sharded.HOME_BYTES, sharded.SHARD_BYTES = 0, 8 * links
        apart_taken, apart = seconds(PageRank().fit, data)
        sharded.HOME_BYTES, sharded.SHARD_BYTES = None, 1 << 28
        low = here.nodes_[0]
        moved = error(apart.scores_.take(here.nodes_ - low), here.scores_)
        shards = len(apart.scores_.starts) - 1
        ray.shutdown()
    equal = here.scores_.tobytes() == there.scores_.tobytes()
    return [
        "",
        f"On Ray, {links:,} links: scores {'equal to the bit' if equal else 'DIFFER'}, {taken:.1f} s. With "
        f"links and scores in {shards} shards that stay there: {apart_taken:.1f} s, and a difference of "
        f"{moved:.1e}.",
    ]


def table(links: int, repeat: int, size: int, folder: str | None = None) -> list[str]:
    warnings.simplefilter("ignore")
    scale = max(10, SCALE if links >= 10_000_000 else int(np.log2(links / 20)))
    source, target = rmat(links, scale)
    few = min(FEW, links)
    lines = [
        f"R-MAT graph of {1 << scale:,} ids; median of {repeat} runs in turns; errors summed over all nodes.",
        "",
        "| peer | links | prepared, s | ranked, s | its error | suffice: prepared, s | ranked, s "
        "| error at most | times as fast | with preparation |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines))
    few_links = rmat(few, max(10, int(np.log2(few / 20))))
    for run in (
        lambda: [beside("igraph, PRPACK", igraph, source, target, repeat)],
        lambda: [beside("scikit-network, diteration", scikit_network, source, target, repeat)],
        lambda: [beside("networkx", networkx, *few_links, repeat)],
        lambda: passes(source, target, 3 * repeat),
        lambda: at_size(size, 23 if size >= 10**8 else scale, folder) if size else [],
        lambda: on_ray(min(links, 2_000_000), min(scale, 17)),
    ):
        more = run()
        print("\n".join(more), flush=True)
        lines += more
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--links", type=int, default=20_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--size", type=int, default=0, help="links in Parquet; none if zero")
    parser.add_argument("--folder", help="for the files")
    given = parser.parse_args()
    table(given.links, given.repeat, given.size, given.folder)
