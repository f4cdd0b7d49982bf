"""Multinomial naive Bayes: the words of a document are drawn from the distribution of its class.

McCallum and Nigam, "A comparison of event models for naive Bayes text classification", 1998.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.loop import Progress
from ..core.partitions import Partitions
from ..estimator.tags import tags
from ..families import Multinomial
from .discrete import DiscreteNB


class CountsNB(DiscreteNB):
    """Base class of multinomial and complement naive Bayes, which sum the counts of each class."""

    __sklearn_tags__ = tags(positive_only=True)

    def _family(self, data: Partitions, K: int) -> Multinomial:
        return Multinomial.start(K, self.n_features_in_, alpha=self._check_alpha())

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        return {**super()._fitted(progress), "feature_count_": progress.statistics.component.total}


class MultinomialNB(CountsNB):
    """Naive Bayes classifier for multinomial counts, such as words in documents. Rows may be sparse.

    Parameters
    ----------
    alpha : float or array of shape (n_features,), default=1.0
        Additive (Laplace/Lidstone) smoothing: a pseudo-count for each feature in every class. 0 is maximum
        likelihood.
    force_alpha : bool, default=True
        Whether `alpha` may be below 1e-10. If False, smaller values are raised to 1e-10.
    fit_prior : bool, default=True
        Whether to estimate the prior probabilities of the classes. If False, a uniform prior is used.
    class_prior : array of shape (n_classes,), default=None
        Prior probabilities of the classes. If given, they are not estimated.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    class_count_ : ndarray of shape (n_classes,)
        Weight of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        Log prior probability of each class.
    feature_count_ : ndarray of shape (n_classes, n_features)
        Total count of each feature by class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        log p(feature given class).
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Labelled
        The fitted model.
    statistics_ : GroupStatistics
        The sums. `partial_fit` adds to them.

    See Also
    --------
    ComplementNB : Classes of very different sizes.
    BernoulliNB : Whether a word occurs, not how often.
    suffice.linear_model.LogisticRegression : A linear classifier without a model of the rows.

    Notes
    -----
    With N_cj the count of word j in class c,

    .. math::

        p(c | x) ∝ π_c ∏_j θ_{cj}^{x_j}, \\qquad θ_{cj} = \\frac{N_{cj} + α_j}{∑_i N_{ci} + α_i}.

    References
    ----------
    * McCallum and Nigam (1998), "A comparison of event models for naive Bayes text classification", AAAI
      Workshop on Learning for Text Categorization.

    Examples
    --------
    >>> from suffice.naive_bayes import MultinomialNB
    >>> model = MultinomialNB().fit([[2, 1, 0], [3, 0, 0], [0, 1, 4]], ["a", "a", "b"])
    >>> model.predict([[1, 1, 0], [0, 0, 1]])
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        family: Any = progress.model.component
        with np.errstate(divide="ignore"):
            return {**super()._fitted(progress), "feature_log_prob_": np.log(family.probability)}
