"""Display of a signal with its decoded states."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import BaseEstimator, is_classifier

from ..core.arguments import MaybeArray
from .base import MANY, Display, colors, feature_names, names_of, one_sequence, shorten

STRIP = 0.08  # of the height, for each strip, but not more than
INCHES = 0.21


class SegmentsDisplay(Display):
    """A signal above a strip with the colour of the state of each step.

    Several features are drawn one below the other, each on its own scale.

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
    names : list of str, default=None
        Names of the features. If None, x0, x1, ...
    match : bool, default=False
        Whether each state has the colour of the true label with which it shares most steps, one to one.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    lines_ : list of matplotlib Line2D
        The signal, a line for each feature. Several features are scaled to the range from 0 to 1, and moved
        by their position from below.
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

    def __init__(
        self,
        signal: Any,
        states: Any,
        true: Any = None,
        labels: Any = None,
        names: Any = None,
        match: bool = False,
    ) -> None:
        self.signal, self.states, self.true, self.labels, self.names = signal, states, true, labels, names
        self.match = match

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, X: Any, y: MaybeArray = None, *, ax: Any = None
    ) -> Self:
        """Draw one sequence with the states decoded by a fitted estimator.

        Parameters
        ----------
        estimator : estimator with predict
            Fitted sequence estimator.
        X : array of shape (n_steps, n_features)
            One sequence.
        y : array of shape (n_steps,), default=None
            True labels, drawn as a second strip. Hidden states that were not fitted to labels have numbers
            that mean nothing: each has the colour of the true label with which it shares most steps.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        SegmentsDisplay
        """
        X = one_sequence(X)
        states = np.asarray(estimator.predict(X))
        labels = names_of(estimator, 0).tolist() or None
        names = getattr(X, "columns", getattr(estimator, "feature_names_in_", None))
        match = y is not None and _has_numbers_for_states(estimator)
        return cls.from_predictions(
            X, states, true=y, labels=None if match else labels, ax=ax, names=names, match=match
        )

    @classmethod
    def from_predictions(
        cls,
        signal: Any,
        states: Any,
        *,
        true: Any = None,
        labels: Any = None,
        ax: Any = None,
        names: Any = None,
        match: bool = False,
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
        names : sequence of str, default=None
            Names of the features. If None, the columns of `signal`, or x0, x1, ...
        match : bool, default=False
            Whether the numbers of the states mean nothing, as those of hidden states. Each state then has the
            colour of the true label with which it shares most steps, one to one.

        Returns
        -------
        SegmentsDisplay
        """
        names = getattr(signal, "columns", None) if names is None else names
        signal = np.asarray(signal, dtype=float)
        signal, states = signal.reshape(len(signal), -1), np.asarray(states)
        true = None if true is None else np.asarray(true)
        for name, part in (("states", states), ("true", true)):
            if part is not None and part.shape != (len(signal),):
                raise ValueError(
                    f"{name} has the shape {part.shape}, expected {(len(signal),)}: one per step."
                )
        if match and true is None:
            raise ValueError("match=True needs the true labels: pass true=labels, one per step.")
        if labels is None and not match:
            labels = np.unique(states if true is None else np.concatenate([states, true])).tolist()
        names = feature_names(None, signal.shape[1], names)
        return cls(signal, states, true, None if labels is None else list(labels), names, match).plot(ax)

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
        signal = np.asarray(self.signal)
        T, D = signal.shape
        ax = self._on(ax, figsize=(9.0, np.clip(2.2 + 0.6 * D, 3.4, 9.0)))
        ticks = None
        if D > 1:  # features may have any units
            signal, ticks = _lanes(signal, feature_names(None, D, self.names))
        dots = (
            {"marker": ".", "ms": 3} if np.isnan(signal).any() else {}
        )  # a step between two gaps has no line
        self.lines_ = [ax.plot(x, color="0.25", lw=0.9, **dots)[0] for x in signal.T]
        rows = [("decoded", self.states)]
        if self.true is not None:
            states = _matched(self.states, self.true) if self.match else self.states
            rows = [("true", self.true), ("decoded", states)]
        strip = min(STRIP, INCHES * ax.figure.dpi / ax.bbox.height)
        self._make_room(ax, signal, len(rows) * (strip + 0.02) + 0.03)
        if ticks is not None:
            ax.set_yticks(*ticks, fontsize=8)
            ax.tick_params(axis="y", length=0)
        names = self.labels
        if names is None:  # those of states without a match come after the true ones
            names = list(dict.fromkeys(name for _, row in rows for name in np.unique(row).tolist()))
        self.strips_ = []
        for n, (title, row) in enumerate(reversed(rows)):
            low = 0.02 + n * (strip + 0.02)
            for name, color in zip(names, colors(len(names)), strict=True):
                self.strips_.append(
                    ax.broken_barh(
                        _runs(np.asarray(row) == name),
                        (low, strip),
                        transform=ax.get_xaxis_transform(),
                        color=color,
                        lw=0,
                        label=str(name) if n == 0 else None,
                    )
                )
            ax.annotate(
                title,
                (1.0, low + strip / 2),
                xycoords="axes fraction",
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
            )
        ax.legend(
            handles=self.strips_[: len(names)],
            loc="lower right",  # at the left may be the exponent of the scale
            bbox_to_anchor=(1.0, 1.0),
            ncols=max(1, min(len(names), 100 // (6 + max(len(str(name)) for name in names)))),
            frameon=False,
            borderaxespad=0.0,
            handlelength=1.2,
            columnspacing=1.2,
        )
        ax.set(xlabel="step", xlim=(-0.5, T - 0.5))
        ax.spines[["top", "right"]].set_visible(False)
        return self

    @staticmethod
    def _make_room(ax: Any, signal: np.ndarray, share: float) -> None:
        """Space for the strips below the signal, this share of the height, without ticks."""
        seen = signal[np.isfinite(signal)]
        low, high = (seen.min(), seen.max()) if len(seen) else (0.0, 1.0)
        margin = 0.05 * (high - low or 1.0)
        low, high = low - margin, high + margin
        ax.set_ylim(low - share / (1.0 - share) * (high - low), high)
        ax.set_yticks([tick for tick in ax.get_yticks() if low <= tick <= high])


def _has_numbers_for_states(estimator: BaseEstimator) -> bool:
    """Whether an estimator without labels has numbered its states itself."""
    if is_classifier(estimator):
        return False
    classes = np.asarray(getattr(estimator, "classes_", np.empty(0, int)))
    return classes.dtype.kind in "iu" and np.array_equal(classes, np.arange(len(classes)))


def _matched(states: Any, true: Any) -> np.ndarray:
    """The states by the names of the true labels with which they share most steps, one to one; 'state k' if
    no label is left for state k."""
    of_true, label = np.unique(np.asarray(true), return_inverse=True)
    of_states, state = np.unique(np.asarray(states), return_inverse=True)
    shared = np.zeros((len(of_states), len(of_true)))
    np.add.at(shared, (state, label), 1.0)
    names = [f"state {k}" for k in of_states.tolist()]
    for k, n in zip(*linear_sum_assignment(-shared), strict=True):
        names[k] = of_true.tolist()[n]
    kind = of_true.dtype if len(of_states) <= len(of_true) else object
    return np.array(names, kind)[state]


def _lanes(signal: np.ndarray, names: list[str]) -> tuple[np.ndarray, tuple[Any, list[str]]]:
    """Features one below the other, each scaled to its range; and the places and texts of ticks."""
    D = len(names)
    seen = np.where(np.isfinite(signal), signal, np.nan)
    empty = np.isnan(seen).all(axis=0)
    low, high = (f(np.where(empty, 0.0, seen), axis=0) for f in (np.nanmin, np.nanmax))
    floor = np.arange(D)[::-1]  # the first is on top
    scaled = floor + 0.9 * (seen - low) / np.where(high > low, high - low, 1.0)
    every = -(-D // MANY)
    texts = [shorten(name, 20) for name in names]
    if D <= 8:
        texts = [f"{t}\n{a:.3g} to {b:.3g}" for t, a, b in zip(texts, low, high, strict=True)]
    return scaled, (floor[::every] + 0.45, texts[::every])


def _runs(mask: np.ndarray) -> list[tuple[float, int]]:
    """Runs of True as bars: where they begin, and how long they are."""
    edge = np.flatnonzero(np.diff(mask.astype(int), prepend=0, append=0))
    return [(start - 0.5, stop - start) for start, stop in edge.reshape(-1, 2).tolist()]
