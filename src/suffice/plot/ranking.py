"""Display of the convergence of link analysis scores."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from .base import COLORS, Display, whole_numbers


class RankDisplay(Display):
    """Error bound of scores by iteration, with the tolerance.

    Parameters
    ----------
    trace : ndarray of shape (n_iter,)
        Upper bound on the l1 error of the scores, by iteration.
    tol : float, default=None
        Tolerance of the fit.
    name : str, default=None
        Name for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    line_ : matplotlib Line2D
        The trace.
    tolerance_ : matplotlib Line2D
        The tolerance, if there is one.

    See Also
    --------
    suffice.ranking.PageRank : Ranks with an error bound.
    ConvergenceDisplay : The objective of other iterative fits.

    Examples
    --------
    >>> from suffice.plot import RankDisplay
    >>> from suffice.ranking import PageRank
    >>> rank = PageRank().fit(([0, 0, 1, 2], [1, 2, 2, 0]))
    >>> display = RankDisplay.from_estimator(rank)
    >>> display.ax_.get_yscale()
    'log'
    """

    def __init__(self, trace: Any, tol: Any = None, name: Any = None) -> None:
        self.trace, self.tol, self.name = trace, tol, name

    @classmethod
    def from_estimator(cls, estimator: BaseEstimator, *, ax: Any = None, name: str | None = None) -> Self:
        """Draw the convergence of the scores of a fitted estimator.

        Parameters
        ----------
        estimator : PageRank, HITS, TrustRank or BrowseRank
            Fitted.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created. Several fits may share one.
        name : str, default=None
            Name for the legend. If None, the name of the class.

        Returns
        -------
        RankDisplay
        """
        if getattr(estimator, "takes", None) != "edges" or not hasattr(estimator, "trace_"):
            raise TypeError(f"{type(estimator).__name__} is not a fitted estimator of the scores of nodes.")
        return cls(estimator.trace_, estimator.tol, name or type(estimator).__name__).plot(ax)

    @classmethod
    def from_predictions(
        cls, trace: Any, *, tol: float | None = None, ax: Any = None, name: str | None = None
    ) -> Self:
        """Draw error bounds.

        Parameters
        ----------
        trace : array of shape (n_iter,)
            Error bounds by iteration.
        tol : float, default=None
            Tolerance of the fit.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        name : str, default=None
            Name for the legend.

        Returns
        -------
        RankDisplay
        """
        return cls(np.asarray(trace, dtype=float), tol, name).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        RankDisplay
        """
        ax = self._on(ax, figsize=(6.0, 3.6))
        trace = np.asarray(self.trace, dtype=float)
        n = len(trace)
        color = COLORS[len([line for line in ax.lines if line.get_linestyle() == "-"]) % len(COLORS)]
        label = f"{n} iterations" if self.name is None else f"{self.name}, {n} iterations"
        shown = np.where(trace > 0, trace, np.nan)  # an error of zero has no logarithm
        (self.line_,) = ax.plot(np.arange(1, n + 1), shown, color=color, lw=1.8, marker=".", label=label)
        if self.tol:
            self.tolerance_ = ax.axhline(self.tol, color=color, lw=1.0, ls=":")
        ax.set(xlabel="iteration", ylabel="error of all scores, at most", yscale="log")
        whole_numbers(ax.xaxis)
        ax.legend(frameon=False, fontsize=9, loc="upper right")
        ax.spines[["top", "right"]].set_visible(False)
        return self
