"""Base classes of sequence estimators: their input, and results in the shape of the input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray
from ..core.blocks import Sequences
from ..core.partitions import Partitions
from ..estimator.answers import row_wise
from ..estimator.base import Iterative
from ..estimator.scores import check_label_types, check_some_weight
from ..estimator.tags import tags
from ..inputs import map_block, open_sequences, read_sequences


class SequenceEstimator(Iterative):
    """Base class of estimators whose examples are sequences.

    The input is one 2-D array, rows with `groups`, a list of arrays, or a table.
    """

    takes: ClassVar[str] = "sequences"

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__partial_fit: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__predict_proba: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__predict_log_proba: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"groups": True}

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Partitions:
        """Return the checked sequences to fit. `X` is a pair, the `X` and the `groups` of `fit`."""
        steps, groups = X
        return open_sequences(self, steps, y, groups, sample_weight, reset=reset, block_rows=self._block_rows)

    def _of_steps(self, f: Callable[[Sequences], np.ndarray], X: Any, groups: MaybeArray) -> Any:
        """Return a result for each step, in the shape of the input.

        `f` takes a block of sequences, and returns one result per row.
        """
        block, shaped = read_sequences(self, X, groups)
        return shaped(map_block(f, block))

    def _of_sequences(self, f: Callable[[Sequences], np.ndarray], X: Any, groups: MaybeArray) -> np.ndarray:
        """Return a result for each sequence. `f` returns them for a block of sequences."""
        return map_block(f, read_sequences(self, X, groups)[0])


class StepClassifier(ClassifierMixin, SequenceEstimator):
    """Base class of sequence labelling estimators."""

    classes_: Annotated[np.ndarray, "labels (K,)"]
    coef_: np.ndarray  # (K, D)
    transitions_: np.ndarray  # (K, K)
    kernel: Any
    __sklearn_tags__ = tags(sparse=True)

    def fit(  # type: ignore[override]
        self, X: Any, y: MaybeArray = None, groups: MaybeArray = None, sample_weight: MaybeArray = None
    ) -> Self:
        """Fit to labelled sequences.

        Parameters
        ----------
        X : array, CSR matrix, list of them, list of lists of dicts or of strings, table, Parquet scan or \
distributed data set
            Features of the steps. Each sequence may be a list of steps with named features, as CRFsuite takes
            them: dicts of numbers, bools and strings, or lists of strings. The names become
            `feature_names_in_`; features that were not seen in `fit` are ignored. To name the columns of
            labels and weights in a table, see `suffice.sequences`.
        y : array of shape (n_steps,) or list of arrays, optional
            Labels of the steps. Leave out if a column of the table holds them.
        groups : array of shape (n_steps,), optional
            Sequence id of each step. The steps of a sequence must be contiguous. Without it, one 2-D array is
            one sequence.
        sample_weight : array, optional
            Per-sequence weights: one per sequence, or one per step that is constant within each sequence. A
            weight of 2 is equivalent to repeating the sequence; 0 drops it.

        Returns
        -------
        self
        """
        return self._fit_to((X, groups), y, sample_weight)

    def _labels(self, block: Sequences) -> np.ndarray:
        return self.classes_[self.model_.chains(block).best()[0]]

    @row_wise
    def predict(self, X: Any, groups: MaybeArray = None) -> Any:
        """Predict the labels of each sequence by the best path (Viterbi), in the shape of the input.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self._of_steps(self._labels, X, groups)

    def top_features(self, n_features: int = 10) -> dict[Any, list[tuple[str, float]]]:
        """Features with the largest weights for each label.

        Parameters
        ----------
        n_features : int, default=10
            Number of features of each label.

        Returns
        -------
        dict
            For each label, pairs of the name of a feature and its weight, by decreasing magnitude.
        """
        self._must_be_linear()
        tops = [np.argsort(-np.abs(weights), kind="stable")[:n_features] for weights in self.coef_]
        return {
            label: [(self._feature_name(d), float(weights[d])) for d in top.tolist()]
            for label, weights, top in zip(self.classes_.tolist(), self.coef_, tops, strict=True)
        }

    def _must_be_linear(self) -> None:
        check_is_fitted(self)
        if getattr(self.model_, "kernel", None) is not None:
            raise AttributeError(
                f"A model with kernel={self.kernel!r} has weights of steps, and none of features: use "
                "kernel='linear'."
            )

    def top_transitions(self, n_transitions: int = 10) -> list[tuple[Any, Any, float]]:
        """Return the transitions with the largest weights, by decreasing magnitude.

        Each is a label, the next label, and the weight.
        """
        check_is_fitted(self)
        top = np.argsort(-np.abs(self.transitions_), axis=None, kind="stable")[:n_transitions]
        classes = self.classes_.tolist()
        return [
            (classes[k], classes[j], float(self.transitions_[k, j]))
            for k, j in zip(*np.unravel_index(top, self.transitions_.shape), strict=True)
        ]

    def _feature_name(self, d: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return f"x{d}" if names is None else str(names[d])

    def score(
        self, X: Any, y: MaybeArray = None, groups: MaybeArray = None, sample_weight: Any = None
    ) -> float:
        """Accuracy: the fraction of steps with the correct label.

        Parameters
        ----------
        X : array, CSR matrix, list of these, list of lists of dicts, table, scan or distributed data set
            The steps. To name the columns of labels and ids in a table, see `suffice.sequences`.
        y : array of shape (n_steps,) or list of these, optional
            Labels of the steps. Leave out if a column of the table holds them.
        groups : array of shape (n_steps,), optional
            Sequence id of each step.
        sample_weight : array, optional
            Per-sequence or per-step weights.
        """
        if y is None:
            return scored(self, _right_steps, X, sample_weight)
        block, shape = read_sequences(self, X, groups)
        if sample_weight is not None:
            if len(sample_weight) == len(block):
                sample_weight = np.repeat(np.asarray(sample_weight, dtype=np.float64), block.lengths)
            else:
                sample_weight = shape.rows(sample_weight, "sample_weight")
        labels = map_block(self._labels, block)
        return float(accuracy_score(shape.rows(y, "y"), labels, sample_weight=sample_weight))


def _right_steps(estimator: BaseEstimator, block: Sequences) -> np.ndarray:
    """Return the weight of the correctly labelled steps, and of all steps."""
    assert block.y is not None
    predicted = estimator._labels(block)
    check_label_types(block.y, predicted)
    right = block.y == predicted
    return np.array([block.step_weight[right].sum(), block.step_weight.sum()])


def scored(
    estimator: BaseEstimator, f: Callable[..., np.ndarray], X: Any, sample_weight: MaybeArray
) -> float:
    """Return the ratio of the two sums of f(estimator, block), over a table that contains the labels."""
    check_is_fitted(estimator)
    data = open_sequences(estimator, X, None, None, sample_weight, reset=False)
    part, total = data.fold(f, estimator)
    check_some_weight(total)
    return float(part / total)
