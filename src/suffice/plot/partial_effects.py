"""Display of the partial effects of an additive model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.stats import norm
from sklearn.base import BaseEstimator

from ..core.extras import required
from ..inputs.checks import places_of
from .base import COLORS, Display, shorten

POINTS = 200  # of each curve
COLUMNS = 4  # of panels, side by side


class PartialEffectsDisplay(Display):
    """Partial effects of an additive model: one panel per feature, with pointwise confidence bands.

    Parameters
    ----------
    grids : list of ndarrays
        Values of each feature at which its function is drawn.
    effects : list of ndarrays
        Values of the functions.
    errors : list of ndarrays
        Standard errors of the functions.
    names : list of str
        The features.
    knots : list of ndarrays, default=None
        Knots of each function, marked at the lower edge.
    level : float, default=0.95
        Pointwise confidence level of the bands.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The panels.
    ax_ : matplotlib Axes
        Axes of the first panel.
    figure_ : matplotlib Figure
        Figure of the panels.
    lines_ : list of matplotlib Line2D
        The functions.
    bands_ : list of matplotlib collections
        The bands.

    See Also
    --------
    suffice.additive.AdditiveModel : Smooth functions of features.
    suffice.additive.GeneralizedAdditiveModel : The same for classes and counts.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.additive import AdditiveModel
    >>> from suffice.plot import PartialEffectsDisplay
    >>> X = np.random.default_rng(0).uniform(size=(300, 2))
    >>> model = AdditiveModel().fit(X, np.sin(6.0 * X[:, 0]) + X[:, 1])
    >>> display = PartialEffectsDisplay.from_estimator(model)
    >>> display.names
    ['x0', 'x1']
    """

    def __init__(
        self, grids: Any, effects: Any, errors: Any, names: Any, knots: Any = None, level: float = 0.95
    ) -> None:
        self.grids, self.effects, self.errors = grids, effects, errors
        self.names, self.knots, self.level = names, knots, level

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        *,
        features: Sequence[Any] | None = None,
        level: float = 0.95,
        ax: Any = None,
        sharey: bool = False,
    ) -> Self:
        """Draw the functions of an additive model.

        Parameters
        ----------
        estimator : AdditiveModel or GeneralizedAdditiveModel
            Fitted.
        features : list of int or str, default=None
            Features to draw, by index or by name. If None, all.
        level : float, default=0.95
            Pointwise confidence level of the bands.
        ax : array of matplotlib Axes, default=None
            Axes to draw on, one for each feature. If None, a new figure is created.
        sharey : bool, default=False
            Whether the panels of a new figure have the same scale of effects, so that their heights can be
            compared. A large effect then flattens the others.

        Returns
        -------
        PartialEffectsDisplay
        """
        if not hasattr(estimator, "partial_effects") or not hasattr(estimator, "model_"):
            raise TypeError(
                f"{type(estimator).__name__} has no partial effects, or is not fitted: pass a fitted "
                "AdditiveModel or GeneralizedAdditiveModel."
            )
        basis, D = estimator.model_.basis, estimator.n_features_in_
        names = [str(name) for name in getattr(estimator, "feature_names_in_", [f"x{d}" for d in range(D)])]
        wanted = range(D) if features is None else features
        places = places_of(wanted, names, D)
        if not places:
            raise ValueError("features is empty: name some, or leave it out to draw all.")
        knots = [basis.knots[basis.first[d] : basis.first[d + 1]] for d in places]
        grids = [np.linspace(k[0], k[-1], POINTS) for k in knots]
        rows = np.zeros((POINTS, D))
        rows[:] = basis.knots[basis.first[:-1]]
        curves = []
        for d, grid in zip(places, grids, strict=True):
            rows_d = rows.copy()
            rows_d[:, d] = grid
            curves.append([part[:, d] for part in estimator.model_.effects(rows_d)])
        effects, errors = ([curve[i] for curve in curves] for i in (0, 1))
        return cls(grids, effects, errors, [names[d] for d in places], knots, level).plot(ax, sharey=sharey)

    def plot(self, ax: Any = None, *, sharey: bool = False) -> Self:
        """Draw.

        Parameters
        ----------
        ax : array of matplotlib Axes, default=None
            Axes to draw on, one for each feature. If None, a new figure is created.
        sharey : bool, default=False
            Whether the panels of a new figure have the same scale of effects.

        Returns
        -------
        PartialEffectsDisplay
        """
        count = len(self.grids)
        if ax is None:
            ax = self._panels(count, sharey)
        axes = np.ravel(np.asarray(ax, dtype=object))
        if len(axes) < count:
            raise ValueError(f"ax has {len(axes)} axes, expected {count}: one for each feature.")
        self.axes_ = axes[:count]
        self.ax_, self.figure_ = axes[0], axes[0].figure
        times = norm.ppf(0.5 + self.level / 2.0)
        self.lines_, self.bands_ = [], []
        for n, panel in enumerate(self.axes_):
            x, value, width = self.grids[n], self.effects[n], times * self.errors[n]
            panel.axhline(0.0, color="0.8", lw=0.8, zorder=0)
            band = panel.fill_between(x, value - width, value + width, color=COLORS[0], alpha=0.2, lw=0)
            (line,) = panel.plot(x, value, color=COLORS[0], lw=1.8)
            if self.knots is not None:
                panel.plot(
                    self.knots[n],
                    np.full(len(self.knots[n]), 0.02),
                    "|",
                    color="0.4",
                    ms=6,
                    transform=panel.get_xaxis_transform(),
                )
            panel.set_xlabel(shorten(self.names[n]))
            panel.spines[["top", "right"]].set_visible(False)
            self.lines_.append(line)
            self.bands_.append(band)
            if panel.get_subplotspec() is None or panel.get_subplotspec().is_first_col():
                panel.set_ylabel("effect")
        return self

    def _panels(self, count: int, sharey: bool) -> Any:
        """New panels."""
        plt = required("matplotlib.pyplot", "plot")
        columns = min(count, COLUMNS)
        down = -(-count // columns)
        figure, axes = plt.subplots(
            down,
            columns,
            figsize=(2.9 * columns, 2.5 * down),
            sharey=sharey,
            squeeze=False,
            layout="constrained",
        )
        for empty in axes.ravel()[count:]:
            figure.delaxes(empty)
        return axes
