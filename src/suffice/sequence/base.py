"""What all sequence estimators share: the input they take, and answers in the shape that came."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.blocks import Sequences
from ..estimator.answers import row_wise
from ..estimator.base import Iterative
from ..inputs import map_block, open_sequences, read_sequences


class SequenceEstimator(Iterative):
    """An example is a sequence: one 2-D array, rows with `groups`, a list of arrays, or a table."""

    takes: ClassVar[str] = "sequences"

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__partial_fit: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__predict_proba: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__predict_log_proba: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"groups": True}

    def _of_steps(self, f: Callable[[Sequences], np.ndarray], X: Any, groups: Any) -> Any:
        """An answer for each step, f of a block of sequences giving one a row, in the shape that came."""
        block, shaped = read_sequences(self, X, groups)
        return shaped(map_block(f, block))

    def _of_sequences(self, f: Callable[[Sequences], np.ndarray], X: Any, groups: Any) -> np.ndarray:
        """An answer for each sequence, f of a block giving one a sequence."""
        return map_block(f, read_sequences(self, X, groups)[0])


def seed_of(random_state: Any) -> int:
    """One number, from which an order is drawn in each pass."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


class StepClassifier(ClassifierMixin, SequenceEstimator):
    """Estimators of a label for each step, whose model knows the scores of all paths."""

    classes_: Annotated[np.ndarray, "labels (K,)"]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _labels(self, block: Sequences) -> np.ndarray:
        return self.classes_[self.model_.chains(block).best()[0]]

    @row_wise
    def predict(self, X: Any, groups: Any = None) -> Any:
        """The labels of the best path of each sequence, in the shape in which the steps came.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self._of_steps(self._labels, X, groups)

    def score(self, X: Any, y: Any = None, groups: Any = None, sample_weight: Any = None) -> float:
        """The share of steps that are labelled right.

        Parameters
        ----------
        X : array, CSR matrix, list of these, table, scan or distributed data set
            The steps. See `suffice.sequences` for tables that hold labels and ids.
        y : array of shape (n_steps,) or list of these, optional
            Their labels, if they are not a column of the table.
        groups : array of shape (n_steps,), optional
            Ids of the sequences of an array of steps.
        sample_weight : array, optional
            Weights of the sequences, or of the steps.
        """
        if y is None:
            return scored(self, _right_steps, X, sample_weight)
        block, shape = read_sequences(self, X, groups)
        if sample_weight is not None:
            if len(sample_weight) == len(block):
                sample_weight = np.repeat(np.asarray(sample_weight, dtype=np.float64), block.lengths)
            else:
                sample_weight = shape.rows(sample_weight, "sample_weight")
        found = map_block(self._labels, block)
        return float(accuracy_score(shape.rows(y, "y"), found, sample_weight=sample_weight))


def _right_steps(estimator: Any, block: Sequences) -> np.ndarray:
    """The weight of the steps that are labelled right, and of all."""
    right = block.y == estimator._labels(block)
    return np.array([block.step_weight[right].sum(), block.step_weight.sum()])


def scored(estimator: Any, f: Callable[..., np.ndarray], X: Any, sample_weight: Any) -> float:
    """The share that f(estimator, block) finds, of a table that holds the labels, wherever it is."""
    check_is_fitted(estimator)
    data = open_sequences(estimator, X, None, None, sample_weight, reset=False)
    part, total = data.fold(f, estimator)
    return float(part / total)
