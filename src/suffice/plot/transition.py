"""Display of a transition matrix."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..inputs.arrays import flat_labels
from .base import MANY, Display, dark, names_of


class TransitionDisplay(Display):
    """Transition matrix as a heat map, from a state (row) to the next (column).

    Parameters
    ----------
    transition : ndarray of shape (n_states, n_states)
        Transition probabilities; or weights of transitions, which may be negative.
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

    See Also
    --------
    suffice.sequence.HiddenMarkovModel : Transitions between hidden states.
    suffice.sampling.MarkovChain : Transitions between observed states.

    Examples
    --------
    >>> from suffice.plot import TransitionDisplay
    >>> display = TransitionDisplay.from_predictions([["B", "I", "O"], ["O", "B", "I", "I"]])
    >>> display.transition
    array([[0. , 1. , 0. ],
           [0. , 0.5, 0.5],
           [1. , 0. , 0. ]])
    """

    def __init__(self, transition: Any, labels: Any = None) -> None:
        self.transition, self.labels = transition, labels

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, include_values: bool = True) -> Self:
        """Draw the transitions of a fitted estimator.

        Parameters
        ----------
        estimator : estimator with `transmat_` or `transitions_`
            Fitted estimator: a hidden Markov model with probabilities, or e.g. a conditional random field
            with weights.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        include_values : bool, default=True
            Whether to write the values into the cells.

        Returns
        -------
        TransitionDisplay
        """
        matrix = getattr(estimator, "transmat_", None)
        matrix = getattr(estimator, "transitions_", None) if matrix is None else matrix
        if matrix is None:
            raise TypeError(
                f"{type(estimator).__name__} has neither transmat_ nor transitions_: pass a fitted "
                f"sequence estimator."
            )
        names = names_of(estimator, len(matrix)).astype(str).tolist()
        return cls(matrix, names).plot(ax, include_values=include_values)

    @classmethod
    def from_predictions(
        cls, y: Any, groups: Any = None, *, ax: Any = None, include_values: bool = True
    ) -> Self:
        """Draw the relative frequencies of transitions between labels.

        Parameters
        ----------
        y : list of arrays, or array
            Labels of each sequence; or an array of the labels of one sequence, or of several by `groups`.
        groups : array, default=None
            Sequence id of each step. The steps of a sequence must be contiguous.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        include_values : bool, default=True
            Whether to write the values into the cells.

        Returns
        -------
        TransitionDisplay
        """
        if isinstance(y, list | tuple) and np.ndim(y[0]):
            groups = np.repeat(np.arange(len(y)), [len(part) for part in y])
        y = np.asarray(flat_labels(y))
        groups = np.zeros(len(y)) if groups is None else np.asarray(groups)
        names, code = np.unique(y, return_inverse=True)
        K = len(names)
        moves = (code[:-1] * K + code[1:])[groups[1:] == groups[:-1]]
        counts = np.bincount(moves, minlength=K * K).reshape(K, K)
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        return cls(shares, names.astype(str).tolist()).plot(ax, include_values=include_values)

    def plot(self, ax: Any = None, *, include_values: bool = True) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        include_values : bool, default=True
            Whether to write the values into the cells.

        Returns
        -------
        TransitionDisplay
        """
        matrix, K = np.asarray(self.transition), len(self.transition)
        names = self.labels if self.labels is not None else list(map(str, range(K)))
        long = max(map(len, names))
        side = min(9.0, 1.8 + 0.55 * K)
        ax = self._on(ax, figsize=(side + 1.4 + 0.09 * long, side))
        weights = (matrix < 0).any() or (matrix > 1 + 1e-9).any()
        if weights:  # a diverging map, with zero in its middle
            most = np.abs(matrix).max()
            self.image_ = ax.imshow(matrix, cmap="PuOr", vmin=-most, vmax=most)
        else:
            self.image_ = ax.imshow(matrix, cmap="Blues", vmin=0.0)
        if include_values:
            size = min(10.0, max(5.0, 14.0 - 0.6 * K))
            for (i, j), value in np.ndenumerate(matrix):
                ink = "white" if dark(self.image_.cmap(self.image_.norm(value))) else "black"
                text = f"{value:.1f}" if weights else f"{value:.2f}" if value else "0"
                ax.text(j, i, text, ha="center", va="center", color=ink, fontsize=size)
        every = -(-K // MANY)
        turn = {"rotation": 90} if long > 3 and K > 4 else {}
        ax.set_xticks(range(0, K, every), names[::every], **turn)
        ax.set_yticks(range(0, K, every), names[::every])
        ax.set(xlabel="to", ylabel="from")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        ax.figure.colorbar(
            self.image_, ax=ax, label="weight" if weights else "probability", shrink=0.8, pad=0.03
        )
        return self
