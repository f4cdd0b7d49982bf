"""Main effects and interactions of boosted trees, read off the trees. Hastie, Tibshirani and Friedman,
section 10.11; STATS601 5.14.2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from ..core.cost import afford
from ..statistics.sums import category_codes
from ..tree.forest import Forest
from ..tree.model import Tree


@dataclass(frozen=True, eq=False)
class Effect:
    """A step function of one or several features.

    The cells of a numeric feature are the intervals that end with each of its thresholds and the one above
    them; those of a categorical feature are its categories. The last cell is that of missing values and of
    unknown categories.
    """

    features: tuple[int, ...]
    cells: tuple[np.ndarray, ...]  # of each feature, its thresholds or its categories
    categorical: tuple[bool, ...]
    value: np.ndarray  # an axis for each feature, and one for the outputs if there are several

    def __call__(self, X: Any) -> np.ndarray:
        """The value for each row, (N,); or (N, K) of K classes."""
        X = np.asarray(X)
        places = []
        for d, cells, categorical in zip(self.features, self.cells, self.categorical, strict=True):
            if categorical:
                code, known = category_codes(cells, X[:, d])
                places.append(np.where(known, code, len(cells)))
            else:
                x = X[:, d].astype(np.float64)
                places.append(np.where(np.isnan(x), len(cells) + 1, np.searchsorted(cells, x)))
        return self.value[tuple(places)]


def boosting_effects(model: BaseEstimator, *, order: int = 2) -> Bunch:
    """Write the score of boosted trees as a sum of step functions of one feature, of pairs, and so on.

    Trees are added up by the features that they split by. So with trees of two leaves, the score is a sum of
    functions of single features, and trees of J leaves have interactions of at most J - 1 features. The sum
    of all effects and the intercept is the `decision_function` of a classifier, or `predict` of a regressor:
    its logarithm with the loss 'poisson' or 'gamma'.

    Parameters
    ----------
    model : AdaBoost, forward stagewise or gradient boosting estimator
        Fitted model whose members are trees of suffice.
    order : int, default=2
        Largest number of features of an effect. A tree that splits by more raises an error.

    Returns
    -------
    effects : Bunch
        `intercept`, the sum of what does not depend on the features; and `effects`, a dict from tuples of
        feature indices, as ``(0,)`` and ``(0, 3)``, to step functions. Each has `features`, `cells` (the
        thresholds or categories of each feature), `value`, an array with an axis for each feature, and is
        called with rows. With more than two classes, `value` has a last axis for the classes.

    See Also
    --------
    suffice.additive.AdditiveModel : Smooth functions of single features.

    Notes
    -----
    The effect of a pair is the sum of the trees that split by both features, so that it includes what these
    trees say of each feature alone. Effects are not centered.

    References
    ----------
    * Hastie, Tibshirani and Friedman (2009), "The Elements of Statistical Learning", section 10.11.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.ensemble import ForwardStagewiseRegressor, boosting_effects
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> model = ForwardStagewiseRegressor(n_estimators=20).fit(X, [0.0, 1.0, 3.0, 4.0])
    >>> found = boosting_effects(model)
    >>> sorted(found.effects)
    [(0,), (1,)]
    >>> first = found.effects[0,]
    >>> first.cells[0], (first.value[1] - first.value[0]).round(4)
    (array([0.5]), np.float64(3.0))
    """
    check_is_fitted(model)
    if not hasattr(model, "_score_trees"):
        raise TypeError(f"{type(model).__name__} is not a boosted ensemble.")
    trees, intercept = model._score_trees()
    by_features: dict[tuple[int, ...], list[Tree]] = {}
    for tree in trees:
        features = tuple(np.unique(tree.feature[tree.feature >= 0]).tolist())
        if len(features) > order:
            raise ValueError(
                f"A tree splits by {len(features)} features, {list(features)}, but order={order}: raise "
                f"order, or boost trees with max_leaf_nodes={order + 1}."
            )
        by_features.setdefault(features, []).append(tree)
    constant = sum((tree.value[0] for tree in by_features.pop((), [])), start=np.asarray(intercept))
    ordered = sorted(by_features, key=lambda features: (len(features), features))
    return Bunch(
        intercept=_squeezed(constant),
        effects={features: _effect(features, by_features[features]) for features in ordered},
    )


def _effect(features: tuple[int, ...], trees: list[Tree]) -> Effect:
    """The sum of the trees that split by these features, in each cell."""
    forest = Forest.of(trees)
    nodes, bins = forest.nodes, forest.nodes.bins
    cells, rows = [], []
    for d in features:
        if bins.categorical[d]:
            cells.append(bins.categories[d])
            rows.append([*bins.categories[d], None])
        else:
            cells.append(np.unique(nodes.threshold[nodes.feature == d]))
            rows.append([*cells[-1], np.inf, np.nan])
    shape, D, K = tuple(map(len, rows)), len(bins.n_bins), nodes.value.shape[1]
    n_cells = math.prod(shape)
    afford(float(n_cells) * (K + D), f"the {n_cells} cells of an effect", "use fewer members.")
    dtype, other = (object, None) if bins.categorical.any() else (np.float64, np.nan)
    X = np.full((n_cells, D), other, dtype)
    for d, values, at in zip(features, rows, np.indices(shape).reshape(len(shape), -1), strict=True):
        X[:, d] = np.array(values, dtype)[at]
    value = _squeezed(forest.sum(X)).reshape(*shape, *([K] if K > 1 else []))
    return Effect(features, tuple(cells), tuple(bins.categorical[list(features)].tolist()), value)


def _squeezed(value: np.ndarray) -> np.ndarray:
    """Drop the axis of outputs if there is one output."""
    return value[..., 0] if value.shape[-1] == 1 else value
