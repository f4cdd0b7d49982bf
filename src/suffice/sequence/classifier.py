"""Classification of sequences by a hidden Markov model for each class, and Bayes' rule.

Rabiner, "A tutorial on hidden Markov models", 1989; Gong and Xu ch. 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ..core.arguments import MaybeArray
from ..core.blocks import Sequences
from ..core.loop import Progress, Watch
from ..core.model import Family, Model
from ..core.partitions import Partitions
from ..core.statistics import Parts
from ..estimator.answers import row_wise
from ..estimator.parameters import Numbers, check_parameters
from ..estimator.scores import check_label_types
from ..estimator.tags import tags
from ..families import Categorical, Mixtures, ProductFamily
from ..families.mixture import GroupStatistics
from ..fitting import em
from ..inputs import Table, map_block, read_sequences
from ..inputs.arrays import are_sequences
from ..inputs.conversions import explained
from ..inputs.sequences import of_sequences, runs
from ..statistics import classes_of
from .base import SequenceEstimator, scored
from .hidden_markov import SOFT, HiddenMarkov, HiddenMarkovModel


@dataclass(frozen=True, eq=False)
class SequenceClasses(Model):
    """p(sequence, c) = prior_c p_c(sequence), with the class of every sequence known."""

    classes: Annotated[np.ndarray, "labels (C,)"]  # sorted
    prior: Annotated[np.ndarray, "real (C,)"]
    members: Annotated[tuple[HiddenMarkov, ...], "C of D"]
    given_prior: Annotated[np.ndarray | None, "real (C,)"] = None  # None if the prior is estimated

    def log_likelihoods(self, block: Sequences) -> np.ndarray:
        """Return log p(sequence given c), (S, C)."""
        return np.stack([m.chains(block.X, block.offset).log_sum for m in self.members], axis=1)

    def summarize(self, block: Sequences) -> GroupStatistics:
        own = [_of_class(c, block) for c in self.classes]
        parts = tuple(m.summarize(part) for m, part in zip(self.members, own, strict=True))
        weight = np.array([part.weight.sum() for part in own])
        return GroupStatistics(sum(s.log_likelihood for s in parts), weight, Parts(parts))

    def estimate(self, s: GroupStatistics) -> Self:
        prior = s.weight / s.weight.sum() if self.given_prior is None else self.given_prior
        pairs = zip(self.members, s.component.parts, strict=True)
        return self.replace(prior=prior, members=tuple(m.estimate(part) for m, part in pairs))

    def objective(self, s: GroupStatistics) -> float:
        """Return the mean log-likelihood per step (plus the log priors over the same weight)."""
        steps = sum(part.weight for part in s.component.parts)
        return (s.log_likelihood + sum(m.log_prior() for m in self.members)) / steps


def _of_class(label: Any, block: Sequences) -> Sequences:
    """Return the sequences of one class. All rows of a sequence have its label."""
    assert block.y is not None
    of = np.zeros(len(block), bool)
    of[block.lengths > 0] = block.y[block.firsts] == label
    return block[of].replace(y=None)


class SequenceClassifier(ClassifierMixin, SequenceEstimator):
    """Sequence classifier with a hidden Markov model for each class.

    Parameters
    ----------
    estimator : HiddenMarkovModel, default=None
        Estimator that is cloned and fitted for each class. If None, `HiddenMarkovModel(2)`.
    class_prior : array of shape (n_classes,), default=None
        Prior probabilities of the classes. If None, the class frequencies are used.
    threshold : float, default=None
        Minimum log-likelihood per step of the best class. Sequences below it are outliers. If None, there are
        no outliers.
    outlier_label : label, default=None
        Label that `predict` returns for outliers.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    class_prior_ : ndarray of shape (n_classes,)
        Probability of each class.
    model_ : SequenceClasses
        The fitted model. `statistics_`, `trace_`, `n_iter_`, `converged_` and `stopped_because_` describe the
        fit.

    See Also
    --------
    HiddenMarkovModel : The model of each class.
    suffice.naive_bayes.ClassConditional : Classes of rows.

    Notes
    -----
    With p(x | c) the likelihood of the sequence under the hidden Markov model of class c,

    .. math::

        p(c | x) ∝ p(c)\\, p(x | c).

    References
    ----------
    * Rabiner (1989), "A tutorial on hidden Markov models and selected applications in speech recognition",
      Proceedings of the IEEE 77.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.sequence import SequenceClassifier, HiddenMarkovModel
    >>> slow, quick = np.repeat([0.0, 1.0], 6), np.tile([0.0, 1.0], 6)
    >>> X = [wave.reshape(-1, 1) for wave in (slow, quick, slow[1:], quick[1:])]
    >>> model = SequenceClassifier(HiddenMarkovModel(2, random_state=0)).fit(X, ["slow", "quick"] * 2)
    >>> model.predict([slow.reshape(-1, 1), quick[2:].reshape(-1, 1)]).tolist()
    ['slow', 'quick']
    """

    model_: Annotated[SequenceClasses, "C = K, D"]
    classes_: Annotated[np.ndarray, "labels (K,)"]
    class_prior_: Annotated[np.ndarray, "(K,)"]
    labels: ClassVar[str] = "sequences"

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HiddenMarkovModel, None],
        "class_prior": [Numbers(0), None],
        "threshold": [Real, None],
        "outlier_label": "no_validation",
    }
    # A 2-D array is one sequence, which is a single example.
    __sklearn_tags__ = tags(two_d_array=False, allow_nan=True)

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        class_prior: Any = None,
        threshold: float | None = None,
        outlier_label: Any = None,
    ) -> None:
        self.estimator = estimator
        self.class_prior = class_prior
        self.threshold = threshold
        self.outlier_label = outlier_label

    def fit(  # type: ignore[override]
        self, X: Any, y: MaybeArray = None, groups: MaybeArray = None, sample_weight: MaybeArray = None
    ) -> Self:
        """Fit the models of all classes. They share each pass over the data.

        Parameters
        ----------
        X : list of arrays, array with `groups`, or table described by `suffice.sequences`
            The sequences.
        y : array of shape (n_sequences,) or (n_rows,)
            The class of each sequence, once per sequence or at each of its rows.
        groups : array of shape (n_rows,), optional
            Sequence id of each row. The rows of a sequence must be contiguous.
        sample_weight : array, optional
            Per-sequence weights. A weight of 2 is equivalent to repeating the sequence; 0 drops it.

        Returns
        -------
        self
        """
        return self._fit_to((X, groups), at_rows(X, y, groups), sample_weight)

    def _solve(self, data: Partitions) -> Progress:
        classes = classes_of(data)
        if data.fold(_labels_differ).any():
            raise ValueError("y differs within a sequence: SequenceClassifier takes one class per sequence.")
        C = len(classes)
        fixed_prior = None if self.class_prior is None else np.array(self.class_prior, dtype=np.float64)
        if fixed_prior is not None and fixed_prior.shape != (C,):
            raise ValueError(f"class_prior has shape {fixed_prior.shape}, expected {(C,)}.")
        if fixed_prior is not None and ((fixed_prior < 0).any() or not np.isclose(fixed_prior.sum(), 1.0)):
            raise ValueError(f"class_prior must be non-negative and sum to one; got {fixed_prior.tolist()}.")
        template = HiddenMarkovModel(2) if self.estimator is None else self.estimator
        check_parameters(template)
        by_class = [_starts(template, data.map(_of_class, c), self.n_features_in_) for c in classes]
        starts = [_of_one_alphabet(members) for members in zip(*by_class, strict=True)]
        even = np.full(C, 1.0 / C)
        progress = em(
            tuple(SequenceClasses(classes, even, members, fixed_prior) for members in starts),
            data,
            tol=template.tol,
            max_iter=template.max_iter,
            watch=Watch(self, template.checkpoint, data),
        )
        if progress.trace and progress.trace[-1] == -np.inf:
            raise ValueError(
                "Some sequences are impossible under the model of their class: raise alpha "
                "or transition_prior of the estimator."
            )
        return progress

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        return {"classes_": progress.model.classes, "class_prior_": progress.model.prior}

    def log_likelihood(self, X: Any, groups: MaybeArray = None) -> np.ndarray:
        """log p(sequence given c), (n_sequences, n_classes)."""
        check_is_fitted(self)
        return self._of_sequences(self.model_.log_likelihoods, X, groups)

    @row_wise
    def predict_log_proba(self, X: Any, groups: MaybeArray = None) -> np.ndarray:
        """Log-probabilities of the classes, one row per sequence.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        log_likelihood = self.log_likelihood(X, groups)
        impossible = (log_likelihood == -np.inf).all(
            axis=1, keepdims=True
        )  # under each class: predict the prior
        with np.errstate(divide="ignore"):
            joint = np.where(impossible, 0.0, log_likelihood) + np.log(self.class_prior_)
        return log_softmax(joint, axis=1)

    @row_wise
    def predict_proba(self, X: Any, groups: MaybeArray = None) -> np.ndarray:
        """Probabilities of the classes, one row per sequence.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return np.exp(self.predict_log_proba(X, groups))

    @row_wise
    def predict(self, X: Any, groups: MaybeArray = None) -> np.ndarray:
        """Predict the most probable class of each sequence, or `outlier_label` if it is below `threshold`.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self._labels(read_sequences(self, X, groups)[0])

    def _labels(self, block: Sequences) -> np.ndarray:
        log_likelihood = map_block(self.model_.log_likelihoods, block)
        with np.errstate(divide="ignore"):
            best = (log_likelihood + np.log(self.class_prior_)).argmax(axis=1)
        label = self.classes_[best]
        if self.threshold is None:
            return label
        if self.outlier_label is None:
            raise ValueError("threshold requires an outlier_label, the label of sequences below it.")
        steps = np.maximum(block.lengths, 1)
        none = log_likelihood[np.arange(len(best)), best] / steps < self.threshold
        outlier = np.asarray(self.outlier_label)
        if (outlier.dtype.kind in "US") != (label.dtype.kind in "US"):  # NumPy would convert numbers to text
            label = label.astype(object)
        kind = np.result_type(label, outlier)
        return np.where(none, outlier.astype(kind), label.astype(kind))

    def score(self, X: Any, y: Any = None, groups: MaybeArray = None, sample_weight: Any = None) -> float:
        """Accuracy on sequences. Leave out `y` if a column of the table holds the classes."""
        if y is None:
            return scored(self, _right_sequences, X, sample_weight)
        block, shape = read_sequences(self, X, groups)
        y = column_or_1d(y)
        if len(y) != len(block):
            y = shape.rows(y, "y")[block.offset[:-1]]
        if sample_weight is not None and len(sample_weight) != len(block):
            sample_weight = of_sequences(shape.rows(sample_weight, "sample_weight"), block.offset)
        return float(accuracy_score(y, self._labels(block), sample_weight=sample_weight))


def _right_sequences(estimator: SequenceClassifier, block: Sequences) -> np.ndarray:
    """Return the weight of the correctly classified sequences, and of all. Empty sequences have no weight."""
    block = block[block.lengths > 0]
    assert block.y is not None
    labels, predicted = block.y[block.firsts], estimator._labels(block)
    check_label_types(labels, predicted)
    right = labels == predicted
    return np.array([block.weight[right].sum(), block.weight.sum()])


def _starts(template: HiddenMarkovModel, data: Partitions, D: int) -> tuple[HiddenMarkov, ...]:
    """Return the initial models of one class."""
    member = clone(template)
    member.n_features_in_ = D
    return member._starts(member._with_states(data)[0])


def _labels_differ(block: Sequences) -> np.ndarray:
    assert block.y is not None
    into = block.follows
    return np.array([(block.y[into] != block.y[into - 1]).sum()], dtype=np.float64)


def _of_one_alphabet(members: tuple[HiddenMarkov, ...]) -> tuple[HiddenMarkov, ...]:
    """Extend all models to the categories of all classes.

    A category that was not seen in a class then has a low probability in it.
    """
    categoricals = [_categoricals(m.emission) for m in members]
    values = [
        tuple(np.unique(np.concatenate(columns)) for columns in zip(*(f.values for f in same), strict=True))
        for same in zip(*categoricals, strict=True)
    ]
    return tuple(m.replace(emission=_with_categories(m.emission, iter(values))) for m in members)


def _categoricals(family: Family) -> list[Categorical]:
    if isinstance(family, Categorical):
        return [family]
    parts = family.parts if isinstance(family, ProductFamily) else ()
    parts = (family.component,) if isinstance(family, Mixtures) else parts
    return [categorical for part in parts for categorical in _categoricals(part)]


def _with_categories(family: Any, values: Iterator[tuple[np.ndarray, ...]]) -> Any:
    """Add categories to a family. They have probability zero, or a small one with smoothing."""
    if isinstance(family, ProductFamily):
        return family.replace(parts=tuple(_with_categories(part, values) for part in family.parts))
    if isinstance(family, Mixtures):
        return family.replace(component=_with_categories(family.component, values))
    if not isinstance(family, Categorical):
        return family
    wide, probability = next(values), []
    for all_values, own, p in zip(wide, family.values, family.probability, strict=True):
        probability.append(np.zeros((len(p), len(all_values))))
        probability[-1][:, np.searchsorted(all_values, own)] = p
        if family.alpha > 0:
            probability[-1] = (1.0 - SOFT) * probability[-1] + SOFT / len(all_values)
    return family.replace(values=wide, probability=tuple(probability))


def at_rows(X: Any, y: Any, groups: Any) -> Any:
    """Return the class of each row, which is that of its sequence, in the shape of X.

    A table has the classes in a column.
    """
    if y is None or isinstance(X, Table):
        return y
    try:
        y = column_or_1d(y)
    except ValueError as error:
        raise explained(error, y, "y", "SequenceClassifier") from None
    if are_sequences(X):
        if len(y) != len(X):
            raise ValueError(f"X has {len(X)} sequences, but y has {len(y)} classes: pass one per sequence.")
        return [
            np.full(part.shape[0] if hasattr(part, "shape") else len(part), c)
            for part, c in zip(X, y, strict=True)
        ]
    if np.isscalar(X):  # reading X raises the error
        return y
    if groups is None:
        raise ValueError(
            "A 2-D array without groups is one sequence, and one is too few for a classifier: pass "
            "groups= or a list of sequences."
        )
    groups = column_or_1d(groups)
    offset = np.append(runs(groups, "groups")[0], len(groups))
    if len(y) == len(offset) - 1:
        return np.repeat(y, np.diff(offset))
    if len(y) != len(groups):
        raise ValueError(f"y has {len(y)} classes for {len(offset) - 1} sequences of {len(groups)} rows.")
    if (y != np.repeat(y[offset[:-1]], np.diff(offset))).any():
        raise ValueError("y differs within a sequence: SequenceClassifier takes one class per sequence.")
    return y
