"""Displays of kernel machines: the margin with its support vectors, and the kernel matrix."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..core.extras import required
from ..kernels import as_kernel
from .base import Display, colors, shorten
from .decision_regions import Plane, numbers_of


class MarginDisplay(Display):
    """The margin of a classifier of two classes, with the rows and the support vectors.

    The solid line is the boundary, where the score is zero. Dashed lines are the margin, where it is -1 and
    1. Support vectors have circles.

    Parameters
    ----------
    horizontal, vertical : ndarray of shape (n_columns,), (n_rows,)
        Coordinates of the grid points.
    score : ndarray of shape (n_rows, n_columns)
        Score of the second class at each grid point.
    names : ndarray of shape (2,)
        The classes.
    support : ndarray of shape (n_support, 2)
        The support vectors.
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
    surface_ : matplotlib QuadContourSet
        The regions of the two classes.
    lines_ : matplotlib QuadContourSet
        Boundary and margin.
    points_ : list of matplotlib PathCollection
        The rows, by class.
    support_ : matplotlib PathCollection
        The circles of the support vectors.

    See Also
    --------
    suffice.svm.SVC : Its method `kkt_report` has the position of each row relative to the margin.
    suffice.plot.DecisionRegionsDisplay : Regions of any number of classes.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from suffice.plot import MarginDisplay
    >>> from suffice.svm import SVC
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> model = SVC(C=10).fit(X, y)
    >>> display = MarginDisplay.from_estimator(model, X, y)
    >>> len(display.support) == len(model.support_)
    True
    """

    def __init__(
        self,
        horizontal: Any,
        vertical: Any,
        score: Any,
        names: Any,
        support: Any,
        X: Any = None,
        codes: Any = None,
        axis_names: Any = None,
    ) -> None:
        self.horizontal, self.vertical, self.score, self.names = horizontal, vertical, score, names
        self.support, self.X, self.codes, self.axis_names = support, X, codes, axis_names

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Any,
        y: ArrayLike,
        *,
        features: tuple[Any, Any] = (0, 1),
        grid: int = 200,
        ax: Any = None,
    ) -> Self:
        """Draw the margin of a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            Fitted, with `decision_function` and two classes. If it does not have `support_vectors_`, as
            :class:`~suffice.svm.LinearSVC`, those are the rows on the margin or inside of it.
        X : array of shape (n_samples, n_features)
            Rows, which determine the limits of the plot.
        y : array of shape (n_samples,)
            Classes of the rows.
        features : pair of int or str, default=(0, 1)
            The two features to draw, by index or by name. The others are fixed at their means.
        grid : int, default=200
            Number of grid points along each axis.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        MarginDisplay
        """
        check_is_fitted(estimator)
        names = np.asarray(getattr(estimator, "classes_", ()))
        if len(names) != 2 or not hasattr(estimator, "decision_function"):
            raise TypeError(
                f"{type(estimator).__name__} has {len(names)} classes, expected a classifier of two with "
                "decision_function: use DecisionRegionsDisplay."
            )
        plane = Plane.of(estimator, X, features, grid)
        score = np.asarray(estimator.decision_function(plane.points)).reshape(grid, grid)
        codes = numbers_of(names, np.asarray(y))
        support = getattr(estimator, "support_vectors_", None)
        if support is None or not np.size(support):
            margin = np.where(codes == 1, 1.0, -1.0) * estimator.decision_function(X)
            support = plane.pair[margin <= 1.0 + 1e-6]
        else:
            support = support.toarray() if hasattr(support, "toarray") else np.asarray(support)
            support = support[:, list(plane.features)]
        rest = support, plane.pair, codes, plane.axis_names
        return cls(plane.horizontal, plane.vertical, score, names, *rest).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        MarginDisplay
        """
        Patch = required("matplotlib.patches", "plot").Patch
        Line2D = required("matplotlib.lines", "plot").Line2D
        ax = self._on(ax, figsize=(6.0, 4.2))
        from .drawing import legend_beside

        shades, place = colors(2), (self.horizontal, self.vertical, np.asarray(self.score))
        self.surface_ = ax.contourf(*place, [-np.inf, 0.0, np.inf], colors=shades, alpha=0.2, zorder=0)
        self.lines_ = ax.contour(*place, [-1.0, 0.0, 1.0], colors="0.25", linestyles=["--", "-", "--"])
        self.points_ = []
        for k in range(2) if self.codes is not None else ():
            mine = np.asarray(self.X)[np.asarray(self.codes) == k]
            self.points_.append(
                ax.scatter(*mine.T, s=22, color=shades[k], edgecolors="white", linewidths=0.6, zorder=3)
            )
        ring = {"facecolors": "none", "edgecolors": "0.25", "linewidths": 0.9}
        self.support_ = ax.scatter(*np.asarray(self.support).T, s=70, zorder=4, **ring)
        ax.set(xlim=(self.horizontal[0], self.horizontal[-1]), ylim=(self.vertical[0], self.vertical[-1]))
        if self.axis_names is not None:
            ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
        parts = [Patch(facecolor=shades[k], alpha=0.5, label=f"{self.names[k]}") for k in range(2)]
        parts += [Line2D([], [], color="0.25", label="boundary")]
        parts += [Line2D([], [], color="0.25", linestyle="--", label="margin")]
        circle = {"linestyle": "", "marker": "o", "markersize": 8, "markerfacecolor": "none"}
        parts += [Line2D([], [], color="0.25", label=f"{len(self.support)} support vectors", **circle)]
        legend_beside(ax, parts)
        return self


class KernelMatrixDisplay(Display):
    """A kernel matrix as a picture, with rows of one class side by side.

    A kernel that suits the classes shows one block for each of them.

    Parameters
    ----------
    matrix : ndarray of shape (n_samples, n_samples)
        The kernel matrix.
    order : ndarray of shape (n_samples,), default=None
        The order of the rows in the picture. If None, as they come.
    codes : ndarray of shape (n_samples,), default=None
        The index of the class of each row.
    names : ndarray of shape (n_classes,), default=None
        The classes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    image_ : matplotlib AxesImage
        The matrix.
    lines_ : list of matplotlib Line2D
        Boundaries of the classes.

    See Also
    --------
    suffice.kernels.is_positive_definite : Its least eigenvalue.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.kernels import RBF
    >>> from suffice.plot import KernelMatrixDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = KernelMatrixDisplay.from_kernel(RBF(0.5), X, y)
    >>> display.matrix.shape
    (150, 150)
    """

    def __init__(self, matrix: Any, order: Any = None, codes: Any = None, names: Any = None) -> None:
        self.matrix, self.order, self.codes, self.names = matrix, order, codes, names

    @classmethod
    def from_kernel(cls, kernel: Any, X: Any, y: Any = None, *, ax: Any = None) -> Self:
        """Draw the kernel matrix of some rows.

        Parameters
        ----------
        kernel : kernel of `suffice.kernels`, callable or str
            The kernel, or its name in scikit-learn.
        X : rows
            What the kernel takes: an array, or strings.
        y : array of shape (n_samples,), default=None
            Classes of the rows. If None, similar rows are side by side: they are ordered by the first
            component of the centred kernel matrix.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        KernelMatrixDisplay
        """
        K = as_kernel(kernel)(X)
        if y is None:
            centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
            return cls(K, np.argsort(np.linalg.eigh(centred)[1][:, -1], kind="stable")).plot(ax)
        if len(y) != len(K):
            raise ValueError(f"X has {len(K)} rows, and y has {len(y)} classes.")
        names, codes = np.unique(np.asarray(y), return_inverse=True)
        return cls(K, np.argsort(codes, kind="stable"), codes, names).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        KernelMatrixDisplay
        """
        ax = self._on(ax, figsize=(5.2, 4.4))
        K = np.asarray(self.matrix)
        order = np.arange(len(K)) if self.order is None else np.asarray(self.order)
        limit = np.abs(K).max(initial=0.0)
        shades = {"cmap": "viridis"} if K.min(initial=0.0) >= 0 else {"cmap": "RdBu_r", "vmin": -limit}
        self.image_ = ax.imshow(K[np.ix_(order, order)], vmax=limit, interpolation="nearest", **shades)
        self.figure_.colorbar(self.image_, ax=ax, label="k(x, z)")
        self.lines_ = []
        if self.codes is None:
            ax.set(xlabel="row", ylabel="row")
            return self
        ends = np.cumsum(np.bincount(np.asarray(self.codes), minlength=len(self.names)))
        for end in ends[:-1] - 0.5:
            self.lines_ += [draw(end, color="white", lw=0.8) for draw in (ax.axvline, ax.axhline)]
        middles = (np.append(0, ends[:-1]) + ends) / 2 - 0.5
        ax.set_xticks(middles, [shorten(name, 12) for name in self.names])
        ax.set_yticks(middles, [shorten(name, 12) for name in self.names])
        return self
