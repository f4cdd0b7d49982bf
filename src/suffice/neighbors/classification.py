"""Classification by the nearest neighbours. Fix and Hodges 1951; Cover and Hart 1967; Li 3.1; CS181 2.2.1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
from sklearn.exceptions import DataConversionWarning

from ..core.callers import warn
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..core.shapes import must, must_index
from ..estimator.answers import row_wise
from ..estimator.scores import Classifier
from .base import LeaveOneOut, Searchable, Voters
from .search import NeighborCounts


class KNeighborsClassifier(LeaveOneOut, Classifier, Voters):
    """Classification by a vote of the nearest neighbours.

    Rows in memory are searched by a k-d tree or by comparison with all of them. Rows of a scan or of a
    distributed data set stay where they are, and a prediction is one pass over them, for any number of
    queries.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours.
    weights : {'uniform', 'distance'} or callable, default='uniform'
        Weights of the votes: one each, the inverse of the distance, or a function of an array of distances
        that returns weights. With 'distance', only neighbours at distance zero vote if there are any.
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
    classes_ : ndarray of shape (n_classes,), or list of ndarray
        Class labels; of several targets, a list with those of each.
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
    outputs_2d_ : bool
        Whether there are several targets.

    See Also
    --------
    KNeighborsRegressor : Means of neighbours.
    NearestNeighbors : The neighbours themselves.

    Notes
    -----
    With the k nearest rows :math:`N_k(x)`, see :class:`NearestNeighbors`, and weights w of their votes,

    .. math::

        P(c \\mid x) = \\frac{∑_{n ∈ N_k(x)} w_n [y_n = c]}{∑_{n ∈ N_k(x)} w_n}.

    The predicted class has the largest probability, the first of them if several have. With equal weights,
    this vote has the smallest 0-1 loss among the neighbours. A row of weight two is two neighbours.

    References
    ----------
    * Cover and Hart, "Nearest neighbor pattern classification", IEEE Transactions on Information Theory 13,
      1967.

    Examples
    --------
    >>> from suffice.neighbors import KNeighborsClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [10.0]], ["a", "a", "b", "b", "b"]
    >>> model = KNeighborsClassifier(n_neighbors=3).fit(X, y)
    >>> model.predict([[0.9]]), model.predict_proba([[0.9]]).round(3)
    (array(['a'], dtype='<U1'), array([[0.667, 0.333]]))
    """

    classes_: Annotated[Any, "labels (K,) or T of labels (V_t,)"]
    outputs_2d_: bool

    def _check_loaded(self) -> None:
        super()._check_loaded()
        target = self._in_memory().target
        must(self.outputs_2d_ == isinstance(self.classes_, list), "`outputs_2d_` does not match the classes.")
        must(len(self._classes) == target.shape[1], "There are not as many targets as classes of them.")
        for t, classes in enumerate(self._classes):
            must_index(target[:, t], len(classes), "Codes of classes")

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
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags

    def _classes_among(self, s: NeighborCounts) -> tuple[np.ndarray, ...]:
        return tuple(s.target[0].values)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        assert isinstance(progress, Searchable)
        classes = progress.classes
        several = len(classes) > 1
        named = list(classes) if several else classes[0]
        return {**super()._fitted(progress), "outputs_2d_": several, "classes_": named}

    def _finish(self, progress: Progress, data: Partitions) -> None:
        if not (self._flat_target or self.outputs_2d_):
            warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                "(n_samples,), for example using ravel().",
                DataConversionWarning,
            )

    @property
    def _classes(self) -> tuple[np.ndarray, ...]:
        return tuple(self.classes_) if self.outputs_2d_ else (self.classes_,)

    def _shares(self, X: Any) -> list[np.ndarray]:
        """The fraction of the votes of each class, for each target."""
        weight, target = self._votes(X)
        n, out = len(weight), []
        for t, classes in enumerate(self._classes):
            K = len(classes)
            place = np.arange(n)[:, None] * K + target[:, :, t].astype(np.int64)
            votes = np.bincount(place.ravel(), weight.ravel(), n * K).reshape(n, K)
            total = votes.sum(axis=1, keepdims=True)
            out.append(votes / np.where(total == 0.0, 1.0, total))
        return out

    @row_wise
    def predict_proba(self, X: Any) -> Any:
        """Predict the probability of each class: the fraction of the votes. For several targets, a list with
        those of each.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        shares = self._shares(X)
        return shares if self.outputs_2d_ else shares[0]

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of each row, or of each row and target.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        shares = self._shares(X)
        best = [c[part.argmax(axis=1)] for c, part in zip(self._classes, shares, strict=True)]
        return np.stack(best, axis=1) if self.outputs_2d_ else best[0]
