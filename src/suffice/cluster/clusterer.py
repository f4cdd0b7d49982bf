"""Base class of all clusterings: the cluster of each row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from sklearn.base import ClusterMixin

from ..core.arguments import MaybeArray
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..estimator.answers import row_wise
from ..estimator.base import Estimator, OwnRows
from ..inputs import map_rows, read_rows


@dataclass(frozen=True, eq=False)
class Clusters(Progress):
    """The fitted attributes of a clustering beside its model; None for those that it does not have."""

    labels_: Annotated[np.ndarray | None, "int (N,)"] = None  # of all rows of the fit, in their order
    n_clusters_: int | None = None
    inertia_: float | None = None
    n_iter_: int | None = None


class Clusterer(ClusterMixin, Estimator):
    """Base class of clusterings: clusters of the rows of a fit, and of new ones."""

    labels_: np.ndarray
    model_: Any

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        # The objective is minus the inertia.
        return {"trace_": -np.array(progress.trace)} if progress.trace else {}

    def _label(self, rows: OwnRows | None, data: Partitions) -> None:
        """Set the labels of rows in memory, unless the fit has set them."""
        if rows is not None and "labels_" not in vars(self):
            self.labels_ = self.predict(rows.X)

    def fit_predict(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> np.ndarray:
        """Fit, then return the cluster of each row."""
        self.fit(X, y, sample_weight)
        return self.labels_ if "labels_" in vars(self) else self.predict(X)

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the cluster of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return map_rows(self._nearest(), X).astype(np.int32)

    def _nearest(self) -> Callable[[Any], np.ndarray]:
        """The function that labels rows in memory."""
        return lambda rows: self.model_.nearest(rows)[0]
