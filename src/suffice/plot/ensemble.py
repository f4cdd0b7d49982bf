"""Displays of ensembles: importances of features, and loss by the number of members."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier
from sklearn.metrics import log_loss, mean_squared_error, zero_one_loss
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray
from .base import COLORS, Display, feature_names, last_step, shorten, whole_numbers


class ImportancesDisplay(Display):
    """Importances of the features, the largest first. Of a forest, with the middle half of its trees.

    Parameters
    ----------
    importances : ndarray of shape (n_features,)
        Importance of each feature.
    names : sequence of str
        Names of the features.
    quartiles : ndarray of shape (2, n_features), default=None
        First and third quartile of the importances in the trees of a forest.
    top : int, default=15
        Number of features to draw.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    bars_ : matplotlib BarContainer
        The importances.
    spread_ : matplotlib LineCollection or None
        Lines from the first to the third quartile of the trees.

    See Also
    --------
    TreeDisplay : The splits of one tree.

    Notes
    -----
    The importance is the normalized decrease of impurity by the splits of a feature. It is computed from the
    rows of the fit, and favors features with many distinct values:
    :func:`sklearn.inspection.permutation_importance` with other rows does not.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.ensemble import RandomForestRegressor
    >>> from suffice.plot import ImportancesDisplay
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> forest = RandomForestRegressor(10, random_state=0).fit(X, X @ [3.0, 1.0, 0.0])
    >>> display = ImportancesDisplay.from_estimator(forest, names=["a", "b", "c"])
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['a', 'b', 'c']
    """

    def __init__(self, importances: Any, names: Any, quartiles: Any = None, top: int = 15) -> None:
        self.importances, self.names, self.quartiles, self.top = importances, names, quartiles, top

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, *, top: int = 15, ax: Any = None, names: Any = None
    ) -> Self:
        """Draw the importances of a fitted estimator.

        Parameters
        ----------
        estimator : estimator with `feature_importances_`
            Fitted tree or ensemble, or a pipeline that ends with one.
        top : int, default=15
            Number of features to draw.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        names : sequence of str, default=None
            Names of the features. If None, those seen in `fit`, or x0, x1, ...

        Returns
        -------
        ImportancesDisplay
        """
        model, _ = last_step(estimator)
        check_is_fitted(model)
        if not hasattr(model, "feature_importances_"):
            raise TypeError(f"{type(model).__name__} has no feature_importances_.")
        values = np.asarray(model.feature_importances_)
        quartiles = None
        if hasattr(model, "estimators_samples_"):  # the trees are of random samples
            by_tree = [tree.feature_importances_ for tree in model.estimators_]
            quartiles = np.quantile(by_tree, [0.25, 0.75], axis=0)
        return cls(values, feature_names(estimator, len(values), names), quartiles, top).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        ImportancesDisplay
        """
        order = np.argsort(-np.asarray(self.importances), kind="stable")[: self.top]
        ax = self._on(ax, figsize=(6.0, 0.28 * len(order) + 1.0))
        row = np.arange(len(order))
        self.bars_ = ax.barh(row, np.asarray(self.importances)[order], color=COLORS[4], height=0.7)
        self.spread_ = None
        if self.quartiles is not None:
            low, high = np.asarray(self.quartiles)[:, order]
            self.spread_ = ax.hlines(row, low, high, color="0.2", lw=1.6, label="middle half of the trees")
            ax.legend(frameon=False, fontsize=9, loc="lower right")
        ax.set_yticks(row, [shorten(self.names[d]) for d in order])
        ax.set(xlabel="importance", ylim=(len(order) - 0.4, -0.6))
        if hidden := len(self.importances) - len(order):
            rest = 1.0 - np.asarray(self.importances)[order].sum()
            ax.set_xlabel(f"importance ({hidden:,} more features: {max(rest, 0.0):.2g})")
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        return self


class StagedLossDisplay(Display):
    """Loss of rows by the number of members of a boosted ensemble, with a mark at the least.

    Parameters
    ----------
    losses : ndarray of shape (n_stages,)
        The loss after each stage.
    name : str, default=None
        Name of the rows for the legend.
    loss_name : str, default='loss'
        Name of the loss.

    Attributes
    ----------
    best : int
        Number of members with the least loss.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    line_ : matplotlib Line2D
        The loss.
    best_ : matplotlib Line2D
        Mark of the least loss.

    See Also
    --------
    ConvergenceDisplay : The objective of a fit by iteration.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.ensemble import ForwardStagewiseRegressor
    >>> from suffice.plot import StagedLossDisplay
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = X[:, 0] ** 2
    >>> model = ForwardStagewiseRegressor(n_estimators=20).fit(X[:100], y[:100])
    >>> display = StagedLossDisplay.from_estimator(model, X[:100], y[:100], name="training")
    >>> test = StagedLossDisplay.from_estimator(
    ...     model, X[100:], y[100:], name="validation", ax=display.ax_
    ... )
    >>> len(test.losses), bool(test.losses[-1] > display.losses[-1])
    (20, True)
    """

    def __init__(self, losses: Any, name: Any = None, loss_name: str = "loss") -> None:
        self.losses, self.name, self.loss_name = losses, name, loss_name

    @property
    def best(self) -> int:
        """Number of members with the least loss."""
        return int(np.nanargmin(self.losses)) + 1

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: MaybeArray = None,
        response_method: str = "predict",
        loss: Callable[..., float] | None = None,
        ax: Any = None,
        name: str | None = None,
    ) -> Self:
        """Draw the loss of rows after each stage, from staged predictions.

        Parameters
        ----------
        estimator : AdaBoostClassifier, ForwardStagewise or another ensemble with staged predictions
            Fitted ensemble.
        X : array of shape (n_samples, n_features)
            Rows in memory.
        y : array of shape (n_samples,)
            Targets.
        sample_weight : array of shape (n_samples,), default=None
            Per-sample weights.
        response_method : {'predict', 'predict_proba', 'decision_function'}, default='predict'
            The staged predictions to use: ``staged_predict``, for example.
        loss : callable, default=None
            Function of targets, predictions and `sample_weight` that returns a number, such as those of
            :mod:`sklearn.metrics`. If None, the misclassification rate for classes, the log loss for
            probabilities, the mean squared error for numbers.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created. Training and validation rows may share one.
        name : str, default=None
            Name of the rows for the legend.

        Returns
        -------
        StagedLossDisplay
        """
        check_is_fitted(estimator)
        staged = getattr(estimator, f"staged_{response_method}", None)
        if staged is None:
            raise TypeError(f"{type(estimator).__name__} has no staged_{response_method}.")
        chosen: Any = loss
        if chosen is None and not is_classifier(estimator):
            chosen = mean_squared_error
        if chosen is None:
            chosen = {"predict": zero_one_loss, "predict_proba": log_loss}.get(response_method)
        if chosen is None:
            raise ValueError(f"response_method={response_method!r} has no default loss: pass loss.")
        labels = {"labels": estimator.classes_} if chosen is log_loss else {}
        values = [chosen(y, answer, sample_weight=sample_weight, **labels) for answer in staged(X)]
        loss_name = getattr(chosen, "__name__", "loss").replace("_", " ")
        return cls(np.array(values), name, NAMES.get(chosen, loss_name)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        StagedLossDisplay
        """
        ax = self._on(ax, figsize=(6.0, 3.6))
        losses = np.asarray(self.losses, dtype=float)
        color = COLORS[(len(ax.lines) // 2) % len(COLORS)]  # a line and a mark for each one before
        least = f"least {losses[self.best - 1]:.3g} at {self.best}"
        label = least if self.name is None else f"{self.name}, {least}"
        (self.line_,) = ax.plot(np.arange(1, len(losses) + 1), losses, color=color, lw=1.8, label=label)
        (self.best_,) = ax.plot(self.best, losses[self.best - 1], "o", ms=7, color=color, clip_on=False)
        ax.set(xlabel="number of members", ylabel=self.loss_name)
        whole_numbers(ax.xaxis)
        ax.legend(frameon=False, fontsize=9)
        ax.spines[["top", "right"]].set_visible(False)
        return self


NAMES: dict[Any, str] = {
    zero_one_loss: "misclassification rate",
    mean_squared_error: "mean squared error",
    log_loss: "log loss",
}
