"""Display of a signal with its decoded states."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .base import Display, colors, names_of, one_sequence

STRIP = 0.08  # of the height, for each strip


class SegmentsDisplay(Display):
    """A signal above a strip with the colour of the state of each step.

    Parameters
    ----------
    signal : ndarray of shape (n_steps, n_features)
        The steps; NaN is a gap.
    states : ndarray of shape (n_steps,)
        The label of each step.
    true : ndarray of shape (n_steps,), default=None
        True labels, drawn as a second strip.
    labels : list, default=None
        All labels, in the order of their colours. If None, those in `states` and `true`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    lines_ : list of matplotlib Line2D
        The signal, a line for each feature.
    strips_ : list of matplotlib PolyCollection
        The strips, one for each label and row of labels.

    See Also
    --------
    suffice.sequence.HiddenMarkovModel : Segments of signals.
    TrellisDisplay : The probabilities of the states of one sequence.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.plot import SegmentsDisplay
    >>> signal = [0.1, 0.0, 5.0, np.nan, 4.9]
    >>> display = SegmentsDisplay.from_predictions(signal, ["low", "low", "up", "up", "up"])
    >>> display.labels
    ['low', 'up']
    """

    def __init__(self, signal: Any, states: Any, true: Any = None, labels: Any = None) -> None:
        self.signal, self.states, self.true, self.labels = signal, states, true, labels

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any = None, *, ax: Any = None) -> Self:
        """Draw one sequence with the states decoded by a fitted estimator.

        Parameters
        ----------
        estimator : estimator with predict
            Fitted sequence estimator.
        X : array of shape (n_steps, n_features)
            One sequence.
        y : array of shape (n_steps,), default=None
            True labels, drawn as a second strip.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        SegmentsDisplay
        """
        X = one_sequence(X)
        states = np.asarray(estimator.predict(X))
        labels = names_of(estimator, 0).tolist() or None
        return cls.from_predictions(X, states, true=y, labels=labels, ax=ax)

    @classmethod
    def from_predictions(
        cls, signal: Any, states: Any, *, true: Any = None, labels: Any = None, ax: Any = None
    ) -> Self:
        """Draw one sequence with the labels of its steps.

        Parameters
        ----------
        signal : array of shape (n_steps,) or (n_steps, n_features)
            The steps; NaN is a gap.
        states : array of shape (n_steps,)
            The label of each step.
        true : array of shape (n_steps,), default=None
            True labels, drawn as a second strip.
        labels : list, default=None
            All labels, in the order of their colours. If None, those in `states` and `true`.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        SegmentsDisplay
        """
        signal = np.asarray(signal, dtype=float)
        signal, states = signal.reshape(len(signal), -1), np.asarray(states)
        true = None if true is None else np.asarray(true)
        for name, part in (("states", states), ("true", true)):
            if part is not None and part.shape != (len(signal),):
                raise ValueError(
                    f"{name} has the shape {part.shape}, expected {(len(signal),)}: one per step."
                )
        if labels is None:
            labels = np.unique(states if true is None else np.concatenate([states, true])).tolist()
        return cls(signal, states, true, list(labels)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        SegmentsDisplay
        """
        ax = self._on(ax, figsize=(9.0, 3.4))
        signal = np.asarray(self.signal)
        T, D = signal.shape
        ink = ["0.25"] if D == 1 else [str(share) for share in np.linspace(0.15, 0.6, D)]
        dots = (
            {"marker": ".", "ms": 3} if np.isnan(signal).any() else {}
        )  # a step between two gaps has no line
        self.lines_ = [ax.plot(x, color=c, lw=0.9, **dots)[0] for x, c in zip(signal.T, ink, strict=True)]
        rows = (
            [("decoded", self.states)]
            if self.true is None
            else [("true", self.true), ("decoded", self.states)]
        )
        self._make_room(ax, signal, len(rows))
        names = (
            np.unique(np.concatenate([row for _, row in rows])).tolist()
            if self.labels is None
            else self.labels
        )
        self.strips_ = []
        for n, (title, row) in enumerate(reversed(rows)):
            low = 0.02 + n * (STRIP + 0.02)
            for name, color in zip(names, colors(len(names)), strict=True):
                self.strips_.append(
                    ax.broken_barh(
                        _runs(np.asarray(row) == name),
                        (low, STRIP),
                        transform=ax.get_xaxis_transform(),
                        color=color,
                        lw=0,
                        label=str(name) if n == 0 else None,
                    )
                )
            ax.annotate(
                title,
                (1.0, low + STRIP / 2),
                xycoords="axes fraction",
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
            )
        ax.legend(
            handles=self.strips_[: len(names)],
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=min(len(names), 8),
            frameon=False,
            borderaxespad=0.0,
            handlelength=1.2,
            columnspacing=1.2,
        )
        ax.set(xlabel="step", xlim=(-0.5, T - 0.5))
        ax.spines[["top", "right"]].set_visible(False)
        return self

    @staticmethod
    def _make_room(ax: Any, signal: np.ndarray, strips: int) -> None:
        """Space for the strips below the signal, without ticks."""
        seen = signal[np.isfinite(signal)]
        low, high = (seen.min(), seen.max()) if len(seen) else (0.0, 1.0)
        margin = 0.05 * (high - low or 1.0)
        low, high = low - margin, high + margin
        share = strips * (STRIP + 0.02) + 0.03
        ax.set_ylim(low - share / (1.0 - share) * (high - low), high)
        ax.set_yticks([tick for tick in ax.get_yticks() if low <= tick <= high])


def _runs(mask: np.ndarray) -> list[tuple[float, int]]:
    """Runs of True as bars: where they begin, and how long they are."""
    edge = np.flatnonzero(np.diff(mask.astype(int), prepend=0, append=0))
    return [(start - 0.5, stop - start) for start, stop in edge.reshape(-1, 2).tolist()]
