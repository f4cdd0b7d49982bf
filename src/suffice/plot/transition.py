"""Displays of transitions: a heat map, and a state diagram."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from ..core.arguments import MaybeArray
from ..core.extras import required
from ..inputs.arrays import flat_labels
from .base import Display, colors, names_of, shorten

BEND = 0.16  # of arrows, so that those of both directions are apart
LOOP = 0.6  # half the angle at which an arrow to the same state leaves and enters the circle


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
    StateDiagramDisplay : Transitions of a few states, as arrows.

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
    def from_estimator(cls, estimator: BaseEstimator, *, ax: Any = None, include_values: bool = True) -> Self:
        """Draw the transitions of a fitted estimator.

        Parameters
        ----------
        estimator : estimator with `transmat_`, `transition_` or `transitions_`
            Fitted estimator: a hidden Markov model or a Markov chain with probabilities, or e.g. a
            conditional random field with weights.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        include_values : bool, default=True
            Whether to write the values into the cells, if they fit there.

        Returns
        -------
        TransitionDisplay
        """
        return cls(*_transitions(estimator)).plot(ax, include_values=include_values)

    @classmethod
    def from_predictions(
        cls, y: ArrayLike, groups: MaybeArray = None, *, ax: Any = None, include_values: bool = True
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
        from .drawing import heat_map

        weights = (matrix < 0).any() or (matrix > 1 + 1e-9).any()
        texts = np.array(
            [[f"{v:.1f}" if weights else f"{v:.2f}" if v else "0" for v in row] for row in matrix]
        )
        most = np.abs(matrix).max()  # of weights: zero is in the middle of a diverging map
        scale = {"cmap": "PuOr", "vmin": -most, "vmax": most} if weights else {"cmap": "Blues", "vmin": 0.0}
        self.image_ = heat_map(ax, matrix, names, names, texts if include_values else None, **scale)
        ax.set(xlabel="to", ylabel="from")
        ax.figure.colorbar(
            self.image_, ax=ax, label="weight" if weights else "probability", shrink=0.8, pad=0.03
        )
        return self


class StateDiagramDisplay(Display):
    """State diagram: states on a circle, and an arrow for each transition, wider if it is more probable.

    Parameters
    ----------
    transition : ndarray of shape (n_states, n_states)
        Transition probabilities.
    labels : list of str, default=None
        Names of the states. If None, indices.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    nodes_ : list of matplotlib Circle
        The states.
    arrows_ : dict
        The arrow of each pair of indices of states that has one.
    names_ : list of matplotlib Text
        The names: inside the circles if they fit there, else beside them.
    labels_ : list of matplotlib Annotation
        The probabilities, if there are at most 30 arrows.

    See Also
    --------
    TransitionDisplay : All transition probabilities, as a heat map.
    suffice.sequence.HiddenMarkovModel : Transitions between hidden states.
    suffice.sampling.MarkovChain : Transitions between observed states.

    Examples
    --------
    >>> from suffice.plot import StateDiagramDisplay
    >>> display = StateDiagramDisplay([[0.9, 0.1], [1.0, 0.0]], ["calm", "storm"]).plot()
    >>> sorted(display.arrows_)
    [(0, 0), (0, 1), (1, 0)]
    """

    def __init__(self, transition: Any, labels: Any = None) -> None:
        self.transition, self.labels = transition, labels

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, *, min_probability: float = 0.05, ax: Any = None
    ) -> Self:
        """Draw the states of a fitted estimator.

        Parameters
        ----------
        estimator : HiddenMarkovModel or MarkovChain
            Fitted.
        min_probability : float, default=0.05
            Transitions that are less probable have no arrow.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        StateDiagramDisplay
        """
        matrix, names = _transitions(estimator)
        if (matrix < 0).any() or (matrix > 1 + 1e-9).any():
            raise ValueError(
                f"The transitions of {type(estimator).__name__} are weights, not probabilities: draw them "
                "with TransitionDisplay."
            )
        return cls(matrix, names).plot(ax, min_probability=min_probability)

    def plot(self, ax: Any = None, *, min_probability: float = 0.05) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        min_probability : float, default=0.05
            Transitions that are less probable have no arrow.

        Returns
        -------
        StateDiagramDisplay
        """
        ax = self._on(ax, figsize=(5.6, 5.6))
        patches = required("matplotlib.patches", "plot")
        Circle, FancyArrowPatch = patches.Circle, patches.FancyArrowPatch

        from .drawing import LEADER, PointLabels

        matrix = np.asarray(self.transition, dtype=float)
        K = len(matrix)
        names = [shorten(name, 20) for name in (range(K) if self.labels is None else self.labels)]
        angle = np.pi / 2.0 - 2.0 * np.pi * np.arange(K) / K  # clockwise from the top
        outward = np.column_stack([np.cos(angle), np.sin(angle)])
        radius = min(0.2, 0.75 * np.sin(np.pi / max(K, 2)))
        shades = colors(K)
        self.nodes_ = [
            ax.add_patch(Circle(at, radius, facecolor=shade, edgecolor="white", alpha=0.55, zorder=3))
            for at, shade in zip(outward, shades, strict=True)
        ]
        pairs = np.argwhere((matrix >= min_probability) & (matrix > 0)).tolist()
        self.arrows_, self.labels_ = {}, []
        for i, j in sorted(pairs, key=lambda pair: matrix[pair[0], pair[1]]):
            p = matrix[i, j]
            start, stop, bend = outward[i], outward[j], BEND
            if i == j:  # from one side of the circle to the other
                side = angle[i] + np.array([LOOP, -LOOP])
                start, stop = outward[i] + radius * np.column_stack([np.cos(side), np.sin(side)])
                bend = -1.8
            ends: dict[str, Any] = {"shrinkA": 0.0, "shrinkB": 0.0}
            if i != j:
                ends |= {"patchA": self.nodes_[i], "patchB": self.nodes_[j]}
            arrow = FancyArrowPatch(
                start,
                stop,
                connectionstyle=f"arc3,rad={bend}",
                arrowstyle="-|>",
                mutation_scale=7.0 + 4.0 * p,
                lw=0.5 + 2.5 * p,
                color="0.25",
                alpha=0.25 + 0.6 * p,
                zorder=2,
                in_layout=False,
                **ends,
            )
            self.arrows_[i, j] = ax.add_patch(arrow)
            if len(pairs) <= 30:
                middle = _on_arc(start, stop, bend, 0.5 if i == j else 0.4)
                at = {"textcoords": "offset points", "ha": "center", "va": "center", "fontsize": 8}
                paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.8}
                label = ax.annotate(f"{p:.2f}", middle, (0, 0), arrowprops=LEADER, bbox=paper, zorder=4, **at)
                self.labels_.append(label)
        self.names_ = []
        beside = 1.0 + (2.6 if self.labels_ else 2.1) * radius  # beyond the arrows to the same state
        for at, name, turn in zip(outward, names, np.degrees(angle), strict=True):
            style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 9, "zorder": 5}
            if 0.065 * len(name) <= 2.0 * radius:
                self.names_.append(ax.text(*at, name, **style))
                continue
            left, vertical = at[0] < 0, abs(at[0]) < 1e-9
            if K > 8:  # along the ray, where names do not meet
                style |= {"rotation": turn + 180.0 * left, "rotation_mode": "anchor"}
            if K > 8 or not vertical:
                style["ha"] = "right" if left else "left"
            else:
                style["va"] = "bottom" if at[1] > 0 else "top"
            self.names_.append(ax.text(*beside * at, name, **style))
        PointLabels(ax, self.labels_[::-1], avoid=self.names_)
        reach = 1.0 + 2.4 * radius
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        ax.set_axis_off()
        return self


def _on_arc(start: np.ndarray, stop: np.ndarray, bend: float, t: float) -> np.ndarray:
    """The point at t in [0, 1] of the arc that matplotlib draws for "arc3,rad=bend"."""
    dx, dy = stop - start
    control = (start + stop) / 2.0 + bend * np.array([dy, -dx])
    return (1 - t) ** 2 * start + 2 * t * (1 - t) * control + t**2 * stop


def _transitions(estimator: BaseEstimator) -> tuple[np.ndarray, list[str]]:
    """The matrix of a fitted estimator, and the names of its states."""
    for name in ("transmat_", "transition_", "transitions_"):
        if hasattr(estimator, name):
            matrix = np.asarray(getattr(estimator, name))
            states = getattr(estimator, "states_", None)  # of a chain: each is one or more values
            if states is not None:
                return matrix, [", ".join(map(str, state)) for state in states]
            return matrix, names_of(estimator, len(matrix)).astype(str).tolist()
    raise TypeError(
        f"{type(estimator).__name__} has neither transmat_ nor transitions_: pass a fitted estimator of "
        "sequences."
    )
