"""The base classes of all trees and ensembles of trees: parameters, bins of features, and integer targets."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from ..core.blocks import Rows
from ..core.callers import warn
from ..core.loop import Progress
from ..core.partitions import Opened, Partitions
from ..core.randomness import Purpose, key_of
from ..core.statistics import Statistics
from ..estimator.answers import row_wise
from ..estimator.base import Estimator
from ..estimator.guarantees import Guarantee
from ..estimator.parameters import Interval, RealNotInt, StrOptions, seed_of
from ..estimator.scores import Classifier, Regressor
from ..inputs import Check, TargetDomain, source_of
from ..losses import Poisson
from ..statistics import (
    FeatureBins,
    FeatureValues,
    afford_classes,
    class_counts,
    extremes,
    weights_of_classes,
)
from .growth import NO_LIMIT, Limits
from .medians import MedianTarget
from .targets import (
    ClassTarget,
    ClassTargets,
    NumberTarget,
    NumberTargets,
    check_total_weight,
    class_weighted,
)

COUNTS = TargetDomain(
    Poisson.domain, "Some value(s) of y are negative which is not allowed for Poisson regression."
)
MAX_BINS = 65_535  # codes, with that of missing values, fit in two bytes


@dataclass(frozen=True, eq=False)
class TreeStart(Statistics):
    """The values of features and targets, from which bins and grids follow before a tree is grown."""

    rows: float
    weight: float
    features: FeatureValues
    target: Any  # CategoryCounts of classes, or Extremes, of each target

    @classmethod
    def of(cls, categorical: np.ndarray, max_bins: int, labels: bool, rows: Rows) -> TreeStart:
        if not rows.weight.all():
            rows = rows[np.flatnonzero(rows.weight)]
        features = FeatureValues.of(categorical, max_bins, rows)
        y = rows.y[:, None] if rows.y.ndim == 1 else rows.y
        target: Any = class_counts(rows) if labels else extremes(y.astype(np.float64))
        return cls(float(len(rows)), float(rows.weight.sum()), features, target)


@dataclass(frozen=True)
class Prepared:
    """The rows with the bins, the target and the limits that trees are grown with."""

    data: Partitions  # the rows
    rows: int  # how many have a weight
    bins: FeatureBins
    sums: Any  # of the targets: CategoryCounts or Extremes
    target: Any  # ClassTarget or NumberTarget, or that of several
    limits: Limits
    fitted: dict[str, Any]  # attributes that are known already: see `Trees`


@dataclass(frozen=True, eq=False)
class Trees(Progress):
    """A fit of one tree or several, with the fitted attributes of the targets and the features."""

    classes_: Any = None
    n_classes_: Any = None
    max_features_: int | None = None
    n_outputs_: int | None = None


class TreeGrower(Estimator):
    """Base class of trees and of ensembles of trees."""

    _labels: ClassVar[bool]  # whether targets are classes
    _several: ClassVar[bool] = False  # whether there may be several targets
    _draws: ClassVar[float] = 1.0  # the largest number of times that a tree has a row
    _from_dtype_of_arrays: ClassVar[bool] = False  # whether 'from_dtype' is allowed where there are no names

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "splitter": [StrOptions({"best", "random"})],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_split": [
            Interval(Integral, 2, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
        ],
        "min_samples_leaf": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
        ],
        "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
            StrOptions({"sqrt", "log2"}),
            None,
        ],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "min_impurity_decrease": [Interval(Real, 0.0, None, closed="left")],
        "ccp_alpha": [Interval(Real, 0.0, None, closed="left")],
        "monotonic_cst": ["array-like", dict, None],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "max_bins": [Interval(Integral, 2, MAX_BINS, closed="both")],
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = getattr(self, "categorical_features", None) is not None
        tags.target_tags.multi_output = self._several
        return tags

    def _guarantee(self) -> Guarantee:
        return Guarantee("bit", gathers=getattr(self, "criterion", "") == "absolute_error")

    def _opened(self, X: Any, y: Any, sample_weight: Any, reset: bool = True) -> Opened:
        return opened_for(self, self, super()._opened(X, y, sample_weight, reset), X)

    def _binned(self, data: Opened) -> tuple[TreeStart, FeatureBins]:
        """Read the rows once: their values, and their bins."""
        categorical = categorical_mask(self, data.categorical)
        start = data.fold(TreeStart.of, categorical, self.max_bins, self._labels)
        check_total_weight(start.weight)
        for classes in start.target.values if self._labels else ():
            afford_classes(len(classes))
        return start, FeatureBins.of(categorical, start.features, self.max_bins)

    def _prepared(self, data: Opened) -> Prepared:
        """Read the rows once: their bins, and their grid."""
        start, bins = self._binned(data)
        n_targets = len(start.target.values if self._labels else start.target.low)
        if n_targets > 1 and self.monotonic_cst is not None:
            raise ValueError("Monotonicity constraints are not supported with multiple outputs.")
        target, total, fitted = self._target(start, data)
        limits = self._limits(target, total)
        fitted |= {"max_features_": limits.max_features, "n_outputs_": n_targets}
        return Prepared(data, int(start.rows), bins, start.target, target, limits, fitted)

    def _target(self, start: TreeStart, data: Partitions) -> tuple[Any, float, dict[str, Any]]:
        """The target on its grid, the total weight, and the fitted attributes that follow."""
        raise NotImplementedError

    def _limits(self, target: Any, total: float) -> Limits:
        D = self.n_features_in_
        split, leaf = _weight(self.min_samples_split, total), _weight(self.min_samples_leaf, total)
        if max(split, 2 * leaf) > max(total, 2.0):
            warn(
                f"The total weight of the rows is {total:.6g}, and a node is split if its weight is at least "
                f"{max(split, 2 * leaf)}: scale sample_weight, or lower min_samples_split and "
                "min_samples_leaf, which count weight.",
            )
        # One row is a leaf, and two a node, whatever they weigh.
        least = max(leaf if leaf > 1 else 0.0, self.min_weight_fraction_leaf * total)
        return Limits(
            max_depth=NO_LIMIT if self.max_depth is None else int(self.max_depth),
            least_split=int(np.ceil((split if split > 2 else 0.0) * target.weight_unit)),
            least=max(1, int(np.ceil(least * target.weight_unit))),
            least_gain=float(self.min_impurity_decrease * total * target.gain_unit),
            max_features=n_features(self.max_features, D),
            max_leaves=int(self.max_leaf_nodes or 0),
            random=self.splitter == "random",
            key=key_of(Purpose.TREES, seed_of(self.random_state)),
            constraints=self._constraints(),
        )

    def _constraints(self) -> np.ndarray:
        D, names = self.n_features_in_, getattr(self, "feature_names_in_", None)
        if self.monotonic_cst is None:
            return np.zeros(D, np.int8)
        if isinstance(self.monotonic_cst, dict):
            if names is None or (unknown := [k for k in self.monotonic_cst if k not in names]):
                unknown = list(self.monotonic_cst) if names is None else unknown
                raise ValueError(f"monotonic_cst names the features {unknown}, which X does not have.")
            cst = np.array([self.monotonic_cst.get(name, 0) for name in names])
        else:
            cst = np.asarray(self.monotonic_cst)
        if cst.shape != (D,):
            raise ValueError(f"monotonic_cst has shape {cst.shape} but the input data X has {D} features.")
        if not np.isin(cst, (-1, 0, 1)).all():
            unknown = sorted(set(cst.tolist()) - {-1, 0, 1})
            raise ValueError(f"monotonic_cst must be None or an array-like of -1, 0 or 1, but got {unknown}.")
        return cst.astype(np.int8)


def _weight(least: Any, total: float) -> float:
    """The least weight of a node; a float is a fraction of the total."""
    return float(least) if isinstance(least, Integral) else math.ceil(least * total)


def n_features(max_features: Any, D: int) -> int:
    """The number of the D features that are considered for a split."""
    if max_features is None:
        return D
    if isinstance(max_features, str):
        return max(1, int(np.sqrt(D) if max_features == "sqrt" else np.log2(D)))
    return min(int(max_features), D) if isinstance(max_features, Integral) else max(1, int(max_features * D))


def categorical_mask(model: BaseEstimator, by_type: np.ndarray | None) -> np.ndarray:
    """The features that are categorical, from `categorical_features`."""
    D, chosen = model.n_features_in_, model.categorical_features
    out = np.zeros(D, bool)
    if chosen is None:
        return out
    if isinstance(chosen, str):
        if by_type is None:
            if getattr(model, "_from_dtype_of_arrays", False):
                return out
            raise ValueError(
                "categorical_features='from_dtype' requires columns with types, as of a DataFrame, an Arrow "
                "table or a scan: pass the names or indices of the categorical features."
            )
        return by_type
    chosen = np.asarray(chosen)
    if not chosen.size:
        return out
    types = {type(value).__name__ for value in chosen.flat} if chosen.dtype == object else {chosen.dtype.name}
    if chosen.dtype.kind not in "biuU" and types != {"str"}:
        raise ValueError(
            "categorical_features must be an array-like of bool, int or str, got: "
            f"{', '.join(sorted(types))}."
        )
    if chosen.dtype == bool:
        if chosen.shape != (D,):
            raise ValueError(
                "categorical_features set as a boolean mask must have shape (n_features,), which is "
                f"({D},), got: {chosen.shape}."
            )
        return chosen.copy()
    if chosen.dtype.kind in "OU":
        if not hasattr(model, "feature_names_in_"):
            raise ValueError(
                "categorical_features should be passed as an array of integers or as a boolean mask when the "
                "model is fitted on data without feature names."
            )
        names = list(model.feature_names_in_)
        for name in chosen:
            if name not in names:
                raise ValueError(
                    f"categorical_features has an item value {str(name)!r} which is not a valid feature name "
                    f"of the training data. Observed feature names: {names}."
                )
        chosen = np.array([names.index(name) for name in chosen], int)
    if chosen.min() < 0 or chosen.max() >= D:
        raise ValueError(
            "categorical_features set as integer indices must be in [0, n_features - 1], which is "
            f"[0, {D - 1}], got: {chosen.tolist()}."
        )
    out[chosen.astype(int)] = True
    return out


def categorical_by_type(model: BaseEstimator, X: Any) -> np.ndarray | None:
    """Which features of X hold categories, by their types; None unless the estimator asks for this with a
    string."""
    chosen = getattr(model, "categorical_features", None)
    return source_of(X).categorical_features() if isinstance(chosen, str) else None


def feature_names(estimator: BaseEstimator) -> tuple[str, ...] | int:
    """The names of the features of a fitted estimator, or their number if they have no names."""
    names = getattr(estimator, "feature_names_in_", None)
    return estimator.n_features_in_ if names is None else tuple(names)


def opened_for(base: Any, model: Any, data: Partitions, X: Any) -> Opened:
    """The partitions of X that a model opened, to be passed to the `fit` of a base estimator."""
    container: Any = sp.csr_matrix if isinstance(X, sp.spmatrix) else sp.csr_array
    if sp.issparse(X) and X.format in ("csr", "csc"):
        container = type(X)
    categorical = categorical_by_type(base, X)
    return Opened(data, feature_names(model), Check.of(base), True, categorical, container)


class TreeClassifier(Classifier):
    """Base class of classification trees: answers from the shares of the classes in leaves."""

    classes_: Annotated[Any, "labels (K,) or T of labels (V_t,)"]
    _leaf_values: Callable[[Any], np.ndarray]  # the class probabilities of each row, (N, K)
    _labels = True

    def _classes_of_model(self) -> int:
        tree: Any = getattr(self.model_, "nodes", self.model_)  # the nodes of all trees of a forest
        return tree.value.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = tags.target_tags.multi_output
        return tags

    def _target(self, start: TreeStart, data: Partitions) -> tuple[Any, float, dict[str, Any]]:
        classes, totals = start.target.values, [count[0] for count in start.target.count]
        chosen = None if self.class_weight == "balanced_subsample" else self.class_weight
        if len(classes) > 1:
            return self._targets(start, data, chosen)
        if isinstance(self.class_weight, list):
            raise ValueError("class_weight is a list, which is for several outputs: pass a dict for one.")
        weight = weights_of_classes(chosen, classes[0], totals[0])
        if len(classes[0]) > 2 and self.monotonic_cst is not None:
            raise ValueError(
                "Monotonicity constraints are not supported with multiclass classification: leave "
                "monotonic_cst out."
            )
        target = ClassTarget.of(self.criterion, classes[0], totals[0] * self._draws, weight)
        fitted = {"classes_": classes[0], "n_classes_": len(classes[0])}
        return target, float(totals[0].dot(weight)), fitted

    def _targets(
        self, start: TreeStart, data: Partitions, chosen: Any
    ) -> tuple[ClassTargets, float, dict[str, Any]]:
        classes, totals = start.target.values, [count[0] for count in start.target.count]
        if isinstance(chosen, dict):
            raise ValueError(
                "For multi-output, class_weight should be a list of dicts, or the string 'balanced'; got a "
                "dict."
            )
        if not isinstance(chosen, list):
            chosen = [chosen] * len(classes)
        elif len(chosen) != len(classes):
            raise ValueError(
                f"For multi-output, number of elements in class_weight should match number of outputs; got "
                f"{len(chosen)} for {len(classes)}."
            )
        weight = tuple(map(weights_of_classes, chosen, classes, totals))
        total = start.weight
        if any(choice is not None for choice in chosen):
            total = float(data.fold(class_weighted, classes, weight))
        target = ClassTargets.of(self.criterion, classes, weight, total * self._draws)
        return target, total, {"classes_": list(classes), "n_classes_": np.array([*map(len, classes)])}

    def _by_target(self, shares: np.ndarray) -> list[np.ndarray]:
        """The shares of the classes of each target."""
        return np.split(shares, np.cumsum(self.n_classes_)[:-1], axis=1)

    @row_wise
    def predict_proba(self, X: Any) -> Any:
        """The shares of the classes in the leaf of each row; their mean, if a row is in several leaves.
        For several targets, a list with those of each.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        shares = self._leaf_values(X)
        return self._by_target(shares) if isinstance(self.classes_, list) else shares

    @row_wise
    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of the probabilities of the classes. For several targets, a list with those of each.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        with np.errstate(divide="ignore"):
            shares = np.log(self._leaf_values(X))
        return self._by_target(shares) if isinstance(self.classes_, list) else shares

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest probability for each row, or for each row and target.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self._best(self._leaf_values(X))

    def _best(self, shares: np.ndarray) -> np.ndarray:
        """The classes with the largest shares."""
        if isinstance(self.classes_, list):
            return self._labels_of([part.argmax(axis=1) for part in self._by_target(shares)])
        return self.classes_[shares.argmax(axis=1)]

    def _labels_of(self, codes: Any) -> np.ndarray:
        """The classes of several targets with these indices, (N, T)."""
        return np.stack([c[code] for c, code in zip(self.classes_, codes, strict=True)], axis=1)


class TreeRegressor(Regressor):
    """Base class of regression trees: answers from the means of leaves."""

    _leaf_values: Callable[[Any], np.ndarray]  # the mean targets for each row, (N, T)
    _labels = False

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the mean targets in the leaf of each row, averaged over the trees.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        shares = self._leaf_values(X)
        return shares[:, 0] if shares.shape[1] == 1 else shares

    @property
    def target_domain(self) -> TargetDomain | None:
        """The numbers that the criterion allows in y."""
        return COUNTS if self.criterion == "poisson" else None

    def _target(self, start: TreeStart, data: Partitions) -> tuple[Any, float, dict[str, Any]]:
        low, high = start.target.low, start.target.high
        if self.target_domain is not None:  # an ensemble may pass other targets than those that were opened
            self.target_domain.check(low)
        if self.criterion == "poisson" and (high <= 0.0).all():
            raise ValueError("Sum of y is not strictly positive which is necessary for Poisson regression.")
        weight = start.weight * self._draws
        if self.criterion == "absolute_error":
            return MedianTarget.of(low, high, weight), start.weight, {}
        criterion = "poisson" if self.criterion == "poisson" else "squared_error"
        if len(low) == 1:
            return NumberTarget.of(criterion, float(low[0]), float(high[0]), weight), start.weight, {}
        return NumberTargets.of(criterion, low, high, weight), start.weight, {}
