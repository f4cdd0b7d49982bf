"""Forward selection of features of a maximum entropy model, by the gain in likelihood.

Della Pietra, Della Pietra and Lafferty, "Inducing features of random fields", 1997; Gong and Xu section 9.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from ..core.arguments import MaybeArray
from ..core.blocks import Sequences
from ..core.loop import Watch
from ..core.partitions import Partitions
from ..core.statistics import Parts
from ..inputs import open_rows
from ..statistics import Extremes, classes_of
from .maximum_entropy import FeatureWeights, MaximumEntropy

TIE = 1e-10  # gains that differ by less count as equal: the first feature is selected
FARTHEST = 5.0  # the most that one step of the search for a weight may change the score of a class


@dataclass(frozen=True, eq=False)
class FeatureSelection:
    """Result of `select_features`."""

    chosen: np.ndarray  # (S,): numbers of the features, in the order in which they were chosen
    gains: np.ndarray  # (S,): by how much the mean log-likelihood, less the penalty, was to rise with each
    candidates: np.ndarray  # (S, P): the gain of each feature before each choice; NaN for those chosen before
    weights: np.ndarray  # (S, P): the weight that each would have got
    estimator: MaximumEntropy  # fitted with the chosen features


def select_features(
    estimator: MaximumEntropy,
    X: Any,
    y: MaybeArray = None,
    sample_weight: MaybeArray = None,
    *,
    n_features: int,
    gain: str = "approximate",
    min_gain: float = 0.0,
) -> FeatureSelection:
    """Forward selection of features of a maximum entropy model, by the largest gain in likelihood.

    Parameters
    ----------
    estimator : MaximumEntropy
        Its `features` are the candidates. If None, the candidates are the products of columns and classes.
    X, y, sample_weight
        The data, as in `fit`.
    n_features : int
        Maximum number of features to select.
    gain : {'approximate', 'exact'}
        How the gain of a candidate is computed. 'exact' fits the model with each candidate. 'approximate'
        optimizes the weight of the candidate alone and fixes all others. This gives a slightly smaller gain,
        in a few passes over the data for all candidates.
    min_gain : float
        Minimum gain in mean log-likelihood. Selection stops when no candidate has a larger one.

    Returns
    -------
    FeatureSelection
        With the numbers of the features in `chosen`, their `gains`, the gains of all `candidates` in each
        step, and the fitted `estimator`.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.linear_model import MaximumEntropy, select_features
    >>> X = np.array([[1, 0], [1, 1], [0, 0], [0, 1]] * 5)
    >>> y = X[:, 0]
    >>> features = [lambda x, c: x[1] * c, lambda x, c: x[0] * c, lambda x, c: c]
    >>> select_features(MaximumEntropy(features), X, y, n_features=2).chosen
    array([1, 2])
    """
    if gain not in ("approximate", "exact"):
        raise ValueError(f"gain={gain!r} is unknown: use 'approximate' or 'exact'.")
    if n_features < 1:
        raise ValueError(f"n_features must be at least 1; got {n_features}.")
    inner = clone(estimator)
    data = open_rows(inner, X, y, sample_weight)
    classes = classes_of(data)
    if inner.features is None:
        inner.features = _products(len(classes), inner.n_features_in_)
    data, start = inner._start(data, classes)
    size, search = len(start.theta), (_exact if gain == "exact" else _approximate)
    chosen: list[int] = []
    steps = []
    weights = np.zeros(0)
    while len(chosen) < min(n_features, size):
        gains, alone = search(inner, data, start, chosen, weights)
        best = int(np.flatnonzero(gains >= np.nanmax(gains) - TIE)[0])
        if not gains[best] > min_gain:
            break
        steps.append((gains[best], gains, alone))
        chosen.append(best)
        weights = _fitted(inner, data, start, chosen, np.append(weights, alone[best]))[0]
    if not steps:
        raise ValueError(f"No feature has a gain above min_gain={min_gain}: lower it, or add candidates.")
    fitted = clone(inner).set_params(features=_part(inner._listed(), chosen)).fit(X, y, sample_weight)
    gains_, candidates, alone_ = (np.array(part) for part in zip(*steps, strict=True))
    return FeatureSelection(np.array(chosen), gains_, candidates, alone_, fitted)


def _products(K: int, D: int) -> list[Any]:
    """The matrix of each class, which puts the columns of a row in the places of that class."""
    return [sp.csr_array(sp.eye_array(D, K * D, k=k * D)) for k in range(K)]


def _part(features: Any, chosen: list[int]) -> list[Any]:
    if callable(features[0]):
        return [features[p] for p in chosen]
    return [(sp.csc_array(A) if sp.issparse(A) else np.asarray(A))[:, chosen] for A in features]


def _columns(chosen: np.ndarray, block: Sequences) -> Sequences:
    """The same examples with a subset of the features."""
    return block.replace(X=sp.csr_array(sp.csc_array(block.X)[:, chosen]))


def _fitted(
    inner: MaximumEntropy, data: Partitions, start: FeatureWeights, chosen: list[int], weights: np.ndarray
) -> tuple[np.ndarray, float]:
    """The weights of these features, and the penalized mean loss."""
    some = data.map(_columns, np.array(chosen, np.int64))
    problem, progress = inner._minimise(some, start.replace(theta=weights), Watch())
    return problem.solution(progress.model).theta, progress.trace[-1]


def _at(start: FeatureWeights, chosen: list[int], weights: np.ndarray) -> FeatureWeights:
    theta = np.zeros(len(start.theta))
    theta[chosen] = weights
    return start.replace(theta=theta)


def _exact(
    inner: MaximumEntropy, data: Partitions, start: FeatureWeights, chosen: list[int], weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The gain of each feature and its weight, by a separate fit for each."""
    s = data.fold(FeatureWeights.summarize, _at(start, chosen, weights))
    now = (s.loss + 0.5 / inner.C * float(weights @ weights)) / s.weight
    gains, alone = np.full(len(start.theta), np.nan), np.full(len(start.theta), np.nan)
    for p in sorted(set(range(len(gains))) - set(chosen)):
        theta, value = _fitted(inner, data, start, [*chosen, p], np.append(weights, 0.0))
        gains[p], alone[p] = now - value, theta[-1]
    return gains, alone


def _approximate(
    inner: MaximumEntropy, data: Partitions, start: FeatureWeights, chosen: list[int], weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The gain of each feature and its weight, with the weights of the selected features fixed."""
    at, strength = _at(start, chosen, weights), 1.0 / inner.C
    alpha = np.zeros(len(start.theta))

    def look(alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """G(alpha) of each feature, with its first and second derivatives."""
        weight, value, slope, curvature = data.fold(_one_more, at, alpha).parts
        penalised = value - 0.5 * strength * alpha**2
        return penalised / weight, (slope - strength * alpha) / weight, (curvature + strength) / weight

    gains, slope, curvature = look(alpha)
    farthest = FARTHEST / np.maximum(data.fold(_largest, at).high, 1e-300)
    for _ in range(inner.max_iter):
        step = np.clip(slope / np.maximum(curvature, 1e-300), -farthest, farthest)
        step[np.abs(slope) <= inner.tol] = 0.0
        for _ in range(30):
            trial = look(alpha + step)
            worse = trial[0] < gains - 1e-14
            if not worse.any():
                break
            step[worse] /= 2.0
        if not step.any():
            break
        alpha, (gains, slope, curvature) = alpha + step, trial
    gains, alpha = gains.copy(), alpha.copy()
    gains[chosen] = alpha[chosen] = np.nan
    return gains, alpha


def _one_more(model: FeatureWeights, alpha: np.ndarray, block: Sequences) -> Parts:
    """Sums over the rows if feature p is added to the model with weight alpha_p: the increase of the
    log-likelihood, the observed minus the expected count, and the variance, for each p. (9.37)

    Only classes in which the feature is not zero change: z = 1 + sum_c p(c given x) (exp(alpha f(x, c)) - 1).
    """
    P, _, _ = model.probabilities(block)
    X, size = block.X, len(alpha)
    entries = np.diff(X.indptr)
    p, score = np.repeat(P.ravel(), entries), alpha[X.indices] * X.data
    raised = p * np.exp(score)
    # Terms of the classes of an example are summed at the pair of the example and the feature.
    example = np.repeat(np.arange(len(P)), entries.reshape(P.shape).sum(axis=1))
    pairs, place = np.unique(example * size + X.indices, return_inverse=True)

    def of_pairs(values: np.ndarray) -> np.ndarray:
        return np.bincount(place, values, minlength=len(pairs))

    def of_features(values: np.ndarray) -> np.ndarray:
        return np.bincount(pairs % size, block.weight[pairs // size] * values, minlength=size)

    z = of_pairs(p * np.expm1(score))
    mean = of_pairs(raised * X.data) / (1.0 + z)
    square = of_pairs(raised * X.data**2) / (1.0 + z)
    total, observed = model.observed(block).parts
    return Parts(
        (
            total,
            alpha * observed - of_features(np.log1p(z)),
            observed - of_features(mean),
            of_features(square - mean**2),
        )
    )


def _largest(model: FeatureWeights, block: Sequences) -> Extremes:
    """The largest absolute value of each feature."""
    high = np.zeros(len(model.theta))
    np.maximum.at(high, block.X.indices, np.abs(block.X.data))
    return Extremes(np.zeros(0), high)
