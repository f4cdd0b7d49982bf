"""Base class of discrete naive Bayes: smoothing and class priors."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from ..core.blocks import Rows, rows_beside
from ..core.callers import warn
from ..core.loop import Progress
from ..estimator.guarantees import Guarantee
from ..estimator.parameters import NON_NEGATIVE, Numbers
from ..estimator.tags import tags
from ..statistics import distinct
from .generative import GenerativeClassifier

LEAST_ALPHA = 1e-10


class DiscreteNB(GenerativeClassifier):
    """Base class of discrete naive Bayes, with `alpha` added to every count."""

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [NON_NEGATIVE, Numbers()],
        "force_alpha": ["boolean"],
        "fit_prior": ["boolean"],
        "class_prior": [Numbers(0), None],
    }
    # The score is poor on rows that are not counts.
    __sklearn_tags__ = tags(sparse=True, classifier_tags__poor_score=True)
    _guarantee = Guarantee.always("bit")

    def _prior(self, K: int) -> Any:
        return np.full(K, 1.0 / K) if self.class_prior is None and not self.fit_prior else self.class_prior

    def _check_alpha(self) -> Any:
        """The effective `alpha`: a number, or one for each feature."""
        alpha = float(self.alpha) if isinstance(self.alpha, Real) else np.array(self.alpha, np.float64)
        if np.ndim(alpha) and np.shape(alpha) != (self.n_features_in_,):
            raise ValueError(
                f"When alpha is an array, it should contains `n_features`. Got shape {np.shape(alpha)}, and "
                f"X has {self.n_features_in_} features."
            )
        if np.min(alpha) < 0:
            raise ValueError(f"All values in alpha must be greater than 0. Got {self.alpha!r}.")
        if np.min(alpha) < LEAST_ALPHA and not self.force_alpha:
            warn(
                f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. Use "
                "`force_alpha=True` to keep alpha unchanged.",
                UserWarning,
            )
            alpha = np.maximum(alpha, LEAST_ALPHA)
        return alpha

    def _block_rows(self, block: Rows) -> float | None:
        # An entry takes one addition here, so a block should be some times larger than the sums.
        if block.y is None or block.y.ndim > 1:
            return None
        return rows_beside(block, 6.0 * 8.0 * len(distinct(block.y)) * block.X.shape[1])

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model, s = progress.model, progress.statistics
        with np.errstate(divide="ignore"):  # a class that was named, and not seen yet
            log_prior = np.log(model.prior)
        return {"classes_": model.classes, "class_count_": s.weight, "class_log_prior_": log_prior}
