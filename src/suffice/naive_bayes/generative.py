"""Base class of generative classifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Self

import numpy as np

from ..core.arguments import MaybeArray
from ..core.partitions import Partitions
from ..estimator.answers import row_wise
from ..estimator.base import OnePass, must_have_rows
from ..estimator.scores import Classifier
from ..families import Family, Labelled
from ..inputs import Check, map_rows, read_rows
from ..losses import log_softmax, softmax
from ..statistics import afford_classes, distinct, distinct_targets


class GenerativeClassifier(Classifier, OnePass):
    """p(c given x) by Bayes' rule from p(c) and p(x given c), where the latter is a family."""

    model_: Annotated[Labelled, "K, D"]

    def _family(self, data: Partitions, K: int) -> Family:
        """The family of K densities, one per class."""
        raise NotImplementedError

    def _prior(self, K: int) -> Any:
        """Fixed prior probabilities of the K classes, or None to estimate them."""
        return None

    def _start(self, data: Partitions, classes: MaybeArray = None) -> Labelled:
        if classes is None:
            classes = data.fold(distinct_targets).values[0]
        classes = distinct(np.asarray(classes))
        K = len(classes)
        must_have_rows(K)
        afford_classes(K, self.n_features_in_)
        prior = self._prior(K)
        if prior is not None:
            prior = np.array(prior, dtype=np.float64)  # the caller may write into its own
            if len(prior) != K:
                raise ValueError(f"Number of priors must match number of classes: {len(prior)}, {K}.")
            if (prior < 0).any():
                raise ValueError(f"Priors must be non-negative; got {prior.tolist()}.")
            if not np.isclose(prior.sum(), 1.0):
                raise ValueError("The sum of the priors should be 1.")
        return Labelled(classes, np.full(K, 1.0 / K), self._family(data, K), prior)

    def partial_fit(
        self, X: Any, y: MaybeArray = None, classes: MaybeArray = None, sample_weight: MaybeArray = None
    ) -> Self:
        """Update the model with more rows. The result equals one `fit` to all rows.

        `classes` are all classes. The first call needs them.
        """
        return self._add(X, y, sample_weight, classes)

    def _add(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, classes: MaybeArray = None) -> Self:
        if classes is None and not hasattr(self, "statistics_"):
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return super()._add(X, y, sample_weight, classes)

    def _scores(self, X: Any) -> np.ndarray:
        """log p(x, c) of checked rows, up to a term of the row."""
        return self.model_.scores(X)

    def _answer(self, f: Callable[[np.ndarray], np.ndarray], X: Any) -> np.ndarray:
        """Return f of the scores of rows, in threads. These also check the rows, so they are read once."""
        X, check = read_rows(self, X, late=True), Check.of(self)

        def of_rows(rows: Any) -> np.ndarray:
            if isinstance(rows, np.ndarray) and rows.dtype != object:
                check.must_pass(rows)
            return f(self._scores(rows))

        return map_rows(of_rows, X)

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """Joint log density log p(x, c) of each row and class, up to a term that is constant in c."""
        return self._answer(lambda scores: scores, X)

    @row_wise
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log posterior probability log p(c given x) of each row and class.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self._answer(lambda scores: log_softmax(_possible(scores)), X)

    @row_wise
    def predict_proba(self, X: Any) -> np.ndarray:
        """Posterior probability p(c given x) of each row and class.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self._answer(lambda scores: softmax(_possible(scores)), X)

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        best = self._answer(lambda scores: scores.argmax(axis=1), X)
        return self.classes_[best]


def _possible(scores: np.ndarray) -> np.ndarray:
    """Scores with a finite entry in every row: rows that are impossible in all classes get equal scores."""
    scores[scores.max(axis=1) == -np.inf] = 0.0
    return scores
