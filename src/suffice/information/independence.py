"""How far columns are from Gaussian, and from independent: the measures of independent component analysis.

Hyvarinen and Oja, "Independent component analysis: algorithms and applications", 2000; Vasicek, "A test for
normality based on sample entropy", 1976; Kraskov, Stogbauer and Grassberger, "Estimating mutual information",
2004; Gong and Xu section 2.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import digamma
from scipy.stats import differential_entropy

from ..core.arguments import MaybeArray
from ..core.blocks import Rows
from ..core.statistics import Statistics
from ..decomposition.fast_ica import CONTRASTS, mean_of_gaussian
from ..estimator.base import must_have_rows, reader
from ..inputs import open_rows
from ..statistics import Moments, moments

ROUNDING = 4.0 * np.finfo(np.float64).eps  # of sums: what is at a distance is not within it


@dataclass(frozen=True, eq=False)
class Contrasts(Statistics):
    """Sums of a contrast of standardized columns."""

    weight: float
    total: Annotated[np.ndarray, "(D,)"]

    @classmethod
    def of(cls, mean: np.ndarray, spread: np.ndarray, kind: str, alpha: float, block: Rows) -> Contrasts:
        Z = (block.X - mean) / spread
        return cls(float(block.weight.sum()), block.weight.dot(CONTRASTS[kind](Z, alpha)))


def _of_columns(block: Rows) -> Moments:
    return moments(block.X, block.weight, "diagonal")


def negentropy(
    X: Any, method: str = "logcosh", *, alpha: float = 1.0, sample_weight: MaybeArray = None
) -> Any:
    """Negentropy of columns, or an approximation of it: 0 for a Gaussian, and positive otherwise.

    Parameters
    ----------
    X : array, table, Parquet scan, distributed data set, or distribution of `scipy.stats`
        The rows, of which each column is standardized; or a distribution with its parameters.
    method : {'logcosh', 'exp', 'cube', 'entropy'}, default='logcosh'
        'logcosh', 'exp' and 'cube' are the contrasts of `FastICA`: two passes over the data. 'entropy' is
        the negentropy in nats, the entropy of a Gaussian with the same variance minus the entropy: of a
        distribution, exact; of rows, by the distances of sorted values. These must fit in memory.
    alpha : float, default=1.0
        Constant of 'logcosh', from 1 to 2.
    sample_weight : array, optional
        Per-sample weights of the contrasts. A weight of 2 is equivalent to repeating the sample; 0 drops it.

    Returns
    -------
    negentropy : ndarray of shape (n_features,), or float for a distribution

    See Also
    --------
    mutual_information : Dependence between columns.
    suffice.decomposition.FastICA : Directions of the largest negentropy.

    Notes
    -----
    The approximation is the squared difference of the mean contrast of a standardized column and that of a
    standard normal variable,

    .. math::

        J(y) = (E\\,G(y) - E\\,G(ν))^2, \\qquad G(y) = \\tfrac{1}{α} \\log \\cosh α y.

    It compares columns to a Gaussian, and does not rank them as the negentropy does.

    References
    ----------
    * Hyvärinen and Oja (2000), "Independent component analysis: algorithms and applications", Neural
      Networks 13.
    * Vasicek (1976), "A test for normality based on sample entropy", Journal of the Royal Statistical Society
      B 38.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from suffice.information import negentropy
    >>> round(negentropy(uniform(), "entropy"), 4)
    0.1765
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.normal(size=5000), rng.uniform(size=5000)])
    >>> (negentropy(X) > 1e-4).tolist()
    [False, True]
    """
    if method not in (*CONTRASTS, "entropy"):
        raise ValueError(f"method must be 'entropy' or one of {sorted(CONTRASTS)}; got {method!r}.")
    if not 1.0 <= alpha <= 2.0:
        raise ValueError(f"alpha must be from 1 to 2; got {alpha}.")
    if hasattr(X, "expect") and hasattr(X, "entropy"):
        return _of_distribution(X, method, alpha)
    data = open_rows(reader("negentropy"), X, None, sample_weight)
    s = data.fold(_of_columns)
    must_have_rows(s.weight)
    spread = np.sqrt(s.variance)
    if not (spread > 0).all():
        raise ValueError(f"Feature {np.flatnonzero(spread <= 0)[0]} is constant: leave it out.")
    if method == "entropy":
        if sample_weight is not None:
            raise ValueError("Entropies of samples have no weights: repeat the rows, or use 'logcosh'.")
        rows = data.gather("use method='logcosh', which reads the data twice.").X
        return _gaussian_entropy(1.0) - differential_entropy((rows - s.mean) / spread)
    sums = data.fold(Contrasts.of, s.mean, spread, method, float(alpha))
    return (sums.total / sums.weight - _gaussian_mean(method, alpha)) ** 2


def _of_distribution(law: Any, method: str, alpha: float) -> float:
    mean, spread = float(law.mean()), float(law.std())
    if method == "entropy":
        return float(_gaussian_entropy(spread) - law.entropy())
    half = (
        law.expect(lambda x: CONTRASTS[method]((x - mean) / spread, alpha), lb=low, ub=high, epsabs=1e-13)
        for low, high in ((None, mean), (mean, None))  # densities may have a corner there
    )
    return float((sum(half) - _gaussian_mean(method, alpha)) ** 2)


def _gaussian_mean(method: str, alpha: float) -> float:
    return mean_of_gaussian(lambda y: CONTRASTS[method](y, alpha))


def _gaussian_entropy(spread: float) -> float:
    return 0.5 + 0.5 * float(np.log(2.0 * np.pi)) + float(np.log(spread))


def mutual_information(X: Any, *, n_neighbors: int = 3) -> float:
    """Mutual information of all columns in nats, from samples: 0 if they are independent.

    Parameters
    ----------
    X : array, table, Parquet scan or distributed data set
        The rows, of at least two columns. They must fit in memory. Scales do not matter.
    n_neighbors : int, default=3
        Number of neighbours by which densities are compared. More have less variance and more bias.

    Returns
    -------
    information : float
        The divergence of the joint density from the product of the densities of the columns, the sum of their
        entropies minus the joint entropy. An estimate near 0 may be negative.

    See Also
    --------
    negentropy : How far columns are from Gaussian.
    sklearn.feature_selection.mutual_info_regression : Of each feature and a target.

    Notes
    -----
    The estimate of Kraskov, Stögbauer and Grassberger compares the number of neighbours of a row in each
    column, within the distance of its k-th neighbour in all columns. For :math:`y = W x` the mutual
    information of the components is :math:`∑_i H(y_i) - H(x) - \\log |\\det W|`: of whitened rows and
    rotations W, it is smallest where the entropies of the components are, and their negentropies largest.

    References
    ----------
    * Kraskov, Stögbauer and Grassberger (2004), "Estimating mutual information", Physical Review E 69.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.information import mutual_information
    >>> X = np.random.default_rng(0).normal(size=(4000, 2))
    >>> abs(mutual_information(X)) < 0.02
    True
    >>> X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    >>> round(mutual_information(X), 1)  # of Gaussians, -log(1 - 0.8**2) / 2
    0.5
    """
    data = open_rows(reader("mutual_information"), X, None, None)
    X = np.array(data.gather("take a sample of the rows.").X, dtype=np.float64, order="C")
    N, D = X.shape
    if D < 2:
        raise ValueError(f"mutual_information needs at least two columns; got {D}.")
    if not 1 <= n_neighbors < N:
        raise ValueError(f"n_neighbors must be from 1 to n_samples - 1; got {n_neighbors} for {N} rows.")
    X -= X.mean(axis=0)
    spread = X.std(axis=0)
    if not (spread > 0).all():
        raise ValueError(f"Feature {np.flatnonzero(spread <= 0)[0]} is constant: leave it out.")
    X /= spread
    distance = cKDTree(X).query(X, [n_neighbors + 1], p=np.inf)[0][:, 0]
    total = float(digamma(n_neighbors) + (D - 1) * digamma(N))
    for x in X.T:
        ordered, within = np.sort(x), distance - ROUNDING * (np.abs(x) + distance)
        first, last = np.searchsorted(ordered, x - within, "right"), np.searchsorted(ordered, x + within)
        total -= float(digamma(np.maximum(last - first, 1)).mean())
    return total
