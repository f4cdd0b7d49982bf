"""What a classifier decides where, in the plane of two features; and where it makes no decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from ..core.arguments import MaybeArray
from ..core.extras import required
from ..inputs.checks import places_of
from .base import Display, colors, feature_names

REJECTED = "#bbbbbb"


class DecisionRegionsDisplay(Display):
    """Decision regions of two features, with the rows. The region of rejection is hatched.

    scikit-learn's `DecisionBoundaryDisplay` draws probabilities, scores and classes, but no predictions that
    are not classes, such as those of :class:`~suffice.decision.BayesDecision`.

    Parameters
    ----------
    horizontal, vertical : ndarray of shape (n_columns,), (n_rows,)
        Coordinates of the grid points.
    region : ndarray of shape (n_rows, n_columns)
        Index of the predicted label at each grid point.
    names : ndarray of shape (n_names,)
        Labels that can be predicted.
    rejected : int, default=None
        Index of the name that means rejection.
    X : ndarray of shape (n_samples, 2), default=None
        Rows to draw as points.
    codes : ndarray of shape (n_samples,), default=None
        Indices of their classes.
    axis_names : pair of str, default=None
        Names of the two features.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    surface_ : matplotlib QuadMesh
        The regions.
    points_ : list of matplotlib PathCollection
        The rows, by class.

    See Also
    --------
    suffice.decision.BayesDecision : Decisions of minimum expected loss.
    sklearn.inspection.DecisionBoundaryDisplay : Probabilities and scores.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.decision import BayesDecision
    >>> from suffice.naive_bayes import GaussianNB
    >>> from suffice.plot import DecisionRegionsDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesDecision(GaussianNB(), reject_cost=0.2).fit(X[:, 2:], y)
    >>> display = DecisionRegionsDisplay.from_estimator(model, X[:, 2:], y)
    >>> display.names[display.rejected]
    np.int64(-1)
    """

    def __init__(
        self,
        horizontal: Any,
        vertical: Any,
        region: Any,
        names: Any,
        rejected: int | None = None,
        X: Any = None,
        codes: Any = None,
        axis_names: Any = None,
    ) -> None:
        self.horizontal, self.vertical, self.region, self.names = horizontal, vertical, region, names
        self.rejected, self.X, self.codes, self.axis_names = rejected, X, codes, axis_names

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Any,
        y: MaybeArray = None,
        *,
        features: tuple[Any, Any] = (0, 1),
        grid: int = 200,
        ax: Any = None,
    ) -> Self:
        """Draw the decision regions of a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            Fitted.
        X : array of shape (n_samples, n_features)
            Rows, which determine the limits of the plot.
        y : array of shape (n_samples,), default=None
            Classes of the rows. If None, the rows are not drawn.
        features : pair of int or str, default=(0, 1)
            The two features to draw, by index or by name. The others are fixed at their means.
        grid : int, default=200
            Number of grid points along each axis.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        DecisionRegionsDisplay
        """
        if not hasattr(estimator, "classes_"):
            raise TypeError(f"{type(estimator).__name__} is not a fitted classifier.")
        names = np.asarray(getattr(estimator, "actions_", estimator.classes_))
        rejected = len(names) - 1 if getattr(estimator, "reject_cost", None) is not None else None
        plane = Plane.of(estimator, X, features, grid)
        region = numbers_of(names, np.asarray(estimator.predict(plane.points))).reshape(grid, grid)
        if y is not None and set(estimator.classes_.tolist()) - set(names.tolist()):
            raise ValueError(
                f"The estimator predicts the actions {names.tolist()}, which are not classes: leave y out."
            )
        codes = None if y is None else numbers_of(names, np.asarray(y))
        rest = rejected, plane.pair, codes, plane.axis_names
        return cls(plane.horizontal, plane.vertical, region, names, *rest).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        DecisionRegionsDisplay
        """
        ListedColormap = required("matplotlib.colors", "plot").ListedColormap
        Patch = required("matplotlib.patches", "plot").Patch
        ax = self._on(ax, figsize=(6.0, 4.2))
        from .drawing import legend_beside

        K = len(self.names)
        shades = colors(K if self.rejected is None else K - 1)
        if self.rejected is not None:
            shades = [*shades[: self.rejected], REJECTED, *shades[self.rejected :]]
        region = np.asarray(self.region)
        options = {"cmap": ListedColormap(shades), "vmin": -0.5, "vmax": K - 0.5, "shading": "nearest"}
        self.surface_ = ax.pcolormesh(
            self.horizontal, self.vertical, region, alpha=0.3, zorder=0, rasterized=True, **options
        )
        for k in np.unique(region)[1:]:
            ax.contour(self.horizontal, self.vertical, region >= k, [0.5], colors="white", linewidths=1.2)
        parts = [Patch(facecolor=shades[k], alpha=0.5, label=f"{self.names[k]}") for k in range(K)]
        if self.rejected is not None:
            hidden = np.where(region == self.rejected, 1.0, np.nan)
            ax.contourf(self.horizontal, self.vertical, hidden, [0.5, 1.5], colors="none", hatches=["////"])
            parts[self.rejected].set(hatch="////", edgecolor="white")
        self.points_ = []
        if self.codes is not None:
            for k in np.unique(self.codes):
                mine = np.asarray(self.X)[np.asarray(self.codes) == k]
                dots = ax.scatter(
                    *mine.T, s=22, color=shades[k], edgecolors="white", linewidths=0.6, zorder=3
                )
                self.points_.append(dots)
        ax.set(xlim=(self.horizontal[0], self.horizontal[-1]), ylim=(self.vertical[0], self.vertical[-1]))
        if self.axis_names is not None:
            ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
        legend_beside(ax, parts)
        return self


@dataclass(frozen=True)
class Plane:
    """A grid over two features of some rows; the other features are fixed at their means."""

    horizontal: np.ndarray
    vertical: np.ndarray
    points: Any  # the grid points, as a classifier takes them
    features: tuple[int, int]
    pair: np.ndarray  # the two features of the rows
    axis_names: tuple[str, str]

    @classmethod
    def of(cls, estimator: BaseEstimator, X: Any, features: tuple[Any, Any], grid: int) -> Plane:
        frame = X if hasattr(X, "columns") else None
        rows = check_array(X, dtype=np.float64)
        across, up = places_of(features, [] if frame is None else list(frame.columns), rows.shape[1])
        pair = rows[:, [across, up]]
        low, high = pair.min(axis=0), pair.max(axis=0)
        rim = 0.05 * np.where(high > low, high - low, 1.0)
        horizontal, vertical = np.linspace(low - rim, high + rim, grid).T
        points = np.tile(rows.mean(axis=0), (grid**2, 1))
        points[:, across], points[:, up] = (part.ravel() for part in np.meshgrid(horizontal, vertical))
        at_points: Any = points if frame is None else type(frame)(points, columns=frame.columns)
        columns = feature_names(estimator, rows.shape[1], None if frame is None else frame.columns)
        return cls(horizontal, vertical, at_points, (across, up), pair, (columns[across], columns[up]))


def numbers_of(names: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The index of each label among the names; unknown labels are at the end."""
    place = {name: n for n, name in enumerate(names.tolist())}
    strange = set(labels.tolist()) - set(place)
    if strange:
        raise ValueError(f"y has labels {sorted(map(str, strange))}, expected only {names.tolist()}.")
    return np.array([place[label] for label in labels.tolist()])
