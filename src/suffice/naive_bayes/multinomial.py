"""Naive Bayes on counts: the words of a document are drawn one by one from those of its class.

McCallum and Nigam, "A comparison of event models for naive Bayes text classification", 1998.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.partitions import Partitions
from ..families import Labelled, Multinomial
from .discrete import DiscreteNB


class CountsNB(DiscreteNB):
    """What multinomial and complement naive Bayes share: they sum the counts of each class."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _family(self, data: Partitions, K: int) -> Multinomial:
        return Multinomial.start(K, self.n_features_in_, alpha=self._smoothing())

    def _fitted(self, model: Labelled, s: Any) -> dict[str, Any]:
        return {**super()._fitted(model, s), "feature_count_": s.component.total}


class MultinomialNB(CountsNB):
    """Naive Bayes for counts, such as the words of documents; rows may be sparse.

    Parameters
    ----------
    alpha : float or array of shape (n_features,), default=1.0
        Smoothing: each feature was counted this often before, in every class. Zero is maximum likelihood.
    force_alpha : bool, default=True
        Whether `alpha` may be below 1e-10; if not, it is raised to that.
    fit_prior : bool, default=True
        Whether class probabilities are estimated; if not, they are equal.
    class_prior : array of shape (n_classes,), default=None
        Class probabilities, if they are known.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    class_count_ : ndarray of shape (n_classes,)
        Weight of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        Log-probability of each class.
    feature_count_ : ndarray of shape (n_classes, n_features)
        Sum of the counts of each feature by class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        log p(feature given class).
    model_ : Labelled
        The fitted model.
    statistics_ : GroupStatistics
        The sums, to which `partial_fit` adds.

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

    def _fitted(self, model: Labelled, s: Any) -> dict[str, Any]:
        family: Any = model.component
        with np.errstate(divide="ignore"):
            return {**super()._fitted(model, s), "feature_log_prob_": np.log(family.probability)}
