"""Regression by the nearest neighbours. Cover 1968; CS181 2.2.1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin

from ..estimator.answers import row_wise
from ..estimator.scores import Regressor
from .base import LeaveOneOut, Voters


class KNeighborsRegressor(LeaveOneOut, MultiOutputMixin, Regressor, Voters):
    """Regression by the mean of the nearest neighbours.

    Rows in memory are searched by a k-d tree or by comparison with all of them. Rows of a scan or of a
    distributed data set stay where they are, and a prediction is one pass over them, for any number of
    queries.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours.
    weights : {'uniform', 'distance'} or callable, default='uniform'
        Weights of the neighbours: one each, the inverse of the distance, or a function of an array of
        distances that returns weights. With 'distance', only neighbours at distance zero count if there are
        any.
    algorithm : {'auto', 'ball_tree', 'brute', 'kd_tree'}, default='auto'
        Search of rows in memory. 'brute' compares queries with all rows, and 'kd_tree' with some of them;
        'ball_tree' is 'kd_tree', too. 'auto' takes the tree for many rows of up to eight features. The
        neighbours are the same.
    leaf_size : int, default=30
        Most rows of a leaf of the tree.
    p : float, default=2
        Power of the Minkowski distance: 1 is the Manhattan distance, 2 the Euclidean, and inf the largest
        difference.
    metric : str or callable, default='minkowski'
        Distance: 'minkowski' with `p`, 'euclidean' or 'l2', 'manhattan', 'cityblock' or 'l1', or
        'chebyshev'. Others are computed by scikit-learn's `pairwise_distances` for all pairs: its names,
        such as 'cosine', a function of two rows, or 'precomputed' if X is a matrix of distances.
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
    NearestNeighbors : The neighbours themselves.
    suffice.kernel_ridge.KernelRidge : A smooth function of the distances from all rows.

    Notes
    -----
    With the k nearest rows :math:`N_k(x)`, see :class:`NearestNeighbors`, and their weights w,

    .. math::

        \\hat y(x) = \\frac{∑_{n ∈ N_k(x)} w_n y_n}{∑_{n ∈ N_k(x)} w_n}.

    A row of weight two is two neighbours.

    References
    ----------
    * Cover, "Estimation by the nearest neighbor rule", IEEE Transactions on Information Theory 14, 1968.

    Examples
    --------
    >>> from suffice.neighbors import KNeighborsRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [10.0]], [0.0, 1.0, 4.0, 9.0, 100.0]
    >>> KNeighborsRegressor(n_neighbors=2).fit(X, y).predict([[1.4]])
    array([2.5])
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: str | Callable[..., float] = "minkowski",
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the target of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        weight, target = self._votes(X)
        out = np.einsum("qk,qkt->qt", weight, target) / weight.sum(axis=1, keepdims=True)
        return out[:, 0] if self._flat_target else out
