"""The number of factors: parallel analysis, and a sequence of likelihood-ratio tests.

Horn, "A rationale and test for the number of factors in factor analysis", 1965; Lawley and Maxwell, "Factor
Analysis as a Statistical Method", 1971.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.stats import chi2

from ..core.arguments import MaybeArray, Seed
from ..core.blocks import Rows
from ..core.values import Value
from ..estimator.base import reader
from ..families import FactorGaussian
from ..inputs import open_rows
from ..statistics import Moments, moments
from .factor_analysis import PRECISION, degrees_of_freedom


def _of_all(rows: Rows) -> Moments:
    return moments(rows.X, rows.weight)


@dataclass(frozen=True, eq=False)
class ParallelAnalysis(Value):
    """Result of `parallel_analysis`."""

    n_factors: int
    eigenvalues: Annotated[np.ndarray, "(D,)"]
    reference: Annotated[np.ndarray, "(B, D)"]  # eigenvalues of rows without factors, by draw
    threshold: Annotated[np.ndarray, "(D,)"]  # quantile of the reference, by rank
    p_value: Annotated[np.ndarray, "(D,)"]


def parallel_analysis(
    X: Any,
    *,
    n_draws: int = 100,
    quantile: float = 0.95,
    correlation: bool = True,
    reference: str = "permutation",
    sample_weight: MaybeArray = None,
    random_state: Seed = None,
) -> ParallelAnalysis:
    """Choose the number of factors by comparison with rows that have none (Horn's parallel analysis).

    Parameters
    ----------
    X : array, table, Parquet scan or distributed data set
        The rows.
    n_draws : int, default=100
        Number of reference data sets.
    quantile : float, default=0.95
        Quantile of the reference eigenvalues that an eigenvalue must exceed, by rank.
    correlation : bool, default=True
        Whether eigenvalues are those of the correlation matrix, or of the covariance.
    reference : {'permutation', 'normal'}, default='permutation'
        'permutation' permutes each column: the rows must fit in memory. 'normal' draws covariances of as many
        independent normal rows: the data is read once.
    sample_weight : array, optional
        Per-sample weights of 'normal'. A weight of 2 is equivalent to repeating the sample.
    random_state : int, Generator or None, default=None
        Seed for the reference.

    Returns
    -------
    ParallelAnalysis
        With `n_factors`, `eigenvalues`, `reference` of shape (n_draws, n_features), `threshold` and
        `p_value` by rank.

    See Also
    --------
    factor_number_test : Likelihood-ratio tests.
    suffice.plot.ScreeDisplay : Draws the eigenvalues.

    References
    ----------
    * Horn (1965), "A rationale and test for the number of factors in factor analysis", Psychometrika 30.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.decomposition import parallel_analysis
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 8)) + rng.normal(size=(300, 8))
    >>> parallel_analysis(X, random_state=0).n_factors
    2
    """
    if reference not in ("permutation", "normal"):
        raise ValueError(f"reference must be 'permutation' or 'normal'; got {reference!r}.")
    if not n_draws >= 1 or not 0.0 < quantile < 1.0:
        raise ValueError(f"Expected n_draws >= 1 and 0 < quantile < 1; got {n_draws} and {quantile}.")
    if reference == "permutation" and sample_weight is not None:
        raise ValueError("Permutations have no weights: use reference='normal', or repeat the rows.")
    data = open_rows(reader("parallel_analysis"), X, None, sample_weight)
    s, rng = data.fold(_of_all), np.random.default_rng(random_state)
    if not s.weight > 1.0:
        raise ValueError(f"parallel_analysis needs at least 2 rows, but n_samples={s.weight:g}.")
    unit = np.sqrt(np.diag(s.scatter) / (s.weight - 1.0))
    if not (unit > 0).all():
        raise ValueError(f"Feature {np.flatnonzero(unit <= 0)[0]} is constant: leave it out.")
    scale = unit if correlation else np.ones_like(unit)
    observed = _falling(s.scatter / (s.weight - 1.0) / np.outer(scale, scale))
    if reference == "permutation":
        rows = data.gather("use reference='normal', which reads the data once.").X
        Z = (rows - s.mean) / scale
        draws = [_permuted(Z, rng) for _ in range(n_draws)]
    else:
        draws = [_wishart(round(float(s.weight)) - 1, unit / scale, rng) for _ in range(n_draws)]
    eigenvalues = np.stack(draws)
    threshold = np.quantile(eigenvalues, quantile, axis=0)
    above = observed > threshold
    return ParallelAnalysis(
        n_factors=int(above.argmin()) if not above.all() else len(above),
        eigenvalues=observed,
        reference=eigenvalues,
        threshold=threshold,
        p_value=(1.0 + (eigenvalues >= observed).sum(axis=0)) / (1.0 + n_draws),
    )


def _falling(S: np.ndarray) -> np.ndarray:
    return np.linalg.eigvalsh(S)[::-1]


def _permuted(Z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    Z = rng.permuted(Z, axis=0)
    return _falling(Z.T.dot(Z) / (len(Z) - 1.0))


def _wishart(free: int, unit: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Eigenvalues of the covariance of normal rows with these standard deviations, by Bartlett's roots."""
    D = len(unit)
    if free < D:
        Z = rng.standard_normal((free, D)) * unit
        return _falling(Z.T.dot(Z) / free)
    root = np.tril(rng.standard_normal((D, D)), -1)
    root[np.diag_indices(D)] = np.sqrt(rng.chisquare(free - np.arange(D)))
    root *= unit[:, None]
    return _falling(root @ root.T / free)


@dataclass(frozen=True, eq=False)
class FactorNumberTest(Value):
    """Result of `factor_number_test`: one entry for 0, 1, 2, ... factors."""

    n_factors: int | None  # the first that is not rejected; None if all are
    statistic: Annotated[np.ndarray, "(M,)"]
    degrees_of_freedom: Annotated[np.ndarray, "int (M,)"]
    p_value: Annotated[np.ndarray, "(M,)"]


def factor_number_test(
    X: Any,
    *,
    level: float = 0.05,
    max_factors: int | None = None,
    bartlett: bool = False,
    isotropic: bool = False,
    sample_weight: MaybeArray = None,
) -> FactorNumberTest:
    """Test 0, 1, 2, ... factors against a free covariance, by likelihood ratios. The data is read once.

    Parameters
    ----------
    X : array, table, Parquet scan or distributed data set
        The rows.
    level : float, default=0.05
        Level of each test. The first number of factors that is not rejected is chosen.
    max_factors : int, default=None
        Largest number of factors. None, and any larger number, is the largest with positive degrees of
        freedom.
    bartlett : bool, default=False
        Whether to correct the statistic for few rows (Bartlett).
    isotropic : bool, default=False
        Whether all features have the same noise variance (probabilistic PCA).
    sample_weight : array, optional
        Per-sample weights. A weight of 2 is equivalent to repeating the sample; 0 drops it.

    Returns
    -------
    FactorNumberTest
        With `n_factors`, and `statistic`, `degrees_of_freedom` and `p_value` by number of factors.

    See Also
    --------
    parallel_analysis : Compare eigenvalues with those of rows without factors.

    Notes
    -----
    The statistic is :math:`N (\\log|Σ| - \\log|S| + tr(Σ^{-1} S) - D)`, with the fitted Σ and the covariance
    S of the rows. Under the hypothesis it is asymptotically chi-squared. The tests are sequential, so their
    errors add up.

    References
    ----------
    * Lawley and Maxwell (1971), "Factor Analysis as a Statistical Method".

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.decomposition import factor_number_test
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 8)) + rng.normal(size=(300, 8))
    >>> factor_number_test(X).n_factors
    2
    """
    if not 0.0 < level < 1.0 or (max_factors is not None and max_factors < 0):
        raise ValueError(f"Expected 0 < level < 1 and max_factors >= 0; got {level} and {max_factors}.")
    s = open_rows(reader("factor_number_test"), X, None, sample_weight).fold(_of_all)
    D, N = len(s.mean), float(s.weight)
    if D < 2:
        raise ValueError(f"factor_number_test needs at least 2 features; got {D}.")
    S = s.variance
    sign, log_det = np.linalg.slogdet(S)
    size = np.sqrt(np.diag(S))
    if not (size > 0).all() or sign <= 0 or np.linalg.eigvalsh(S / np.outer(size, size))[0] < 1e-12:
        raise ValueError(
            f"The covariance of {D} features and {N:g} rows is singular, so that it has no likelihood: leave "
            "out constant and collinear features, or use parallel_analysis."
        )
    tests: list[tuple[float, int, float]] = []
    while (max_factors is None or len(tests) <= max_factors) and (
        free := degrees_of_freedom(D, len(tests), isotropic)
    ) > 0:
        K = len(tests)
        rows = N - 1.0 - (2.0 * D + 5.0) / 6.0 - 2.0 * K / 3.0 if bartlett else N
        ratio = max(rows * (-2.0 * _best(s, K, isotropic) - D * np.log(2.0 * np.pi) - log_det - D), 0.0)
        tests.append((ratio, free, float(chi2.sf(ratio, free))))
    statistic, freedom, p_value = (np.array(part) for part in zip(*tests, strict=True))
    accepted = np.flatnonzero(p_value >= level)
    return FactorNumberTest(int(accepted[0]) if len(accepted) else None, statistic, freedom, p_value)


def _best(s: Moments, K: int, isotropic: bool) -> float:
    """The largest mean log-likelihood with K factors."""
    one = Moments(np.array([s.weight]), s.mean[None], s.scatter[None])
    family, value, gain = FactorGaussian.start(1, len(s.mean), K, isotropic=isotropic), -np.inf, np.inf
    while gain > PRECISION:
        family = family.estimate(one)
        last, value = value, float(family.mean_log_likelihood(one)[0])
        gain = value - last
    return value
