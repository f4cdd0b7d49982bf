"""Display of the convergence of a fit."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from .base import COLORS, Display, whole_numbers


class ConvergenceDisplay(Display):
    """Objective by iteration, with a mark where the fit stopped. The legend has the reason.

    Parameters
    ----------
    trace : ndarray of shape (n_iter,)
        The objective by iteration.
    converged : bool, default=None
        Whether the fit converged. None if unknown.
    stopped_because : str, default=None
        Reason why the iterations stopped.
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
    end_ : matplotlib Line2D
        Mark of the last iteration: a dot, or a cross if the fit did not converge.

    See Also
    --------
    RankDisplay : The error bound of ranks by iteration.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.mixture import GaussianMixture
    >>> from suffice.plot import ConvergenceDisplay
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> display = ConvergenceDisplay.from_estimator(GaussianMixture(2, random_state=0).fit(X))
    >>> display.stopped_because
    'tolerance'
    """

    def __init__(
        self, trace: Any, converged: Any = None, stopped_because: Any = None, name: Any = None
    ) -> None:
        self.trace, self.converged = trace, converged
        self.stopped_because, self.name = stopped_because, name

    @classmethod
    def from_estimator(cls, estimator: BaseEstimator, *, ax: Any = None, name: str | None = None) -> Self:
        """Draw the trace of a fitted estimator.

        Parameters
        ----------
        estimator : iterative estimator
            Fitted estimator with `trace_`.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created. Several fits may share one.
        name : str, default=None
            Name for the legend. If None, the name of the class.

        Returns
        -------
        ConvergenceDisplay
        """
        if not hasattr(estimator, "trace_"):
            raise TypeError(
                f"{type(estimator).__name__} has no trace_: it is not fitted, or it does not iterate."
            )
        parts = (estimator.trace_, estimator.converged_, estimator.stopped_because_)
        return cls(*parts, type(estimator).__name__ if name is None else name).plot(ax)

    @classmethod
    def from_predictions(cls, trace: Any, *, ax: Any = None, name: str | None = None) -> Self:
        """Draw a trace.

        Parameters
        ----------
        trace : array of shape (n_iter,)
            The objective by iteration.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        name : str, default=None
            Name for the legend.

        Returns
        -------
        ConvergenceDisplay
        """
        return cls(np.asarray(trace, dtype=float), name=name).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        ConvergenceDisplay
        """
        ax = self._on(ax, figsize=(6.0, 3.6))
        trace = np.asarray(self.trace, dtype=float)
        n = len(trace)
        color = COLORS[(len(ax.lines) // 2) % len(COLORS)]  # a line and a mark for each fit before
        reason = f"stopped at {n}" + (f": {self.stopped_because}" if self.stopped_because else "")
        label = reason if self.name is None else f"{self.name}, {reason}"
        (self.line_,) = ax.plot(np.arange(1, n + 1), trace, color=color, lw=1.8, label=label)
        finite = np.flatnonzero(np.isfinite(trace))
        last = finite[-1:]  # what is not finite cannot be drawn
        marker = "X" if self.converged is not None and not self.converged else "o"
        (self.end_,) = ax.plot(last + 1, trace[last], marker, ms=8, color=color, clip_on=False)
        ax.set(xlabel="iteration", ylabel="objective")
        whole_numbers(ax.xaxis)
        ax.legend(frameon=False, fontsize=9)
        ax.spines[["top", "right"]].set_visible(False)
        return self
