"""The nearest neighbours of queries. Fix and Hodges 1951; Li 3.1; CS181 2.2.1."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors._base import RadiusNeighborsMixin
from sklearn.utils.validation import check_is_fitted

from ..core.blocks import offsets
from ..core.threads import in_order
from ..estimator.parameters import Interval
from .base import Neighbors

SOME = 64  # number of queries whose distances from all rows are held at once


class NearestNeighbors(Neighbors, RadiusNeighborsMixin):
    """Search for nearest neighbours: exact, in memory or where the rows are.

    Rows in memory are searched by a k-d tree or by comparison with all of them. Rows of a scan or of a
    distributed data set stay where they are, and a search is one pass over them, for any number of queries.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours.
    radius : float, default=1.0
        Distance up to which `radius_neighbors` are searched.
    algorithm : {'auto', 'ball_tree', 'brute', 'kd_tree'}, default='auto'
        Search of rows in memory. 'brute' compares queries with all rows, and 'kd_tree' with some of them;
        'ball_tree' is 'kd_tree', too. 'auto' takes the tree for many rows of up to eight features. The
        neighbours are the same.
    leaf_size : int, default=30
        Most rows of a leaf of the tree.
    metric : str or callable, default='minkowski'
        Distance: 'minkowski' with `p`, 'euclidean' or 'l2', 'manhattan', 'cityblock' or 'l1', or
        'chebyshev'. Others are computed by scikit-learn's `pairwise_distances` for all pairs: its names,
        such as 'cosine', a function of two rows, or 'precomputed' if X is a matrix of distances.
    p : float, default=2
        Power of the Minkowski distance: 1 is the Manhattan distance, 2 the Euclidean, and inf the largest
        difference.
    metric_params : dict, default=None
        Further parameters of the metric.
    n_jobs : int, default=None
        Ignored: see `suffice.threads`.

    Attributes
    ----------
    effective_metric_ : str or callable
        Name of the distance.
    effective_metric_params_ : dict
        Its parameters.
    model_ : Minkowski or Pairwise
        The distance.
    n_features_in_ : int
        Number of features seen during `fit`.
    n_samples_fit_ : int
        Number of rows, each as often as its weight.

    See Also
    --------
    KNeighborsClassifier : Classes of neighbours.
    KNeighborsRegressor : Means of neighbours.
    KDTree : The tree, node by node.

    Notes
    -----
    The neighbours of a query q are the first k rows in the order of

    .. math::

        \\left( ∑_d |q_d - x_{nd}|^p, \\; n \\right),

    computed from the differences themselves: not from squares of norms, which lose all digits far from the
    origin. So the neighbours, and the bits of their distances, do not depend on the blocks of the rows, the
    algorithm or the number of threads. Of many rows with many features, inner products leave out most rows,
    within a bound of their rounding errors.

    A row of weight two is two neighbours.

    References
    ----------
    * Cover and Hart, "Nearest neighbor pattern classification", IEEE Transactions on Information Theory 13,
      1967.
    * Friedman, Bentley and Finkel, "An algorithm for finding best matches in logarithmic expected time", ACM
      Transactions on Mathematical Software 3, 1977.

    Examples
    --------
    >>> from suffice.neighbors import NearestNeighbors
    >>> search = NearestNeighbors(n_neighbors=2).fit([[0.0], [1.0], [3.0]])
    >>> distance, row = search.kneighbors([[0.9]])
    >>> distance.round(6), row
    (array([[0.1, 0.9]]), array([[1, 0]]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Neighbors._parameter_constraints,
        "radius": [Interval(Real, 0, None, closed="both")],
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        radius: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: str | Callable[..., float] = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def radius_neighbors(
        self,
        X: Any = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> Any:
        """Find the rows up to a distance from each query, by comparison with all rows in memory.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_queries, n_features), default=None
            The queries. If None, the rows themselves, none of which is its own neighbour.
        radius : float, default=None
            The largest distance; None is that of the estimator.
        return_distance : bool, default=True
            Whether to return the distances.
        sort_results : bool, default=False
            Whether to sort neighbours by distance; else by their numbers.

        Returns
        -------
        neigh_dist : ndarray of shape (n_queries,) of arrays
            Distances. Only if `return_distance`.
        neigh_ind : ndarray of shape (n_queries,) of arrays
            Numbers of the rows. A row of weight two is there twice.
        """
        check_is_fitted(self)
        rows, limit = self._in_memory(), self.radius if radius is None else radius
        queries = rows.X if X is None else self._queries(X)
        row = np.repeat(np.arange(rows.X.shape[0]), np.ceil(rows.weight).astype(np.int64))

        def task(start: int) -> list[tuple[np.ndarray, np.ndarray]]:
            distance = self.model_.rooted(self.model_.between(queries[start : start + SOME], rows.X))
            out = []
            for n, own in enumerate(distance, start):
                near = row[own[row] <= limit]
                if X is None:
                    near = np.delete(near, np.flatnonzero(near == n)[:1])
                if sort_results:
                    near = near[np.argsort(own[near], kind="stable")]
                out.append((own[near], near))
            return out

        pairs = [pair for part in in_order(task, tuple(range(0, queries.shape[0], SOME))) for pair in part]
        out = np.empty((2, len(pairs)), dtype=object)
        for n, pair in enumerate(pairs):
            out[0, n], out[1, n] = pair
        return (out[0], out[1]) if return_distance else out[1]

    def radius_neighbors_graph(
        self,
        X: Any = None,
        radius: float | None = None,
        mode: str = "connectivity",
        sort_results: bool = False,
    ) -> sp.csr_matrix:
        """The graph of the rows up to a distance from each query, as a sparse matrix.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_queries, n_features), default=None
            The queries. If None, the rows themselves, none of which is its own neighbour.
        radius : float, default=None
            The largest distance; None is that of the estimator.
        mode : {'connectivity', 'distance'}, default='connectivity'
            What entries are: ones, or distances.
        sort_results : bool, default=False
            Whether the entries of a row are sorted by distance; else by their numbers.

        Returns
        -------
        A : csr_matrix of shape (n_queries, n_rows)
            The graph.
        """
        self._must_be_mode(mode)
        distance, row = self.radius_neighbors(X, radius, sort_results=sort_results)
        ends, columns = offsets([len(near) for near in row]), np.concatenate([*row, np.empty(0, np.int64)])
        values = np.ones(len(columns)) if mode == "connectivity" else np.concatenate([*distance, np.empty(0)])
        return sp.csr_matrix((values, columns, ends), shape=(len(row), self._in_memory().X.shape[0]))
