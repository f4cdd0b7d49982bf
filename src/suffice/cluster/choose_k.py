"""The number of clusters: elbow, gap statistic, mean diameter, BIC. All numbers share passes over the data.

Tibshirani, Walther and Hastie, "Estimating the number of clusters in a data set via the gap statistic", 2001;
Li 14.3.4; CS181 6.2.3; STATS 601 6.2.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from operator import index
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Bunch, check_random_state

from ..core.arguments import MaybeArray
from ..core.partitions import Partitions
from ..estimator.base import reader
from ..fitting.seeding import NOBODY, draw
from ..fitting.shared import Sharing, undivided
from ..inputs import open_rows
from ..statistics import describe
from .k_centroids import Range
from .k_means import Centers, KMeans, all_centers
from .measures import diameter
from .parts import reference
from .x_means import spherical_bic

CRITERIA = ("elbow", "gap", "diameter", "bic")
SAMPLE = 1 << 12  # rows of which diameters are computed


def choose_k(
    estimator: BaseEstimator,
    X: Any,
    ks: Iterable[int],
    *,
    criterion: str = "elbow",
    sample_weight: MaybeArray = None,
    n_references: int = 10,
    threshold: float = 0.1,
) -> Bunch:
    """Choose the number of clusters of k-means.

    Parameters
    ----------
    estimator : KMeans
        Its `init`, which must be the name of a method, `n_init`, `max_iter`, `tol` and `random_state` are
        used.
    X : array, table, Parquet scan or distributed data set
        The rows.
    ks : iterable of int
        Numbers of clusters to compare.
    criterion : {'elbow', 'gap', 'diameter', 'bic'}, default='elbow'
        'elbow': the number whose inertia is farthest below the line from the first to the last. 'gap': the
        least number whose gap statistic is within a standard error of the next. 'diameter': the least number
        after which the mean diameter falls by less than `threshold`. 'bic': the least BIC of spherical
        Gaussians.
    sample_weight : array, optional
        Per-sample weights. A weight of 2 is equivalent to repeating the sample; 0 drops it.
    n_references : int, default=10
        Number of reference data sets of 'gap'.
    threshold : float, default=0.1
        Of 'diameter': the least fall to the next number, relative to the first mean diameter.

    Returns
    -------
    result : Bunch
        With `k_`, the chosen number, `ks_`, and by number `inertia_`; with the criteria `gap_` and
        `gap_std_`, `diameter_`, or `bic_`; and `estimator_`, k-means fitted with the chosen number.

    See Also
    --------
    XMeans : Splits clusters as long as the BIC improves.
    suffice.plot.ModelSelectionDisplay : Inertia or silhouette by number.

    Notes
    -----
    The gap of k clusters with inertia :math:`W_k` is the mean of :math:`\\log W^*_{kb} - \\log W_k` over
    reference data sets b, whose rows are uniform in the box of the data. Their numbers are hashes of the
    rows that they replace, drawn while these are read, so that nothing is stored. All data sets share passes.

    Diameters compare pairs of rows, of a sample of 4,096 if there are more.

    References
    ----------
    * Tibshirani, Walther and Hastie (2001), "Estimating the number of clusters in a data set via the gap
      statistic", Journal of the Royal Statistical Society B 63.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.cluster import KMeans, choose_k
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(m, 1.0, (80, 2)) for m in (0.0, 8.0, 16.0)])
    >>> [choose_k(KMeans(random_state=0), X, range(1, 7), criterion=c).k_ for c in ("elbow", "gap", "bic")]
    [3, 3, 3]
    """
    numbers = sorted({index(k) for k in ks})
    if criterion not in CRITERIA:
        raise ValueError(f"criterion={criterion!r} is not one of {', '.join(map(repr, CRITERIA))}.")
    if not isinstance(estimator, KMeans):
        raise TypeError(f"estimator must be a suffice.cluster.KMeans; got {type(estimator)!r}.")
    if not numbers or numbers[0] < 1:
        raise ValueError(f"ks must be numbers of clusters from 1; got {numbers}.")
    if not isinstance(estimator.init, str):
        raise ValueError("choose_k needs the name of an initialization: use init='k-means++'.")
    if n_references < 1:
        raise ValueError(f"n_references={n_references} must be at least 1.")
    estimator = clone(estimator)
    reads = reader("choose_k") if criterion == "gap" else estimator  # reference rows are dense
    data = open_rows(reads, X, None, sample_weight)
    tol = estimator._tolerance(data, numbers[-1])
    random = check_random_state(estimator.random_state)
    n_init = estimator.n_init
    if n_init == "auto":
        n_init = estimator.default_n_init if estimator.init == "random" else 1
    seeds = random.randint(np.iinfo(np.int32).max, size=n_init)
    results = all_centers(data, numbers, estimator, tol, seeds)
    inertia = np.array([s.inertia for _, s in results])
    out = Bunch(ks_=np.array(numbers), inertia_=inertia)
    if criterion == "gap":
        box = data.fold(Range.of)
        chosen = _by_gap(data, box, numbers, estimator, seeds, n_references, out)
    elif criterion == "diameter":
        out.diameter_ = _mean_diameters(data, results, int(seeds[0]))
        fall = (out.diameter_[:-1] - out.diameter_[1:]) / (out.diameter_[0] or 1.0)
        flat = np.flatnonzero(fall < threshold)
        chosen = int(flat[0]) if len(flat) else len(numbers) - 1
    elif criterion == "bic":
        D = results[0][0].center.shape[1]
        out.bic_ = np.array([spherical_bic(s.inertia, s.weight, D) for _, s in results])
        chosen = int(out.bic_.argmin())
    else:
        chosen = knee(out.ks_, inertia)
    out.k_ = numbers[chosen]
    out.estimator_ = clone(estimator).set_params(n_clusters=out.k_, init=results[chosen][0].center, n_init=1)
    out.estimator_.fit(X, sample_weight=sample_weight)
    return out


def knee(ks: np.ndarray, values: np.ndarray) -> int:
    """The place farthest below the line from the first value to the last; the first if all are on it."""
    if len(ks) < 3:
        return 0
    x = (ks - ks[0]) / (ks[-1] - ks[0])
    scale = float(values[0] - values[-1])
    y = (values - values[-1]) / scale if scale > 0 else np.zeros(len(ks))
    return int((1.0 - x - y).argmax())


def _by_gap(
    data: Partitions,
    box: Range,
    ks: list[int],
    estimator: KMeans,
    seeds: np.ndarray,
    n_references: int,
    out: Bunch,
) -> int:
    tiny = np.finfo(np.float64).tiny
    sharing = Sharing(data, 1, (undivided, ()))

    def log_inertia(b: int) -> np.ndarray:
        drawn = reference(sharing.view(), box.low, box.high, (int(seeds[0]), b))
        scale = float(drawn.fold(describe).features.variance.mean())
        runs = all_centers(drawn, ks, estimator, estimator.tol * scale, seeds)
        return np.log(np.maximum([s.inertia for _, s in runs], tiny))

    logs = sharing.together([partial(log_inertia, b) for b in range(n_references)], forgive=False)
    out.gap_ = np.mean(logs, axis=0) - np.log(np.maximum(out.inertia_, tiny))
    out.gap_std_ = np.std(logs, axis=0) * np.sqrt(1.0 + 1.0 / n_references)
    enough = np.flatnonzero(out.gap_[:-1] >= out.gap_[1:] - out.gap_std_[1:])
    return int(enough[0]) if len(enough) else len(ks) - 1


def _mean_diameters(data: Partitions, found: list[tuple[Centers, Any]], seed: int) -> np.ndarray:
    sample = data.fold(draw, SAMPLE, seed, 0, NOBODY)
    out = []
    for model, _ in found:
        labels = model.nearest(sample.row)[0]
        parts = [diameter(sample.row[labels == k], "euclidean") for k in np.unique(labels)]
        out.append(float(np.mean(parts)))
    return np.array(out)
