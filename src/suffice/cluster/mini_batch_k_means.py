"""k-means by mini-batches: each batch moves the centres towards the rows nearest to them.

Sculley, "Web-scale k-means clustering", 2010; Bottou and Bengio, "Convergence properties of the k-means
algorithms", 1995.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ..core.arguments import MaybeArray, Seed
from ..core.blocks import Rows, dense
from ..core.callers import warn
from ..core.loop import Progress, Watch
from ..core.partitions import Partitions
from ..core.randomness import Purpose, generator
from ..estimator.base import OwnRows
from ..estimator.guarantees import Guarantee
from ..estimator.parameters import AT_LEAST_0, AT_LEAST_1, NON_NEGATIVE, Numbers, StrOptions
from ..fitting.seeding import NOBODY, SEEDINGS, draw
from ..inputs import in_blocks
from ..statistics import describe
from .clusterer import Clusterer
from .k_means import Centers, ClusterSums, KMeans

# Numbers of a sample for the initialization, which is dense.
SAMPLE_NUMBERS = 1 << 24
SPARSE = 0.05  # fraction of non-zero numbers of the sample below which it is kept as CSR


@dataclass(frozen=True, eq=False)
class Steps(Progress):
    """State of the mini-batches: the accumulated weight of each centre, and the moving average of the
    inertia."""

    total: Annotated[np.ndarray | None, "(K,)"] = None
    since: int = 0  # rows since a centre was moved to a row
    average: float = np.inf  # of the inertia of a row
    least: float = np.inf
    without: int = 0  # steps since the average was least
    size: int = 0  # of a batch
    rows: int = 0  # of a pass
    # Of `partial_fit`, which has no course.
    inertia_: float | None = None
    n_steps_: int | None = None


def moved(model: Centers, total: Any, s: ClusterSums) -> tuple[Centers, np.ndarray]:
    """Move each centre to the mean of all rows that were nearest to it. Returns the weights of these
    rows, too."""
    total = total + s.weight
    share = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
    return model.replace(center=model.center + s.offset * share[:, None]), total


def reassigned(
    model: Centers, total: np.ndarray, ratio: float, rows: np.ndarray
) -> tuple[Centers, np.ndarray]:
    """Move centres of little weight to rows. The number of moved centres is at most half that of `rows`."""
    low = np.flatnonzero(total < ratio * total.max())
    low = low[np.argsort(total[low], kind="stable")][: len(rows) // 2]
    if not len(low) or len(low) == len(total):
        return model, total
    center, total = model.center.copy(), total.copy()
    center[low] = rows[: len(low)]
    total[low] = np.delete(total, low).min()
    return model.replace(center=center), total


def _shuffled(data: Partitions, size: int, seed: int) -> Iterator[Any]:
    """Yield batches forever: the rows of each block in a random order, block after block."""
    for epoch in count():
        for block in data.batches():
            order = generator(Purpose.ORDER, seed, epoch, *block.index).permutation(len(block))
            for start in range(0, len(block), size):
                rows = block[np.sort(order[start : start + size])]
                yield rows.piece(0, len(rows), 0)


class MiniBatchKMeans(KMeans):
    """k-means clustering by mini-batches, for many rows: a few passes suffice.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : {'k-means++', 'k-means||', 'random'}, array of shape (n_clusters, n_features) or callable, \
default='k-means++'
        Method for the initial centres, which are found in a sample of `init_size` rows.
    max_iter : int, default=100
        Maximum number of passes over the data.
    batch_size : int, default=1024
        Number of rows of a batch.
    verbose : int, default=0
        Whether to print the inertia of each batch.
    compute_labels : bool, default=True
        Whether to compute `labels_` and `inertia_` for all rows after the fit.
    random_state : int, RandomState or None, default=None
        Seed for the initialization, and for the order of rows.
    tol : float, default=0.0
        Tolerance of the squared movement of the centres in a step, relative to the mean variance of the
        features. 0 does not stop by it.
    max_no_improvement : int, default=10
        Number of steps without improvement of the moving average of the inertia, after which the fit stops.
        None does not stop by it.
    init_size : int, default=None
        Number of rows drawn for the initialization. None is three times the larger of `batch_size` and, if
        that is less than `n_clusters`, the number of clusters.
    n_init : 'auto' or int, default='auto'
        Number of initializations, of which the one with the least inertia of the sample is used. 'auto' is 3
        for 'random' or a callable, and 1 otherwise.
    reassignment_ratio : float, default=0.01
        Centres with less than this fraction of the largest weight are moved to random rows.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centres.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, if the rows are in memory.
    inertia_ : float
        Sum of squared distances to the nearest centre.
    n_iter_ : int
        Number of passes that were started.
    n_steps_ : int
        Number of batches.
    trace_ : ndarray of shape (n_steps_,)
        Mean inertia of each batch.
    converged_ : bool
        Whether the fit stopped before `max_iter`.
    stopped_because_ : str
        Reason why the fit stopped.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Centers
        The fitted model.
    statistics_ : ClusterSums
        The sums of the last batch.

    See Also
    --------
    KMeans : All rows in each step. The inertia is lower, and does not depend on the order of rows.

    Notes
    -----
    A centre is the mean of all rows for which it was the nearest in their batch: with N_k their weight so far
    and W_k that of the batch,

    .. math::

        c_k ← c_k + \\frac{1}{N_k + W_k} ∑_{n ∈ k} w_n (x_n - c_k).

    The rows of a block are in random order, and blocks in theirs.

    References
    ----------
    * Sculley (2010), "Web-scale k-means clustering", WWW.

    Examples
    --------
    >>> from suffice.cluster import MiniBatchKMeans
    >>> model = MiniBatchKMeans(2, random_state=0).fit([[0.0], [1.0], [10.0], [11.0]])
    >>> sorted(model.cluster_centers_.ravel().tolist())
    [0.5, 10.5]
    """

    default_n_init = 3
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [AT_LEAST_1],
        "init": [StrOptions(set(SEEDINGS)), callable, Numbers()],
        "batch_size": [AT_LEAST_1],
        "compute_labels": ["boolean"],
        "max_no_improvement": [AT_LEAST_0, None],
        "init_size": [AT_LEAST_1, None],
        "n_init": [StrOptions({"auto"}), AT_LEAST_1],
        "reassignment_ratio": [NON_NEGATIVE],
    }
    _guarantee = Guarantee.always("approximate")

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        max_iter: int = 100,
        batch_size: int = 1024,
        verbose: int = 0,
        compute_labels: bool = True,
        random_state: Seed = None,
        tol: float = 0.0,
        max_no_improvement: int | None = 10,
        init_size: int | None = None,
        n_init: Any = "auto",
        reassignment_ratio: float = 0.01,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.compute_labels = compute_labels
        self.random_state = random_state
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.init_size = init_size
        self.n_init = n_init
        self.reassignment_ratio = reassignment_ratio

    def _solve(self, data: Partitions) -> Progress:
        tol, n = self._tolerance(data, self.n_clusters), int(data.fold(describe).rows)
        size = min(self.batch_size, n)
        n_steps = max(1, self.max_iter * n // size)
        random = check_random_state(self.random_state)
        start = self._first(data, n, random)
        seed = int(random.randint(np.iinfo(np.int32).max))
        batches = _shuffled(data, size, seed)

        def step(state: Steps) -> Steps:
            return self._advance(state, next(batches), tol, seed)

        def report(state: Steps) -> None:
            print(
                f"Minibatch step {state.n_iter}/{n_steps}: mean batch inertia: {-state.trace[-1]}, "
                f"ewa inertia: {state.average}"
            )
            if state.converged:
                small = self.max_no_improvement is None or state.without < self.max_no_improvement
                reason = "small centers change" if small else "lack of improvement in inertia"
                print(f"Converged ({reason}) at step {state.n_iter}/{n_steps}")

        watch = Watch(self, None, data, report=report if self.verbose else None).limited(n_steps)
        return watch.loop(step, Steps(start, total=np.zeros(self.n_clusters), size=size, rows=n))

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        assert isinstance(progress, Steps)
        fitted = {
            **super()._fitted(progress),
            "n_steps_": progress.n_iter,
            "_counts": progress.total,
            "_n_since_last_reassign": progress.since,
        }
        if progress.n_iter:  # zero after `partial_fit`
            fitted["n_iter_"] = int(np.ceil(progress.n_iter * progress.size / progress.rows))
            fitted["inertia_"] = progress.average * progress.rows
        return fitted

    def _label(self, rows: OwnRows | None, data: Partitions) -> None:
        if self.compute_labels:
            super()._label(rows, data)

    def partial_fit(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Move the centres by one batch: all rows of X.

        Parameters
        ----------
        X : array, CSR, table, Parquet scan or distributed data set
            The rows.
        y : None
            Ignored.
        sample_weight : array, optional
            Per-sample weights.

        Returns
        -------
        self
        """
        first = not hasattr(self, "model_")
        data = self._opened(X, None, sample_weight, reset=first)
        random, n = check_random_state(self.random_state), int(data.fold(describe).rows)
        if first:
            if n < self.n_clusters:
                raise ValueError(f"n_samples={n} should be >= n_clusters={self.n_clusters}.")
            start, total = self._first(data, n, random), np.zeros(self.n_clusters)
            since = steps = 0
        else:
            start, total = self.model_, np.asarray(self._counts)
            since, steps = self._n_since_last_reassign, self.n_steps_
        s = data.fold(Centers.summarize, start)
        model, total = moved(start, total, s)
        since += n
        if (total == 0).any() or since >= 10 * self.n_clusters:
            seed = int(random.randint(np.iinfo(np.int32).max))
            rows = data.fold(draw, min(n, 2 * self.n_clusters), seed, steps, NOBODY).row
            model, total = reassigned(model, total, self.reassignment_ratio, rows)
            since = 0
        state = Steps(model, statistics=s, total=total, since=since, inertia_=s.inertia, n_steps_=steps + 1)
        self._publish(state)
        if self.compute_labels:
            Clusterer._label(self, OwnRows.of(X, None, sample_weight), data)
        return self

    def _unconverged(self, progress: Progress) -> str:
        return ""  # all passes were made

    def _first(self, data: Partitions, n: int, random: np.random.RandomState) -> Centers:
        """The initial centres: the best of several, for a sample of the rows."""
        K = self.n_clusters
        size = 3 * self.batch_size if self.init_size is None else self.init_size
        if size < K:
            if self.init_size is not None:
                warn(
                    f"init_size={self.init_size} should be larger than n_clusters={K}. Setting it to "
                    "min(3*n_clusters, n_samples)",
                    RuntimeWarning,
                )
            size = 3 * K
        self._init_size = min(size, n)
        size = max(K, min(self._init_size, SAMPLE_NUMBERS // self.n_features_in_))
        sample = data.fold(draw, size, int(random.randint(np.iinfo(np.int32).max)), 0, NOBODY)
        rows = sample.first(size)
        # By the values and not by their container, so that sparse and dense rows take one path.
        if np.count_nonzero(rows) < SPARSE * rows.size:
            rows = sp.csr_array(rows)
        home = in_blocks(Rows(rows))
        starts = self._starts(home)
        self._n_init = len(starts)
        return min(starts, key=lambda start: home.fold(Centers.summarize, start).inertia)

    def _advance(self, state: Steps, rows: Rows, tol: float, seed: int) -> Steps:
        """The state after a batch."""
        s = state.model.summarize(rows)
        model, total = moved(state.model, state.total, s)
        since = state.since + len(rows)
        if (total == 0).any() or since >= 10 * self.n_clusters:
            random = generator(Purpose.REASSIGNMENT, seed, state.n_iter)
            drawn = rows.X[random.permutation(len(rows))[: 2 * self.n_clusters]]
            drawn = dense(drawn)
            model, total = reassigned(model, total, self.reassignment_ratio, drawn)
            since = 0
        inertia = s.inertia / s.weight.sum()
        average, least, without = state.average, state.least, state.without
        if state.n_iter:  # the first batch is that of the initialization
            share = min(1.0, 2.0 * state.size / (state.rows + 1.0))
            average = inertia if np.isinf(average) else (1.0 - share) * average + share * inertia
            least, without = (average, 0) if average < least else (least, without + 1)
        shift = ((model.center - state.model.center) ** 2).sum()
        stops = state.n_iter and tol > 0 and shift <= tol
        stops = stops or (self.max_no_improvement is not None and without >= self.max_no_improvement)
        return state.replace(
            model=model,
            trace=(*state.trace, -inertia),
            statistics=s,
            stopped_because="tolerance" if stops else "",
            total=total,
            since=since,
            average=average,
            least=least,
            without=without,
        )
