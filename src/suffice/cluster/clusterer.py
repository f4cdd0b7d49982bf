"""What all clusterings have in common: the cluster of each row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin

from ..estimator.answers import row_wise
from ..estimator.base import Estimator
from ..inputs import map_rows, read_rows, source_of


class Clusterer(ClusterMixin, Estimator):
    """Base class of clusterings: clusters of the rows of a fit, and of new ones."""

    labels_: np.ndarray
    model_: Any

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit, then return the cluster of each row."""
        self.fit(X, y, sample_weight)
        return self.labels_ if source_of(X).in_memory else self.predict(X)

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the cluster of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return map_rows(self._nearest(), X).astype(np.int32)

    def _nearest(self) -> Callable[[Any], np.ndarray]:
        """What labels rows in memory."""
        return lambda rows: self.model_.nearest(rows)[0]
