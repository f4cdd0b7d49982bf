"""What all sequence estimators share: the input they take, and answers in the shape that came."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import accuracy_score

from ..core.blocks import Sequences
from ..core.door import read_sequences
from ..core.estimator import Iterative
from ..engines.local import map_block


class SequenceEstimator(Iterative):
    """An example is a sequence: one 2-D array, rows with `groups`, a list of arrays, or a table."""

    takes: ClassVar[str] = "sequences"

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__partial_fit: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__predict_proba: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"groups": True}

    def _of_steps(self, f: Callable[[Sequences], np.ndarray], X: Any, groups: Any) -> Any:
        """An answer for each step, f of a block of sequences giving one a row, in the shape that came."""
        block, shaped = read_sequences(self, X, groups)
        return shaped(map_block(f, block))

    def _accuracy(self, X: Any, y: Any, groups: Any, sample_weight: Any) -> float:
        """The share of steps whose label is predicted, with weights one a sequence or one a step."""
        block, shape = read_sequences(self, X, groups)
        found = shape.rows(self.predict(X, groups), "what is predicted")
        if sample_weight is not None:
            if len(sample_weight) == len(block):
                sample_weight = np.repeat(np.asarray(sample_weight, dtype=np.float64), block.lengths)
            else:
                sample_weight = shape.rows(sample_weight, "sample_weight")
        return float(accuracy_score(shape.rows(y, "y"), found, sample_weight=sample_weight))

    def _of_sequences(self, f: Callable[[Sequences], np.ndarray], X: Any, groups: Any) -> np.ndarray:
        """An answer for each sequence, f of a block giving one a sequence."""
        return map_block(f, read_sequences(self, X, groups)[0])
