"""Display of the explained variance by component."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from .base import COLORS, PATH, Display, last_step, whole_numbers


class ScreeDisplay(Display):
    """Scree plot: share of the variance that each component explains, and the cumulative share.

    Parameters
    ----------
    explained_variance_ratio : ndarray of shape (n_components,)
        Share of the total variance of each component.
    threshold : float, default=None
        Cumulative share to mark, with the number of components that reach it.
    reference : ndarray of shape (n_components,), default=None
        Shares that components without factors would have, as `parallel_analysis` finds them. Those above it
        are marked.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    bars_ : matplotlib BarContainer
        The shares.
    line_ : matplotlib Line2D
        The cumulative shares.
    reference_line_ : matplotlib Line2D
        The reference; None if there is none.
    n_components_ : int
        Number of components that reach `threshold`, or that are above `reference`; None if there is neither,
        or all components do not reach the threshold.

    See Also
    --------
    suffice.decomposition.PCA : Principal component analysis.
    suffice.decomposition.TruncatedSVD : Components of sparse rows.
    suffice.decomposition.parallel_analysis : The number of factors, by a reference.
    ModelSelectionDisplay : Other criteria for the number of components.

    References
    ----------
    * Cattell (1966), "The scree test for the number of factors", Multivariate Behavioral Research 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.decomposition import PCA
    >>> from suffice.plot import ScreeDisplay
    >>> pca = PCA().fit(load_iris().data)
    >>> ScreeDisplay.from_estimator(pca, threshold=0.95).n_components_
    2
    """

    def __init__(
        self, explained_variance_ratio: Any, threshold: float | None = None, reference: Any = None
    ) -> None:
        self.explained_variance_ratio, self.threshold = explained_variance_ratio, threshold
        self.reference = reference

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, *, threshold: float | None = None, ax: Any = None
    ) -> Self:
        """Draw the explained variance of a fitted decomposition.

        Parameters
        ----------
        estimator : estimator with `explained_variance_ratio_`
            Fitted `PCA` or `TruncatedSVD` of suffice or scikit-learn, or a pipeline that ends with one.
        threshold : float, default=None
            Cumulative share to mark, such as 0.95.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        ScreeDisplay
        """
        estimator, _ = last_step(estimator)
        if not hasattr(estimator, "explained_variance_ratio_"):
            raise TypeError(
                f"{type(estimator).__name__} has no explained_variance_ratio_: pass a fitted PCA or "
                "TruncatedSVD."
            )
        return cls(np.asarray(estimator.explained_variance_ratio_), threshold).plot(ax)

    @classmethod
    def from_parallel_analysis(cls, found: Any, *, ax: Any = None) -> Self:
        """Draw eigenvalues and those of rows without factors, as shares of their sum.

        Parameters
        ----------
        found : ParallelAnalysis
            Result of :func:`~suffice.decomposition.parallel_analysis`.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        ScreeDisplay
        """
        if not (hasattr(found, "eigenvalues") and hasattr(found, "threshold")):
            raise TypeError(f"Pass the result of parallel_analysis; got {type(found).__name__}.")
        total = found.eigenvalues.sum()
        return cls(found.eigenvalues / total, reference=found.threshold / total).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        ScreeDisplay
        """
        ax = self._on(ax, figsize=(6.0, 3.8))
        ratio = np.asarray(self.explained_variance_ratio)
        number, total = np.arange(1, len(ratio) + 1), np.cumsum(ratio)
        self.bars_ = ax.bar(number, ratio, color=COLORS[0], width=0.8, label="component")
        dots = {"marker": "o", "ms": 4} if len(ratio) <= 30 else {}
        (self.line_,) = ax.plot(number, total, color=PATH, lw=1.6, label="cumulative", **dots)
        self.n_components_ = self.reference_line_ = None
        if self.reference is not None:
            reference = np.asarray(self.reference)
            above = ratio > reference
            n = self.n_components_ = len(above) if above.all() else int(above.argmin())
            text = f"without factors: {n} above"
            style = {"color": COLORS[1], "lw": 1.6, "ls": "--", "zorder": 3}
            (self.reference_line_,) = ax.plot(number, reference, label=text, **style)
        if self.threshold is not None:
            reached = np.flatnonzero(total >= self.threshold)
            ax.axhline(self.threshold, color="0.4", lw=1.0, ls=":")
            if len(reached):
                n = self.n_components_ = int(reached[0]) + 1
                ring = {"mfc": "none", "mew": 1.6, "ls": "none"}
                text = f"{self.threshold:.0%}: {n} components"
                ax.plot(n, total[n - 1], "o", ms=11, color="0.2", label=text, **ring)
        ax.set(xlabel="component", ylabel="explained variance ratio", ylim=(0.0, 1.03))
        whole_numbers(ax.xaxis)
        ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, frameon=False, fontsize=9)
        ax.spines[["top", "right"]].set_visible(False)
        return self
