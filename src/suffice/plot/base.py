"""Base class of displays: axes, and a palette for colour-blind readers."""

from __future__ import annotations

from typing import Any

import numpy as np

# Okabe and Ito, "Color universal design", 2008; black and yellow left out, which vanish on some ground.
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
PATH = "#d55e00"
MANY = 20  # labels of an axis that still can be read


class Display:
    """Base class of displays, drawn on `ax_` of `figure_`."""

    ax_: Any
    figure_: Any

    def _on(self, ax: Any, **size: Any) -> Any:
        """The axes `ax`, or new ones."""
        if ax is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError as error:
                raise ImportError('Displays need matplotlib: pip install "suffice[plot]".') from error
            _, ax = plt.subplots(layout="constrained", **size)
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def colors(count: int) -> list[Any]:
    """This many colours: COLORS, or a sequential colour map if there are more."""
    if count <= len(COLORS):
        return list(COLORS[:count])
    import matplotlib

    return [matplotlib.colormaps["viridis"](share) for share in np.linspace(0.0, 1.0, count)]


def names_of(estimator: Any, count: int) -> np.ndarray:
    """The labels of an estimator, or indices."""
    return np.asarray(getattr(estimator, "classes_", np.arange(count)))


def one_sequence(X: Any) -> Any:
    """X if it is a single sequence, or its only element."""
    if isinstance(X, list | tuple) and len(X) and np.ndim(X[0]) == 2:
        if len(X) > 1:
            raise ValueError(f"X has {len(X)} sequences, expected one: pass e.g. X[0].")
        return X[0]
    return X


def dark(rgba: Any) -> bool:
    """Whether white text is more legible than black on a colour."""
    return float(np.dot(rgba[:3], (0.299, 0.587, 0.114))) < 0.5


def whole_numbers(axis: Any) -> None:
    """Ticks of an axis at integers only."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True))
