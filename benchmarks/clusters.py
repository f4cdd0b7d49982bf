"""Compare clusterings with their peers, by CPU time and by the clock, in turns within one run. All libraries
have a thread for each core.

    python benchmarks/clusters.py            # all
    python benchmarks/clusters.py ward       # some

Peers that are not installed (fastcluster, kmedoids) are left out.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.cluster.hierarchy
import sklearn.cluster
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

import suffice
from suffice.cluster import AgglomerativeClustering, KMeans, KMedoids, SpectralClustering

TURNS = 3


def seconds(run: Callable[[], Any]) -> np.ndarray:
    """CPU time, and time by the clock."""
    start = np.array([time.process_time(), time.perf_counter()])
    run()
    return np.array([time.process_time(), time.perf_counter()]) - start


def compared(title: str, ours: Callable[[], Any], **peers: Callable[[], Any]) -> None:
    """Seconds of the best of some turns, and how many times those of ours a peer takes."""
    ours()  # a first call
    runs = {"suffice": ours, **peers}
    best = dict.fromkeys(runs, np.full(2, np.inf))
    for _ in range(TURNS):
        for name, run in runs.items():
            best[name] = np.minimum(best[name], seconds(run))
    (cpu, clock), ratios = best["suffice"], {name: best[name] / best["suffice"] for name in peers}
    told = ", ".join(f"{name} {r[0]:.1f}x, by the clock {r[1]:.1f}x" for name, r in ratios.items())
    print(f"{title}: suffice {cpu:.2f} CPU s, {clock:.2f} s; {told}", flush=True)


def installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def ward() -> None:
    X = np.random.default_rng(0).normal(size=(10_000, 8))
    peers = {
        "scikit-learn": lambda: sklearn.cluster.AgglomerativeClustering(8).fit(X),
        "SciPy": lambda: scipy.cluster.hierarchy.linkage(X, "ward"),
    }
    if installed("fastcluster"):
        import fastcluster

        peers["fastcluster"] = lambda: fastcluster.linkage_vector(X, "ward")
    compared("Ward, 10,000 x 8", lambda: AgglomerativeClustering(8).fit(X), **peers)


def medoids() -> None:
    rng = np.random.default_rng(0)
    X, start = rng.normal(size=(5_000, 8)), rng.choice(5_000, 8, replace=False)
    peers = {}
    if installed("kmedoids"):
        import kmedoids

        peers["kmedoids"] = lambda: kmedoids.fasterpam(cdist(X, X), start.astype(np.uint64), n_cpu=1)
    compared("k-medoids, 5,000 x 8, K = 8", lambda: KMedoids(8, init=start).fit(X), **peers)


def k_means() -> None:
    for K in (16, 64):
        X = np.random.default_rng(0).normal(size=(1_000_000, 16))
        how = {"n_clusters": K, "init": X[:K].copy(), "n_init": 1, "max_iter": 10, "tol": 0.0}
        compared(
            f"k-means, 1,000,000 x 16, K = {K}, 10 iterations",
            lambda how=how, X=X: KMeans(**how).fit(X),
            **{"scikit-learn": lambda how=how, X=X: sklearn.cluster.KMeans(**how).fit(X)},
        )


def spectral() -> None:
    X, _ = make_blobs(5_000, 8, centers=6, random_state=0)
    how = {"n_clusters": 6, "gamma": 0.02, "random_state": 0}
    compared(
        "spectral, 5,000 x 8, K = 6 (ours through 300 landmarks)",
        lambda: SpectralClustering(affinity="landmarks", landmarks=300, **how | {"gamma": 1.0}).fit(X),
        exact=lambda: SpectralClustering(**how).fit(X),
        **{"scikit-learn": lambda: sklearn.cluster.SpectralClustering(**how).fit(X)},
    )


PARTS = {"ward": ward, "medoids": medoids, "k-means": k_means, "spectral": spectral}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    cores = os.cpu_count() or 1
    with threadpool_limits(cores), suffice.threads(cores):
        for part in sys.argv[1:] or PARTS:
            PARTS[part]()
