"""Display of a trellis: states by steps, with the best path. Li ch. 10, 10.4."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from .base import MANY, PATH, Display, names_of, one_sequence, whole_numbers


class TrellisDisplay(Display):
    """Trellis of one sequence: posterior probabilities of the states as shades, and a path as a line.

    The best path may leave the most probable states of single steps.

    Parameters
    ----------
    posterior : ndarray of shape (n_steps, n_states)
        Probabilities of the states of each step.
    path : ndarray of shape (n_steps,), default=None
        Indices of the states of a path.
    labels : list of str, default=None
        Names of the states. If None, indices.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    image_ : matplotlib AxesImage
        The heat map.
    line_ : matplotlib Line2D
        The path, if there is one.

    See Also
    --------
    suffice.sequence.HiddenMarkovModel : Posterior probabilities and best paths.
    SegmentsDisplay : The states of a signal as a strip.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.plot import TrellisDisplay
    >>> from suffice.sequence import HiddenMarkovModel
    >>> X = np.array([0.1, 0.0, 0.2, 5.0, 5.1, 4.9, 0.1, 0.0]).reshape(-1, 1)
    >>> display = TrellisDisplay.from_estimator(HiddenMarkovModel(2, random_state=0).fit(X), X)
    >>> display.posterior.shape
    (8, 2)
    """

    def __init__(self, posterior: Any, path: Any = None, labels: Any = None) -> None:
        self.posterior, self.path, self.labels = posterior, path, labels

    @classmethod
    def from_estimator(cls, estimator: BaseEstimator, X: Any, *, ax: Any = None) -> Self:
        """Draw the posterior probabilities and the path of a fitted estimator for one sequence.

        Parameters
        ----------
        estimator : estimator with predict and predict_proba
            Fitted estimator, such as `HiddenMarkovModel` or `ConditionalRandomField`.
        X : array of shape (n_steps, n_features)
            One sequence.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        TrellisDisplay
        """
        X = one_sequence(X)
        if not hasattr(estimator, "predict_proba"):
            raise TypeError(
                f"{type(estimator).__name__} has no predict_proba, which TrellisDisplay needs: draw its "
                f"path with SegmentsDisplay."
            )
        posterior = estimator.predict_proba(X)
        names = names_of(estimator, posterior.shape[1])
        return cls.from_predictions(posterior, estimator.predict(X), labels=names, ax=ax)

    @classmethod
    def from_predictions(
        cls, posterior: Any, path: Any = None, *, labels: Any = None, ax: Any = None
    ) -> Self:
        """Draw probabilities of states, and a path of labels.

        Parameters
        ----------
        posterior : array of shape (n_steps, n_states)
            Probabilities of the states of each step.
        path : array of shape (n_steps,), default=None
            A label for each step.
        labels : array of shape (n_states,), default=None
            Labels of the states. If None, indices.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        TrellisDisplay
        """
        posterior = np.asarray(posterior)
        names = np.arange(posterior.shape[1]) if labels is None else np.asarray(labels)
        if path is not None:
            place = {name: k for k, name in enumerate(names.tolist())}
            path = np.array([place[label] for label in np.asarray(path).tolist()])
        return cls(posterior, path, names.astype(str).tolist()).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        TrellisDisplay
        """
        T, K = self.posterior.shape
        ax = self._on(ax, figsize=(min(12.0, max(5.0, 2.0 + 0.2 * T)), max(2.4, 1.2 + 0.32 * min(K, MANY))))
        self.image_ = ax.imshow(
            self.posterior.T, aspect="auto", cmap="Blues", vmin=0.0, vmax=1.0, interpolation="nearest"
        )
        if self.path is not None:
            dots = {"marker": "o", "ms": 5} if T <= 60 else {}
            white = {"color": "white", "lw": 3.5, "solid_joinstyle": "round"}  # seen on any shade
            ax.plot(self.path, **white)
            (self.line_,) = ax.plot(self.path, color=PATH, lw=1.8, label="best path", **dots)
            ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), frameon=False, borderaxespad=0.2)
        every = -(-K // MANY)
        names = self.labels if self.labels is not None else list(map(str, range(K)))
        ax.set(xlabel="step", ylabel="state", yticks=range(0, K, every), yticklabels=names[::every])
        whole_numbers(ax.xaxis)
        ax.set_yticks(np.arange(1, K) - 0.5, minor=True)
        ax.grid(which="minor", axis="y", color="0.85", lw=0.8)
        ax.tick_params(which="both", axis="y", length=0)
        ax.spines[:].set_visible(False)
        ax.figure.colorbar(self.image_, ax=ax, label="probability", pad=0.02)
        return self
