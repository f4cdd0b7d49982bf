"""Features cut into bins. Dougherty, Kohavi and Sahami, "Supervised and unsupervised discretization of
continuous features", 1995."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn import preprocessing
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from ..core.arguments import MaybeArray
from ..core.blocks import Rows
from ..core.callers import warn
from ..core.loop import Progress
from ..core.model import Model
from ..core.partitions import Partitions
from ..estimator.answers import row_wise
from ..estimator.guarantees import OF_PLACES, Guarantee
from ..statistics import QuantileSketch, quantile_sketch
from . import compat
from .columns import ColumnTransform

NARROW = 1e-8  # bins narrower than this are removed


@dataclass(frozen=True, eq=False)
class Bins(Model):
    """The edges of the bins of each column."""

    n_bins: Annotated[np.ndarray, "int (D,)"]
    strategy: str
    method: str  # of `numpy.quantile`
    edges: Annotated[tuple[np.ndarray, ...], "D of (B_d,) or 0 of (0,)"] = ()

    def summarize(self, block: Rows) -> QuantileSketch:
        return quantile_sketch(block.X, block.weight)

    def estimate(self, s: QuantileSketch) -> Self:
        return self.replace(edges=tuple(self._edges(s, d, int(n)) for d, n in enumerate(self.n_bins)))

    def _edges(self, s: QuantileSketch, d: int, n: int) -> np.ndarray:
        low, high = s.low[d][0], s.high[d][-1]
        if low == high:
            return np.array([-np.inf, np.inf])
        if self.strategy == "uniform":
            return np.linspace(low, high, n + 1)
        if self.strategy == "quantile":
            edges = s.column_quantiles(d, np.linspace(0.0, 100.0, n + 1) / 100.0, self.method)
        else:
            centers = self._centers(0.5 * (s.low[d] + s.high[d]), s.count[d], np.linspace(low, high, n + 1))
            edges = np.concatenate([[low], 0.5 * (centers[1:] + centers[:-1]), [high]])
        edges = edges[np.ediff1d(edges, to_begin=np.inf) > NARROW]
        return edges if len(edges) > 1 else np.array([-np.inf, np.inf])

    def _centers(self, x: np.ndarray, weight: np.ndarray, even: np.ndarray) -> np.ndarray:
        """Centers of k-means, sorted, from those of bins with these edges."""
        if len(x) < len(even):  # each value is one
            return x
        means = KMeans(len(even) - 1, init=(0.5 * (even[1:] + even[:-1]))[:, None], n_init=1)
        with threadpool_limits(1):  # whose number would change the last digits
            means.fit(x[:, None], sample_weight=weight)
        return np.sort(means.cluster_centers_[:, 0])


class KBinsDiscretizer(ColumnTransform, compat.KBinsDiscretizer):
    """Cut each feature into bins.

    Parameters
    ----------
    n_bins : int or array-like of shape (n_features,), default=5
        Number of bins, or one for each feature.
    encode : {'onehot', 'onehot-dense', 'ordinal'}, default='onehot'
        'onehot': a column for each bin, sparse. 'onehot-dense': the same, dense. 'ordinal': the index of the
        bin.
    strategy : {'uniform', 'quantile', 'kmeans'}, default='quantile'
        'uniform': bins of the same width. 'quantile': bins with the same number of rows. 'kmeans': bins whose
        values have the same nearest center of a k-means clustering.
    quantile_method : {'inverted_cdf', 'averaged_inverted_cdf', 'closest_observation', \
            'interpolated_inverted_cdf', 'hazen', 'weibull', 'linear', 'median_unbiased', \
            'normal_unbiased'}, default='averaged_inverted_cdf'
        Method of `numpy.quantile` by which quantiles are computed.
    dtype : {np.float32, np.float64}, default=None
        The type of the output. If None, that of the input.
    subsample : int or None, default=200_000
        Ignored: all rows are used.
    random_state : int, RandomState instance or None, default=None
        Ignored: the fit is not random.

    Attributes
    ----------
    bin_edges_ : ndarray of shape (n_features,), of arrays
        The edges of the bins of each feature.
    n_bins_ : ndarray of shape (n_features,)
        The number of bins of each feature.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Bins
        The edges.
    statistics_ : QuantileSketch
        The sketch of each feature.

    See Also
    --------
    QuantileTransformer : Maps a feature to a uniform distribution.
    suffice.preprocessing.BasisFunctions : Smooth functions of a feature.

    Notes
    -----
    One pass over the data sums a sketch of each feature, as for :class:`RobustScaler`: it is exact for up to
    16384 distinct values. The edges :math:`e_k` of 'quantile' are

    .. math::

        e_k = F^{-1}(k / K), \\quad k = 0, …, K.

    References
    ----------
    * Dougherty, Kohavi and Sahami (1995), "Supervised and unsupervised discretization of continuous
      features", ICML.

    Examples
    --------
    >>> from suffice.preprocessing import KBinsDiscretizer
    >>> bins = KBinsDiscretizer(2, encode="ordinal").fit([[0.0], [1.0], [2.0], [9.0]])
    >>> bins.bin_edges_[0]
    array([0. , 1.5, 9. ])
    >>> bins.transform([[1.2], [3.0]]).ravel()
    array([0., 1.])
    """

    exempt = (OF_PLACES,)

    model_: Annotated[Bins, "D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = compat.KBinsDiscretizer._parameter_constraints
    _derived = ("_encoder", "bin_edges_", "n_bins_")
    _guarantee = Guarantee.always("bit")

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Partitions:
        if (
            self.strategy == "quantile"
            and sample_weight is not None
            and self.quantile_method not in ("inverted_cdf", "averaged_inverted_cdf")
        ):
            raise ValueError(
                "When fitting with strategy='quantile' and sample weights, quantile_method should either be "
                "set to 'averaged_inverted_cdf' or 'inverted_cdf', got quantile_method="
                f"{self.quantile_method!r} instead."
            )
        return super()._opened(X, y, sample_weight, reset)

    def _start(self, data: Partitions, classes: MaybeArray = None) -> Bins:
        n_bins = self._validate_n_bins(self.n_features_in_)
        return Bins(n_bins, self.strategy, self.quantile_method)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        for d, (n, edges) in enumerate(zip(progress.model.n_bins, progress.model.edges, strict=True)):
            if np.isinf(edges[0]):
                warn(f"Feature {d} is constant and will be replaced with 0.")
            elif len(edges) - 1 != n:
                warn(
                    f"Bins whose width are too small (i.e., <= {NARROW:.0e}) in feature {d} are removed. "
                    "Consider decreasing the number of bins.",
                )
        return {}

    def _derive(self) -> None:
        edges = self.model_.edges
        self.bin_edges_ = np.empty(len(edges), dtype=object)
        self.bin_edges_[:] = edges
        self.n_bins_ = np.array([len(e) - 1 for e in edges])
        self.__dict__.pop("_encoder", None)  # of a fit with another encoding
        if self.encode != "ordinal":
            categories = [np.arange(n) for n in self.n_bins_]
            sparse = self.encode == "onehot"
            self._encoder = preprocessing.OneHotEncoder(categories=categories, sparse_output=sparse)
            self._encoder.fit(np.zeros((1, len(edges))))

    @row_wise
    def transform(self, X: Any) -> Any:
        """The bins of the rows.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return super().transform(X)
