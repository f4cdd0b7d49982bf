"""Displays of clusters: silhouettes, and profiles of the centers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import silhouette_samples

from ..core.arguments import Seed
from ..core.blocks import Rows
from ..inputs import open_rows
from ..mixture import GaussianMixture
from ..statistics import Moments, moments
from .base import MANY, Display, colors, last_step, sampled, shorten
from .base import feature_names as names_of_features


class SilhouetteDisplay(Display):
    """Silhouettes of rows, sorted in each cluster, with their mean.

    The silhouette of a row is :math:`(b - a) / \\max(a, b)`, where a is its mean distance to the other rows
    of its cluster, and b its mean distance to the rows of the nearest other cluster. Near 1, the row is well
    inside its cluster; near 0, between two; below 0, another cluster is nearer.

    Parameters
    ----------
    silhouettes : ndarray of shape (n_samples,)
        Silhouettes of the rows.
    labels : ndarray of shape (n_samples,)
        Clusters of the rows.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    areas_ : list of matplotlib collections
        The silhouettes of each cluster, the first on top.
    mean_ : matplotlib Line2D
        The mean over all rows.

    See Also
    --------
    suffice.cluster.KMeans : Clusters of rows.
    ModelSelectionDisplay : The mean silhouette by the number of clusters.
    sklearn.metrics.silhouette_score : The mean silhouette.

    References
    ----------
    * Rousseeuw (1987), "Silhouettes: a graphical aid to the interpretation and validation of cluster
      analysis", Journal of Computational and Applied Mathematics 20.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.cluster import KMeans
    >>> from suffice.plot import SilhouetteDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(8, 1, (40, 2))])
    >>> display = SilhouetteDisplay.from_estimator(KMeans(2, random_state=0).fit(X), X)
    >>> bool(display.silhouettes.mean() > 0.7)
    True
    """

    def __init__(self, silhouettes: Any, labels: Any) -> None:
        self.silhouettes, self.labels = silhouettes, labels

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Any,
        *,
        sample_size: int = 5000,
        random_state: Seed = 0,
        ax: Any = None,
    ) -> Self:
        """Draw the silhouettes of the clusters that a fitted estimator predicts.

        Parameters
        ----------
        estimator : estimator with predict
            Fitted, such as `KMeans` or `GaussianMixture`. If a pipeline, distances are those of the features
            that its last step sees.
        X : array of shape (n_samples, n_features)
            Rows in memory.
        sample_size : int, default=5000
            Maximum number of rows. Time increases with the square of this number. If X has more rows, a
            sample is drawn.
        random_state : int, RandomState or None, default=0
            Seed for the sample.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        SilhouetteDisplay
        """
        estimator, rows = last_step(estimator, sampled(X, sample_size, random_state))
        return cls.from_predictions(rows, estimator.predict(rows), sample_size=sample_size, ax=ax)

    @classmethod
    def from_predictions(
        cls, X: Any, labels: Any, *, sample_size: int = 5000, random_state: Seed = 0, ax: Any = None
    ) -> Self:
        """Draw the silhouettes of labelled rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows in memory.
        labels : array of shape (n_samples,)
            Clusters of the rows.
        sample_size : int, default=5000
            Maximum number of rows. If X has more, a sample is drawn.
        random_state : int, RandomState or None, default=0
            Seed for the sample.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        SilhouetteDisplay
        """
        rows, labels = np.asarray(X), np.asarray(labels)
        if labels.shape != rows.shape[:1]:
            raise ValueError(f"labels has the shape {labels.shape}, expected {rows.shape[:1]}: one per row.")
        chosen = sampled(np.arange(len(rows)), sample_size, random_state)
        rows, labels = rows[chosen], labels[chosen]
        if len(np.unique(labels)) < 2:
            raise ValueError("All rows are in one cluster: silhouettes need at least two.")
        return cls(silhouette_samples(rows, labels), labels).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        SilhouetteDisplay
        """
        ax = self._on(ax, figsize=(6.0, 4.4))
        silhouettes, (names, codes) = self.silhouettes, np.unique(self.labels, return_inverse=True)
        gap = max(1.0, 0.01 * len(silhouettes))
        self.areas_, ticks, top = [], [], 0.0
        for k, color in enumerate(colors(len(names))):
            mine = np.sort(silhouettes[codes == k])[::-1]
            edges = np.repeat(top + np.arange(len(mine) + 1), 2)[1:-1]  # a bar for each row
            self.areas_.append(ax.fill_betweenx(edges, 0.0, np.repeat(mine, 2), color=color, lw=0.3))
            ticks.append((top + len(mine) / 2.0, f"{shorten(names[k], 20)} ({mine.mean():.2f})"))
            top += len(mine) + gap
        shown, last = [], -np.inf
        for place, text in ticks:  # small clusters leave no room for their names
            if place - last >= top / (1.25 * MANY):
                shown.append((place, text))
                last = place
        ax.set_yticks(*zip(*shown, strict=True), fontsize=8)
        ax.tick_params(axis="y", length=0)
        average = float(np.mean(silhouettes))
        self.mean_ = ax.axvline(average, color="0.2", lw=1.0, ls="--", label=f"mean {average:.2f}")
        ax.axvline(0.0, color="0.8", lw=0.8, zorder=0)
        ax.set(xlabel="silhouette", ylabel="cluster (mean)", ylim=(top, -gap), xlim=(None, 1.0))
        ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=9)
        ax.spines[["top", "right"]].set_visible(False)
        return self


class ClusterProfilesDisplay(Display):
    """Profiles of clusters as a heat map: the center of each cluster by feature, standardized.

    A cell is the distance of the center from the mean of all rows, in standard deviations of the feature.

    Parameters
    ----------
    profiles : ndarray of shape (n_clusters, n_features)
        Standardized centers.
    names : list of str
        Names of the features.
    weights : ndarray of shape (n_clusters,), default=None
        Shares of the rows, for the labels.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    image_ : matplotlib AxesImage
        The heat map: features by clusters.

    See Also
    --------
    suffice.cluster.KMeans : Clusters of rows.
    suffice.mixture.GaussianMixture : Clusters with probabilities.
    MixtureDisplay : The components in the plane of two features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.cluster import KMeans
    >>> from suffice.plot import ClusterProfilesDisplay
    >>> X = load_iris(as_frame=True).data
    >>> display = ClusterProfilesDisplay.from_estimator(KMeans(3, random_state=0).fit(X), X)
    >>> display.profiles.shape
    (3, 4)
    """

    def __init__(self, profiles: Any, names: Any, weights: Any = None) -> None:
        self.profiles, self.names, self.weights = profiles, names, weights

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Any,
        *,
        feature_names: Any = None,
        max_features: int = 20,
        ax: Any = None,
    ) -> Self:
        """Draw the centers of a fitted estimator.

        Parameters
        ----------
        estimator : estimator with `cluster_centers_`, `means_` or `rates_`
            Fitted, such as `KMeans`, `GaussianMixture` or `PoissonMixture`; or a pipeline that ends with one.
        X : array of shape (n_samples, n_features)
            Rows, in memory or wherever `fit` can read them. One pass computes the mean and the standard
            deviation of each feature.
        feature_names : sequence of str, default=None
            Names of the features. If None, those seen in `fit`, or x0, x1, ...
        max_features : int, default=20
            Maximum number of features: those in which the clusters differ most.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        ClusterProfilesDisplay
        """
        model, rows = last_step(estimator, X)
        of_clusters = (getattr(model, name, None) for name in ("cluster_centers_", "means_", "rates_"))
        centers = next((part for part in of_clusters if part is not None), None)
        if centers is None:
            raise TypeError(
                f"{type(model).__name__} has no cluster_centers_, means_ or rates_: pass a fitted KMeans or "
                "mixture."
            )
        s = open_rows(GaussianMixture(), rows).fold(_diagonal)
        deviation = np.sqrt(s.scatter / np.where(s.weight > 0, s.weight, 1.0))
        profiles = (centers - s.mean) / np.where(deviation > 0, deviation, 1.0)
        weights = getattr(model, "weights_", None)
        if weights is None and hasattr(model, "labels_"):
            weights = np.bincount(model.labels_, minlength=len(centers)) / len(model.labels_)
        names = names_of_features(estimator, centers.shape[1], feature_names)
        return cls(profiles, names, weights).plot(ax, max_features=max_features)

    def plot(self, ax: Any = None, *, max_features: int = 20) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        max_features : int, default=20
            Maximum number of features: those in which the clusters differ most.

        Returns
        -------
        ClusterProfilesDisplay
        """
        profiles = np.asarray(self.profiles)
        K, D = profiles.shape
        chosen = np.sort(np.argsort(-np.ptp(profiles, axis=0), kind="stable")[:max_features])
        names = [shorten(self.names[d]) for d in chosen]
        clusters = [str(k) for k in range(K)]
        if self.weights is not None:
            clusters = [f"{k} ({w:.0%})" for k, w in enumerate(self.weights)]
        size = (2.6 + 0.08 * max(map(len, names)) + min(8.0, 0.62 * K), max(2.9, 1.4 + 0.3 * len(chosen)))
        ax = self._on(ax, figsize=size)
        from .drawing import heat_map

        matrix = profiles[:, chosen].T
        most = max(float(np.abs(matrix).max()), 1e-12)
        texts = np.array([[f"{value:.1f}" for value in row] for row in matrix.round(1) + 0.0])
        scale = {"cmap": "PuOr", "vmin": -most, "vmax": most, "aspect": "auto"}
        self.image_ = heat_map(ax, matrix, names, clusters, texts, **scale)
        ax.set_xlabel("cluster")
        if len(chosen) < D:
            ax.set_title(f"the {len(chosen)} of {D} features that differ most", fontsize=9, loc="left")
        ax.figure.colorbar(self.image_, ax=ax, label="standard deviations from the mean", pad=0.02)
        return self


def _diagonal(block: Rows) -> Moments:
    return moments(block.X, block.weight, "diagonal")
