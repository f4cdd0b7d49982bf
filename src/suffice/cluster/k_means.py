"""k-means by Lloyd's algorithm: each pass sums the rows nearest to each centre.

Lloyd, "Least squares quantization in PCM", 1982; Li ch. 14.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray, MaybePath, Seed
from ..core.blocks import Matrix, Rows
from ..core.callers import warn
from ..core.loop import Progress, Watch
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.statistics import Statistics
from ..estimator.answers import row_wise
from ..estimator.base import Iterative, OwnRows
from ..estimator.parameters import AT_LEAST_1, Numbers, StrOptions
from ..estimator.tags import tags
from ..fitting.em import em, em_runs, summarize_each
from ..fitting.nearest import nearest, nearest_sums, squared_distances, sums_pieces
from ..fitting.seeding import SEEDINGS, farthest
from ..inputs import map_rows, open_rows, read_rows
from ..statistics import describe
from .clusterer import Clusterer


@dataclass(frozen=True, eq=False)
class ClusterSums(Statistics):
    """Weight and offsets of the rows nearest to each centre, and the inertia."""

    inertia: float
    weight: Annotated[np.ndarray, "(K,)"]
    offset: Annotated[np.ndarray, "(K, D)"]  # sum of weight * (row - centre)


@dataclass(frozen=True, eq=False)
class Centers(Model):
    """K centres; a row belongs to the nearest."""

    center: Annotated[np.ndarray, "(K, D)"]

    def nearest(self, X: Matrix) -> tuple[np.ndarray, np.ndarray]:
        """The nearest centre of each row, and its squared distance."""
        return nearest(X, self.center)

    def sums_pieces(self, block: Rows) -> bool:
        return sums_pieces(block.X, self.center)

    def summarize(self, block: Rows, rows: int = 0) -> ClusterSums:
        return self.labelled(block, rows)[1]

    def labelled(self, block: Rows, rows: int = 0) -> tuple[np.ndarray, ClusterSums]:
        """Return the nearest centre of each row, and the sums.

        If `rows` is not zero, the sums of pieces of that many rows are added.
        """
        labels, inertia, weight, offset = nearest_sums(block.X, block.weight, self.center, rows)
        return labels, ClusterSums(float(inertia), weight, offset)

    def estimate(self, s: ClusterSums) -> Self:
        """Centres at the means of their rows. A centre without rows does not move."""
        share = np.divide(1.0, s.weight, out=np.zeros_like(s.weight), where=s.weight > 0)
        return self.replace(center=self.center + s.offset * share[:, None])

    def objective(self, s: ClusterSums) -> float:
        return -s.inertia


@dataclass(frozen=True, eq=False)
class Answer(Statistics):
    """The sums, and the labels of rows in memory, in the order of the blocks."""

    sums: ClusterSums
    labels: Annotated[np.ndarray, "int (N,)"]

    @classmethod
    def of(cls, model: Centers, block: Rows) -> Answer:
        labels, sums = model.labelled(block)
        return cls(sums, labels.astype(np.int32))

    def __add__(self, other: Any) -> Any:
        return Answer(self.sums + other.sums, np.concatenate([self.labels, other.labels]))

    def __mul__(self, factor: float) -> Answer:
        return Answer(self.sums * factor, self.labels)

    __rmul__ = __mul__


def lloyd(
    starts: tuple[Centers, ...],
    data: Partitions,
    tol: float,
    max_iter: int,
    watch: Watch | None = None,
) -> Progress:
    """Lloyd's algorithm from several initial centres. The best result is returned."""
    return em(starts, data, max_iter=max_iter, watch=watch, **_lloyd(data, tol))


def printed(tol: float) -> Callable[[Progress], None]:
    """A callback that prints each iteration for `verbose`, as scikit-learn does."""

    def report(progress: Progress) -> None:
        print(f"Iteration {progress.n_iter - 1}, inertia {-progress.trace[-1]:.3f}.")
        if progress.converged:
            reason = f"center shift squared within tolerance {tol}" if tol else "strict convergence"
            print(f"Converged at iteration {progress.n_iter - 1}: {reason}.")

    return report


def lloyd_runs(
    starts: tuple[Centers, ...], data: Partitions, tol: float, max_iter: int
) -> tuple[Progress, ...]:
    """The results of Lloyd's algorithm from each of the initial centres, whose numbers of clusters may
    differ."""
    return em_runs(starts, data, max_iter=max_iter, **_lloyd(data, tol))


def _lloyd(data: Partitions, tol: float) -> dict[str, Any]:
    """The stopping rule of Lloyd's algorithm, and its relocation of empty clusters, as options of `em`."""

    def converged(old: Centers, new: Centers, trace: tuple[float, ...]) -> bool:
        rounding = (8.0 * np.finfo(np.float64).eps * np.abs(new.center).max(initial=0.0)) ** 2
        return ((new.center - old.center) ** 2).sum() <= max(tol, rounding * new.center.size)

    return {"tol": tol, "converged": converged, "adjust": lambda model, s: _relocated(data, model, s)}


def all_centers(
    data: Partitions, ks: Sequence[int], estimator: BaseEstimator, tol: float, seeds: np.ndarray
) -> list[tuple[Centers, Any]]:
    """The best centres for each number of clusters, and their sums.

    All numbers and all starts share each pass. The first k rows of a k-means++ draw are its draw of k.
    """
    seeding = SEEDINGS[estimator.init]
    if estimator.init == "k-means++":
        drawn = [seeding(data, max(ks), int(seed)) for seed in seeds]
        starts = [Centers(rows[:k]) for k in ks for rows in drawn]
    else:
        starts = [Centers(seeding(data, k, int(seed))) for k in ks for seed in seeds]
    runs = [run.model for run in lloyd_runs(tuple(starts), data, tol, estimator.max_iter)]
    sums = data.fold(summarize_each, tuple(runs)).parts
    out = []
    for i in range(len(ks)):
        group = range(i * len(seeds), (i + 1) * len(seeds))
        best = min(group, key=lambda n: sums[n].inertia)
        out.append((runs[best], sums[best]))
    return out


class CenterClustering(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Clusterer):
    """Base class of clusterings that label a row by the nearest centre of a model."""

    cluster_centers_: np.ndarray

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        return {"cluster_centers_": progress.model.center, **super()._fitted(progress)}

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)


class NearestCenters(CenterClustering):
    """Base class of clusterings by squared distances from centres."""

    model_: Annotated[Centers, "D"]
    preserves_dtype = ("cluster_centers_", "transform")
    tol: float
    __sklearn_tags__ = tags(sparse=True)

    def _tolerance(self, data: Partitions, n_clusters: int) -> float:
        """The tolerance of the squared movement of the centres."""
        description = data.fold(describe)
        if description.rows < n_clusters:
            raise ValueError(f"n_samples={description.rows:g} should be >= n_clusters={n_clusters}.")
        return self.tol * float(description.features.variance.mean())

    @row_wise
    def transform(self, X: Any) -> np.ndarray:
        """Distances from each row to the centres.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return map_rows(lambda rows: np.sqrt(squared_distances(rows, self.model_.center)), X)

    def score(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """Minus the sum of squared distances to the nearest centre."""
        check_is_fitted(self)
        data = open_rows(self, X, None, sample_weight, reset=False)
        return -float(data.fold(Centers.summarize, self.model_).inertia)


class KMeans(NearestCenters, Iterative):
    """k-means clustering.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : {'k-means++', 'k-means||', 'random'}, array of shape (n_clusters, n_features) or callable, \
default='k-means++'
        Method for the initial centres. 'k-means||' needs few passes for any number of clusters.
    n_init : 'auto' or int, default='auto'
        Number of initializations. The best result is kept. All runs share each pass over the data. 'auto' is
        10 for 'random' or a callable, and 1 otherwise.
    max_iter : int, default=300
        Maximum number of iterations.
    tol : float, default=1e-4
        Tolerance of the squared movement of the centres, relative to the mean variance of the features.
    verbose : int, default=0
        Whether to print the inertia of each iteration.
    random_state : int, RandomState or None, default=None
        Seed for the initialization.
    copy_x : bool, default=True
        Ignored: `X` is never modified.
    algorithm : {'lloyd', 'elkan'}, default='lloyd'
        Ignored: both give the same result.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centres.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, if the rows are in memory.
    inertia_ : float
        Sum of squared distances to the nearest centre.
    n_iter_ : int
        Number of iterations.
    trace_ : ndarray of shape (n_iter_,)
        Inertia at the start of each iteration.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Centers
        The fitted model.
    statistics_ : ClusterSums
        The sums of the last pass.

    See Also
    --------
    suffice.mixture.GaussianMixture : Probabilities of groups, and groups of different shapes.
    suffice.decomposition.TruncatedSVD : Reduces sparse rows to dense ones.

    Notes
    -----
    The centres are a local minimum of the inertia

    .. math::

        J(c) = ∑_n w_n \\min_k ‖x_n - c_k‖^2.

    Each iteration is one pass over the data, and the inertia does not increase.

    References
    ----------
    * Lloyd (1982), "Least squares quantization in PCM", IEEE Transactions on Information Theory 28.
    * Arthur and Vassilvitskii (2007), "k-means++: the advantages of careful seeding", SODA.
    * Bahmani, Moseley, Vattani, Kumar and Vassilvitskii (2012), "Scalable k-means++", Proceedings of the
      VLDB Endowment 5.

    Examples
    --------
    >>> from suffice.cluster import KMeans
    >>> model = KMeans(2, random_state=0).fit([[0.0], [1.0], [10.0], [11.0]])
    >>> sorted(model.cluster_centers_.ravel().tolist())
    [0.5, 10.5]
    """

    default_n_init: ClassVar[int] = 10  # of random starts
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [AT_LEAST_1],
        "init": [StrOptions(set(SEEDINGS)), callable, Numbers()],
        "n_init": [StrOptions({"auto"}), AT_LEAST_1],
        "copy_x": ["boolean"],
        "algorithm": [StrOptions({"lloyd", "elkan"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: Any = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Seed = None,
        copy_x: bool = True,
        algorithm: str = "lloyd",
        checkpoint: MaybePath = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.checkpoint = checkpoint

    def _solve(self, data: Partitions) -> Progress:
        tol = self._tolerance(data, self.n_clusters)
        if self.algorithm == "elkan" and self.n_clusters == 1:
            warn(
                "algorithm='elkan' doesn't make sense for a single cluster. Using 'lloyd' instead.",
                RuntimeWarning,
            )
        starts = self._starts(data)
        self._n_init = len(starts)
        if self.verbose:
            print("Initialization complete")
        watch = Watch(self, self.checkpoint, data, report=printed(tol) if self.verbose else None)
        return lloyd(starts, data, tol, self.max_iter, watch)

    def _label(self, rows: OwnRows | None, data: Partitions) -> None:
        if rows is not None and rows.unweighted:  # then `data` has all of them
            answer = data.fold(Answer.of, self.model_)
            sums, self.labels_ = answer.sums, answer.labels
        else:
            sums = data.fold(Centers.summarize, self.model_)
        self.inertia_ = sums.inertia
        warn_of_fewer(int(np.count_nonzero(sums.weight)), self.n_clusters, "n_clusters")
        super()._label(rows, data)

    def _starts(self, data: Partitions) -> tuple[Centers, ...]:
        K, D = self.n_clusters, self.n_features_in_
        random = check_random_state(self.random_state)
        if not isinstance(self.init, str) and not callable(self.init):
            if self.n_init not in ("auto", 1):
                warn(
                    "Explicit initial center position passed: performing only one init in "
                    f"{type(self).__name__} instead of n_init={self.n_init}.",
                    RuntimeWarning,
                )
            return (initial_centers(self.init, K, D),)
        n_init = self.n_init
        if n_init == "auto":
            n_init = self.default_n_init if callable(self.init) or self.init == "random" else 1
        if callable(self.init):
            X = data.gather("use init='k-means++' or 'random'.").X
            return tuple(initial_centers(self.init(X, K, random_state=random), K, D) for _ in range(n_init))
        seeds = random.randint(np.iinfo(np.int32).max, size=n_init)
        return tuple(Centers(SEEDINGS[self.init](data, K, int(seed))) for seed in seeds)


def initial_centers(values: Any, K: int, D: int) -> Centers:
    center = np.array(values, dtype=np.float64)
    if len(center) != K:
        raise ValueError(
            f"The shape of the initial centers {center.shape} does not match the number of clusters {K}: "
            "pass a row for each cluster."
        )
    if center.shape != (K, D):
        raise ValueError(
            f"The shape of the initial centers {center.shape} does not match the number of features of the "
            f"data {D}."
        )
    return Centers(center)


def warn_of_fewer(distinct: int, K: int, name: str) -> None:
    if distinct < K:
        warn(
            f"Number of distinct clusters ({distinct}) found smaller than {name} ({K}). Possibly due to "
            "duplicate points in X.",
            ConvergenceWarning,
        )


def _relocated(data: Partitions, model: Centers, s: ClusterSums) -> ClusterSums:
    """Sums in which empty clusters are relocated to the rows farthest from their centres."""
    empty = np.flatnonzero(s.weight == 0)
    if not len(empty):
        return s
    far = data.fold(farthest, len(empty), model.center)
    weight, offset = s.weight.copy(), s.offset.copy()
    labels, distance = model.nearest(far.row)
    for k, label, row, w, d in zip(empty, labels, far.row, far.weight, distance, strict=False):
        if d > 0:
            weight[label] -= w
            offset[label] -= w * (row - model.center[label])
            weight[k] = w
            offset[k] = w * (row - model.center[k])
    return s.replace(weight=weight, offset=offset)
