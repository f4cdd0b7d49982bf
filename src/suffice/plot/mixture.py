"""Display of the components of a Gaussian mixture."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from ..core.extras import required
from ..inputs.checks import places_of
from .base import Display, colors, feature_names, last_step, sampled, shorten

DRAWN = 2000  # rows, at most


class MixtureDisplay(Display):
    """Gaussian mixture in the plane of two features: ellipses of the components, weights, and rows.

    The ellipses are at one and two standard deviations from the mean. They contain 39 % and 86 % of the
    component.

    Parameters
    ----------
    means : ndarray of shape (n_components, 2)
        Means of the components.
    covariances : ndarray of shape (n_components, 2, 2)
        Covariances of the components.
    weights : ndarray of shape (n_components,)
        Weights of the components.
    X : ndarray of shape (n_samples, 2), default=None
        Rows to draw as points.
    labels : ndarray of shape (n_samples,), default=None
        Components of the rows.
    axis_names : pair of str, default=None
        Names of the two features.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    ellipses_ : list of matplotlib Ellipse
        Two for each component: of one and of two standard deviations.
    labels_ : list of matplotlib Annotation
        Index and weight of each component, the largest first.
    points_ : matplotlib PathCollection
        The rows, if there are some.

    See Also
    --------
    suffice.mixture.GaussianMixture : Mixtures of Gaussians.
    ModelSelectionDisplay : BIC by the number of components.
    ClusterProfilesDisplay : The means of all features.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.mixture import GaussianMixture
    >>> from suffice.plot import MixtureDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(6, 1, (40, 2))])
    >>> display = MixtureDisplay.from_estimator(GaussianMixture(2, random_state=0).fit(X), X)
    >>> display.weights.round(1)
    array([0.4, 0.6])
    """

    def __init__(
        self,
        means: Any,
        covariances: Any,
        weights: Any,
        X: Any = None,
        labels: Any = None,
        axis_names: Any = None,
    ) -> None:
        self.means, self.covariances, self.weights = means, covariances, weights
        self.X, self.labels, self.axis_names = X, labels, axis_names

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, X: Any = None, *, features: tuple[Any, Any] = (0, 1), ax: Any = None
    ) -> Self:
        """Draw the components of a fitted mixture.

        Parameters
        ----------
        estimator : GaussianMixture
            Fitted mixture of suffice or scikit-learn, or a pipeline that ends with one.
        X : array of shape (n_samples, n_features), default=None
            Rows in memory, to draw in the colours of their components. At most 2000 are drawn. If None, only
            the components are drawn.
        features : pair of int or str, default=(0, 1)
            The two features to draw, by index or by name.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        MixtureDisplay
        """
        rows = None if X is None else sampled(X, DRAWN, 0)
        mixture, rows = last_step(estimator, rows)
        if not hasattr(mixture, "covariances_"):
            raise TypeError(f"{type(mixture).__name__} has no covariances_: pass a fitted GaussianMixture.")
        D = mixture.means_.shape[1]
        names = feature_names(estimator, D)
        pair = places_of(features, names, D)
        points = labels = None
        if rows is not None:
            labels, points = mixture.predict(rows), np.asarray(rows, dtype=float)[:, pair]
        parts = (mixture.means_[:, pair], _covariances(mixture, pair), mixture.weights_)
        return cls(*parts, points, labels, [names[d] for d in pair]).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        MixtureDisplay
        """
        ax = self._on(ax, figsize=(6.0, 4.6))
        Ellipse = required("matplotlib.patches", "plot").Ellipse

        from .drawing import LEADER, PointLabels

        K, weights = len(self.means), np.asarray(self.weights)
        shades = np.array([(*rgb, 1.0) for rgb in _rgb(colors(K))])
        if self.X is not None:
            shade = "0.6" if self.labels is None else shades[np.asarray(self.labels)]
            self.points_ = ax.scatter(*np.asarray(self.X).T, s=8, c=shade, alpha=0.5, linewidths=0)
        self.ellipses_, self.labels_ = [], []
        for k in np.argsort(-weights, kind="stable"):
            values, vectors = np.linalg.eigh(self.covariances[k])
            axes = np.sqrt(np.maximum(values, 0.0))
            angle = np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))
            for times in (1.0, 2.0):
                shape = Ellipse(
                    self.means[k],
                    *2.0 * times * axes[::-1],
                    angle=angle,
                    facecolor=(*shades[k][:3], 0.18),
                    edgecolor=shades[k],
                    lw=1.2,
                )
                self.ellipses_.append(ax.add_patch(shape))
            label = ax.annotate(
                f"{k}: {weights[k]:.0%}",
                self.means[k],
                (0, 0),
                textcoords="offset points",
                ha="center",
                va="center",
                fontsize=9,
                arrowprops=LEADER,
                bbox={"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 1.0},
            )
            self.labels_.append(label)
        PointLabels(ax, self.labels_)
        ax.autoscale_view()
        if self.axis_names is not None:
            ax.set(xlabel=shorten(self.axis_names[0]), ylabel=shorten(self.axis_names[1]))
        ax.spines[["top", "right"]].set_visible(False)
        return self


def _rgb(shades: list[Any]) -> list[Any]:
    to_rgb = required("matplotlib.colors", "plot").to_rgb

    return [to_rgb(shade) for shade in shades]


def _covariances(mixture: Any, pair: list[int]) -> np.ndarray:
    """Covariances (K, 2, 2) of two features."""
    C, K = np.asarray(mixture.covariances_), len(mixture.means_)
    if mixture.covariance_type in ("full", "tied"):
        return np.broadcast_to(C[..., pair, :][..., pair], (K, 2, 2))
    variances = C[:, pair] if mixture.covariance_type == "diag" else np.repeat(C[:, None], 2, axis=1)
    return variances[:, :, None] * np.eye(2)
