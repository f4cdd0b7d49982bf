"""Bernoulli naive Bayes: whether a word is in a document, not how often.

McCallum and Nigam, "A comparison of event models for naive Bayes text classification", 1998.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..core.loop import Progress
from ..core.partitions import Partitions
from ..estimator.guarantees import Exempt
from ..estimator.parameters import NON_NEGATIVE
from ..estimator.tags import tags
from ..families import Bernoulli
from .discrete import DiscreteNB


class BernoulliNB(DiscreteNB):
    """Naive Bayes classifier for binary features. Rows may be sparse. In dense rows, NaN means not observed.

    Parameters
    ----------
    alpha : float or array of shape (n_features,), default=1.0
        Additive (Laplace/Lidstone) smoothing: a pseudo-count for each value of a feature in every class. 0 is
        maximum likelihood.
    force_alpha : bool, default=True
        Whether `alpha` may be below 1e-10. If False, smaller values are raised to 1e-10.
    binarize : float or None, default=0.0
        Threshold: larger values become 1, all others 0. If None, X must contain zeros and ones.
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
        Weighted number of ones of each feature by class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        log p(one given class) of each feature.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Labelled
        The fitted model.
    statistics_ : GroupStatistics
        The sums. `partial_fit` adds to them.

    See Also
    --------
    MultinomialNB : Counts.
    MixedNB : Columns of several kinds.

    Notes
    -----
    With θ_cj the probability of a one in column j of class c,

    .. math::

        p(c | x) ∝ π_c ∏_j θ_{cj}^{x_j} (1 - θ_{cj})^{1 - x_j}.

    References
    ----------
    * McCallum and Nigam (1998), "A comparison of event models for naive Bayes text classification", AAAI
      Workshop on Learning for Text Categorization.

    Examples
    --------
    >>> from suffice.naive_bayes import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 1, 0], [1, 0, 0], [0, 1, 1]], ["a", "a", "b"])
    >>> model.predict([[1, 1, 0], [0, 0, 1]])
    array(['a', 'b'], dtype='<U1')
    """

    exempt = (Exempt("shift", "What is above zero is another thing there."),)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DiscreteNB._parameter_constraints,
        "binarize": [None, NON_NEGATIVE],
    }
    __sklearn_tags__ = tags(allow_nan=True)

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _family(self, data: Partitions, K: int) -> Bernoulli:
        return Bernoulli.start(K, self.n_features_in_, alpha=self._check_alpha(), above=self.binarize)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        family: Any = progress.model.component
        with np.errstate(divide="ignore"):
            log_p = np.log(family.probability)
        return {
            **super()._fitted(progress),
            "feature_count_": progress.statistics.component.total,
            "feature_log_prob_": log_p,
        }
