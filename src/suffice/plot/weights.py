"""Display of the largest weights of a linear model."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from .base import COLORS, Display, last_step, shorten
from .base import feature_names as names_of_features

ACROSS = 4  # classes in a row of the picture
CLASSES = 12  # that are drawn if none are named


class TopWeightsDisplay(Display):
    """Features with the largest positive and negative weights, by class, as bars.

    Parameters
    ----------
    coef : ndarray of shape (n_classes, n_features)
        Weights of the features.
    names : list of str
        Names of the features.
    titles : list of str
        Names of the classes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    axes_ : list of matplotlib Axes
        One for each class.
    bars_ : list of matplotlib BarContainer
        The bars of each class, from the largest weight to the smallest.

    See Also
    --------
    suffice.sequence.ConditionalRandomField : Weights of features and transitions.
    suffice.linear_model.LogisticRegression : Weights of features.
    TransitionDisplay : The weights of transitions.
    CoefficientPathDisplay : Weights by the strength of the penalty.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.linear_model import LogisticRegression
    >>> from suffice.plot import TopWeightsDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X, y)
    >>> display = TopWeightsDisplay.from_estimator(model, n_features=2)
    >>> [tick.get_text() for tick in display.axes_[0].get_yticklabels()]
    ['sepal width (cm)', 'petal length (cm)']
    """

    def __init__(self, coef: Any, names: Any, titles: Any) -> None:
        self.coef, self.names, self.titles = coef, names, titles

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        feature_names: Any = None,
        *,
        n_features: int = 10,
        classes: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw the weights of a fitted linear model.

        Parameters
        ----------
        estimator : estimator with `coef_`
            Fitted conditional random field, linear classifier or regression; or a pipeline that ends with
            one.
        feature_names : sequence of str, default=None
            Names of the features. If None, those seen in `fit`, those of the previous steps of a pipeline, or
            x0, x1, ...
        n_features : int, default=10
            Maximum number of features for each class: at most half of them with negative weights.
        classes : sequence, default=None
            Classes to draw. If None, the twelve with the largest weights.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        TopWeightsDisplay
        """
        model, _ = last_step(estimator)
        if not hasattr(model, "coef_"):
            raise TypeError(f"{type(model).__name__} has no coef_: pass a fitted linear model.")
        coef = model.coef_.toarray() if sp.issparse(model.coef_) else np.asarray(model.coef_, dtype=float)
        coef = np.atleast_2d(coef)
        labels = np.asarray(getattr(model, "classes_", np.arange(len(coef))))
        if len(labels) == 2 and len(coef) == 1:
            labels = labels[1:]  # weights of the positive class
        if classes is not None:
            place = {label: k for k, label in enumerate(labels.tolist())}
            strange = [label for label in classes if label not in place]
            if strange:
                raise ValueError(f"No classes are {strange}; expected some of {labels.tolist()}.")
            chosen = [place[label] for label in classes]
        else:
            chosen = sorted(np.argsort(-np.abs(coef).max(axis=1), kind="stable")[:CLASSES].tolist())
        names = names_of_features(estimator, coef.shape[1], feature_names)
        titles = [str(labels[k]) for k in chosen] if hasattr(model, "classes_") or len(coef) > 1 else [""]
        return cls(coef[chosen], names, titles).plot(ax, n_features=n_features)

    def plot(self, ax: Any = None, *, n_features: int = 10) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created. Given axes are divided among the classes.
        n_features : int, default=10
            Maximum number of features for each class: at most half of them with negative weights.

        Returns
        -------
        TopWeightsDisplay
        """
        coef = np.asarray(self.coef)
        best = [_largest(row, n_features) for row in coef]
        across, rows = min(ACROSS, len(coef)), max(1, *map(len, best))
        long = min(24, max((len(self.names[d]) for row in best for d in row), default=1))
        down = -(-len(coef) // across)
        ax = self._on(ax, figsize=(across * (1.7 + 0.07 * long), 0.5 + down * (0.5 + 0.2 * rows)))
        from .drawing import panels

        most = 1.05 * max(float(np.abs(coef).max()), 1e-12)
        self.axes_, self.bars_ = [], []
        for part, row, mine, title in zip(
            panels(ax, len(coef), across), coef, best, self.titles, strict=True
        ):
            shades = np.where(row[mine] < 0, COLORS[1], COLORS[0])
            self.bars_.append(part.barh(range(len(mine)), row[mine], color=shades, height=0.75))
            part.set_yticks(range(len(mine)), [shorten(self.names[d], 24) for d in mine], fontsize=8)
            part.set(ylim=(rows - 0.5, -0.5), xlim=(-most if (coef < 0).any() else 0.0, most))
            part.axvline(0.0, color="0.6", lw=0.8)
            part.tick_params(axis="y", length=0)
            part.tick_params(axis="x", labelsize=8)
            part.spines[["top", "right", "left"]].set_visible(False)
            part.set_title(shorten(title), fontsize=9, loc="left")
            self.axes_.append(part)
        return self


def _largest(row: np.ndarray, count: int) -> np.ndarray:
    """The features of the largest weights, then of the smallest: at most half of the count are negative."""
    order = np.argsort(-row, kind="stable")
    negative = order[row[order] < 0][::-1][: count // 2]
    positive = order[row[order] > 0][: count - len(negative)]
    return np.concatenate([positive, negative[::-1]])
