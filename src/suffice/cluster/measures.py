"""Quantities of clusters: their features, sums of squares, dissimilarities, cuts of graphs.

Li 14.1; Gong and Xu 3.2; STATS 601 6.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_array, check_consistent_length

from ..core.arguments import MaybeArray
from ..inputs.validation import unmasked
from ..statistics import moments
from .base import MANY, afford_pairs, distances, symmetric


def is_cluster(
    X: Any,
    threshold: float,
    *,
    kind: str = "max",
    largest: float | None = None,
    metric: str | Callable[..., float] = "euclidean",
) -> bool:
    """Whether rows form a cluster by one of four definitions.

    Parameters
    ----------
    X : array of shape (n_samples, n_features) or (n_samples, n_samples)
        The rows; or their distances, with ``metric='precomputed'``.
    threshold : float
        The bound T.
    kind : {'max', 'neighbor', 'mean', 'pair-mean'}, default='max'
        'max': each pair of rows is within T. 'neighbor': each row has another within T. 'mean': the mean
        distance of each row to the others is at most T. 'pair-mean': the mean distance of all pairs is at
        most T, and each is at most `largest`.
    largest : float, default=None
        The bound of each distance with 'pair-mean'; None is none.
    metric : str or callable, default='euclidean'
        A name that SciPy's `cdist` knows, a function of two rows, or 'precomputed'.

    Returns
    -------
    bool
        Whether the condition holds. It does for one row.

    See Also
    --------
    describe_clusters : Centers, diameters and covariances of clusters.

    Notes
    -----
    'max' implies each of the others with the same T, and ``largest=T``.

    References
    ----------
    * Li, "Machine Learning Methods", 2023, definitions 14.5 to 14.8.

    Examples
    --------
    >>> from suffice.cluster import is_cluster
    >>> X = [[0.0], [1.0], [3.0]]
    >>> is_cluster(X, 2.0), is_cluster(X, 2.0, kind="neighbor")
    (False, True)
    """
    kinds = ("max", "neighbor", "mean", "pair-mean")
    if kind not in kinds:
        raise ValueError(f"kind={kind!r} is not one of {', '.join(map(repr, kinds))}.")
    D = _all_distances(X, metric)
    N = len(D)
    if N == 1:
        return True
    off = D[~np.eye(N, dtype=bool)].reshape(N, N - 1)
    if kind == "max":
        return bool(off.max() <= threshold)
    if kind == "neighbor":
        return bool(off.min(axis=1).max() <= threshold)
    if kind == "mean":
        return bool(off.mean(axis=1).max() <= threshold)
    return bool(off.mean() <= threshold and (largest is None or off.max() <= largest))


def describe_clusters(
    X: Any, labels: Any, *, sample_weight: MaybeArray = None, metric: str | Callable[..., float] = "euclidean"
) -> Bunch:
    """Centers, diameters, scatter matrices and covariances of clusters.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The rows.
    labels : array of shape (n_samples,)
        Cluster of each row.
    sample_weight : array of shape (n_samples,), optional
        Per-sample weights. A weight of 2 is equivalent to repeating the sample; 0 drops it.
    metric : str or callable, default='euclidean'
        Distance of the diameters: a name that SciPy's `cdist` knows, or a function of two rows.

    Returns
    -------
    clusters : Bunch
        With `labels`, the different labels in order, and for each of them `weights`, the sum of the weights;
        `centers`, the means; `diameters`, the largest distance of two rows; `scatters`, the sums of squared
        differences from the center; `covariances`, these over the weight minus one, NaN for one row.

    See Also
    --------
    sums_of_squares : Within, between and total sums of squares.
    is_cluster : Whether rows form a cluster.

    Notes
    -----
    Diameters compare all pairs of rows of a cluster; memory is linear in the rows.

    References
    ----------
    * Li, "Machine Learning Methods", 2023, equations 14.10 to 14.13.

    Examples
    --------
    >>> from suffice.cluster import describe_clusters
    >>> found = describe_clusters([[0.0], [1.0], [5.0], [9.0]], [0, 0, 1, 1])
    >>> found.centers.ravel(), found.diameters
    (array([0.5, 7. ]), array([1., 4.]))
    """
    X, labels, weight = _labelled(X, labels, sample_weight)
    names = np.unique(labels)
    parts = [moments(X[labels == name], weight[labels == name], "full") for name in names]
    total = np.array([part.weight for part in parts])
    scatters = np.array([part.scatter for part in parts])
    spare = np.where(total > 1.0, total - 1.0, np.nan)
    return Bunch(
        labels=names,
        weights=total,
        centers=np.array([part.mean for part in parts]),
        diameters=np.array([diameter(X[labels == name], metric) for name in names]),
        scatters=scatters,
        covariances=scatters / spare[:, None, None],
    )


def diameter(X: np.ndarray, metric: str | Callable[..., float]) -> float:
    """The largest distance of two rows."""
    parts = (distances(X[n : n + MANY], X, metric).max(initial=0.0) for n in range(0, len(X), MANY))
    return float(max(parts, default=0.0))


def sums_of_squares(
    X: Any, labels: Any, *, sample_weight: MaybeArray = None, metric: str | Callable[..., float] | None = None
) -> Bunch:
    """Within, between and total sums of squares of clusters.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The rows.
    labels : array of shape (n_samples,)
        Cluster of each row.
    sample_weight : array of shape (n_samples,), optional
        Per-sample weights. A weight of 2 is equivalent to repeating the sample; 0 drops it.
    metric : str or callable, default=None
        None sums squared distances from the means. A dissimilarity, by a name that SciPy's `cdist` knows or
        as a function of two rows, is summed over pairs of rows.

    Returns
    -------
    sums : Bunch
        With `within`, `between` and `total`, whose sum the last is.

    See Also
    --------
    KMeans : Minimizes the sum within clusters, its inertia.

    Notes
    -----
    With weights :math:`W_k` and dissimilarities d of pairs,

    .. math::

        W = \\frac{1}{2} ∑_k \\frac{1}{W_k} ∑_{i, j ∈ k} w_i w_j d(x_i, x_j),

    and the total is the same of one cluster. With squared Euclidean distances, these are sums about means.

    References
    ----------
    * Hastie, Tibshirani and Friedman, "The Elements of Statistical Learning", 2009, 14.3.5.

    Examples
    --------
    >>> from suffice.cluster import sums_of_squares
    >>> found = sums_of_squares([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    >>> found.within, found.between, found.total
    (4.0, 100.0, 104.0)
    """
    X, labels, weight = _labelled(X, labels, sample_weight)

    def spread(rows: np.ndarray, w: np.ndarray) -> float:
        if metric is None:
            return float(moments(rows, w, "diagonal").scatter.sum())
        parts = range(0, len(rows), MANY)
        pairs = sum(w[n : n + MANY] @ distances(rows[n : n + MANY], rows, metric) @ w for n in parts)
        return 0.5 * float(pairs) / float(w.sum())

    total = spread(X, weight)
    within = sum(spread(X[labels == name], weight[labels == name]) for name in np.unique(labels))
    return Bunch(within=within, between=total - within, total=total)


COLUMNS: dict[str, Callable[[Any, Any], np.ndarray]] = {
    "squared": lambda x, z: (x - z) ** 2,
    "absolute": lambda x, z: np.abs(x - z),
    "mismatch": lambda x, z: (x != z).astype(np.float64),
}


def dissimilarity(X: Any, Z: Any = None, *, kinds: Any = "squared", weights: Any = None) -> np.ndarray:
    """Dissimilarities of rows of numbers and categories: weighted sums over the columns.

    Parameters
    ----------
    X : array of shape (n_samples, n_columns)
        The rows. Categories may be strings, in an array of objects.
    Z : array of shape (n_others, n_columns), default=None
        Rows to compare with; None is `X`.
    kinds : str, callable or list of these, default='squared'
        Dissimilarity of each column: 'squared' or 'absolute' difference, 'mismatch', which is one for
        different values, or a function of two arrays.
    weights : array of shape (n_columns,), default=None
        Weights of the columns, not negative with sum one; None is equal ones.

    Returns
    -------
    D : ndarray of shape (n_samples, n_others)
        The dissimilarities, e.g. for ``KMedoids(metric='precomputed')``.

    See Also
    --------
    KMedoids : Clusters by any dissimilarity.
    KCentroids : Clusters of numbers and categories, in passes over the data.

    References
    ----------
    * Hastie, Tibshirani and Friedman, "The Elements of Statistical Learning", 2009, 14.3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.cluster import dissimilarity
    >>> X = np.array([[0.0, "a"], [3.0, "b"]], dtype=object)
    >>> dissimilarity(X, kinds=["squared", "mismatch"], weights=[0.5, 0.5])
    array([[0., 5.],
           [5., 0.]])
    """
    X = np.asarray(X)
    Z = X if Z is None else np.asarray(Z)
    if X.ndim != 2 or Z.ndim != 2 or X.shape[1] != Z.shape[1]:
        raise ValueError(f"X has shape {X.shape}, and Z {Z.shape}: expected rows of the same columns.")
    D = X.shape[1]
    columns = [kinds] * D if isinstance(kinds, str) or callable(kinds) else list(kinds)
    share = np.full(D, 1.0 / D) if weights is None else np.asarray(weights, dtype=np.float64)
    if len(columns) != D or share.shape != (D,):
        raise ValueError(f"kinds and weights need an entry for each of the {D} columns.")
    if (share < 0).any() or not np.isclose(share.sum(), 1.0):
        raise ValueError(f"weights must not be negative, and must have sum one; got {share.tolist()}.")
    afford_pairs(int(np.sqrt(len(X) * len(Z))), "compare fewer rows at a time.")
    out = np.zeros((len(X), len(Z)))
    for d, (kind, w) in enumerate(zip(columns, share, strict=True)):
        if isinstance(kind, str) and kind not in COLUMNS:
            raise ValueError(f"kinds[{d}]={kind!r} is not one of {', '.join(map(repr, COLUMNS))}.")
        x, z = X[:, d], Z[:, d]
        if kind != "mismatch":
            x, z = x.astype(np.float64), z.astype(np.float64)
        of_column: Any = COLUMNS[kind] if isinstance(kind, str) else kind
        out += w * np.asarray(of_column(x[:, None], z[None, :]), dtype=np.float64)
    if not np.isfinite(out).all():
        raise ValueError("Dissimilarities must be finite; there is NaN or infinity in X or Z.")
    return out


CRITERIA = ("average-weight", "ratio-cut", "normalized-cut", "min-max-cut")


def graph_cut(A: Any, labels: Any, *, criterion: str = "normalized-cut") -> float:
    """Value of a partition of a graph.

    Parameters
    ----------
    A : array or sparse matrix of shape (n_samples, n_samples)
        Affinities, symmetric and not negative.
    labels : array of shape (n_samples,)
        Cluster of each node.
    criterion : {'average-weight', 'ratio-cut', 'normalized-cut', 'min-max-cut'}, default='normalized-cut'
        'average-weight' is to be maximized, the others minimized.

    Returns
    -------
    float
        The value; infinity for 'min-max-cut' with a cluster without affinities that has links to others.

    See Also
    --------
    SpectralClustering : Partitions with a good value.

    Notes
    -----
    With W(S, T) the sum of affinities from S to T, and V all nodes, the sums over clusters S are of

    .. math::

        \\frac{W(S, S)}{|S|}, \\quad \\frac{W(S, V∖S)}{|S|}, \\quad \\frac{W(S, V∖S)}{W(S, V)}, \\quad
        \\frac{W(S, V∖S)}{W(S, S)}.

    References
    ----------
    * Gong and Xu, "Machine Learning for Multimedia Content Analysis", 2007, 3.2.1.

    Examples
    --------
    >>> from suffice.cluster import graph_cut
    >>> graph_cut([[0, 4, 1], [4, 0, 0], [1, 0, 0]], [0, 0, 1]).__round__(4)
    1.1111
    """
    if criterion not in CRITERIA:
        raise ValueError(f"criterion={criterion!r} is not one of {', '.join(map(repr, CRITERIA))}.")
    A = affinities(A)
    labels = _one_column(labels, "labels")
    check_consistent_length(A, labels)
    names, number = np.unique(labels, return_inverse=True)
    member = np.eye(len(names))[number]
    W = np.asarray(member.T @ (A @ member))
    inside, degree, size = W.diagonal(), W.sum(axis=1), member.sum(axis=0)
    out = np.maximum(degree - inside, 0.0)
    above, below = {
        "average-weight": (inside, size),
        "ratio-cut": (out, size),
        "normalized-cut": (out, degree),
        "min-max-cut": (out, inside),
    }[criterion]
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(above == 0.0, 0.0, above / below).sum())


def normalized_cut_weights(A: Any, *, affinity: str = "precomputed") -> np.ndarray:
    """Weights with which k-means minimizes the normalized cut: one over the degree of each node.

    Parameters
    ----------
    A : array or sparse matrix of shape (n_samples, n_samples) or (n_samples, n_features)
        Affinities, symmetric and not negative; or the rows, with ``affinity='linear'``.
    affinity : {'precomputed', 'linear'}, default='precomputed'
        'linear' takes rows, whose affinities are inner products: only their sum is computed, not the pairs.

    Returns
    -------
    weights : ndarray of shape (n_samples,)
        The `sample_weight` of :class:`KMeans`, :class:`KernelKMeans` or
        :class:`~suffice.decomposition.NMF`.

    See Also
    --------
    SpectralClustering : The normalized cut by eigenvectors.

    References
    ----------
    * Gong and Xu, "Machine Learning for Multimedia Content Analysis", 2007, 3.2.4.

    Examples
    --------
    >>> from suffice.cluster import normalized_cut_weights
    >>> normalized_cut_weights([[0, 4, 1], [4, 0, 0], [1, 0, 0]])
    array([0.2 , 0.25, 1.  ])
    """
    if affinity == "linear":
        X = check_array(A, accept_sparse="csr", dtype=np.float64)
        degree = np.asarray(X @ np.asarray(X.sum(axis=0)).ravel()).ravel()
    elif affinity == "precomputed":
        degree = np.asarray(affinities(A).sum(axis=1)).ravel()
    else:
        raise ValueError(f"affinity={affinity!r} is not one of 'precomputed', 'linear'.")
    if (degree <= 0).any():
        n = int(degree.argmin())
        raise ValueError(
            f"Degrees must be positive; that of row {n} is {degree[n]:g}: leave out rows without affinities, "
            "and use affinity='linear' with rows that are not negative."
        )
    return 1.0 / degree


def affinities(A: Any) -> Any:
    """A checked matrix of affinities, dense or CSR."""
    A = check_array(unmasked(A, "A"), accept_sparse="csr", dtype=np.float64, input_name="A")
    return symmetric(A, "A")


def _all_distances(X: Any, metric: str | Callable[..., float]) -> np.ndarray:
    X = check_array(X, dtype=np.float64)
    if isinstance(metric, str) and metric == "precomputed":
        return symmetric(X)
    afford_pairs(len(X), "use a sample of the rows.")
    return distances(X, X, metric)


def _one_column(values: Any, name: str) -> np.ndarray:
    values = np.asarray(values)
    if values.ndim != 1:
        raise ValueError(f"{name} must have one entry for each row; got shape {values.shape}.")
    return values


def _labelled(X: Any, labels: Any, sample_weight: MaybeArray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, labels = check_array(X, dtype=np.float64), _one_column(labels, "labels")
    weight = np.ones(len(X)) if sample_weight is None else _one_column(sample_weight, "sample_weight")
    check_consistent_length(X, labels, weight)
    if not (weight >= 0).all() or not np.isfinite(weight).all():
        raise ValueError("sample_weight must be finite and not negative.")
    present = weight > 0
    if not present.any():
        raise ValueError("There are no rows, or the weights of all rows are zero.")
    return X[present], labels[present], weight[present]
