"""Base of the estimators of neighbours: the rows, the distance and the search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.neighbors._base import KNeighborsMixin
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray
from ..core.callers import warn
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..estimator.base import Estimator, must_have_rows
from ..estimator.parameters import AT_LEAST_1, HasMethods, Interval, StrOptions
from ..inputs import Check, read_rows, source_of
from ..statistics.nearest import Minkowski, Nearest, Pairwise, Queries, targets_of
from .search import NeighborCounts, RemoteRows, StoredRows, neighbor_counts

# By the name of a metric, its p; that of 'minkowski', also called 'p', is a parameter.
METRICS: dict[Any, float | None] = {
    "chebyshev": np.inf,
    "cityblock": 1.0,
    "euclidean": 2.0,
    "infinity": np.inf,
    "l1": 1.0,
    "l2": 2.0,
    "manhattan": 1.0,
    "minkowski": None,
    "p": None,
}
# Metrics that scikit-learn would scale by the rows that it sees, and the parameter that says how.
OF_ALL_ROWS = {"mahalanobis": "VI", "seuclidean": "V"}
# A tree leaves out most rows of few features only; few rows are compared faster than a tree is built.
TREE_FEATURES, TREE_ROWS = 8, 2000


@dataclass(frozen=True, eq=False, kw_only=True)
class Searchable(Progress):
    """A fit by storing rows, with the classes of each target."""

    rows: StoredRows | RemoteRows
    classes: tuple[np.ndarray, ...]
    n_samples_fit_: int


class Neighbors(Estimator, KNeighborsMixin):
    """Base class of estimators that store rows and search them.

    scikit-learn's functions recognize estimators of neighbours by the second base class.
    """

    model_: Minkowski | Pairwise
    n_neighbors: Any
    algorithm: Any
    leaf_size: Any
    metric: Any
    p: Any
    metric_params: Any
    _rows: Annotated[StoredRows | RemoteRows, "T, D"]
    n_samples_fit_: int
    counts_rows = True  # those of weight zero have a number, too

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [AT_LEAST_1],
        "algorithm": [StrOptions({"auto", "ball_tree", "brute", "kd_tree"})],
        "leaf_size": [Interval(Integral, 1, None, closed="left")],
        "p": [Interval(Real, 0, None, closed="right"), None],
        "metric": [str, callable, HasMethods("pairwise")],
        "metric_params": [dict, None],
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.metric == "precomputed"
        tags.input_tags.allow_nan = self.metric == "nan_euclidean"
        return tags

    def _check_options(self) -> None:
        self._distance()
        powers = isinstance(self.metric, str) and METRICS.get(self.metric, 0.0) is None
        if powers and "p" in (self.metric_params or {}):
            warn("Parameter p is found in metric_params. The parameter p is ignored.", SyntaxWarning)

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Partitions:
        source = source_of(X)
        self._flat_target = source.flat_target(y)
        return super()._opened(source, y, sample_weight, reset)

    def _solve(self, data: Partitions) -> Progress:
        """Store the rows. Those of a scan or a distributed data set are not copied."""
        block = data.gather("") if data.in_memory else None
        if self.metric == "precomputed":
            _must_be_distances(block)
        s = data.fold(neighbor_counts, Check.of(self).target)
        must_have_rows(s.copies)
        distance, classes = self._distance(), self._classes_among(s)
        rows: StoredRows | RemoteRows = RemoteRows(data)
        if block is not None:
            target, leaf_size = targets_of(block, classes), self._leaf_size(distance, block.X)
            rows = StoredRows(block.X, target, block.weight, leaf_size)
        return Searchable(model=distance, rows=rows, classes=classes, n_samples_fit_=s.copies)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        assert isinstance(progress, Searchable)
        metric, params = self._named(progress.model)
        return {"_rows": progress.rows, "effective_metric_": metric, "effective_metric_params_": params}

    def _distance(self) -> Minkowski | Pairwise:
        """The distance by the parameters `metric`, `p` and `metric_params`."""
        params = dict(self.metric_params or {})
        if self.algorithm.endswith("_tree"):
            self._must_suit_tree(params)
        if not (isinstance(self.metric, str) and self.metric in METRICS):
            return self._pairwise(params)
        p = METRICS[self.metric]
        if not params.keys() <= ({"p", "w"} if p is None else set()):
            raise ValueError(
                f"metric_params={self.metric_params!r} is not supported by metric={self.metric!r}: use 'p' "
                "and 'w' with metric='minkowski'."
            )
        if p is None:
            p = params.pop("p", self.p)
            if p is None:
                raise ValueError(f"p is None, and metric={self.metric!r} needs it: pass p=2.")
        return Pairwise("minkowski", {"p": p, **params}) if params else Minkowski(float(p))

    def _must_suit_tree(self, params: dict[str, Any]) -> None:
        """Raise for distances that scikit-learn's tree of this name does not support."""
        from sklearn.neighbors import VALID_METRICS

        name, tree = self.metric, self.algorithm
        if callable(name) and tree == "kd_tree":
            raise ValueError(
                f"kd_tree does not support callable metric {name!r}: use algorithm='ball_tree', 'brute' or "
                "'auto'."
            )
        if name in ("minkowski", "p") and (p := params.get("p", self.p)) is not None and p < 1:
            raise ValueError(
                f'algorithm="{tree}" does not support 0 < p < 1 for the Minkowski metric. To resolve this '
                'problem either set p >= 1 or algorithm="brute".'
            )
        weighted = tree == "kd_tree" and "w" in params
        if isinstance(name, str) and (name not in VALID_METRICS[tree] or weighted):
            shown = f"{name!r} with weights 'w'" if weighted else repr(name)
            raise ValueError(
                f"Metric {shown} not valid for algorithm={tree!r}. Use one of {sorted(VALID_METRICS[tree])}, "
                "or algorithm='brute'."
            )

    def _pairwise(self, params: dict[str, Any]) -> Pairwise:
        """A distance that is not a Minkowski distance."""
        from sklearn.neighbors import VALID_METRICS

        if isinstance(self.metric, str):
            valid = {*VALID_METRICS["brute"], *VALID_METRICS["ball_tree"]} - {"pyfunc"}
            if self.metric not in valid:
                raise ValueError(
                    f"Metric {self.metric!r} not valid. Use one of {sorted(valid)}, or a function of two "
                    "rows."
                )
            if self.metric in OF_ALL_ROWS and not params:
                name = OF_ALL_ROWS[self.metric]
                raise ValueError(f"metric={self.metric!r} needs metric_params={{{name!r}: ...}}.")
        return Pairwise(self.metric, params)

    def _classes_among(self, s: NeighborCounts) -> tuple[np.ndarray, ...]:
        """The classes of each target in the rows; empty unless the estimator is a classifier."""
        return ()

    @property
    def _classes(self) -> tuple[np.ndarray, ...]:
        """The classes of each target; empty unless the estimator is a classifier."""
        return ()

    def _leaf_size(self, distance: Minkowski | Pairwise, X: Any) -> int:
        """The maximum number of rows of a leaf of the tree; zero for no tree."""
        if isinstance(distance, Pairwise):
            if sp.issparse(X):
                _must_be_of_sparse_rows(self.metric)
            return 0
        if sp.issparse(X):
            if self.algorithm.endswith("_tree"):
                warn("cannot use tree with sparse input: using brute force")
            return 0
        n_rows = len(X)
        few = self.n_features_in_ <= TREE_FEATURES and n_rows >= TREE_ROWS
        use_tree = self.algorithm.endswith("_tree") or (self.algorithm == "auto" and few)
        return int(self.leaf_size) if use_tree else 0

    def _named(self, distance: Minkowski | Pairwise) -> tuple[Any, dict[str, Any]]:
        """The metric as scikit-learn names it, and its parameters."""
        if isinstance(distance, Pairwise):
            return self.metric, distance.params
        p = distance.p
        if METRICS[self.metric] is not None or (self.metric == "p" and p == 2.0):
            return self.metric, {}
        names = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}
        return (names[p], {}) if p in names else ("minkowski", {"p": p})

    def _nearest(self, X: Any, n_neighbors: int | None = None, k_more: int = 0) -> Nearest:
        """The nearest rows of checked queries."""
        number = self.n_neighbors if n_neighbors is None else n_neighbors
        if isinstance(number, bool) or not isinstance(number, Integral):
            raise TypeError(f"n_neighbors does not take {type(number)} value, enter integer value")
        k = int(number)
        if k <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {k}")
        if k + k_more > self.n_samples_fit_:
            without = ", and a row is not its own neighbour" if k_more else ""
            raise ValueError(
                f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {k}, n_samples_fit = "
                f"{self.n_samples_fit_}, n_samples = {X.shape[0]}{without}: fit to more rows, or lower "
                "n_neighbors."
            )
        nearest = self._rows.search(Queries(X, k + k_more, self.model_, self._classes))
        if (nearest.row < 0).any():
            fewest = int((nearest.row >= 0).sum(axis=1).min())
            raise ValueError(
                f"{k + k_more} neighbors per samples are required, but some samples have only {fewest} at a "
                "finite distance: lower n_neighbors."
            )
        return nearest

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """Find the nearest rows of each query.

        Ties of distances are broken by the order of the rows. If the rows are not in memory, this takes one
        pass over them for any number of queries.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_queries, n_features), default=None
            The queries, in memory. If None, the rows themselves, none of which is its own neighbour.
        n_neighbors : int, default=None
            Number of neighbours; None is that of the estimator.
        return_distance : bool, default=True
            Whether to return the distances.

        Returns
        -------
        neigh_dist : ndarray of shape (n_queries, n_neighbors)
            Distances, in order. Only if `return_distance`.
        neigh_ind : ndarray of shape (n_queries, n_neighbors)
            Numbers of the nearest rows. A row of weight two is there twice.
        """
        nearest = self._found(X, n_neighbors)
        return (self.model_.rooted(nearest.distance), nearest.row) if return_distance else nearest.row

    def _found(self, X: Any, n_neighbors: int | None) -> Nearest:
        check_is_fitted(self)
        return self._others(n_neighbors) if X is None else self._nearest(self._queries(X), n_neighbors)

    def _queries(self, X: Any) -> Any:
        """Checked queries, in memory."""
        if not (source := source_of(X)).in_memory:
            raise TypeError(
                f"The queries of {type(self).__name__} must be in memory; got "
                f"{type(source.container).__name__}: pass an array or a table in memory, in parts if large."
            )
        return read_rows(self, X)

    def _must_be_mode(self, mode: str) -> None:
        if mode not in ("connectivity", "distance"):
            raise ValueError(
                f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" instead'
            )

    def _in_memory(self) -> StoredRows:
        """The rows, which must be in memory."""
        if isinstance(self._rows, RemoteRows):
            raise TypeError(
                f"The rows of this {type(self).__name__} are not in memory: call kneighbors(X) with those "
                "whose neighbours to find, or fit to rows in memory."
            )
        return self._rows

    @property
    def _fit_X(self) -> Any:
        """The rows, under the name by which scikit-learn's `kneighbors_graph` reads them."""
        return self._in_memory().X

    def _others(self, n_neighbors: int | None) -> Nearest:
        """The nearest other rows of each row."""
        nearest = self._nearest(self._in_memory().X, n_neighbors, 1)
        own = nearest.row == np.arange(len(nearest.row))[:, None]
        first = np.where(own.any(axis=1), own.argmax(axis=1), own.shape[1] - 1)  # else many equal rows
        keep = np.flatnonzero(np.arange(own.shape[1]) != first[:, None])

        def others(values: np.ndarray) -> np.ndarray:
            return values.reshape(own.size, -1)[keep].reshape(len(own), own.shape[1] - 1, *values.shape[2:])

        parts = {name: others(getattr(nearest, name)) for name in ("distance", "row", "vote", "target")}
        return nearest.replace(**parts)

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> sp.csr_matrix:
        """The graph of neighbours: a sparse matrix with an entry for each query and each of its neighbours.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_queries, n_features), default=None
            The queries. If None, the rows themselves, none of which is its own neighbour.
        n_neighbors : int, default=None
            Number of neighbours; None is that of the estimator.
        mode : {'connectivity', 'distance'}, default='connectivity'
            What entries are: ones, or distances.

        Returns
        -------
        A : csr_matrix of shape (n_queries, n_samples_fit)
            The graph. The entries of a row are in the order of their distances.
        """
        self._must_be_mode(mode)
        nearest = self._found(X, n_neighbors)
        row, distance = nearest.row, self.model_.rooted(nearest.distance)
        values = np.ones(row.size) if mode == "connectivity" else distance.ravel()
        ends = np.arange(len(row) + 1) * row.shape[1]
        return sp.csr_matrix((values, row.ravel(), ends), shape=(len(row), nearest.rows))

    @property
    def rows_elsewhere(self) -> bool:
        """Whether the rows are not in memory, and each search is one pass over them."""
        return isinstance(getattr(self, "_rows", None), RemoteRows)

    def _fitted_state(self) -> dict[str, Any]:
        if self.rows_elsewhere:
            raise TypeError(
                f"The rows of this {type(self).__name__} are not in memory, and are not stored: fit to rows "
                "in memory, or store its parameters and where the rows are."
            )
        return super()._fitted_state()


def _must_be_of_sparse_rows(metric: str | Callable[..., float]) -> None:
    from sklearn.neighbors import VALID_METRICS_SPARSE

    if isinstance(metric, str) and metric not in VALID_METRICS_SPARSE["brute"]:
        raise ValueError(
            f"Metric {metric!r} not valid for sparse input. Use one of "
            f"{sorted(VALID_METRICS_SPARSE['brute'])}, or X.toarray()."
        )


def _must_be_distances(block: Any) -> None:
    if block is None:
        raise TypeError("metric='precomputed' needs the matrix of distances in memory: pass an array.")
    N, D = block.X.shape
    if N != D:
        raise ValueError(f"Precomputed matrix must be square. Input is a {N}x{D} matrix.")


class Voters(Neighbors):
    """Base class of estimators that predict from the targets of neighbours."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Neighbors._parameter_constraints,
        "weights": [StrOptions({"uniform", "distance"}), callable, None],
    }

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def _votes(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The weight of each neighbour of queries, (Q, K), and its targets, (Q, K, T)."""
        nearest = self._found(X, None)
        if self.weights in ("uniform", None):
            return nearest.vote, nearest.target
        distance = self.model_.rooted(nearest.distance)
        if callable(self.weights):
            votes = nearest.vote * self.weights(distance)
            if (votes.sum(axis=1) == 0).any():
                raise ValueError(
                    "All neighbors of some sample is getting zero weights. Please modify 'weights' to avoid "
                    "this case if you are using a user-defined function."
                )
            return votes, nearest.target
        equal = distance == 0.0
        with np.errstate(divide="ignore"):
            inverse = 1.0 / distance
        return nearest.vote * np.where(equal.any(axis=1, keepdims=True), equal, inverse), nearest.target


class LeaveOneOut(Estimator):
    """Base class of `Voters`: without rows, each row of `fit` is predicted from the others, and scored."""

    def score(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """Score of the predictions: accuracy of a classifier, R^2 of a regressor.

        Parameters
        ----------
        X : array, table, scan or distributed data set
            The rows. To name the columns of target and weights in a table, see `suffice.rows`. If None, each
            row of `fit` is predicted from the others (leave-one-out), and `y` are their targets.
        y : array of shape (n_samples,) or (n_samples, n_targets), optional
            Targets. Leave out if columns of the table hold them.
        sample_weight : array, optional
            Weights of the rows.
        """
        if X is not None:
            return super().score(X, y, sample_weight)
        metric = accuracy_score if is_classifier(self) else r2_score
        return float(metric(y, self.predict(None), sample_weight=sample_weight))
