"""Nearest neighbours beside scikit-learn's with two jobs and SciPy's tree: CPU and wall seconds, in turns.

    python benchmarks/neighbors.py --rows 100000 --queries 10000
    python benchmarks/neighbors.py --parquet --rows 10000000 --queries 1000

Queries among rows in memory, by tiles and by trees; the first search, of a few queries, is not counted: it
builds the trees. With `--parquet`, queries among rows in a file, in one pass, and the
growth of resident memory.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import sklearn.neighbors
from scipy.spatial import KDTree

import suffice
from suffice.neighbors import NearestNeighbors


def measured(search):
    wall, cpu = time.perf_counter(), time.process_time()
    found = search()
    return found, time.perf_counter() - wall, time.process_time() - cpu


def in_memory(rows, queries, features, k, repeats):
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(rows, features)), rng.normal(size=(queries, features))
    ours = {name: NearestNeighbors(n_neighbors=k, algorithm=name).fit(X) for name in ("brute", "kd_tree")}
    theirs = {
        name: sklearn.neighbors.NearestNeighbors(n_neighbors=k, algorithm=name, n_jobs=2).fit(X)
        for name in ("brute", "kd_tree")
    }
    tree = KDTree(X)
    searches = {
        **{f"suffice {name}": (lambda q, m=model: m.kneighbors(q)) for name, model in ours.items()},
        **{f"sklearn {name}": (lambda q, m=model: m.kneighbors(q)) for name, model in theirs.items()},
        "scipy tree": lambda q: tree.query(q, k, workers=2),
    }
    taken = {name: [] for name in searches}
    with suffice.threads(2):
        for search in searches.values():
            search(Q[:10])
        for _ in range(repeats):
            for name, search in searches.items():
                found, wall, cpu = measured(lambda s=search: s(Q))
                taken[name].append((wall, cpu))
                if name == "suffice brute":
                    known = found
                np.testing.assert_allclose(found[0], known[0], rtol=1e-6)
    print(f"{queries} queries among {rows} x {features}, {k} neighbours; best of {repeats}")
    best = {name: np.min(each, axis=0) for name, each in taken.items()}
    for name, (wall, cpu) in best.items():
        print(f"{name:16} {wall:8.2f} s wall {cpu:8.2f} s CPU")
    for name in ours:
        ratio = best[f"sklearn {name}"] / best[f"suffice {name}"]
        print(f"{name:16} {ratio[0]:8.2f} x wall {ratio[1]:8.2f} x CPU, of scikit-learn's time to ours")


def in_file(rows, queries, features, k, folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, names = np.random.default_rng(0), [f"x{d}" for d in range(features)]
    path = Path(folder) / "rows.parquet"
    writer = None
    for start in range(0, rows, 1 << 17):
        part = rng.normal(size=(min(1 << 17, rows - start), features))
        table = pa.table(dict(zip(names, part.T, strict=True)))
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()
    Q = pa.table(dict(zip(names, rng.normal(size=(queries, features)).T, strict=True)))
    few = pa.table({name: np.zeros(10) for name in names})
    NearestNeighbors(n_neighbors=k).fit(suffice.scan(lambda: few.to_batches())).kneighbors(few)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model = NearestNeighbors(n_neighbors=k).fit(suffice.scan_parquet(path))
    _, wall, cpu = measured(lambda: model.kneighbors(Q))
    growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{queries} queries among {rows} x {features} in Parquet: one pass, {wall:.1f} s wall, ", end="")
    print(f"{cpu:.1f} s CPU; resident memory grew by {growth:.0f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--neighbors", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--parquet", action="store_true")
    given = parser.parse_args()
    size = given.rows, given.queries, given.features, given.neighbors
    if not given.parquet:
        return in_memory(*size, given.repeats)
    with tempfile.TemporaryDirectory() as folder:
        return in_file(*size, folder)


if __name__ == "__main__":
    main()
