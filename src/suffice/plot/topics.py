"""Displays of topics: top words, and a map."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from ..topics.evaluation import top_words
from .base import COLORS, Display, colors, shorten

ACROSS = 5  # topics in a row of the picture


def _components(estimator: BaseEstimator) -> np.ndarray:
    if not hasattr(estimator, "components_"):
        raise TypeError(f"{type(estimator).__name__} has no components_: pass a fitted topic model.")
    return np.asarray(estimator.components_, dtype=float)


def _weights(estimator: BaseEstimator, components: np.ndarray) -> np.ndarray:
    """Fractions of all words from each topic."""
    total = np.abs(components).sum(axis=1)
    weights = np.asarray(getattr(estimator, "weights_", total), dtype=float)
    return weights / weights.sum()


class TopicsDisplay(Display):
    """Bar charts of the top words of topics.

    Parameters
    ----------
    components : ndarray of shape (n_components, n_features)
        Weights of words in topics.
    feature_names : array of shape (n_features,), default=None
        The words. If None, column indices.
    weights : ndarray of shape (n_components,), default=None
        Fractions of all words from each topic, for the titles.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    axes_ : list of matplotlib Axes
        One for each topic.
    bars_ : list of matplotlib BarContainer
        The bars of each topic.

    See Also
    --------
    suffice.decomposition.LatentDirichletAllocation : Topics of documents.
    TopicMapDisplay : Distances between topics.

    Examples
    --------
    >>> from suffice.plot import TopicsDisplay
    >>> from suffice.topics import ProbabilisticLatentSemanticAnalysis
    >>> plsa = ProbabilisticLatentSemanticAnalysis(2, random_state=0).fit([[4, 2, 0], [3, 1, 0], [0, 1, 6]])
    >>> display = TopicsDisplay.from_estimator(plsa, ["ash", "elm", "oak"], n_words=2)
    >>> len(display.bars_)
    2
    """

    def __init__(self, components: Any, feature_names: Any = None, weights: Any = None) -> None:
        self.components, self.feature_names, self.weights = components, feature_names, weights

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        feature_names: Any = None,
        *,
        n_words: int = 8,
        topics: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw the words of a fitted topic model.

        Parameters
        ----------
        estimator : estimator with `components_`
            Estimator fitted to counts or weights of words.
        feature_names : array of shape (n_features,), default=None
            The words, as from `CountVectorizer.get_feature_names_out`. If None, those seen in `fit`.
        n_words : int, default=8
            Number of words of each topic.
        topics : sequence of int, default=None
            Topics to draw, in order. If None, the fifteen with the largest weights.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        TopicsDisplay
        """
        components = _components(estimator)
        names = getattr(estimator, "feature_names_in_", None) if feature_names is None else feature_names
        display = cls(components, names, _weights(estimator, components))
        return display.plot(ax, n_words=n_words, topics=topics)

    def plot(self, ax: Any = None, *, n_words: int = 8, topics: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created. Given axes are divided among the topics.
        n_words : int, default=8
            Number of words of each topic.
        topics : sequence of int, default=None
            Topics to draw. If None, the fifteen with the largest weights.

        Returns
        -------
        TopicsDisplay
        """
        components = np.asarray(self.components, dtype=float)
        n_words = min(n_words, components.shape[1])
        heaviest = np.argsort(
            -(np.zeros(len(components)) if self.weights is None else self.weights), kind="stable"
        )
        topics = sorted(heaviest[:15].tolist()) if topics is None else list(topics)
        across = min(ACROSS, len(topics))
        down = -(-len(topics) // across)
        ax = self._on(ax, figsize=(2.3 * across, 0.7 + down * (0.5 + 0.2 * n_words)))
        from .drawing import panels

        best = top_words(np.abs(components), n_words=n_words)
        names = [
            str(w) for w in (range(components.shape[1]) if self.feature_names is None else self.feature_names)
        ]
        self.axes_, self.bars_ = [], []
        most = max(np.abs(components[z, best[z]]).max() for z in topics)
        for part, z in zip(panels(ax, len(topics), across), topics, strict=True):
            values = components[z, best[z]]
            shades = np.where(values < 0, COLORS[1], COLORS[0])
            self.bars_.append(part.barh(range(n_words), np.abs(values), color=shades, height=0.75))
            part.set_yticks(range(n_words), [names[w] for w in best[z]], fontsize=8)
            part.invert_yaxis()
            part.set_xlim(0.0, 1.05 * most)
            part.set_xticks([])
            part.tick_params(length=0)
            part.spines[["top", "right", "bottom"]].set_visible(False)
            share = "" if self.weights is None else f"  {self.weights[z]:.0%}"
            part.set_title(f"topic {z}{share}", fontsize=9, loc="left")
            self.axes_.append(part)
        return self


class TopicMapDisplay(Display):
    """Intertopic distance map: similar topics are near each other; the area is the weight of a topic.

    The distances are Jensen-Shannon distances between the word distributions, in two dimensions by classical
    multidimensional scaling.

    Parameters
    ----------
    positions : ndarray of shape (n_components, 2)
        Positions of the topics.
    weights : ndarray of shape (n_components,)
        Fractions of all words from each topic: the areas of the circles.
    labels : list of str, default=None
        Labels of the topics. If None, indices.
    explained_ratio : float, default=None
        Fraction of the squared distances that the map shows.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    circles_ : matplotlib PathCollection
        The topics.
    labels_ : list of matplotlib Annotation
        The labels, those of the largest topics first. A label that would cover another is moved aside, and
        connected to its topic by a line. If there is no room, only the index of the topic is written, or
        nothing.

    See Also
    --------
    suffice.decomposition.LatentDirichletAllocation : Topics of documents.
    TopicsDisplay : The top words of topics.

    Examples
    --------
    >>> from suffice.plot import TopicMapDisplay
    >>> from suffice.topics import ProbabilisticLatentSemanticAnalysis
    >>> plsa = ProbabilisticLatentSemanticAnalysis(2, random_state=0).fit([[4, 2, 0], [3, 1, 0], [0, 1, 6]])
    >>> TopicMapDisplay.from_estimator(plsa, ["ash", "elm", "oak"], n_words=1).positions.shape
    (2, 2)
    """

    def __init__(self, positions: Any, weights: Any, labels: Any = None, explained_ratio: Any = None) -> None:
        self.positions, self.weights, self.labels = positions, weights, labels
        self.explained_ratio = explained_ratio

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, feature_names: Any = None, *, n_words: int = 3, ax: Any = None
    ) -> Self:
        """Draw the topics of a fitted model.

        Parameters
        ----------
        estimator : estimator with `components_`
            Fitted estimator with non-negative weights of words.
        feature_names : array of shape (n_features,), default=None
            The words. If None, those seen in `fit`.
        n_words : int, default=3
            Number of words beside each topic; 0 for none.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        TopicMapDisplay
        """
        components = _components(estimator)
        if (components < 0).any():
            raise ValueError(
                "components_ has negative weights, expected non-negative ones: topics must be "
                "distributions of words."
            )
        total = components.sum(axis=1, keepdims=True)
        positions, ratio = _scaled(_divergences(components / np.where(total > 0, total, 1.0)))
        names = getattr(estimator, "feature_names_in_", None) if feature_names is None else feature_names
        labels = [str(z) for z in range(len(components))]
        if n_words:
            words = top_words(components, names, min(n_words, components.shape[1]))
            labels = [f"{z}: {', '.join(map(str, topic))}" for z, topic in enumerate(words)]
        return cls(positions, _weights(estimator, components), labels, ratio).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        TopicMapDisplay
        """
        ax = self._on(ax, figsize=(6.4, 5.2))
        from .drawing import LEADER, PointLabels

        positions, weights = np.asarray(self.positions), np.asarray(self.weights)
        K = len(positions)
        area = 4000.0 * weights / max(weights.max() * np.sqrt(K), 1e-300)
        self.circles_ = ax.scatter(
            *positions.T, s=area, c=colors(K), alpha=0.55, linewidths=0.8, edgecolors="white"
        )
        centred = {"textcoords": "offset points", "ha": "center", "va": "center", "fontsize": 8}
        self.labels_ = []
        for z in np.argsort(-weights, kind="stable"):
            label = str(z) if self.labels is None else shorten(self.labels[z], 44)
            self.labels_.append(ax.annotate(label, positions[z], (0, 0), arrowprops=LEADER, **centred))
            self.labels_[-1].set_in_layout(False)
        PointLabels(ax, self.labels_)
        middle = (positions.min(axis=0) + positions.max(axis=0)) / 2.0
        reach = 0.75 * max(float(np.ptp(positions, axis=0).max()), 1e-3)
        ax.set(xlim=middle[0] + np.array([-reach, reach]), ylim=middle[1] + np.array([-reach, reach]))
        ax.set_aspect("equal")
        ax.set(xticks=[], yticks=[])
        if self.explained_ratio is not None:
            ax.set_xlabel(f"{self.explained_ratio:.0%} of the squared distances", fontsize=8)
        ax.spines[["top", "right"]].set_visible(False)
        return self


def _divergences(P: np.ndarray) -> np.ndarray:
    """Jensen-Shannon divergences between all rows, which are squared distances."""

    def entropy(p: np.ndarray) -> np.ndarray:
        return -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=-1)

    single = entropy(P)
    both = np.array([entropy((P + p) / 2.0) for p in P])
    return np.maximum(both - (single[:, None] + single) / 2.0, 0.0)


def _scaled(squares: np.ndarray) -> tuple[np.ndarray, float]:
    """Classical multidimensional scaling to two dimensions, and the fraction of the squared distances that is
    kept."""
    K = len(squares)
    centred = np.eye(K) - 1.0 / K
    values, vectors = np.linalg.eigh(-0.5 * centred @ squares @ centred)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    positions = np.zeros((K, 2))
    positions[:, : min(2, K)] = vectors[:, :2] * np.sqrt(values[:2])
    largest = positions[np.abs(positions).argmax(axis=0), [0, 1]]  # rounding shall not choose the sides
    return positions * np.where(largest < 0, -1.0, 1.0), float(values[:2].sum() / (values.sum() or 1.0))
