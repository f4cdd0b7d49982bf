"""K centroids: Lloyd's algorithm with other distances, each with the centre that suits it.

Banerjee, Merugu, Dhillon and Ghosh, "Clustering with Bregman divergences", 2005 (centres are means); Dhillon
and Modha, "Concept decompositions", 2001 (directions); Huang, "Extensions to the k-means algorithm", 1998
(modes and prototypes); CS181 6.2.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.special import xlogy
from sklearn.utils import check_random_state

from ..core.arguments import MaybePath, Seed
from ..core.blocks import Rows
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.statistics import Statistics
from ..estimator.answers import row_wise
from ..estimator.base import Iterative, must_have_rows
from ..estimator.guarantees import Exempt
from ..estimator.parameters import AT_LEAST_1, NON_NEGATIVE, Numbers, StrOptions
from ..fitting import em
from ..fitting.nearest import squared_distances
from ..fitting.seeding import SEEDINGS
from ..inputs import map_rows, read_rows
from ..statistics import describe
from ..statistics.quantile_sketch import QuantileSketch, quantile_sketch
from .base import must_have_enough
from .k_means import CenterClustering, ClusterSums, warn_of_fewer

CAPACITY = 1 << 10  # buckets of a sketch: medians are off by a thousandth of the distance from the centre
MOST_CODES = 1 << 12


@dataclass(frozen=True, eq=False)
class CentroidModel(Model):
    """K centres; a row belongs to the one with the least divergence."""

    center: Annotated[np.ndarray, "(K, D)"]

    @abstractmethod
    def divergences(self, X: np.ndarray) -> np.ndarray:
        """The divergence of each row from each centre, (N, K)."""

    def nearest(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        D = self.divergences(X)
        labels = D.argmin(axis=1) if len(D) else np.zeros(0, np.int64)
        return labels, D[np.arange(len(D)), labels]

    def summarize(self, block: Rows) -> Any:
        labels, loss = self.nearest(block.X)
        return self.sums(block.X, block.weight, labels, float(block.weight @ loss))

    def sums(self, X: np.ndarray, weight: np.ndarray, labels: np.ndarray, inertia: float) -> Any:
        """Weight and offsets by centre: the mean is the best centre of every Bregman divergence."""
        K, D = self.center.shape
        offset = np.zeros((K, D))
        np.add.at(offset, labels, weight[:, None] * (X - self.center[labels]))
        return ClusterSums(inertia, np.bincount(labels, weight, K), offset)

    def estimate(self, s: Any) -> Self:
        share = np.divide(1.0, s.weight, out=np.zeros_like(s.weight), where=s.weight > 0)
        return self.replace(center=self.center + s.offset * share[:, None])

    def objective(self, s: Any) -> float:
        return -s.inertia


@dataclass(frozen=True, eq=False)
class SquaredDistance(CentroidModel):
    """|x - c|^2"""

    def divergences(self, X: np.ndarray) -> np.ndarray:
        return squared_distances(X, self.center)


@dataclass(frozen=True, eq=False)
class KullbackLeibler(CentroidModel):
    """sum_d x log(x / c) - x + c, for counts and other numbers that are not negative."""

    def divergences(self, X: np.ndarray) -> np.ndarray:
        tiny = np.finfo(np.float64).tiny  # a centre is zero only if all its rows are
        logs = np.log(np.maximum(self.center, tiny))
        out = (xlogy(X, X) - X).sum(axis=1)[:, None] - X @ logs.T + self.center.sum(axis=1)
        return np.maximum(out, 0.0)


@dataclass(frozen=True, eq=False)
class ItakuraSaito(CentroidModel):
    """sum_d x / c - log(x / c) - 1, for positive numbers: ratios count."""

    def divergences(self, X: np.ndarray) -> np.ndarray:
        out = X @ (1.0 / self.center).T - np.log(X).sum(axis=1)[:, None] + np.log(self.center).sum(axis=1)
        return np.maximum(out - X.shape[1], 0.0)


@dataclass(frozen=True, eq=False)
class Cosine(CentroidModel):
    """1 - x'c / (|x| |c|): centres have length one, and are the directions of sums of directions."""

    def divergences(self, X: np.ndarray) -> np.ndarray:
        U = directions(X)
        # Half the squared distance of directions is 1 - cos, without cancellation.
        return 0.5 * SquaredDistance(directions(self.center)).divergences(U)

    def sums(self, X: np.ndarray, weight: np.ndarray, labels: np.ndarray, inertia: float) -> Any:
        return SquaredDistance(directions(self.center)).sums(directions(X), weight, labels, inertia)

    def estimate(self, s: ClusterSums) -> Self:
        total = s.weight[:, None] * directions(self.center) + s.offset
        present = (s.weight > 0) & (np.abs(total).max(axis=1) > 0)
        return self.replace(center=np.where(present[:, None], directions(total), directions(self.center)))


def directions(X: np.ndarray) -> np.ndarray:
    """Rows with length one; rows of zeros stay."""
    size = np.abs(X).max(axis=1, initial=0.0)[:, None]
    X = X / np.where(size > 0, size, 1.0)
    length = np.sqrt((X**2).sum(axis=1))[:, None]
    return X / np.where(length > 0, length, 1.0)


@dataclass(frozen=True, eq=False)
class MedianSums(Statistics):
    """Weight of the rows of each centre, and sketches of their offsets from it."""

    inertia: float
    weight: Annotated[np.ndarray, "(K,)"]
    offset: tuple[QuantileSketch, ...]


@dataclass(frozen=True, eq=False)
class Manhattan(CentroidModel):
    """sum_d |x - c|: centres are medians."""

    def divergences(self, X: np.ndarray) -> np.ndarray:
        out = np.zeros((len(X), len(self.center)))
        for x, c in zip(X.T, self.center.T, strict=True):
            out += np.abs(x[:, None] - c)
        return out

    def sums(self, X: np.ndarray, weight: np.ndarray, labels: np.ndarray, inertia: float) -> Any:
        parts = []
        for k, c in enumerate(self.center):
            rows = labels == k
            parts.append(quantile_sketch(X[rows] - c, weight[rows], capacity=CAPACITY))
        return MedianSums(inertia, np.bincount(labels, weight, len(self.center)), tuple(parts))

    def estimate(self, s: MedianSums) -> Self:
        medians = [part.quantiles([0.5], "averaged_inverted_cdf")[0] for part in s.offset]
        return self.replace(center=self.center + np.nan_to_num(np.array(medians)))


@dataclass(frozen=True, eq=False)
class CodeSums(Statistics):
    """The weight of the rows of each centre, in total and for each code of each feature, and offsets of
    numbers."""

    inertia: float
    weight: Annotated[np.ndarray, "(K,)"]
    offset: Annotated[np.ndarray, "(K, D)"]
    count: Annotated[np.ndarray, "(K, D, V)"]


@dataclass(frozen=True, eq=False)
class Prototypes(CentroidModel):
    """Squared differences of numbers, plus gamma for each category that differs: means and modes."""

    categorical: Annotated[np.ndarray, "int (D,)"]  # 1 for features of codes
    n_codes: int
    gamma: float

    def divergences(self, X: np.ndarray) -> np.ndarray:
        codes = self.categorical == 1
        out = np.zeros((len(X), len(self.center)))
        if not codes.all():
            out += SquaredDistance(np.ascontiguousarray(self.center[:, ~codes])).divergences(
                np.ascontiguousarray(X[:, ~codes])
            )
        for d in np.flatnonzero(codes):
            out += self.gamma * (X[:, [d]] != self.center[:, d])
        return out

    def sums(self, X: np.ndarray, weight: np.ndarray, labels: np.ndarray, inertia: float) -> Any:
        plain = CentroidModel.sums(self, X, weight, labels, inertia)
        (K, D), V = self.center.shape, self.n_codes
        count = np.zeros((K, D, V))
        for d in np.flatnonzero(self.categorical == 1):
            place = labels * V + X[:, d].astype(np.int64)
            count[:, d] = np.bincount(place, weight, K * V).reshape(K, V)
        return CodeSums(inertia, plain.weight, plain.offset, count)

    def estimate(self, s: CodeSums) -> Self:
        means = CentroidModel.estimate(self, s).center
        modes = np.where(s.weight[:, None] > 0, s.count.argmax(axis=2), self.center)
        return self.replace(center=np.where(self.categorical == 1, modes, means))


METRICS: dict[str, Any] = {
    "cosine": Cosine,
    "itakura-saito": ItakuraSaito,
    "kullback-leibler": KullbackLeibler,
    "manhattan": Manhattan,
    "sqeuclidean": SquaredDistance,
}


@dataclass(frozen=True, eq=False)
class Range(Statistics):
    """The least and the largest entry of each column, whether all are whole, and whether a row is zero."""

    low: Annotated[np.ndarray, "(D,)"]
    high: Annotated[np.ndarray, "(D,)"]
    broken: Annotated[np.ndarray, "(D,)"]  # 1 if some are not whole
    zeros: float  # 1 if there is a row of nothing but zeros

    @classmethod
    def of(cls, block: Rows) -> Range:
        X = block.X
        return cls(
            X.min(axis=0, initial=np.inf),
            X.max(axis=0, initial=-np.inf),
            (np.floor(X) != X).any(axis=0).astype(np.float64),
            float((X == 0).all(axis=1).any()),
        )

    def __add__(self, other: Any) -> Any:
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Range(low, high, np.maximum(self.broken, other.broken), max(self.zeros, other.zeros))

    def __mul__(self, factor: float) -> Self:
        return self

    __rmul__ = __mul__


class KCentroids(CenterClustering, Iterative):
    """Clustering around centres that suit a metric: means, medians, directions, modes, prototypes.

    Each iteration is one pass over the data, as in :class:`KMeans`: rows are assigned to the centre with the
    least divergence, and centres move to the best point of their rows.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    metric : {'manhattan', 'cosine', 'hamming', 'itakura-saito', 'kullback-leibler', 'prototypes', \
'sqeuclidean'}, default='manhattan'
        'manhattan': centres are medians. 'cosine': directions, of rows that are not zero. 'kullback-leibler',
        for numbers that are not negative, 'itakura-saito', for positive ones, and 'sqeuclidean': means, as
        for every Bregman divergence. 'hamming': modes of categories, which are whole numbers from 0.
        'prototypes': means of numbers and modes of categories.
    categorical_features : array of int, default=None
        The features that are categories, with 'prototypes'.
    gamma : float, default=None
        What a different category adds, with 'prototypes'; None is half the mean variance of the numbers.
    init : {'k-means++', 'k-means||', 'random'} or array of shape (n_clusters, n_features), \
default='k-means++'
        Method for the initial centres: see :class:`KMeans`. They are drawn by squared distances.
    n_init : int, default=1
        Number of initializations. The best result is kept. All runs share each pass over the data.
    max_iter : int, default=300
        Maximum number of iterations.
    tol : float, default=1e-06
        Tolerance of the stopping criterion: the change of the loss, relative to it.
    random_state : int, RandomState or None, default=None
        Seed for the initialization.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centres.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, if the rows are in memory.
    inertia_ : float
        Sum of divergences from the nearest centre.
    n_iter_ : int
        Number of iterations.
    trace_ : ndarray of shape (n_iter_,)
        Loss at the start of each iteration.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : CentroidModel
        The fitted model.
    statistics_ : Statistics
        The sums of the last pass.

    See Also
    --------
    KMeans : Squared Euclidean distances, faster.
    KMedoids : Centres that are rows, for any distance.
    suffice.mixture.LatentClass : Probabilities of groups of categories.

    Notes
    -----
    The centres are a local minimum of

    .. math::

        ∑_n w_n \\min_k d(x_n, c_k).

    Medians are from sketches of the offsets of rows from their centre, which are exact up to 1,024 different
    values, and to a thousandth of the offset beyond. A cluster that has lost all rows keeps its centre.

    References
    ----------
    * Banerjee, Merugu, Dhillon and Ghosh (2005), "Clustering with Bregman divergences", Journal of Machine
      Learning Research 6.
    * Dhillon and Modha (2001), "Concept decompositions for large sparse text data using clustering", Machine
      Learning 42.
    * Huang (1998), "Extensions to the k-means algorithm for clustering large data sets with categorical
      values", Data Mining and Knowledge Discovery 2.

    Examples
    --------
    >>> from suffice.cluster import KCentroids
    >>> model = KCentroids(2, random_state=0).fit([[0.0], [0.0], [4.0], [50.0], [51.0], [90.0]])
    >>> sorted(model.cluster_centers_.ravel().tolist())
    [0.0, 51.0]
    """

    exempt = (Exempt("shift", "Directions are others.", lambda e: e.metric == "cosine"),)

    model_: Annotated[CentroidModel, "D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [AT_LEAST_1],
        "metric": [StrOptions({*METRICS, "hamming", "prototypes"})],
        "categorical_features": [Numbers(least=0, ndim=1), None],
        "gamma": [NON_NEGATIVE, None],
        "init": [StrOptions(set(SEEDINGS)), Numbers(ndim=2)],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: str = "manhattan",
        categorical_features: Any = None,
        gamma: float | None = None,
        init: Any = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Seed = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.categorical_features = categorical_features
        self.gamma = gamma
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.checkpoint = checkpoint

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.metric in ("itakura-saito", "kullback-leibler")
        tags.input_tags.categorical = self.metric == "hamming"
        return tags

    def _solve(self, data: Partitions) -> Progress:
        def converged(old: Any, new: Any, trace: tuple[float, ...]) -> bool:
            return self.tol > 0 and len(trace) > 1 and trace[-1] - trace[-2] <= self.tol * abs(trace[-1])

        starts, watch = self._starts(data), Watch(self, self.checkpoint, data)
        return em(starts, data, tol=0.0, max_iter=self.max_iter, converged=converged, watch=watch)

    def _finish(self, progress: Progress, data: Partitions) -> None:
        s = data.fold(CentroidModel.summarize, self.model_)
        self.inertia_ = s.inertia
        warn_of_fewer(int(np.count_nonzero(s.weight)), self.n_clusters, "n_clusters")

    def _starts(self, data: Partitions) -> tuple[CentroidModel, ...]:
        description, limits = data.fold(describe), data.fold(Range.of)
        must_have_rows(description.weight)
        must_have_enough(description.rows, self.n_clusters)
        self._must_suit(limits)
        if isinstance(self.init, str):
            seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=self.n_init)
            centers = [SEEDINGS[self.init](data, self.n_clusters, int(seed)) for seed in seeds]
        else:
            centers = [np.array(self.init, dtype=np.float64)]
            if centers[0].shape != (self.n_clusters, self.n_features_in_):
                raise ValueError(
                    f"The shape of the initial centers {centers[0].shape} does not match the number of "
                    f"clusters {self.n_clusters} and of features {self.n_features_in_}."
                )
        if self.metric in METRICS:
            return tuple(METRICS[self.metric](center) for center in centers)
        return tuple(self._prototypes(center, limits, description) for center in centers)

    def _prototypes(self, center: np.ndarray, limits: Range, description: Any) -> Prototypes:
        codes = self._codes()
        numbers = description.features.variance[codes == 0]
        gamma = 1.0 if self.metric == "hamming" else self.gamma
        if gamma is None:
            gamma = 0.5 * float(numbers.mean()) if len(numbers) else 1.0
        n_codes = int(limits.high[codes == 1].max(initial=0.0)) + 1
        afford(2.0 * center.size * n_codes, f"the counts of {n_codes} categories", "use fewer categories.")
        return Prototypes(center, codes, n_codes, gamma)

    def _codes(self) -> np.ndarray:
        codes = np.zeros(self.n_features_in_, np.int64)
        if self.metric == "hamming":
            codes[:] = 1
        elif self.categorical_features is None:
            raise ValueError("metric='prototypes' needs categorical_features, the numbers of these features.")
        else:
            columns = np.asarray(self.categorical_features)
            if columns.max(initial=0) >= len(codes) or columns.dtype.kind not in "iu":
                raise ValueError(
                    f"categorical_features must be numbers of features below {len(codes)}; got "
                    f"{columns.tolist()}."
                )
            codes[columns] = 1
        return codes

    def _must_suit(self, limits: Range) -> None:
        low = float(limits.low.min(initial=np.inf))
        d = int(limits.low.argmin())
        if self.metric == "cosine" and limits.zeros:
            raise ValueError("metric='cosine' needs rows that are not zero: leave out rows of zeros.")
        if self.metric == "itakura-saito" and low <= 0:
            raise ValueError(f"metric='itakura-saito' needs positive numbers; got {low:g} in column {d}.")
        if self.metric == "kullback-leibler" and low < 0:
            raise ValueError(
                f"metric='kullback-leibler' needs numbers that are not negative; got {low:g} in column {d}."
            )
        if self.metric in ("hamming", "prototypes"):
            codes = self._codes() == 1
            bad = codes & ((limits.broken > 0) | (limits.low < 0) | (limits.high >= MOST_CODES))
            if bad.any():
                raise ValueError(
                    f"Categories must be whole numbers from 0 to {MOST_CODES - 1}; those of column "
                    f"{int(bad.argmax())} are not: use suffice.preprocessing.OrdinalEncoder."
                )

    @row_wise
    def transform(self, X: Any) -> np.ndarray:
        """Divergences of each row from the centres.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return map_rows(lambda rows: self.model_.divergences(rows), X)
