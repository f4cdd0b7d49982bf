"""k-medoids: centres are rows, and distances are any. FasterPAM; for many rows on samples (CLARA).

Kaufman and Rousseeuw, "Finding Groups in Data", 1990; Schubert and Rousseeuw, "Fast and eager k-medoids
clustering", 2021; CS181 6.2.5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..core.arguments import Seed
from ..core.blocks import Matrix, Rows
from ..core.callers import warn
from ..core.hashing import row_hashes, uniforms
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..core.randomness import Purpose
from ..estimator.guarantees import Exempt, Guarantee
from ..estimator.parameters import AT_LEAST_1, AT_LEAST_2, Numbers, StrOptions, seed_of
from ..fitting.seeding import NOBODY, SPARE, Potentials
from .base import (
    EXACT_ROWS,
    Clustering,
    Leaves,
    distances,
    draw_present,
    gathered,
    must_have_enough,
    n_rows,
    nearest_by,
    selected,
)
from .clusterer import Clusters
from .k_means import warn_of_fewer

SAMPLE = 1 << 12  # rows of a sample
BLOCK = 1 << 20  # distances that are computed at a time
STORED = 1 << 25  # distances that are kept: 256 MB


class Pairs:
    """Distances of rows, computed some rows at a time; those of few rows are kept."""

    def __init__(self, X: np.ndarray, metric: str | Callable[..., float]) -> None:
        self.X, self.metric = X, metric
        self.known: dict[int, np.ndarray] | None = {} if len(X) ** 2 <= STORED else None

    def rows(self, index: Any) -> np.ndarray:
        """The distances of some rows to all, (M, N)."""
        if self.metric == "precomputed":
            return np.ascontiguousarray(self.X[index], np.float64)
        return np.ascontiguousarray(distances(self.X, self.X[index], self.metric).T, np.float64)

    def block(self, start: int, stop: int) -> np.ndarray:
        """The distances of a run of rows to all, which is always of the same length."""
        if self.known is None or self.metric == "precomputed":
            return self.rows(slice(start, stop))
        if start not in self.known:
            self.known[start] = self.rows(slice(start, stop))
        return self.known[start]

    def rows_between(self, index: np.ndarray, others: np.ndarray) -> np.ndarray:
        """The distances of some rows to others, (M, L)."""
        if self.metric == "precomputed":
            return self.X[np.ix_(index, others)]
        return distances(self.X[index], self.X[others], self.metric)


def faster_pam(
    pairs: Pairs, weight: np.ndarray, medoid: np.ndarray, max_iter: int
) -> tuple[np.ndarray, float, int, bool]:
    """Swap medoids with rows until no swap lowers the loss.

    Returns the medoids, the loss, how often all rows were visited, and whether that was enough.
    """
    from ..loops.medoids import assign, swap_block

    N, K = len(weight), len(medoid)
    medoid, M = np.array(medoid, np.int64), pairs.rows(medoid)
    near, first, second = np.zeros(N, np.int64), np.empty(N), np.empty(N)
    removal, since, rounds = np.zeros(K), 0, 0
    assign(M, weight, near, first, second, removal)
    step = max(1, BLOCK // N)
    while since < N and rounds < max_iter:
        rounds += 1
        for start in range(0, N, step):
            D = pairs.block(start, start + step)
            since = swap_block(D, start, since, weight, medoid, M, near, first, second, removal)
            if since >= N:
                break
    return medoid, float(weight @ first), rounds, since >= N


def greedy(pairs: Pairs, weight: np.ndarray, K: int) -> np.ndarray:
    """BUILD: each next medoid lowers the loss most."""
    N, medoid = len(weight), np.empty(0, np.int64)
    best, step = np.full(N, np.inf), max(1, BLOCK // len(weight))
    for _ in range(K):
        loss = [np.minimum(pairs.block(n, n + step), best) @ weight for n in range(0, N, step)]
        total = np.concatenate(loss)
        total[medoid] = np.inf
        medoid = np.append(medoid, total.argmin())
        best = np.minimum(best, pairs.rows(medoid[-1:])[0])
    return medoid


def spread_out(pairs: Pairs, K: int, uniform: Callable[[int], np.ndarray]) -> np.ndarray:
    """k-means++ with distances: each next medoid is drawn in proportion to the distance from the others.

    ``uniform(turn)`` has a number for each row: hashes of the rows, so that their order does not matter.
    """
    first = uniform(0)
    medoid = np.array([first.argmin()])
    best = pairs.rows(medoid)[0]
    while len(medoid) < K:
        key = np.divide(-np.log(uniform(len(medoid))), best, out=np.full(len(best), np.inf), where=best > 0)
        if not np.isfinite(key).any():  # fewer different rows than clusters
            rest = np.setdiff1d(np.arange(len(best)), medoid)[: K - len(medoid)]
            return np.append(medoid, rest)
        medoid = np.append(medoid, key.argmin())
        best = np.minimum(best, pairs.rows(medoid[-1:])[0])
    return medoid


def drawn_by(X: Matrix, seed: int, precomputed: bool = False) -> Callable[[int], np.ndarray]:
    """Uniform numbers of rows by turn: hashes of their values, or of their numbers if rows are pairs."""
    rows = np.arange(X.shape[0], dtype=np.float64)[:, None] if precomputed else X
    return lambda turn: uniforms(row_hashes(rows, Purpose.SEEDING, seed, turn))


def losses(sets: tuple[np.ndarray, ...], metric: str | Callable[..., float], block: Rows) -> Potentials:
    """The loss of each set of medoids, (S,)."""
    return Potentials(np.array([block.weight @ nearest_by(block.X, rows, metric)[1] for rows in sets]))


@dataclass(frozen=True, eq=False, kw_only=True)
class Medoids(Clusters):
    """A fit with the medoids, and their numbers among the rows."""

    cluster_centers_: Annotated[np.ndarray, "(K, D)"]
    medoid_indices_: Annotated[np.ndarray | None, "int (K,)"] = None


class KMedoids(Clustering):
    """k-medoids clustering: each centre is a row, for any distance.

    Up to 16,384 rows are gathered, and FasterPAM swaps medoids until no swap lowers the loss. Distances are
    computed some rows at a time, so that memory is linear in the rows. Of more rows, `n_init` samples of
    `sample_size` rows, drawn by a hash of their values, are clustered, and one pass over all rows computes
    the loss of each result; the least is kept.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    metric : str or callable, default='euclidean'
        Distance of rows: 'euclidean', 'manhattan', 'cosine', 'sqeuclidean' or another name that SciPy's
        `cdist` knows, a function of two rows, or 'precomputed' if X is the distance matrix.
    init : {'k-means++', 'build', 'random'} or array of shape (n_clusters,), default='k-means++'
        Initial medoids: drawn in proportion to the distance from the others, greedily ('build'), uniformly,
        or the numbers of these rows.
    max_iter : int, default=100
        Maximum number of iterations.
    sample_size : 'auto', int or None, default='auto'
        Number of rows of a sample. 'auto' is 4,096 for more than 16,384 rows, and None takes all rows.
    n_init : int, default=5
        Number of samples, of which the result with the least loss over all rows is kept. Ignored if the rows
        are not sampled.
    random_state : int, RandomState or None, default=None
        Seed of samples and initial medoids.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The medoids. With a precomputed distance, their distances to all rows.
    medoid_indices_ : ndarray of shape (n_clusters,)
        The numbers of the medoids, if the rows were not sampled.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, if the rows are in memory.
    inertia_ : float
        Sum over all rows of distances to the nearest medoid.
    n_iter_ : int
        Number of times that all rows were candidates.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Leaves
        The medoids, for `predict`.

    See Also
    --------
    KMeans : Centres are means.
    KCentroids : Centres that suit a metric, in passes over the data.
    dissimilarity : Distances of rows of numbers and categories.

    Notes
    -----
    The medoids :math:`m_k`, which are rows, are a local minimum of

    .. math::

        ∑_n w_n \\min_k d(x_n, m_k):

    no swap of a medoid with another row lowers it. If rows are sampled, that holds for the sample, and
    `inertia_` is that of all rows.

    References
    ----------
    * Kaufman and Rousseeuw (1990), "Finding Groups in Data", chapters 2 and 3.
    * Schubert and Rousseeuw (2021), "Fast and eager k-medoids clustering", Information Systems 101.

    Examples
    --------
    >>> from suffice.cluster import KMedoids
    >>> model = KMedoids(2, random_state=0).fit([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> sorted(model.cluster_centers_.ravel().tolist()), model.inertia_
    ([1.0, 11.0], 4.0)
    """

    exempt = (
        Exempt(
            "rounding", "The sample is drawn by the values of rows.", lambda e: isinstance(e.sample_size, int)
        ),
    )

    counts_rows = True  # those of weight zero have a label, too
    cluster_centers_: np.ndarray
    medoid_indices_: np.ndarray
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [AT_LEAST_1],
        "metric": [str, callable],
        "init": [StrOptions({"k-means++", "build", "random"}), Numbers(least=0, ndim=1)],
        "sample_size": [StrOptions({"auto"}), AT_LEAST_2, None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: str | Callable[..., float] = "euclidean",
        init: Any = "k-means++",
        max_iter: int = 100,
        sample_size: Any = "auto",
        n_init: int = 5,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.init = init
        self.max_iter = max_iter
        self.sample_size = sample_size
        self.n_init = n_init
        self.random_state = random_state

    def _guarantee(self) -> Guarantee:
        exact = self.sample_size in ("auto", None)
        return Guarantee("order", gathers=True) if exact else Guarantee()

    def _solve(self, data: Partitions) -> Progress:
        size, seed = self._size(n_rows(self, data)), seed_of(self.random_state)
        return self._of_rows(data, seed) if size is None else self._of_samples(data, size, seed)

    def _size(self, rows: float) -> int | None:
        size = self.sample_size
        if self.metric == "precomputed" or not isinstance(self.init, str):
            if size not in ("auto", None):
                raise ValueError(
                    f"sample_size={size} needs rows, and a name as init: use sample_size=None with a "
                    "precomputed distance or numbers of rows."
                )
            return None
        if size == "auto":
            return SAMPLE if rows > EXACT_ROWS else None
        return None if size is None else max(int(size), self.n_clusters)

    def _of_rows(self, data: Partitions, seed: int) -> Medoids:
        """Medoids among all rows."""
        instead = "use sample_size=4096: the loss is computed where the rows are."
        X, all_weights, present = gathered(data, instead)
        must_have_enough(float(len(present)), self.n_clusters)
        if self.metric != "precomputed" and isinstance(self.init, str):
            # Candidates in an order that is not that of the rows.
            present = present[np.lexsort(X[present].T[::-1])]
        pairs, weight = Pairs(selected(X, present, self.metric), self.metric), all_weights[present]
        medoid, loss, n_iter = self._search(pairs, weight, self._start(pairs, weight, seed, present))
        index = present[medoid]
        leaves = Leaves.among(X, index, np.arange(len(index), dtype=np.int32), self.metric)
        labels = leaves.of(X, self.metric).astype(np.int32)
        warn_of_fewer(len(np.unique(labels[present])), self.n_clusters, "n_clusters")
        return Medoids(
            model=leaves,
            labels_=labels,
            inertia_=loss,
            n_iter_=n_iter,
            cluster_centers_=X[index],
            medoid_indices_=index,
        )

    def _of_samples(self, data: Partitions, size: int, seed: int) -> Medoids:
        """Medoids of samples, with the least loss over all rows, which one pass computes."""
        sets, n_iter = [], 0
        for turn in range(self.n_init):
            sample = data.fold(draw_present, size + SPARE, seed, turn, NOBODY)
            first = np.argsort(sample.key / sample.weight, kind="stable")[:size]
            pairs, weight = Pairs(sample.row[first], self.metric), np.ones(len(first))
            K = min(self.n_clusters, len(first))
            start = self._start(pairs, weight, seed + turn, np.arange(len(first)), K)
            medoid, _, n_iter = self._search(pairs, weight, start)
            sets.append(pairs.X[medoid])
        total = data.fold(losses, tuple(sets), self.metric).value
        centers = sets[int(total.argmin())]
        warn_of_fewer(len(np.unique(centers, axis=0)), self.n_clusters, "n_clusters")
        leaves = Leaves(centers, np.arange(len(centers), dtype=np.int32))
        return Medoids(model=leaves, inertia_=float(total.min()), n_iter_=n_iter, cluster_centers_=centers)

    def _start(
        self, pairs: Pairs, weight: np.ndarray, seed: int, present: np.ndarray, K: int | None = None
    ) -> np.ndarray:
        K = K or self.n_clusters
        if not isinstance(self.init, str):
            index = np.asarray(self.init)
            place = np.searchsorted(present, index)
            known = np.isin(index, present)
            if len(index) != K or len(np.unique(index)) != K or not known.all():
                raise ValueError(
                    f"init must be the numbers of {K} different rows with a weight; got {index.tolist()}."
                )
            return place
        if self.init == "build":
            return greedy(pairs, weight, K)
        uniform = drawn_by(pairs.X, seed, self.metric == "precomputed")
        if self.init == "random":
            return np.argsort(uniform(0), kind="stable")[:K]
        return spread_out(pairs, K, uniform)

    def _search(self, pairs: Pairs, weight: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, float, int]:
        """The medoids, their loss, and how often all rows were visited."""
        medoid, loss, n_iter, converged = faster_pam(pairs, weight, start, self.max_iter)
        if not converged:
            warn(
                f"{type(self).__name__} did not converge in max_iter={self.max_iter}: swaps still lower the "
                "loss. Raise max_iter.",
                ConvergenceWarning,
            )
        return medoid, loss, n_iter
