"""Display of regularization paths."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from ..core.statistics import tree_sum
from ..linear_model.coordinate_descent import ElasticNetModel, Paths, grid
from ..linear_model.least_squares import LinearModel
from ..statistics import Moments
from .base import COLORS, Display, shorten

NAMED = 8  # coefficients, the largest, whose names are written


class CoefficientPathDisplay(Display):
    """Regularization path: coefficients by the strength of the penalty, with the chosen strength.

    Parameters
    ----------
    alphas : ndarray of shape (n_alphas,)
        Strengths of the penalty.
    coefs : ndarray of shape (n_features, n_alphas)
        Coefficients.
    chosen : float, default=None
        The strength to mark.
    names : sequence of str, default=None
        Names of the features. If None, indices.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    lines_ : list of matplotlib Line2D
        The path of each coefficient.
    labels_ : list of matplotlib Annotation
        Names of the eight largest coefficients, at the ends of their paths. The other paths are grey.
    chosen_ : matplotlib Line2D
        Mark of the chosen strength, if there is one.

    See Also
    --------
    suffice.linear_model.LassoCV : Chooses the strength by cross-validation.
    suffice.linear_model.enet_path : Coefficients by the strength of the penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.linear_model import LassoCV
    >>> from suffice.plot import CoefficientPathDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> model = LassoCV(random_state=0).fit(X, X @ [3.0, -1.0, 0.0, 0.0])
    >>> display = CoefficientPathDisplay.from_estimator(model)
    >>> display.coefs.shape
    (4, 100)
    """

    def __init__(self, alphas: Any, coefs: Any, chosen: Any = None, names: Any = None) -> None:
        self.alphas, self.coefs, self.chosen, self.names = alphas, coefs, chosen, names

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, *, alphas: Any = 100, ax: Any = None, names: Any = None
    ) -> Self:
        """Draw the path of a fitted estimator, from its moments. No data is read.

        Parameters
        ----------
        estimator : LassoCV, ElasticNetCV, Lasso, ElasticNet or Ridge
            Estimator fitted to one target.
        alphas : int or array, default=100
            Number of strengths, or an array of them. For `LassoCV` and `ElasticNetCV`, those of the fit are
            used.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        names : sequence of str, default=None
            Names of the features. If None, those seen in `fit`, or indices.

        Returns
        -------
        CoefficientPathDisplay
        """
        model: Any = getattr(estimator, "model_", None)
        s: Any = getattr(estimator, "statistics_", None)
        if isinstance(model, Paths):
            tried = np.atleast_2d(estimator.alphas_)
            alphas = tried[np.argmin(model.errors.mean(axis=2).min(axis=1))] if len(tried) > 1 else tried[0]
            model, s = model.net, tree_sum(s.present)
        if not isinstance(model, LinearModel) or not hasattr(estimator, "alpha") | hasattr(
            estimator, "alpha_"
        ):
            raise TypeError(
                f"{type(estimator).__name__} is not a fitted linear regression with a penalty: LassoCV, "
                "ElasticNetCV, Lasso, ElasticNet or Ridge."
            )
        if len(model.coef) > 1:
            raise ValueError(
                f"The estimator has {len(model.coef)} targets, expected one: fit one target at a time."
            )
        chosen = float(getattr(estimator, "alpha_", getattr(estimator, "alpha", np.nan)))
        names = getattr(estimator, "feature_names_in_", None) if names is None else names
        return cls(*_path(model, s, alphas), chosen, names).plot(ax)

    @classmethod
    def from_path(
        cls, alphas: Any, coefs: Any, *, chosen: float | None = None, ax: Any = None, names: Any = None
    ) -> Self:
        """Draw a path returned by `enet_path`.

        Parameters
        ----------
        alphas : array of shape (n_alphas,)
            Strengths of the penalty.
        coefs : array of shape (n_features, n_alphas)
            Coefficients.
        chosen : float, default=None
            The strength to mark.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        names : sequence of str, default=None
            Names of the features. If None, indices.

        Returns
        -------
        CoefficientPathDisplay
        """
        alphas, coefs = np.asarray(alphas, dtype=float), np.asarray(coefs, dtype=float)
        if coefs.ndim != 2 or coefs.shape[1:] != alphas.shape:
            raise ValueError(f"coefs has shape {coefs.shape}, expected (n_features, {len(alphas)}).")
        return cls(alphas, coefs, chosen, names).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        CoefficientPathDisplay
        """
        ax = self._on(ax, figsize=(6.4, 4.0))
        from .drawing import LEADER, EndLabels

        order = np.argsort(self.alphas)[::-1]
        alphas, coefs = np.asarray(self.alphas)[order], np.asarray(self.coefs)[:, order]
        names = [str(n) for n in (range(len(coefs)) if self.names is None else self.names)]
        last = coefs[:, -1]
        self.lines_ = [ax.plot(alphas, path, color="0.75", lw=0.8, zorder=1.5)[0] for path in coefs]
        self.labels_ = []
        for n, d in enumerate(np.argsort(-np.abs(last), kind="stable")[:NAMED]):
            color = COLORS[n % len(COLORS)]
            self.lines_[d].set(color=color, lw=1.6, zorder=2.0, ls="-" if n < len(COLORS) else "--")
            label = ax.annotate(
                shorten(names[d]),
                (alphas[-1], last[d]),
                (14, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
                color=color,
                arrowprops={**LEADER, "color": color, "relpos": (0.0, 0.5)},
                annotation_clip=False,
            )
            self.labels_.append(label)
        EndLabels(ax, self.labels_)
        ax.axhline(0.0, color="0.8", lw=0.8, zorder=0)
        if self.chosen is not None and np.isfinite(self.chosen):
            self.chosen_ = ax.axvline(self.chosen, color="0.3", lw=1.0, ls=":")
        ax.set(xscale="log", xlabel="strength of the penalty, alpha", ylabel="coefficient")
        ax.set_xlim(alphas[0], alphas[-1])  # from all of it to nearly none
        ax.spines[["top", "right"]].set_visible(False)
        return self


def _path(model: LinearModel, s: Moments, alphas: Any) -> tuple[np.ndarray, np.ndarray]:
    """The strengths, from the largest down, and the coefficients (D, n_alphas)."""
    if isinstance(model, ElasticNetModel):
        alphas = grid(model, s, alphas, 1e-3)
        path = model.replace(coef=np.zeros_like(model.coef)).path(s, alphas)
        return alphas, np.stack([line.coef[0] for line in path], axis=1)
    D = model.coef.shape[1]
    if np.ndim(alphas) == 0:
        largest = np.linalg.eigvalsh(model.square(s)[:D, :D])[-1]
        alphas = np.geomspace(10.0 * largest, 1e-5 * largest, int(alphas))
    lines = [model.replace(alpha=float(alpha)).estimate(s) for alpha in alphas]
    return np.asarray(alphas, dtype=float), np.stack([line.coef[0] for line in lines], axis=1)
