"""Complement naive Bayes: the weights of a class are estimated from all other classes.

Rennie, Shih, Teevan and Karger, "Tackling the poor assumptions of naive Bayes text classifiers", 2003.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..core.loop import Progress
from ..families.discrete import Logs
from .multinomial import CountsNB


class ComplementNB(CountsNB):
    """Complement naive Bayes classifier for counts, suited to imbalanced classes. Rows may be sparse.

    The score of a class measures how badly a row fits all other classes. It is not a log-likelihood, so
    `predict_proba` compares scores and does not give calibrated probabilities.

    Parameters
    ----------
    alpha : float or array of shape (n_features,), default=1.0
        Additive (Laplace/Lidstone) smoothing: a pseudo-count for each feature in every class.
    force_alpha : bool, default=True
        Whether `alpha` may be below 1e-10. If False, smaller values are raised to 1e-10.
    fit_prior : bool, default=True
        Used only if there is a single class.
    class_prior : array of shape (n_classes,), default=None
        Used only if there is a single class.
    norm : bool, default=False
        Whether to normalize the weights of each class by their sum.

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
    feature_all_ : ndarray of shape (n_features,)
        Total count of each feature.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Weight of each feature for each class: minus the log-probability of the feature in the other classes.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Labelled
        The fitted model.
    statistics_ : GroupStatistics
        The sums. `partial_fit` adds to them.

    See Also
    --------
    MultinomialNB : Classes of similar sizes.

    Notes
    -----
    With N_cj the count of word j in all classes but c, the weight of a word and the score of a class are

    .. math::

        w_{cj} = -\\log \\frac{N_{cj} + α_j}{∑_i N_{ci} + α_i}, \\qquad s_c(x) = ∑_j x_j w_{cj}.

    References
    ----------
    * Rennie, Shih, Teevan and Karger (2003), "Tackling the poor assumptions of naive Bayes text
      classifiers", ICML.

    Examples
    --------
    >>> from suffice.naive_bayes import ComplementNB
    >>> model = ComplementNB().fit([[2, 1, 0], [3, 0, 0], [0, 1, 4]], ["a", "a", "b"])
    >>> model.predict([[1, 1, 0], [0, 0, 1]])
    array(['a', 'b'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CountsNB._parameter_constraints,
        "norm": ["boolean"],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model, s = progress.model, progress.statistics
        family: Any = model.component
        total = s.component.total.sum(axis=0)
        others = total - s.component.total + family.alpha
        share = others.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            logs = np.log(np.divide(others, share, out=np.ones_like(others), where=share > 0))
        weights = logs / logs.sum(axis=1, keepdims=True) if self.norm else -logs
        fitted = {"feature_all_": total, "feature_log_prob_": weights, "_weights": Logs.of(weights.T)}
        return {**super()._fitted(progress), **fitted}

    def _scores(self, X: Any) -> np.ndarray:
        scores = self._weights.times(X)
        return scores + self.class_log_prior_ if len(self.classes_) == 1 else scores
