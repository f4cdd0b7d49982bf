"""Categorical naive Bayes. Li ch. 4."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..core.blocks import Rows
from ..core.cost import afford
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..estimator.parameters import AT_LEAST_1, NON_NEGATIVE, Numbers
from ..estimator.tags import tags
from ..families import Categorical, Labelled
from ..families.mixture import GroupStatistics
from ..statistics import CategoryCounts
from .discrete import DiscreteNB


class CategoricalNB(DiscreteNB):
    """Naive Bayes classifier for categorical features, encoded as 0, 1, .... NaN means not observed.

    Categories that were not seen in `fit` are ignored in `predict`. Numbers are truncated to integers. For
    categories that are strings see `MixedNB`.

    Parameters
    ----------
    alpha : float, default=1.0
        Additive smoothing: a pseudo-count for each category in every class. 0 is maximum likelihood (Li,
        algorithm 4.1), 1 is Laplace smoothing.
    force_alpha : bool, default=True
        Whether `alpha` may be below 1e-10. If False, smaller values are raised to 1e-10.
    fit_prior : bool, default=True
        Whether to estimate the prior probabilities of the classes. If False, a uniform prior is used.
    class_prior : array of shape (n_classes,), default=None
        Prior probabilities of the classes. If given, they are not estimated.
    min_categories : int or array of shape (n_features,), default=None
        Minimum number of categories per feature. If None, it is determined from the largest category.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    class_count_ : ndarray of shape (n_classes,)
        Weight of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        Log prior probability of each class.
    category_count_ : list of ndarray of shape (n_classes, n_categories)
        For each feature, the weighted count of each category by class.
    feature_log_prob_ : list of ndarray of shape (n_classes, n_categories)
        For each feature, log p(category given class).
    n_categories_ : ndarray of shape (n_features,)
        Number of categories of each feature.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Labelled
        The fitted model.
    statistics_ : GroupStatistics
        The sums. `partial_fit` adds to them.

    See Also
    --------
    MixedNB : Strings, and columns of several kinds.
    suffice.mixture.LatentClass : The same density, with unknown classes.

    Notes
    -----
    With N_c the weight of class c, N_cjv that of its rows with category v in column j, and V_j categories,

    .. math::

        p(c | x) ∝ π_c ∏_j p(x_j | c), \\qquad p(v | c) = \\frac{N_{cjv} + α}{N_c + α V_j}.

    References
    ----------
    * Domingos and Pazzani (1997), "On the optimality of the simple Bayesian classifier under zero-one loss",
      Machine Learning 29.

    Examples
    --------
    >>> from suffice.naive_bayes import CategoricalNB
    >>> model = CategoricalNB().fit([[0, 2], [0, 1], [1, 0]], ["a", "a", "b"])
    >>> model.predict([[0, 0], [1, 0]])
    array(['a', 'b'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DiscreteNB._parameter_constraints,
        "alpha": [NON_NEGATIVE],
        "min_categories": [None, AT_LEAST_1, Numbers(1)],
    }
    __sklearn_tags__ = tags(sparse=False, allow_nan=True, categorical=True, positive_only=True)

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    def _family(self, data: Partitions, K: int) -> Categorical:
        return Categorical.start(K, self.n_features_in_, alpha=self._check_alpha())

    def _check_alpha(self) -> Any:
        if np.ndim(self.alpha):
            raise ValueError(f"alpha must be a number for CategoricalNB; got an array: {self.alpha!r}.")
        return super()._check_alpha()

    def _block_rows(self, block: Rows) -> float | None:
        return None

    def _estimated(self, start: Labelled, s: GroupStatistics) -> Progress:
        counts = s.component
        least = np.zeros(self.n_features_in_, np.int64)
        if self.min_categories is not None:
            minimum = np.asarray(self.min_categories)
            if minimum.dtype.kind not in "iu":
                raise ValueError(f"'min_categories' should have integral type. Got {minimum.dtype} instead.")
            if minimum.ndim and minimum.shape != least.shape:
                raise ValueError(
                    f"'min_categories' should have shape {least.shape} when an array-like is provided. Got "
                    f"{minimum.shape} instead."
                )
            least = least + minimum
        every, count = [], []
        for values, of_values, size in zip(counts.values, counts.count, least, strict=True):
            V = max(int(size), 1 + int(values.max(initial=-1)))
            afford(
                4.0 * V * len(of_values),
                f"the probabilities of {V:.6g} categories of a column",
                "number them from zero, e.g. with sklearn.preprocessing.OrdinalEncoder.",
            )
            places = values.astype(np.int64)
            every.append(np.arange(V, dtype=np.float64))
            count.append(np.stack([np.bincount(places, row, minlength=V) for row in of_values]))
        counts = CategoryCounts(tuple(every), tuple(count))
        return super()._estimated(start, s.replace(component=counts))

    def _scores(self, X: Any) -> np.ndarray:
        return super()._scores(np.floor(X))

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        family: Any = progress.model.component
        with np.errstate(divide="ignore"):
            log_p = [np.log(p) for p in family.probability]
        return {
            **super()._fitted(progress),
            "category_count_": list(progress.statistics.component.count),
            "feature_log_prob_": log_p,
            "n_categories_": np.array([len(v) for v in family.values]),
        }
